// A step loop on its own thread over a toy backend, for tests of the loop: the logits of a row are a hash of what its block tables show it,
// so that any wrong block changes the text. Models, kernels and speed are not its business.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <new>
#include <thread>

#include "backend/top_logits.h"
#include "engine/step_loop.h"
#include "hearth/error.h"
#include "model/transformer.h"

namespace hearth::testing {

constexpr uint32_t vocabulary = 50, block = 4, window = 6;
constexpr TokenId poison = 49;  // a row that sees it yields NaN
constexpr TokenId crash = 48;   // a step with it throws

class ToyBackend : public Backend {
 public:
  std::atomic<int> milliseconds_per_step{0};
  std::atomic<bool> habits{false};  // mostly the same token follows the same token
  std::atomic<uint32_t> most_blocks{1'000'000}, steps{0}, crashes{0};
  std::atomic<int> microseconds_per_written_block{0};
  std::atomic<bool> fail_after_step{false};  // once, when the rows have been computed
  std::atomic<bool> far{false};              // its rows of logits are worth sparing
  std::atomic<uint32_t> rows_read{0}, best_read{0};
  std::function<void()> on_grow;             // on the engine's thread, between a plan and its step

  std::string name() const override { return "toy"; }
  Precision precision() const override { return Precision::exact; }
  KvType kv_type() const override { return KvType::f32; }
  void set_comm(Comm*) override {}
  WeightRef add_weight(const Matrix&) override { return {0}; }
  VectorRef add_vector(const Vector&) override { return {0}; }
  RopeRef add_rope(const RopeTable&) override { return {0}; }
  Buffer add_buffer(std::string_view name, uint32_t, uint32_t) override { return {name == "top_logits" ? 1u : 0u}; }
  Buffer add_routes(uint32_t, uint32_t) override { return {0}; }
  uint64_t kv_block_bytes(const KvShape&) const override { return 64; }
  void set_kv_shape(const KvShape&) override {}
  void resize_kv(uint32_t blocks) override {
    if (blocks > most_blocks) throw Error(ErrorCode::out_of_ram, "full");
    kv_.resize(blocks, std::vector<TokenId>(block, -1));
    if (on_grow) on_grow();
  }
  void read_kv_block(uint32_t id, std::byte* out) override { std::memcpy(out, kv_.at(id).data(), block * sizeof(TokenId)); }
  void write_kv_block(uint32_t id, const std::byte* in) override {
    std::this_thread::sleep_for(std::chrono::microseconds(microseconds_per_written_block));
    std::memcpy(kv_.at(id).data(), in, block * sizeof(TokenId));
  }
  uint64_t scratch_bytes() const override { return 0; }
  void read_routes(Buffer, uint32_t, int32_t*, float*) override {}

  bool far_logits() const override { return far; }
  void read(Buffer buffer, uint32_t first, uint32_t rows, float* out) override {
    if (buffer.id == 0) {
      rows_read += rows;
      std::copy_n(logits_.begin() + first * vocabulary, rows * vocabulary, out);
      return;
    }
    best_read += rows;
    const TopLayout layout{vocabulary, most_top};
    for (uint32_t r = first; r < first + rows; ++r, out += layout.cols()) top_logits(&logits_[r * vocabulary], layout, out);
  }

  void for_each(uint32_t count, const std::function<void(uint32_t thread, uint32_t item)>& body) override {
    if (fail_after_step.exchange(false)) throw std::bad_alloc();
    Backend::for_each(count, body);
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
      if (in.tokens[r] == crash) {
        ++crashes;
        throw Error(ErrorCode::device_lost, "the toy broke");
      }
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

struct LoopSetup {
  uint32_t prefill_rows = 16, max_sequences = 4, blocks = 400, context = 300, output_rows = 32, draft_rows = 8, held_rows = 64;
  bool prefix_cache = true;
  std::string disk_folder;
  uint64_t host_bytes = 0;
  bool cache_answers = true;
};

/// A step loop on its own thread over the toy.
class LoopHost {
 public:
  explicit LoopHost(LoopSetup setup = {}) {
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
    options.block_bytes = block * sizeof(TokenId);
    options.slab = 8;
    options.prefix_cache = setup.prefix_cache;
    options.cache_answers = setup.cache_answers;
    options.cache_salt = "toy";
    options.tiers.block_bytes = block * sizeof(TokenId);
    options.tiers.disk_folder = setup.disk_folder;
    options.tiers.disk_bytes = 1 << 20;
    options.tiers.host_bytes = setup.host_bytes;
    options.tiers.least_blocks = 4;
    spec.heads = spec.kv_heads = 1;
    spec.groups = {{AttentionKind::full, 0, 1}, {AttentionKind::window, window, 1}};
    transformer = std::make_unique<Transformer>(spec, weights, backend, TransformerLimits{1, 1});
    const StepLists lists{transformer->record(StepTail::logits), transformer->record(StepTail::kv_only), transformer->logits(),
                          transformer->record(StepTail::top_logits), transformer->top_logits(), {vocabulary}};
    runner = std::make_unique<StepRunner>(backend, lists, 2, vocabulary);
    loop = std::make_unique<StepLoop>(options, backend, *runner, mailbox);
    mailbox.on_events([this] { take(); });
    thread = std::thread([this] { loop->run(); });
  }
  ~LoopHost() { stop(); }

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

inline Request request(RequestId id, uint32_t prompt, uint32_t outputs, float temperature = 0.8f) {
  Request r;
  r.id = id;
  for (uint32_t i = 0; i < prompt; ++i) r.prompt.push_back(TokenId((i * 7 + id * 3) % 45));
  r.max_tokens = outputs;
  r.sampling.temperature = temperature;
  r.sampling.seed = 1000 + id;
  return r;
}

inline std::vector<TokenId> tokens_of(const std::vector<Event>& events) {
  std::vector<TokenId> tokens;
  for (const Event& e : events) {
    if (e.kind != Event::Kind::token) continue;
    EXPECT_TRUE(tokens.empty() || e.index > 0);
    tokens.push_back(e.token);
  }
  return tokens;
}

inline std::vector<TokenId> alone(const Request& r, LoopSetup setup = {}) {
  LoopHost host(setup);
  host.mailbox.submit(r);
  return tokens_of(host.finished(r.id));
}

/// Pauses before every third token and lets it go on freely, so that the text is what it would be without.
inline void guide_freely(LoopHost& host, RequestId id, uint32_t outputs) {
  for (uint32_t at = 0; at < outputs; at += 3) {
    ASSERT_TRUE(host.wait_for(id, Event::Kind::paused, at));
    Guide guide;
    guide.index = at;
    if (at + 3 < outputs) guide.pause_at = at + 3;
    host.mailbox.guide(id, guide);
  }
}

}  // namespace hearth::testing
