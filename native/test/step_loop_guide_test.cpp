// Failures prevented: a pause that is not a pause or stops others; a mask that costs a step or holds for more than one token; forced tokens
// that change what follows.
#include <gtest/gtest.h>

#include "test/toy_loop.h"

namespace hearth::testing {
namespace {

TEST(StepLoop, APausedRowWaitsForItsGuide) {
  Request r = request(1, 20, 12);
  r.pause_at = 0;
  LoopHost host;
  host.mailbox.submit(r);
  ASSERT_TRUE(host.wait_for(1, Event::Kind::paused, 0));
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  {
    std::lock_guard lock(host.mutex);
    EXPECT_EQ(tokens_of(host.events[1]).size(), 0u);
  }
  Guide wrong;
  wrong.index = 3;
  wrong.forced = {9};
  host.mailbox.guide(1, wrong);  // not the index that it waits at
  Guide forced;
  forced.forced = {11, 12, 13};
  forced.pause_at = 3;
  host.mailbox.guide(1, forced);
  ASSERT_TRUE(host.wait_for(1, Event::Kind::paused, 3));
  Guide masked;
  masked.index = 3;
  masked.mask = {1u << 21, 0};
  masked.pause_at = 5;
  host.mailbox.guide(1, masked);
  ASSERT_TRUE(host.wait_for(1, Event::Kind::paused, 5));
  Guide free;
  free.index = 5;
  host.mailbox.guide(1, free);
  const auto events = host.finished(1);
  const std::vector<TokenId> tokens = tokens_of(events);
  ASSERT_EQ(tokens.size(), 12u);
  EXPECT_EQ(std::vector<TokenId>(tokens.begin(), tokens.begin() + 4), (std::vector<TokenId>{11, 12, 13, 21}));
  for (const Event& e : events) {
    if (e.kind == Event::Kind::token) EXPECT_EQ(e.forced, e.index < 3);
  }
  // What follows is what a request with these tokens already given would say.
  Request again = request(1, 20, 12);
  again.resume_tokens.assign(tokens.begin(), tokens.begin() + 4);
  EXPECT_EQ(alone(again), std::vector<TokenId>(tokens.begin() + 4, tokens.end()));
}

TEST(StepLoop, OthersGoOnWhileOnePauses) {
  LoopHost host;
  Request paused = request(1, 20, 5);
  paused.pause_at = 2;
  host.mailbox.submit(paused);
  host.mailbox.submit(request(2, 20, 50));
  EXPECT_EQ(tokens_of(host.finished(2)).size(), 50u);
  ASSERT_TRUE(host.wait_for(1, Event::Kind::paused, 2));
  host.mailbox.cancel(1);
  EXPECT_EQ(host.finished(1).back().total, 2u);
}

TEST(StepLoop, AForcedStopTokenEnds) {
  LoopHost host;
  Request r = request(1, 20, 50);
  r.pause_at = 0;
  r.stop_tokens = {30};
  host.mailbox.submit(r);
  ASSERT_TRUE(host.wait_for(1, Event::Kind::paused, 0));
  Guide guide;
  guide.forced = {5, 30, 6};
  host.mailbox.guide(1, guide);
  const auto events = host.finished(1);
  EXPECT_EQ(tokens_of(events), (std::vector<TokenId>{5, 30}));
  EXPECT_EQ(events.back().reason, FinishReason::stop);
}

TEST(StepLoop, AMaskThatComesLateCostsNoStep) {
  LoopHost host;
  Request r = request(1, 20, 1);
  r.pause_at = 0;
  host.mailbox.submit(r);
  ASSERT_TRUE(host.wait_for(1, Event::Kind::paused, 0));
  ASSERT_TRUE(host.wait_for(1, Event::Kind::prefill, 20));
  const uint32_t steps = host.backend.steps;
  Guide guide;
  guide.mask = {1u << 17, 0};
  host.mailbox.guide(1, guide);
  EXPECT_EQ(tokens_of(host.finished(1)), (std::vector<TokenId>{17}));
  EXPECT_EQ(host.backend.steps, steps);
}

TEST(StepLoop, MorePausedRowsThanLogitsMayBeKept) {
  LoopHost host({16, 4, 400, 300, 32, 8, 1});
  std::map<RequestId, std::vector<TokenId>> expected;
  for (RequestId id = 1; id <= 4; ++id) {
    expected[id] = alone(request(id, 20, 12));
    Request r = request(id, 20, 12);
    r.pause_at = 0;
    host.mailbox.submit(r);
  }
  for (RequestId id = 1; id <= 4; ++id) guide_freely(host, id, 12);
  for (RequestId id = 1; id <= 4; ++id) EXPECT_EQ(tokens_of(host.finished(id)), expected[id]);
}

}  // namespace
}  // namespace hearth::testing
