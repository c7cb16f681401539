// Failure prevented: a text that depends on what was guessed of it, in its tokens, its logprobs or its end.
#include <gtest/gtest.h>

#include "test/toy_loop.h"

namespace hearth::testing {
namespace {

/// Texts with habits, drafted or not, must be the same to the last byte; `change` sets what the requests ask for.
void expect_drafts_change_nothing(const std::function<void(Request&)>& change, uint32_t blocks = 400, bool pauses = false) {
  std::map<RequestId, std::vector<Event>> plain;
  for (uint32_t draft_rows : {0u, 1u, 8u}) {
    LoopHost host({16, 4, blocks, 300, 32, draft_rows});
    host.backend.habits = true;
    for (RequestId id = 1; id <= 5; ++id) {
      Request r = request(id, uint32_t(4 * id), 150, id % 2 ? 0.0f : 1.0f);
      r.sampling.logprobs = 1;
      if (pauses) r.pause_at = 0;
      change(r);
      host.mailbox.submit(r);
    }
    for (RequestId id = 1; id <= 5 && pauses; ++id) guide_freely(host, id, 150);
    for (RequestId id = 1; id <= 5; ++id) {
      const std::vector<Event> events = host.finished(id);
      if (draft_rows == 0) plain[id] = events;
      EXPECT_EQ(tokens_of(events), tokens_of(plain[id])) << "request " << id << ", drafts " << draft_rows;
      EXPECT_EQ(events.back().reason, plain[id].back().reason);
      std::vector<float> logprobs, expected;
      for (const Event& e : events) if (e.kind == Event::Kind::token) logprobs.push_back(*e.logprob);
      for (const Event& e : plain[id]) if (e.kind == Event::Kind::token) expected.push_back(*e.logprob);
      EXPECT_EQ(logprobs, expected);
    }
    EXPECT_EQ(host.blocks_in_use(), 0u);
    const EngineStats stats = host.loop->stats();
    if (draft_rows == 0) {
      EXPECT_EQ(stats.drafted, 0u);
    } else if (!pauses) {
      EXPECT_GT(stats.accepted, 10u);
      EXPECT_GT(stats.drafted, stats.accepted) << "no draft was ever wrong: the test shows nothing";
    }
  }
}

TEST(StepLoop, DraftsDoNotChangeTheText) {
  expect_drafts_change_nothing([](Request&) {});
}

TEST(StepLoop, DraftsDoNotChangeATextWithPenalties) {
  expect_drafts_change_nothing([](Request& r) {
    r.sampling.frequency_penalty = 0.7f;
    r.sampling.repetition_penalty = 1.1f;
  });
}

TEST(StepLoop, DraftsStopWhereTheTextStops) {
  expect_drafts_change_nothing([](Request& r) {
    r.max_tokens = 60 + uint32_t(r.id);
    r.stop_tokens = {TokenId(11 + r.id)};
  });
}

TEST(StepLoop, DraftsDoNotChangeATextThatIsPreempted) {
  expect_drafts_change_nothing([](Request& r) { r.priority = int32_t(r.id % 2); }, 110);
}

TEST(StepLoop, DraftsDoNotCrossAPause) {
  expect_drafts_change_nothing([](Request&) {}, 400, true);
}

TEST(StepLoop, ALoopEndsAtTheSameTokenWithDrafts) {
  for (uint32_t draft_rows : {0u, 8u}) {
    LoopHost host({16, 4, 4000, 3000, 32, draft_rows});
    Request r = request(1, 3, 0, 0.0f);
    r.sampling.logit_bias = {{7, 100.0f}};
    host.mailbox.submit(r);
    EXPECT_EQ(host.finished(1).back().total, 200u);
    EXPECT_EQ(host.loop->stats().accepted > 100, draft_rows > 0);
  }
}

}  // namespace
}  // namespace hearth::testing
