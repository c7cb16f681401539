// Failures prevented: one request's fault that ends others; memory that cannot grow ending in a crash, a hang or a silent cut; a queue
// without a bound.
#include <gtest/gtest.h>

#include <future>
#include <stdexcept>
#include <utility>

#include "test/toy_loop.h"

namespace hearth::testing {
namespace {

TEST(StepLoop, NotANumberEndsOnlyTheRequestAtFault) {
  const std::vector<TokenId> expected = alone(request(2, 20, 20));
  LoopHost host;
  Request bad = request(1, 20, 20);
  bad.prompt[10] = poison;
  host.mailbox.submit(bad);
  host.mailbox.submit(request(2, 20, 20));
  const Event end = host.finished(1).back();
  EXPECT_EQ(end.reason, FinishReason::error);
  EXPECT_EQ(end.error, ErrorCode::numeric_error);
  EXPECT_EQ(tokens_of(host.finished(2)), expected);
  EXPECT_EQ(host.blocks_in_use(), 0u);
}

TEST(StepLoop, AFailingStepEndsOnlyTheRequestAtFault) {
  const std::vector<TokenId> expected = alone(request(2, 4, 20));
  LoopHost host;
  Request bad = request(1, 4, 20);
  bad.prompt[2] = crash;
  host.mailbox.submit(bad);
  host.mailbox.submit(request(2, 4, 20));
  EXPECT_EQ(host.finished(1).back().error, ErrorCode::device_lost);
  EXPECT_EQ(tokens_of(host.finished(2)), expected);
}

/// What follows from a step's results has begun to change tokens and counters: repeating the step row by row would double them.
TEST(StepLoop, AStepIsNotRepeatedForAFailureAfterIt) {
  LoopHost host;
  host.backend.milliseconds_per_step = 3;
  for (RequestId id : {1u, 2u}) host.mailbox.submit(request(id, 20, 0));
  for (RequestId id : {1u, 2u}) ASSERT_TRUE(host.wait_for(id, Event::Kind::token, 2));
  host.backend.fail_after_step = true;
  for (RequestId id : {1u, 2u}) {
    const auto events = host.finished(id);
    EXPECT_EQ(events.back().error, ErrorCode::internal);
    EXPECT_EQ(events.back().total, tokens_of(events).size());
    std::vector<TokenId> given = tokens_of(events);
    std::vector<TokenId> text = alone(request(id, 20, uint32_t(given.size())));
    EXPECT_EQ(given, text);
  }
  host.backend.milliseconds_per_step = 0;
  EXPECT_EQ(host.blocks_in_use(), 0u);
  host.mailbox.submit(request(3, 20, 10));
  EXPECT_EQ(tokens_of(host.finished(3)), alone(request(3, 20, 10)));
}

/// Mail that was taken and then lost to a failure before it was looked at: nobody may wait for it for ever.
TEST(StepLoop, ARequestThatIsLostOnItsWayInEndsWithAnError) {
  bool broken = false;  // like the callbacks, the engine thread's
  std::promise<Event> end;
  LoopHost host;
  host.backend.on_grow = [&] {
    if (std::exchange(broken, false)) throw std::runtime_error("a bug");
  };
  host.mailbox.on_events([&] {
    for (Event& e : host.mailbox.drain()) {
      if (e.kind != Event::Kind::finished) continue;
      if (e.id != 1) return end.set_value(std::move(e));
      broken = true;
      host.mailbox.set_kv_grant(8 * block * sizeof(TokenId));  // the pool gives memory back, which fails
      host.mailbox.submit(request(2, 20, 5));
    }
  });
  host.mailbox.submit(request(1, 200, 5));
  auto ended = end.get_future();
  ASSERT_EQ(ended.wait_for(std::chrono::seconds(20)), std::future_status::ready);
  const Event event = ended.get();
  EXPECT_EQ(event.id, 2u);
  EXPECT_EQ(event.error, ErrorCode::internal);
  EXPECT_FALSE(broken);
}

TEST(StepLoop, MemoryThatCannotGrowEndsWithAnError) {
  LoopHost host;
  host.backend.most_blocks = 16;
  host.mailbox.submit(request(1, 100, 5));
  EXPECT_EQ(host.finished(1).back().error, ErrorCode::out_of_ram);
  host.mailbox.submit(request(2, 12, 5));
  EXPECT_EQ(tokens_of(host.finished(2)).size(), 5u);
}

TEST(StepLoop, ARequestThatOutgrowsMemoryEndsByItsLength) {
  const std::vector<TokenId> text = alone(request(1, 20, 0));
  LoopHost host;
  host.backend.most_blocks = 16;
  host.mailbox.submit(request(1, 20, 0));
  const auto events = host.finished(1);
  const std::vector<TokenId> tokens = tokens_of(events);
  EXPECT_EQ(events.back().reason, FinishReason::length);
  ASSERT_GT(tokens.size(), 10u);
  ASSERT_LT(tokens.size(), 60u);
  EXPECT_EQ(tokens, std::vector<TokenId>(text.begin(), text.begin() + std::ptrdiff_t(tokens.size())));
  // A prompt that does not fit into what is left is refused before any work.
  const uint32_t steps = host.backend.steps;
  host.mailbox.submit(request(2, 100, 5));
  EXPECT_EQ(host.finished(2).back().error, ErrorCode::out_of_ram);
  EXPECT_EQ(host.backend.steps, steps);
  EXPECT_EQ(host.blocks_in_use(), 0u);
}

TEST(StepLoop, MoreThanMayWaitAreRefused) {
  Mailbox mailbox(2);
  mailbox.submit(request(1, 3, 1));
  mailbox.submit(request(2, 3, 1));
  try {
    mailbox.submit(request(3, 3, 1));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code, ErrorCode::queue_full);
  }
  mailbox.cancel(1);
  mailbox.submit(request(3, 3, 1));
}

}  // namespace
}  // namespace hearth::testing
