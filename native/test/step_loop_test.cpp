// Failures prevented: output that depends on company, chunks, preemption, cancellation of others or resume; a cancelled
// request that goes on; an event lost, doubled or after the end; leaked blocks; a pause that is not a pause.
// The backend here is a toy: the logits of a row are a hash of what its block tables show it, so that any wrong block
// changes the text.
#include "engine/step_loop.h"

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <cstring>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <thread>

#include "hearth/error.h"

namespace hearth {
namespace {

constexpr uint32_t vocabulary = 50, block = 4, window = 6;
constexpr TokenId poison = 49;  // a row that sees it yields NaN
constexpr TokenId crash = 48;   // a step with it throws

class ToyBackend : public Backend {
 public:
  std::atomic<int> milliseconds_per_step{0};
  std::atomic<bool> habits{false};  // mostly the same token follows the same token
  std::atomic<uint32_t> most_blocks{1'000'000}, steps{0};

  std::string name() const override { return "toy"; }
  Precision precision() const override { return Precision::exact; }
  KvType kv_type() const override { return KvType::f32; }
  WeightRef add_weight(const Matrix&) override { return {0}; }
  VectorRef add_vector(const Vector&) override { return {0}; }
  RopeRef add_rope(const RopeTable&) override { return {0}; }
  Buffer add_buffer(std::string_view, uint32_t, uint32_t) override { return {0}; }
  Buffer add_routes(uint32_t, uint32_t) override { return {0}; }
  uint64_t kv_block_bytes(const KvShape&) const override { return 64; }
  void set_kv_shape(const KvShape&) override {}
  void resize_kv(uint32_t blocks) override {
    if (blocks > most_blocks) throw Error(ErrorCode::out_of_ram, "full");
    kv_.resize(blocks, std::vector<TokenId>(block, -1));
  }
  void read_kv_block(uint32_t id, std::byte* out) override { std::memcpy(out, kv_.at(id).data(), block * sizeof(TokenId)); }
  void write_kv_block(uint32_t id, const std::byte* in) override { std::memcpy(kv_.at(id).data(), in, block * sizeof(TokenId)); }
  uint64_t scratch_bytes() const override { return 0; }
  void read_routes(Buffer, uint32_t, int32_t*, float*) override {}

  void read(Buffer, uint32_t first, uint32_t rows, float* out) override {
    std::copy_n(logits_.begin() + first * vocabulary, rows * vocabulary, out);
  }

  std::unique_ptr<Ticket> submit(const OpList&, const StepInputs& in, const std::atomic<bool>* abandon) override {
    ++steps;
    for (int ms = 0; ms < milliseconds_per_step; ++ms) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      if (abandon && *abandon) return std::make_unique<Done>(false);
    }
    logits_.clear();
    std::vector<uint64_t> hashes;
    for (uint32_t r = 0; r < in.rows(); ++r) {
      if (in.tokens[r] == crash) throw Error(ErrorCode::device_lost, "the toy broke");
      // The two groups keep different things, so that they cannot stand in for each other.
      for (uint32_t g = 0; g < 2; ++g) slot(in, r, g, in.positions[r]) = in.tokens[r] + TokenId(100 * g);
      hashes.push_back(seen(in, r));
    }
    for (uint32_t r : in.output_rows) {
      add_logits(hashes[r]);
      if (habits && hashes[r] % 9 != 0) logits_[logits_.size() - vocabulary + uint32_t(in.tokens[r] * 7 + 3) % 11] += 30.0f;
    }
    return std::make_unique<Done>(true);
  }

 private:
  struct Done : Ticket {
    explicit Done(bool ran) : ran(ran) {}
    bool wait() override { return ran; }
    bool ran;
  };

  TokenId& slot(const StepInputs& in, uint32_t r, uint32_t g, uint32_t p) {
    return kv_.at(in.blocks.at(in.table_begin.at(in.sequence[r] * 2 + g) + p / block)).at(p % block);
  }

