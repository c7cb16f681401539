// Failures prevented: a cancelled request that goes on, is told of its end twice, or takes others with it; a stop that waits for a step;
// blocks that leak when lives end at random.
#include <gtest/gtest.h>

#include "test/toy_loop.h"

namespace hearth::testing {
namespace {

TEST(StepLoop, CancelEndsWithinThreeHundredMillisecondsAndSparesTheOthers) {
  const std::vector<TokenId> expected = alone(request(2, 30, 12));
  LoopHost host;
  host.backend.milliseconds_per_step = 2000;
  host.mailbox.submit(request(1, 30, 0));
  host.mailbox.submit(request(2, 30, 12));
  std::this_thread::sleep_for(std::chrono::milliseconds(60));
  const auto begin = std::chrono::steady_clock::now();
  host.mailbox.cancel(1);
  EXPECT_EQ(host.finished(1).back().reason, FinishReason::cancelled);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(300));
  host.backend.milliseconds_per_step = 0;
  EXPECT_EQ(tokens_of(host.finished(2)), expected);
  EXPECT_EQ(host.blocks_in_use(), 0u);
  host.mailbox.cancel(1);
  host.mailbox.cancel(77);
  EXPECT_EQ(host.finished(1).size(), 1u);
}

/// Cancelled when the plan is made and the step has not begun: nobody would be there to give the step up, so it may not begin.
TEST(StepLoop, AStepIsNotBegunForARequestThatWasCancelledSinceThePlan) {
  const std::vector<TokenId> expected = alone(request(2, 30, 12));
  LoopHost host;
  std::atomic<bool> cancelled{false};
  host.backend.on_grow = [&] {
    if (!cancelled.exchange(true)) host.mailbox.cancel(1);
  };
  Request gone = request(1, 30, 0);
  gone.prompt[0] = crash;  // tells whether its rows were ever computed
  host.mailbox.submit(gone);
  host.mailbox.submit(request(2, 30, 12));
  EXPECT_EQ(host.finished(1).back().reason, FinishReason::cancelled);
  EXPECT_EQ(tokens_of(host.finished(2)), expected);
  EXPECT_TRUE(cancelled);
  EXPECT_EQ(host.backend.crashes, 0u);
  EXPECT_EQ(host.blocks_in_use(), 0u);
}

TEST(StepLoop, AnIdMayBeUsedAgainAfterItsEnd) {
  LoopHost host;
  host.backend.milliseconds_per_step = 20;
  host.mailbox.submit(request(1, 30, 0));
  EXPECT_THROW(host.mailbox.submit(request(1, 3, 1)), Error);
  ASSERT_TRUE(host.wait_for(1, Event::Kind::token, 0));
  host.mailbox.cancel(1);
  host.finished(1);
  {
    std::lock_guard lock(host.mutex);
    host.events.clear();
  }
  host.mailbox.submit(request(1, 12, 6));
  const auto events = host.finished(1);
  EXPECT_EQ(tokens_of(events), alone(request(1, 12, 6)));
  EXPECT_EQ(events.back().total, 6u);
}

TEST(StepLoop, StopEndsEverythingQuickly) {
  LoopHost host;
  host.backend.milliseconds_per_step = 5000;
  for (RequestId id = 1; id <= 6; ++id) host.mailbox.submit(request(id, 30, 0));
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  auto logits = host.mailbox.ask_logits({1, 2, 3}, false);
  const auto begin = std::chrono::steady_clock::now();
  host.stop();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(300));
  for (RequestId id = 1; id <= 6; ++id) EXPECT_EQ(host.finished(id).back().reason, FinishReason::cancelled);
  EXPECT_THROW(logits.get(), Error);
  EXPECT_THROW(host.mailbox.submit(request(9, 3, 1)), Error);
}

/// Random lives, cancelled at random: nothing leaks, nothing hangs, and who is left says what it says alone.
TEST(StepLoop, RandomCancellationsLeakNothing) {
  std::map<RequestId, std::vector<TokenId>> expected;
  for (RequestId id = 1; id <= 40; ++id) expected[id] = alone(request(id, 1 + uint32_t(id * 5 % 60), uint32_t(1 + id % 30)));
  LoopHost host({8, 3, 50});
  host.backend.milliseconds_per_step = 1;
  uint64_t random = 88172645463325252ull;
  const auto next = [&] { random ^= random << 13, random ^= random >> 7, random ^= random << 17; return random; };
  std::vector<RequestId> cancelled;
  for (RequestId id = 1; id <= 40; ++id) {
    Request r = request(id, 1 + uint32_t(id * 5 % 60), uint32_t(1 + id % 30));
    r.priority = int32_t(next() % 2);
    host.mailbox.submit(r);
    if (next() % 3 == 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(next() % 8));
      const RequestId victim = 1 + next() % id;
      host.mailbox.cancel(victim);
      cancelled.push_back(victim);
    }
  }
  for (RequestId id = 1; id <= 40; ++id) {
    const auto events = host.finished(id);
    if (events.back().reason == FinishReason::cancelled) {
      EXPECT_NE(std::find(cancelled.begin(), cancelled.end(), id), cancelled.end());
    } else {
      EXPECT_EQ(tokens_of(events), expected[id]) << "request " << id;
    }
  }
  EXPECT_EQ(host.blocks_in_use(), 0u);
}

}  // namespace
}  // namespace hearth::testing
