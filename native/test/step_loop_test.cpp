// Failures prevented: output that depends on company, chunks, preemption or resume; an event lost, doubled or after the end; an end that is
// missed or comes late. The backend is the toy of toy_loop.h; other concepts of the loop are in the step_loop_*_test.cpp beside this file.
#include <gtest/gtest.h>

#include "test/toy_loop.h"

namespace hearth::testing {
namespace {

TEST(StepLoop, ChunksDoNotChangeTheText) {
  const Request r = request(1, 40, 30);
  const std::vector<TokenId> text = alone(r);
  ASSERT_EQ(text.size(), 30u);
  for (uint32_t chunk : {1u, 3u, 7u, 128u}) EXPECT_EQ(alone(r, {chunk}), text) << "chunk " << chunk;
}

TEST(StepLoop, CompanyAndPreemptionDoNotChangeTheText) {
  std::map<RequestId, std::vector<TokenId>> expected;
  for (RequestId id = 1; id <= 8; ++id) expected[id] = alone(request(id, 5 + 6 * uint32_t(id), 40));
  // 34 blocks hold one or two of the longer ones: the rest is preempted again and again.
  for (uint32_t blocks : {400u, 60u, 34u}) {
    LoopHost host({8, 4, blocks});
    for (RequestId id = 1; id <= 8; ++id) {
      Request r = request(id, 5 + 6 * uint32_t(id), 40);
      r.priority = int32_t(id % 3);
      host.mailbox.submit(r);
    }
    for (RequestId id = 1; id <= 8; ++id) EXPECT_EQ(tokens_of(host.finished(id)), expected[id]) << "blocks " << blocks;
    EXPECT_EQ(host.blocks_in_use(), 0u);
    EXPECT_EQ(host.loop->stats().preemptions > 0, blocks < 400);
  }
}

TEST(StepLoop, EventsAreCompleteAndInOrder) {
  LoopHost host({8});
  Request r = request(1, 20, 5);
  r.sampling.logprobs = 3;
  host.mailbox.submit(r);
  const std::vector<Event> events = host.finished(1);
  std::vector<uint32_t> read, indices;
  for (const Event& e : events) {
    if (e.kind == Event::Kind::prefill) {
      EXPECT_EQ(e.total, 20u);
      read.push_back(e.index);
    } else if (e.kind == Event::Kind::token) {
      indices.push_back(e.index);
      EXPECT_TRUE(e.logprob && e.top.size() == 3);
    }
  }
  EXPECT_EQ(read, (std::vector<uint32_t>{8, 16, 20}));
  EXPECT_EQ(indices, (std::vector<uint32_t>{0, 1, 2, 3, 4}));
  EXPECT_EQ(events.back().reason, FinishReason::length);
  EXPECT_EQ(events.back().total, 5u);
}

TEST(StepLoop, ResumeGoesOnWithTheSameTokensAndIndices) {
  Request r = request(1, 12, 40);
  r.sampling.repetition_penalty = 1.3f;
  r.sampling.frequency_penalty = 0.2f;
  const std::vector<TokenId> text = alone(r);
  for (size_t given : {1u, 17u, 39u}) {
    LoopHost host;
    Request again = r;
    again.resume_tokens.assign(text.begin(), text.begin() + given);
    host.mailbox.submit(again);
    const auto events = host.finished(1);
    EXPECT_EQ(tokens_of(events), std::vector<TokenId>(text.begin() + given, text.end()));
    for (const Event& e : events) {
      if (e.kind == Event::Kind::token) EXPECT_GE(e.index, given);
    }
    EXPECT_EQ(events.back().total, 40u);
  }
}

TEST(StepLoop, AResumeThatHadEndedEndsAtOnce) {
  LoopHost host;
  Request r = request(1, 5, 3);
  r.resume_tokens = {1, 2, 3};
  host.mailbox.submit(r);
  EXPECT_EQ(host.finished(1).back().reason, FinishReason::length);
  r.id = 2;
  r.max_tokens = 0;
  r.stop_tokens = {3};
  host.mailbox.submit(r);
  const auto events = host.finished(2);
  EXPECT_EQ(tokens_of(events).size(), 0u);
  EXPECT_EQ(events.back().reason, FinishReason::stop);
  EXPECT_EQ(events.back().total, 3u);
}

TEST(StepLoop, AStopTokenIsGivenAndEnds) {
  Request r = request(1, 12, 100);
  const std::vector<TokenId> text = alone(r);
  r.stop_tokens = {text[9]};
  const auto first = std::find(text.begin(), text.end(), text[9]) - text.begin();
  LoopHost host;
  host.mailbox.submit(r);
  const auto events = host.finished(1);
  EXPECT_EQ(tokens_of(events), std::vector<TokenId>(text.begin(), text.begin() + first + 1));
  EXPECT_EQ(events.back().reason, FinishReason::stop);
}

TEST(StepLoop, ALoopEndsWithinTwoHundredTokens) {
  Request r = request(1, 3, 0, 0.0f);
  r.sampling.logit_bias = {{7, 100.0f}};
  LoopHost host({16, 4, 4000, 3000});
  host.mailbox.submit(r);
  const auto events = host.finished(1);
  EXPECT_EQ(events.back().reason, FinishReason::repetition);
  EXPECT_EQ(events.back().total, 200u);
}

TEST(StepLoop, TheContextIsTheEnd) {
  LoopHost host({16, 4, 400, 50});
  host.mailbox.submit(request(1, 20, 0));
  const auto events = host.finished(1);
  EXPECT_EQ(events.back().reason, FinishReason::length);
  EXPECT_EQ(events.back().total, 30u);
}

TEST(StepLoop, BannedTokensAreNeverSampled) {
  Request r = request(1, 10, 60, 2.0f);
  for (TokenId t = 0; t < 30; ++t) r.banned_tokens.push_back(t);
  for (TokenId token : alone(r)) EXPECT_GE(token, 30);
}

TEST(StepLoop, ThePromptIsScoredOnceWhateverTheChunks) {
  std::vector<TokenLogprob> first;
  for (uint32_t chunk : {1u, 5u, 64u}) {
    LoopHost host({chunk, 4, 400, 300, 12});
    Request r = request(1, 30, 2);
    r.prompt_logprobs = true;
    r.sampling.logprobs = 2;
    host.mailbox.submit(r);
    std::vector<TokenLogprob> scores;
    for (const Event& e : host.finished(1)) {
      if (e.kind != Event::Kind::prefill || e.index < e.total) continue;
      EXPECT_TRUE(scores.empty());
      scores = e.prompt_logprobs;
      ASSERT_EQ(e.prompt_top.size(), 29u);
      EXPECT_EQ(e.prompt_top[0].size(), 2u);
    }
    ASSERT_EQ(scores.size(), 29u);
    for (size_t i = 0; i < scores.size(); ++i) EXPECT_EQ(scores[i].token, r.prompt[i + 1]);
    if (first.empty()) first = scores;
    for (size_t i = 0; i < scores.size(); ++i) EXPECT_EQ(scores[i].logprob, first[i].logprob);
  }
}

TEST(StepLoop, LogitsAreTheOnesThatSamplingSees) {
  LoopHost host;
  const Request r = request(1, 25, 1, 0.0f);
  const std::vector<float> last = host.mailbox.ask_logits(r.prompt, false).get();
  const std::vector<float> all = host.mailbox.ask_logits(r.prompt, true).get();
  ASSERT_EQ(last.size(), vocabulary);
  ASSERT_EQ(all.size(), 25u * vocabulary);
  EXPECT_TRUE(std::equal(last.begin(), last.end(), all.end() - vocabulary));
  host.mailbox.submit(r);
  const auto tokens = tokens_of(host.finished(1));
  EXPECT_EQ(tokens.at(0), std::max_element(last.begin(), last.end()) - last.begin());
  EXPECT_EQ(host.blocks_in_use(), 0u);
}

/// Where rows of logits are far away the best of them are read, whole ones only by who needs them, and nobody's text is another.
TEST(StepLoop, FarLogitsAreSparedAndChangeNoText) {
  const auto with = [](const std::function<void(Request&)>& set) {
    Request r = request(1, 20, 25, 0.9f);
    set(r);
    return r;
  };
  struct Case {
    const char* name;
    Request request;
    bool whole;
  };
  const Case cases[] = {{"greedy", with([](Request& r) { r.sampling.temperature = 0; }), false},
                        {"plain", with([](Request&) {}), false},
                        {"filtered", with([](Request& r) { r.sampling.top_k = 10, r.sampling.top_p = 0.8f, r.banned_tokens = {3, 9, 21}; }), false},
                        {"penalties", with([](Request& r) { r.sampling.repetition_penalty = 1.2f; }), true},
                        {"logprobs", with([](Request& r) { r.sampling.logprobs = 2; }), true},
                        {"a scored prompt", with([](Request& r) { r.prompt_logprobs = true, r.sampling.temperature = 0; }), true}};
  for (const Case& each : cases) {
    const std::vector<TokenId> want = alone(each.request);
    LoopHost host;
    host.backend.far = true;
    host.mailbox.submit(each.request);
    EXPECT_EQ(tokens_of(host.finished(1)), want) << each.name;
    EXPECT_EQ(host.backend.rows_read >= 20u, each.whole) << each.name;
    EXPECT_EQ(host.backend.rows_read == 0u, !each.whole) << each.name;
    EXPECT_EQ(host.backend.best_read > 0, !each.whole || each.request.prompt_logprobs) << each.name;
  }
}

TEST(StepLoop, FarLogitsThatAreNotNumbersEndTheRequest) {
  LoopHost host;
  host.backend.far = true;
  Request bad = request(1, 20, 5);
  bad.prompt[10] = poison;
  host.mailbox.submit(bad);
  host.mailbox.submit(request(2, 20, 5));
  EXPECT_EQ(host.finished(1).back().error, ErrorCode::numeric_error);
  EXPECT_EQ(tokens_of(host.finished(2)), alone(request(2, 20, 5)));
}

}  // namespace
}  // namespace hearth::testing
