// Failure prevented: an answer that depends on how it came about. One greedy request, on the real CPU kernels, must give the same tokens
// cold, from the cache, in company, preempted, resumed and in any chunks, for prompts around the edges of blocks, windows and splits.
#include <gtest/gtest.h>

#include <condition_variable>
#include <map>
#include <mutex>

#include "hearth/engine.h"
#include "test/watched.h"

namespace hearth {
namespace {

/// A model and the numbers of its cache, of which a pool that is too small is made.
struct Model {
  const char* name;
  const char* path;  // from the fixtures
  uint32_t group_layers, kv_heads, head_dim;
};
const Model tiny = {"", "/oracles/gptoss/tiny.gguf", 2, 2, 32};
const Model starter = {"Starter", "/../../resources/starter/starter.gguf", 3, 2, 64};  // a trained one, whose window is 64

constexpr uint32_t outputs = 24;
constexpr RequestId asked = 100;

struct Case {
  Model model;
  Precision precision;
  uint32_t prompt;
};

std::vector<Case> cases() {
  const auto prompts = unless_watched<std::vector<uint32_t>>({126, 127, 128, 129, 130, 131, 4095, 4096, 4097}, {127, 128, 129, 1025});
  std::vector<Case> all;
  for (Precision precision : {Precision::exact, Precision::fast}) {
    for (uint32_t prompt : prompts) all.push_back({tiny, precision, prompt});
    all.push_back({starter, precision, 65});
  }
  return all;
}

EngineOptions options_of(const Case& each) {
  EngineOptions options;
  options.model_path = std::string(HEARTH_FIXTURES) + each.model.path;
  options.precision = each.precision;
  options.threads = 2;
  options.context = each.prompt + 64;
  return options;
}

Request greedy(RequestId id, uint32_t prompt) {
  Request r;
  r.id = id;
  for (uint32_t i = 0; i < prompt; ++i) r.prompt.push_back(TokenId((i * 31 + i * i % 97 + id * 17) % 256));
  r.max_tokens = outputs;
  r.sampling.temperature = 0;
  return r;
}

using Texts = std::map<RequestId, std::vector<TokenId>>;

/// An engine that answers until the end of the test.
class Answers {
 public:
  explicit Answers(const EngineOptions& options) : engine_(Engine::load(options, {})) {
    engine_->on_events([this] { take(); });
  }
  ~Answers() { engine_->stop(); }

  /// Submits all at once; the text of each.
  Texts to(const std::vector<Request>& requests) {
    std::unique_lock lock(mutex_);
    texts_.clear();
    finished_ = 0;
    lock.unlock();
    for (const Request& r : requests) engine_->submit(r);
    lock.lock();
    EXPECT_TRUE(changed_.wait_for(lock, std::chrono::minutes(10), [&] { return finished_ == requests.size(); }));
    return texts_;
  }

  EngineStats stats() const { return engine_->stats(); }

 private:
  void take() {
    std::lock_guard lock(mutex_);
    for (const Event& e : engine_->drain()) {
      if (e.kind == Event::Kind::token) texts_[e.id].push_back(e.token);
      if (e.kind != Event::Kind::finished) continue;
      EXPECT_EQ(e.reason, FinishReason::length) << e.message;
      ++finished_;
    }
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  Texts texts_;
  size_t finished_ = 0;
  std::unique_ptr<Engine> engine_;
};

std::vector<TokenId> alone(const EngineOptions& options, const Request& request) {
  return Answers(options).to({request}).at(request.id);
}

class SameBytes : public testing::TestWithParam<Case> {
 protected:
  SameBytes() : expected(alone(options_of(GetParam()), request)) {}

  const Request request = greedy(asked, GetParam().prompt);
  const std::vector<TokenId> expected;
};

INSTANTIATE_TEST_SUITE_P(All, SameBytes, testing::ValuesIn(cases()), [](const auto& each) {
  return std::string(each.param.precision == Precision::exact ? "exact" : "fast") + each.param.model.name + std::to_string(each.param.prompt);
});

TEST_P(SameBytes, AskedFourTimesWithTheCacheOn) {
  Answers answers(options_of(GetParam()));
  for (int time = 1; time <= 4; ++time) EXPECT_EQ(answers.to({request}).at(asked), expected) << "time " << time;
}

TEST_P(SameBytes, BesideSevenOthersColdAndWarm) {
  Answers answers(options_of(GetParam()));
  std::vector<Request> eight = {request};
  for (RequestId id = 1; id <= 7; ++id) eight.push_back(greedy(id, uint32_t(5 + 13 * id)));
  EXPECT_EQ(answers.to(eight).at(asked), expected);
  EXPECT_EQ(answers.to(eight).at(asked), expected);
}

TEST_P(SameBytes, InAnyChunks) {
  for (uint32_t chunk : {1u, 7u, 128u, 2048u}) {
    EngineOptions options = options_of(GetParam());
    options.prefill_chunk = chunk;
    options.threads = chunk == 7 ? 1 : 2;
    EXPECT_EQ(alone(options, request), expected) << "chunk " << chunk;
  }
}

TEST_P(SameBytes, Preempted) {
  // Others of a higher class grow while it is answered. The pool shrinks until they push it out.
  std::vector<Request> requests = {request};
  for (RequestId id = 1; id <= 6; ++id) {
    requests.push_back(greedy(id, uint32_t(10 + id)));
    requests.back().sampling.temperature = 1;
    requests.back().sampling.seed = id;
    requests.back().max_tokens = 150;  // still writing when a long prompt has been read in chunks of 64
    requests.back().priority = 1;
  }
  const uint64_t element = GetParam().precision == Precision::fast ? 2 : 4;
  const Model& model = GetParam().model;
  const uint64_t block = 16 * model.group_layers * 2 * model.kv_heads * model.head_dim * element;  // 16 positions, keys and values
  uint64_t preemptions = 0;
  for (uint64_t spare = 64; spare >= 10 && preemptions == 0; spare -= 6) {
    EngineOptions options = options_of(GetParam());
    options.prefill_chunk = 64;
    options.kv_bytes = (options.context / 16 + spare) * block;
    Answers answers(options);
    EXPECT_EQ(answers.to(requests).at(asked), expected) << spare << " blocks to spare";
    preemptions = answers.stats().preemptions;
  }
  EXPECT_GT(preemptions, 0u);
}

TEST_P(SameBytes, ResumedFromItsTokens) {
  for (size_t given : {size_t(1), size_t(9), size_t(outputs - 1)}) {
    if (given != 9 && GetParam().prompt > 1000) continue;  // where it is resumed has nothing to do with a long prompt
    Request rest = request;
    rest.resume_tokens.assign(expected.begin(), expected.begin() + given);
    EXPECT_EQ(alone(options_of(GetParam()), rest), std::vector<TokenId>(expected.begin() + given, expected.end()));
  }
}

}  // namespace
}  // namespace hearth