  /// A hash of all positions in group 0 and of the window in group 1; 0: something is poisoned.
  uint64_t seen(const StepInputs& in, uint32_t r) {
    uint64_t hash = 1469598103934665603ull;
    bool bad = false;
    for (uint32_t g = 0; g < 2; ++g) {
      const uint32_t p = in.positions[r];
      for (uint32_t j = g == 1 && p >= window ? p - window + 1 : 0; j <= p; ++j) {
        const TokenId value = slot(in, r, g, j);
        EXPECT_GE(value, TokenId(100 * g)) << "read of a slot that nobody wrote";
        bad = bad || value % 100 == poison;
        hash = (hash ^ uint64_t(value)) * 1099511628211ull;
      }
    }
    return bad ? 0 : hash | 1;
  }

  void add_logits(uint64_t hash) {
    for (uint32_t t = 0; t < vocabulary; ++t) {
      uint64_t x = hash * (t * 2 + 3);
      x ^= x >> 29;
      const float value = float(x * 0x9E3779B97F4A7C15ull >> 40) / float(1 << 24) * 8.0f;
      logits_.push_back(hash == 0 ? std::numeric_limits<float>::quiet_NaN() : t >= 47 ? -50.0f : value);
    }
  }

  std::vector<std::vector<TokenId>> kv_;
  std::vector<float> logits_;
};

struct Setup {
  uint32_t prefill_rows = 16, max_sequences = 4, blocks = 400, context = 300, output_rows = 32, draft_rows = 8, held_rows = 64;
  bool prefix_cache = true;
  std::string disk_folder;
  uint64_t host_bytes = 0;
};

/// A step loop on its own thread over the toy.
class Host {
 public:
  explicit Host(Setup setup = {}) {
    LoopOptions options;
    options.limits.groups = {{block, 0}, {block, window}};
    options.limits.prefill_rows = setup.prefill_rows;
    options.limits.max_sequences = setup.max_sequences;
    options.limits.output_rows = setup.output_rows;
    options.limits.draft_rows = setup.draft_rows;
    options.held_rows = setup.held_rows;
    options.context = setup.context;
    options.vocabulary = vocabulary;
    options.blocks = setup.blocks;
    options.slab = 8;
    options.prefix_cache = setup.prefix_cache;
    options.cache_salt = "toy";
    options.tiers.block_bytes = block * sizeof(TokenId);
    options.tiers.disk_folder = setup.disk_folder;
    options.tiers.disk_bytes = 1 << 20;
    options.tiers.host_bytes = setup.host_bytes;
    options.tiers.least_blocks = 4;
    spec.groups = {{AttentionKind::full, 0, 1}, {AttentionKind::window, window, 1}};
    transformer = std::make_unique<Transformer>(spec, weights, backend, TransformerLimits{1, 1});
    runner = std::make_unique<StepRunner>(backend, *transformer, 2, vocabulary);
    loop = std::make_unique<StepLoop>(options, backend, *runner, mailbox);
    mailbox.on_events([this] { take(); });
    thread = std::thread([this] { loop->run(); });
  }
  ~Host() { stop(); }

  void stop() {
    mailbox.stop();
    if (thread.joinable()) thread.join();
  }

  /// All events of a request until its end.
  std::vector<Event> finished(RequestId id) {
    std::unique_lock lock(mutex);
    const bool ended = changed.wait_for(lock, std::chrono::seconds(20), [&] {
      return !events[id].empty() && events[id].back().kind == Event::Kind::finished;
    });
    EXPECT_TRUE(ended) << "request " << id << " never ended";
    return events[id];
  }

  bool wait_for(RequestId id, Event::Kind kind, uint32_t index) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, std::chrono::seconds(20), [&] {
      for (const Event& e : events[id]) {
        if (e.kind == kind && e.index >= index) return true;
      }
      return false;
    });
  }

  uint32_t blocks_in_use() {
    // The numbers are published with the events, so one more round trip makes them current.
    mailbox.ask_logits({1}, false).get();
    Request r;
    r.id = 999'999;
    r.prompt = {1};
    r.max_tokens = 1;
    mailbox.submit(r);
    finished(r.id);
    return loop->stats().blocks_used;
  }

  ModelSpec spec;
  ModelWeights weights;
  ToyBackend backend;
  Mailbox mailbox;
  std::unique_ptr<Transformer> transformer;
  std::unique_ptr<StepRunner> runner;
  std::unique_ptr<StepLoop> loop;
  std::thread thread;
  std::mutex mutex;
  std::condition_variable changed;
  std::map<RequestId, std::vector<Event>> events;

 private:
  void take() {
    std::unique_lock lock(mutex);
    for (Event& e : mailbox.drain()) events[e.id].push_back(std::move(e));
    changed.notify_all();
  }
};

