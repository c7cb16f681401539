// Failures prevented, on the real CPU kernels: text that depends on company, chunks, threads, preemption, resume or the
// place of a window's edge; a load that cannot be stopped or hides why it fails.
#include "hearth/engine.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <filesystem>
#include <future>
#include <map>
#include <mutex>

#include "engine/kv_plan.h"

namespace hearth {
namespace {

const std::string gpt_oss = std::string(HEARTH_FIXTURES) + "/oracles/gptoss/tiny.gguf";

EngineOptions options_with(Precision precision) {
  EngineOptions options;
  options.model_path = gpt_oss;
  options.precision = precision;
  options.threads = 2;
  options.context = 1024;
  return options;
}

Request request(RequestId id, uint32_t prompt, uint32_t outputs) {
  Request r;
  r.id = id;
  for (uint32_t i = 0; i < prompt; ++i) r.prompt.push_back(TokenId((i * 31 + id * 17) % 256));
  r.max_tokens = outputs;
  r.sampling.temperature = id % 2 ? 0.0f : 1.0f;
  r.sampling.seed = id;
  return r;
}

/// Submits all and returns the text of each.
std::map<RequestId, std::vector<TokenId>> run(const EngineOptions& options, const std::vector<Request>& requests,
                                              uint64_t* preemptions = nullptr) {
  const auto engine = Engine::load(options, {});
  std::mutex mutex;
  std::condition_variable changed;
  std::map<RequestId, std::vector<TokenId>> texts;
  size_t finished = 0;
  engine->on_events([&] {
    std::lock_guard lock(mutex);
    for (const Event& e : engine->drain()) {
      if (e.kind == Event::Kind::token) texts[e.id].push_back(e.token);
      if (e.kind == Event::Kind::finished) {
        EXPECT_EQ(e.reason, FinishReason::length) << e.message;
        ++finished;
      }
    }
    changed.notify_all();
  });
  for (const Request& r : requests) engine->submit(r);
  std::unique_lock lock(mutex);
  EXPECT_TRUE(changed.wait_for(lock, std::chrono::seconds(120), [&] { return finished == requests.size(); }));
  lock.unlock();
  engine->stop();
  if (preemptions) *preemptions = engine->stats().preemptions;
  return texts;
}

std::vector<Request> eight() {
  std::vector<Request> requests;
  for (RequestId id = 1; id <= 8; ++id) requests.push_back(request(id, uint32_t(3 + 23 * id), 40));
  return requests;
}

class EngineText : public testing::TestWithParam<Precision> {};
INSTANTIATE_TEST_SUITE_P(BothPrecisions, EngineText, testing::Values(Precision::exact, Precision::fast),
                         [](const auto& each) { return each.param == Precision::exact ? "exact" : "fast"; });

TEST_P(EngineText, IsTheSameAloneAndBesideSevenOthers) {
  const auto together = run(options_with(GetParam()), eight());
  for (const Request& r : eight()) {
    EXPECT_EQ(run(options_with(GetParam()), {r}).at(r.id), together.at(r.id)) << "request " << r.id;
  }
}

TEST_P(EngineText, IsTheSameForAnyChunkAndThreads) {
  const auto expected = run(options_with(GetParam()), eight());
  for (uint32_t chunk : {1u, 7u, 128u}) {
    EngineOptions options = options_with(GetParam());
    options.prefill_chunk = chunk;
    options.threads = chunk == 7 ? 1 : 2;
    EXPECT_EQ(run(options, eight()), expected) << "chunk " << chunk;
  }
}

TEST_P(EngineText, IsTheSameWhenPreempted) {
  const auto expected = run(options_with(GetParam()), eight());
  EngineOptions options = options_with(GetParam());
  options.prefill_chunk = 64;
  options.context = 256;
  // f32: 4 layers * 2 KV heads * 32 * 2 * 4 bytes = 2 KiB a position in all, half of it a group; 30 blocks.
  options.kv_bytes = 30ull * 16 * 1024 / (GetParam() == Precision::fast ? 2 : 1);
  uint64_t preemptions = 0;
  EXPECT_EQ(run(options, eight(), &preemptions), expected);
  EXPECT_GT(preemptions, 0u);
}

TEST_P(EngineText, IsTheSameWhenResumed) {
  const auto expected = run(options_with(GetParam()), eight());
  std::vector<Request> resumed = eight();
  for (Request& r : resumed) r.resume_tokens.assign(expected.at(r.id).begin(), expected.at(r.id).begin() + 3 * r.id);
  const auto rest = run(options_with(GetParam()), resumed);
  for (const Request& r : resumed) {
    const auto& whole = expected.at(r.id);
    EXPECT_EQ(rest.at(r.id), std::vector<TokenId>(whole.begin() + r.resume_tokens.size(), whole.end()));
  }
}

TEST_P(EngineText, IsTheSameAroundTheEdgeOfAWindowAndABlock) {
  std::vector<Request> requests;
  for (uint32_t length : {14u, 15u, 16u, 17u, 18u, 126u, 127u, 128u, 129u, 130u, 131u}) requests.push_back(request(length, length, 20));
  const auto together = run(options_with(GetParam()), requests);
  for (const Request& r : requests) {
    EngineOptions options = options_with(GetParam());
    options.prefill_chunk = 5;
    EXPECT_EQ(run(options, {r}).at(r.id), together.at(r.id)) << "prompt of " << r.prompt.size();
  }
}

TEST(Engine, ALoadCanBeStoppedAtEveryStage) {
  for (int stage = 0; stage < 8; ++stage) {
    std::atomic<bool> cancel{false};
    int seen = 0;
    const auto progress = [&](const char*, double) { cancel = seen++ >= stage; };
    try {
      Engine::load(options_with(Precision::fast), progress, &cancel);
      FAIL() << "stage " << stage << " was not stopped";
    } catch (const Error& error) {
      EXPECT_EQ(error.code, ErrorCode::cancelled);
    }
  }
}

TEST(Engine, TheSequenceThatFitsIsToldAndKept) {
  EngineOptions options = options_with(Precision::exact);
  options.kv_bytes = 60ull * 16 * 1024;
  options.context = 0;
  options.prefill_chunk = 32;
  const auto engine = Engine::load(options, {});
  EXPECT_GE(engine->context(), 800u);
  EXPECT_LT(engine->context(), 960u);
  options.context = 5000;
  EXPECT_THROW(Engine::load(options, {}), Error);
}

TEST(Engine, AFileThatShrinksUnderAModelEndsItsRequestsAsABadFile) {
  const auto copy = std::filesystem::temp_directory_path() / "hearth_engine_test_shrinking.gguf";
  std::filesystem::copy_file(gpt_oss, copy, std::filesystem::copy_options::overwrite_existing);
  EngineOptions options = options_with(Precision::exact);
  options.model_path = copy.string();
  const auto engine = Engine::load(options, {});
  std::error_code refused;
  std::filesystem::resize_file(copy, 300'000, refused);
  if (refused) GTEST_SKIP() << "this system does not let a mapped file shrink";
  EXPECT_THROW(engine->logits({1, 2, 3}), Error);
  std::promise<Event> end;
  engine->on_events([&] {
    for (Event& e : engine->drain()) {
      EXPECT_NE(e.kind, Event::Kind::token);
      if (e.kind == Event::Kind::finished) end.set_value(std::move(e));
    }
  });
  engine->submit(request(1, 40, 10));
  EXPECT_EQ(end.get_future().get().error, ErrorCode::bad_file);
  engine->stop();
  std::filesystem::remove(copy);
}

TEST(KvPlan, TakesAQuarterOfFreeMemoryAndMoreOnlyWhenAsked) {
  SchedulerLimits limits;
  limits.groups = {{16, 0}};
  limits.prefill_rows = 64;
  limits.max_sequences = 1000;
  KvRequest request;
  request.block_bytes = 1 << 20;
  request.model_context = 131072;
  request.free_bytes = 4096ull << 20;
  EXPECT_EQ(plan_kv(limits, request).blocks, 1024u);
  EXPECT_EQ(plan_kv(limits, request).context, 16384u);
  request.context = 40000;  // 2500 blocks, less than eight tenths of what is free
  EXPECT_EQ(plan_kv(limits, request).context, 40000u);
  request.context = 131072;
  try {
    plan_kv(limits, request);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code, ErrorCode::out_of_ram);
    EXPECT_EQ(error.needed, 8192ull << 20);
  }
  request.context = 0;
  request.kv_bytes = 100ull << 20;
  EXPECT_EQ(plan_kv(limits, request).context, 1600u);
  limits.max_sequences = 1;
  EXPECT_EQ(plan_kv(limits, request).blocks, 100u);
}

}  // namespace
}  // namespace hearth