Request request(RequestId id, uint32_t prompt, uint32_t outputs, float temperature = 0.8f) {
  Request r;
  r.id = id;
  for (uint32_t i = 0; i < prompt; ++i) r.prompt.push_back(TokenId((i * 7 + id * 3) % 45));
  r.max_tokens = outputs;
  r.sampling.temperature = temperature;
  r.sampling.seed = 1000 + id;
  return r;
}

std::vector<TokenId> tokens_of(const std::vector<Event>& events) {
  std::vector<TokenId> tokens;
  for (const Event& e : events) {
    if (e.kind != Event::Kind::token) continue;
    EXPECT_TRUE(tokens.empty() || e.index > 0);
    tokens.push_back(e.token);
  }
  return tokens;
}

std::vector<TokenId> alone(const Request& r, Setup setup = {}) {
  Host host(setup);
  host.mailbox.submit(r);
  return tokens_of(host.finished(r.id));
}

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
    Host host({8, 4, blocks});
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
  Host host({8});
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
    Host host;
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
  Host host;
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
  Host host;
  host.mailbox.submit(r);
  const auto events = host.finished(1);
  EXPECT_EQ(tokens_of(events), std::vector<TokenId>(text.begin(), text.begin() + first + 1));
  EXPECT_EQ(events.back().reason, FinishReason::stop);
}

TEST(StepLoop, ALoopEndsWithinTwoHundredTokens) {
  Request r = request(1, 3, 0, 0.0f);
  r.sampling.logit_bias = {{7, 100.0f}};
  Host host({16, 4, 4000, 3000});
  host.mailbox.submit(r);
  const auto events = host.finished(1);
  EXPECT_EQ(events.back().reason, FinishReason::repetition);
  EXPECT_EQ(events.back().total, 200u);
}

TEST(StepLoop, TheContextIsTheEnd) {
  Host host({16, 4, 400, 50});
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

TEST(StepLoop, CancelEndsWithinThreeHundredMillisecondsAndSparesTheOthers) {
  const std::vector<TokenId> expected = alone(request(2, 30, 12));
  Host host;
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

TEST(StepLoop, AnIdMayBeUsedAgainAfterItsEnd) {
  Host host;
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
  Host host;
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

TEST(StepLoop, APausedRowWaitsForItsGuide) {
  Request r = request(1, 20, 12);
  r.pause_at = 0;
  Host host;
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
  Host host;
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
  Host host;
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

TEST(StepLoop, NotANumberEndsOnlyTheRequestAtFault) {
  const std::vector<TokenId> expected = alone(request(2, 20, 20));
  Host host;
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
  Host host;
  Request bad = request(1, 4, 20);
  bad.prompt[2] = crash;
  host.mailbox.submit(bad);
  host.mailbox.submit(request(2, 4, 20));
  EXPECT_EQ(host.finished(1).back().error, ErrorCode::device_lost);
  EXPECT_EQ(tokens_of(host.finished(2)), expected);
}

TEST(StepLoop, MemoryThatCannotGrowEndsWithAnError) {
  Host host;
  host.backend.most_blocks = 16;
  host.mailbox.submit(request(1, 100, 5));
  EXPECT_EQ(host.finished(1).back().error, ErrorCode::out_of_ram);
  host.mailbox.submit(request(2, 12, 5));
  EXPECT_EQ(tokens_of(host.finished(2)).size(), 5u);
}

TEST(StepLoop, ThePromptIsScoredOnceWhateverTheChunks) {
  std::vector<TokenLogprob> first;
  for (uint32_t chunk : {1u, 5u, 64u}) {
    Host host({chunk, 4, 400, 300, 12});
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
  Host host;
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

TEST(StepLoop, ARequestThatOutgrowsMemoryEndsByItsLength) {
  const std::vector<TokenId> text = alone(request(1, 20, 0));
  Host host;
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

TEST(StepLoop, AMaskThatComesLateCostsNoStep) {
  Host host;
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

/// Pauses before every third token and lets it go on freely, so that the text is what it would be without.
void guide_freely(Host& host, RequestId id, uint32_t outputs) {
  for (uint32_t at = 0; at < outputs; at += 3) {
    ASSERT_TRUE(host.wait_for(id, Event::Kind::paused, at));
    Guide guide;
    guide.index = at;
    if (at + 3 < outputs) guide.pause_at = at + 3;
    host.mailbox.guide(id, guide);
  }
}

TEST(StepLoop, MorePausedRowsThanLogitsMayBeKept) {
  Host host({16, 4, 400, 300, 32, 8, 1});
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

/// Texts with habits, drafted or not, must be the same to the last byte; `change` sets what the requests ask for.
void expect_drafts_change_nothing(const std::function<void(Request&)>& change, uint32_t blocks = 400, bool pauses = false) {
  std::map<RequestId, std::vector<Event>> plain;
  for (uint32_t draft_rows : {0u, 1u, 8u}) {
    Host host({16, 4, blocks, 300, 32, draft_rows});
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
    Host host({16, 4, 4000, 3000, 32, draft_rows});
    Request r = request(1, 3, 0, 0.0f);
    r.sampling.logit_bias = {{7, 100.0f}};
    host.mailbox.submit(r);
    EXPECT_EQ(host.finished(1).back().total, 200u);
    EXPECT_EQ(host.loop->stats().accepted > 100, draft_rows > 0);
  }
}

TEST(StepLoop, TheSameRequestAgainIsTheSameTextFromTheCache) {
  hearth::Setup cold;
  cold.prefix_cache = false;
  for (uint32_t length : {1u, 3u, 4u, 5u, 6u, 7u, 8u, 9u, 10u, 11u, 12u, 13u, 126u, 127u, 128u, 129u, 130u, 131u}) {
    Request r = request(1, length, 30, 0.0f);
    const std::vector<TokenId> expected = alone(r, cold);
    Host host;
    for (RequestId id = 1; id <= 4; ++id) {
      r.id = id;
      host.mailbox.submit(r);
      const auto events = host.finished(id);
      EXPECT_EQ(tokens_of(events), expected) << "prompt of " << length << ", time " << id;
      EXPECT_EQ(events.back().cached, id == 1 ? 0 : (length - 1) / block * block);
      EXPECT_EQ(events.back().cache_miss, length <= block ? CacheMiss::too_short : id == 1 ? CacheMiss::no_entry : CacheMiss::none);
    }
  }
}

TEST(StepLoop, ASecondTurnReadsOnlyWhatIsNew) {
  Host host({16, 4, 400, 3000});
  Request first = request(1, 201, 30);
  host.mailbox.submit(first);
  std::vector<TokenId> answer = tokens_of(host.finished(1));
  // As a template without thoughts continues: the whole answer, then something new.
  Request second = first;
  second.id = 2;
  second.prompt.insert(second.prompt.end(), answer.begin(), answer.end());
  for (TokenId t = 0; t < 20; ++t) second.prompt.push_back(t);
  const uint64_t read = host.loop->stats().prompt_tokens;
  host.mailbox.submit(second);
  const auto events = host.finished(2);
  EXPECT_LE(host.loop->stats().prompt_tokens - read, 20u + 1 + block);
  EXPECT_GE(events.back().cached, 201u + 29 - block);
  EXPECT_EQ(host.loop->stats().cached_tokens, events.back().cached);
  // As harmony continues: the answer is written anew after the last message's end.
  Request third = first;
  third.id = 3;
  third.prompt.push_back(44);
  for (TokenId t = 0; t < 20; ++t) third.prompt.push_back(t);
  host.mailbox.submit(third);
  EXPECT_EQ(host.finished(3).back().cached, 200u);
  third.id = 4;
  EXPECT_EQ(tokens_of(host.events[3]), alone(third, {16, 4, 400, 3000}));
}

TEST(StepLoop, AnEditedHistoryIsReadAgainFromTheLastCutBeforeIt) {
  hearth::Setup small{16, 4, 66, 300};
  Host host(small);
  Request r = request(1, 200, 5);
  r.cut_points = {81, 150, 200};
  host.mailbox.submit(r);
  host.finished(1);
  r.id = 2;
  r.prompt[160] = 44;
  host.mailbox.submit(r);
  EXPECT_EQ(host.finished(2).back().cached, 148u);
  EXPECT_EQ(host.events[2].back().cache_miss, CacheMiss::window_gone);
  // Where the texts parted has become a cut.
  r.id = 3;
  r.prompt[161] = 43;
  host.mailbox.submit(r);
  EXPECT_EQ(host.finished(3).back().cached, 160u);
  r.id = 4;
  r.prompt[100] = 44;
  host.mailbox.submit(r);
  EXPECT_EQ(host.finished(4).back().cached, 80u);
}

TEST(StepLoop, NothingIsFoundAcrossScopesNorWhereTheCacheIsNotWanted) {
  Host host;
  Request r = request(1, 50, 5);
  r.cache_scope = "one";
  host.mailbox.submit(r);
  const auto text = tokens_of(host.finished(1));
  const auto again = [&](RequestId id, const std::string& scope, bool use_cache = true) {
    r.id = id;
    r.cache_scope = scope;
    r.use_cache = use_cache;
    host.mailbox.submit(r);
    const auto events = host.finished(id);
    EXPECT_EQ(tokens_of(events), text);
    return events.back();
  };
  EXPECT_EQ(again(2, "two").cached, 0u);
  EXPECT_EQ(host.events[2].back().cache_miss, CacheMiss::other_scope);
  EXPECT_EQ(again(3, "one").cached, 48u);
  EXPECT_EQ(again(4, "two").cached, 48u);
  EXPECT_EQ(again(5, "").cached, 0u);
  EXPECT_EQ(again(6, "one", false).cached, 0u);
  EXPECT_EQ(host.events[6].back().cache_miss, CacheMiss::not_wanted);
  r.prompt[0] ^= 1;
  r.id = 7;
  host.mailbox.submit(r);
  host.finished(7);
  r.use_cache = true;
  r.id = 8;
  host.mailbox.submit(r);
  EXPECT_EQ(host.finished(8).back().cached, 0u) << "a request that does not want the cache has filled it";
}

TEST(StepLoop, PromptsThatAreScoredAreComputed) {
  Host host;
  Request r = request(1, 50, 1);
  host.mailbox.submit(r);
  host.finished(1);
  r.id = 2;
  r.prompt_logprobs = true;
  r.sampling.logprobs = 0;
  host.mailbox.submit(r);
  const auto events = host.finished(2);
  EXPECT_EQ(events.back().cached, 0u);
  EXPECT_EQ(host.loop->stats().prompt_tokens, 100u);
}

TEST(StepLoop, CachedBlocksGiveWayBeforeARequestDoes) {
  Host host({16, 4, 60, 300});
  for (RequestId id = 1; id <= 12; ++id) {
    host.mailbox.submit(request(id, 60, 40));
    EXPECT_EQ(tokens_of(host.finished(id)), alone(request(id, 60, 40)));
  }
  EXPECT_EQ(host.loop->stats().preemptions, 0u);
  EXPECT_GT(host.loop->stats().blocks_cached, 30u);
  EXPECT_EQ(host.loop->stats().blocks_used, 0u);
}

/// Requests with common beginnings in a pool that is too small, at once: shared blocks are counted right, nobody hangs.
TEST(StepLoop, SharedBeginningsUnderPreemptionDoNotChangeTheText) {
  std::map<RequestId, std::vector<TokenId>> expected;
  const auto shared = [](RequestId id) {
    Request r = request(id, 20 + 3 * uint32_t(id), 40);
    const Request base = request(100 + id % 2, 60, 1);
    std::copy_n(base.prompt.begin(), 12 + id, r.prompt.begin());
    r.priority = int32_t(id % 3);
    return r;
  };
  for (RequestId id = 1; id <= 10; ++id) expected[id] = alone(shared(id));
  for (uint32_t blocks : {200u, 60u, 45u, 36u}) {
    Host host({8, 4, blocks});
    for (int round = 0; round < 3; ++round) {
      for (RequestId id = 1; id <= 10; ++id) host.mailbox.submit(shared(id));
      for (RequestId id = 1; id <= 10; ++id) EXPECT_EQ(tokens_of(host.finished(id)), expected[id]) << "blocks " << blocks;
      std::lock_guard lock(host.mutex);
      host.events.clear();
    }
    EXPECT_EQ(host.blocks_in_use(), 0u);
    EXPECT_GT(host.loop->stats().cached_tokens, 0u);
  }
}

/// A folder that is gone when the test ends.
struct Folder {
  explicit Folder(const char* name) : path(std::filesystem::temp_directory_path() / name) { std::filesystem::remove_all(path); }
  ~Folder() { std::filesystem::remove_all(path); }
  std::filesystem::path path;
};

TEST(StepLoop, ARestartFindsWhatWasReadBefore) {
  const Folder folder("hearth_step_loop_restart");
  hearth::Setup setup;
  setup.disk_folder = folder.path.string();
  Request r = request(1, 150, 30);
  const std::vector<TokenId> expected = alone(r);
  EXPECT_EQ(alone(r, setup), expected);
  {
    Host host(setup);
    host.mailbox.submit(r);
    const auto events = host.finished(1);
    EXPECT_EQ(tokens_of(events), expected);
    EXPECT_EQ(events.back().cached, 148u);
    EXPECT_GE(host.loop->stats().blocks_fetched, 37u);
    r.id = 2;
    r.cache_scope = "other";
    host.mailbox.submit(r);
    EXPECT_EQ(host.finished(2).back().cached, 0u);
  }
  // A file that was cut, altered or removed is a miss: what comes before it is found, and the text stays the same.
  r.id = 1;
  r.cache_scope = "";
  int files = 0;
  for (const auto& each : std::filesystem::recursive_directory_iterator(folder.path)) {
    if (!each.is_regular_file() || ++files % 7 != 0) continue;
    if (files % 3 == 0) std::filesystem::remove(each.path());
    else std::filesystem::resize_file(each.path(), files % 2 ? 70 : 0);
  }
  EXPECT_GT(files, 40);
  Host host(setup);
  host.mailbox.submit(r);
  EXPECT_EQ(tokens_of(host.finished(1)), expected);
  EXPECT_LT(host.events[1].back().cached, 148u);
}

TEST(StepLoop, BlocksThatLeaveThePoolComeBackFromPlainMemory) {
  hearth::Setup setup{16, 4, 70, 300};
  setup.host_bytes = 1 << 20;
  Host host(setup);
  for (int round = 0; round < 2; ++round) {
    for (RequestId id = 1; id <= 6; ++id) {
      Request r = request(id, 100, 20);
      const std::vector<TokenId> expected = alone(r);
      r.id += 100 * RequestId(round);
      host.mailbox.submit(r);
      EXPECT_EQ(tokens_of(host.finished(r.id)), expected);
      EXPECT_EQ(host.events[r.id].back().cached, round == 0 ? 0u : 96u);
    }
  }
  EXPECT_GT(host.loop->stats().blocks_fetched, 100u);
}

/// Random lives, cancelled at random: nothing leaks, nothing hangs, and who is left says what it says alone.
TEST(StepLoop, RandomCancellationsLeakNothing) {
  std::map<RequestId, std::vector<TokenId>> expected;
  for (RequestId id = 1; id <= 40; ++id) expected[id] = alone(request(id, 1 + uint32_t(id * 5 % 60), uint32_t(1 + id % 30)));
  Host host({8, 3, 50});
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
}  // namespace hearth
