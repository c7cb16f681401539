// A placed model with one sequence on it, for tests that hold several ranks against one.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backend/top_logits.h"
#include "cache/block_pool.h"
#include "cache/sequence_kv.h"
#include "engine/placed_model.h"
#include "test/mini_model.h"
#include "test/random_model.h"
#include "test/vulkan_testing.h"

namespace hearth::testing {

inline constexpr uint32_t block_size = 16, most_rows = 512;
inline constexpr double logit_tolerance = 0.02;  // of a model in float32 (ENGINE reference 1.7)

struct Division {
  const char* name;
  std::vector<RankOptions> ranks;
  RankSplit split = RankSplit::tensor;
  std::vector<ServedExperts> served = {};
};

inline RankOptions rank_on(const std::string& device, double share = 1, uint32_t layers = 0) { return {device, 1, share, layers}; }

inline void PrintTo(const Division& each, std::ostream* out) { *out << each.name; }

inline EngineOptions options_of(const Division& division, Precision precision = Precision::exact) {
  EngineOptions options;
  options.device = "cpu", options.threads = 1, options.precision = precision;
  options.ranks = division.ranks, options.split = division.split, options.served = division.served;
  if (division.split == RankSplit::handover) options.kv_type = KvType::f32;  // the reference keeps nothing else by itself
  return options;
}

inline const Division alone_cpu{"alone", {}}, alone_reference{"alone", {rank_on("reference")}, RankSplit::layers};

/// One sequence on a placed model.
class Placed {
 public:
  Placed(const ModelFile& file, const EngineOptions& options) : file_(file), model_(options, file, block_size), kv_(groups(file)), stream_(groups(file)) {
    model_.load({most_rows, 64, 512}, [](double) {});
    runner_ = std::make_unique<StepRunner>(model_.device(), model_.lists(), static_cast<uint32_t>(file.spec.groups.size()), file.spec.vocabulary);
    model_.device().resize_kv(blocks);
  }

  /// Logits of all rows of `tokens`, in chunks, behind what there is.
  Floats read(const std::vector<int32_t>& tokens, uint32_t chunk) {
    Floats all;
    for (uint32_t first = 0; first < tokens.size(); first += chunk) {
      const uint32_t rows = std::min<uint32_t>(chunk, static_cast<uint32_t>(tokens.size()) - first);
      text_.insert(text_.end(), tokens.begin() + first, tokens.begin() + first + rows);
      EXPECT_TRUE(step(rows, rows));
      kv_.commit(pool_);
      all.insert(all.end(), runner_->logits(0), runner_->logits(rows));
    }
    return all;
  }
  /// The same as keys and values alone.
  void skip(const std::vector<int32_t>& tokens) {
    text_.insert(text_.end(), tokens.begin(), tokens.end());
    EXPECT_TRUE(step(static_cast<uint32_t>(tokens.size()), 0));
    kv_.commit(pool_);
  }
  /// Logits of the last rows of two sequences in one step: `tokens` behind what there is, and another text.
  Floats beside(const std::vector<int32_t>& tokens, const std::vector<int32_t>& other) {
    SequenceKv second(groups(file_));
    text_.insert(text_.end(), tokens.begin(), tokens.end());
    const auto rows = static_cast<uint32_t>(tokens.size()), others = static_cast<uint32_t>(other.size());
    EXPECT_TRUE(kv_.begin(pool_, rows) && second.begin(pool_, others));
    EXPECT_TRUE(runner_->run({{&text_, &kv_, kv_.committed(), rows, 1, nullptr, prompt_}, {&other, &second, 0, others, 1}}, nullptr));
    return {runner_->logits(0), runner_->logits(2)};
  }
  /// The same in one step with the next row of a stream, whose logits it gives.
  Floats skip_beside_stream(const std::vector<int32_t>& tokens, int32_t stream_token) {
    text_.insert(text_.end(), tokens.begin(), tokens.end());
    stream_text_.push_back(stream_token);
    const auto rows = static_cast<uint32_t>(tokens.size());
    EXPECT_TRUE(stream_.begin(pool_, 1) && kv_.begin(pool_, rows));
    EXPECT_TRUE(runner_->run({{&stream_text_, &stream_, stream_.committed(), 1, 1}, {&text_, &kv_, kv_.committed(), rows, 0}}, nullptr));
    stream_.commit(pool_), kv_.commit(pool_);
    return {runner_->logits(0), runner_->logits(1)};
  }
  /// Nothing stays of it.
  bool attempt(const std::vector<int32_t>& tokens, const std::atomic<bool>* abandon) {
    text_.insert(text_.end(), tokens.begin(), tokens.end());
    bool whole = false;
    try {
      whole = step(static_cast<uint32_t>(tokens.size()), 1, abandon);
    } catch (...) {
      take_back(tokens.size());
      throw;
    }
    take_back(tokens.size());
    return whole;
  }

  /// All blocks, and back into a pool that was emptied.
  void through_plain_memory() {
    std::vector<std::byte> kept(model_.kv_block_bytes() * blocks);
    for (uint32_t b = 0; b < blocks; ++b) model_.device().read_kv_block(b, &kept[b * model_.kv_block_bytes()]);
    model_.device().resize_kv(0);
    model_.device().resize_kv(blocks);
    for (uint32_t b = 0; b < blocks; ++b) model_.device().write_kv_block(b, &kept[b * model_.kv_block_bytes()]);
  }

  /// Of what comes, positions from here on are written and not read.
  void prompt_ends(uint32_t at) { prompt_ = at; }

  /// The best logits of the last row of `tokens`, as a step leaves them, and all of them.
  std::pair<Shortlist, Floats> best(const std::vector<int32_t>& tokens) {
    const StepLists lists = model_.lists();
    text_ = tokens;
    EXPECT_TRUE(kv_.begin(pool_, static_cast<uint32_t>(tokens.size())));
    const StepInputs inputs = make_step_inputs({{&text_, &kv_, 0, static_cast<uint32_t>(tokens.size()), 1}}, static_cast<uint32_t>(file_.spec.groups.size()));
    EXPECT_TRUE(model_.device().submit(lists.with_top_logits, inputs, nullptr)->wait());
    uint32_t cols = 0;
    for (uint32_t share : lists.shares) cols += TopLayout{share, most_top}.cols();
    Floats row(cols), logits(file_.spec.vocabulary);
    model_.device().read(lists.top_logits, 0, 1, row.data());
    model_.device().read(lists.logits, 0, 1, logits.data());
    take_back(tokens.size());
    EXPECT_TRUE(text_.empty());
    return {read_shortlist(row.data(), lists.shares, most_top), logits};
  }

  StepDevice& device() { return model_.device(); }
  ExpertUses uses() const { return model_.expert_uses(); }

 private:
  static constexpr uint32_t blocks = 80;
  static std::vector<GroupReach> groups(const ModelFile& file) {
    std::vector<GroupReach> out;
    for (const LayerGroup& group : file.spec.groups) out.push_back({block_size, group.window});
    return out;
  }
  bool step(uint32_t rows, uint32_t outputs, const std::atomic<bool>* abandon = nullptr) {
    EXPECT_TRUE(kv_.begin(pool_, rows));
    return runner_->run({{&text_, &kv_, kv_.committed(), rows, outputs, nullptr, prompt_}}, abandon);
  }
  void take_back(size_t tokens) {
    kv_.roll_back(pool_);
    text_.resize(text_.size() - tokens);
  }

  const ModelFile& file_;
  PlacedModel model_;
  std::unique_ptr<StepRunner> runner_;
  BlockPool pool_{blocks, blocks, [](uint32_t) { return true; }};
  SequenceKv kv_, stream_;
  std::vector<int32_t> text_, stream_text_;
  uint32_t prompt_ = 75;
};

inline const RandomModel& ragged() {
  static const RandomModel model;
  return model;
}

inline const std::vector<int32_t> prompt = some_tokens(75, 100), answer = some_tokens(8, 100, 9);

inline double worst_logit(const Floats& got, const Floats& want) {
  double worst = got.size() == want.size() ? 0 : INFINITY;
  for (size_t i = 0; i < std::min(got.size(), want.size()); ++i) {
    const double d = std::fabs(double(got[i]) - want[i]);
    if (!(d <= worst)) worst = d;
  }
  return worst;
}

/// Prompt and answer: a prompt in chunks, then token by token.
inline Floats logits_of(Placed& run) {
  Floats all = run.read(prompt, 40);
  const Floats more = run.read(answer, 1);
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

inline const Floats& reference_logits() {
  static const Floats logits = [] {
    Placed run(ragged().file, options_of(alone_reference));
    return logits_of(run);
  }();
  return logits;
}

inline void expect_what_one_rank_is(const Division& division) {
  Placed run(ragged().file, options_of(division));
  const double worst = worst_logit(logits_of(run), reference_logits());
  ::testing::Test::RecordProperty("worst_logit", std::to_string(worst));
  EXPECT_LE(worst, logit_tolerance);
}

inline void set_environment(const char* name, const std::string& value) {
#ifdef _WIN32
  _putenv_s(name, value.c_str());
#else
  setenv(name, value.c_str(), 1);
#endif
}

/// The faster kernels are another test's business; on software they would only be compiled and judged anew here.
class BaselineKernels : public ::testing::Environment {
 public:
  void SetUp() override {
    if (thorough() || std::getenv("HEARTH_VULKAN_WITHOUT")) return;
    set_environment("HEARTH_VULKAN_WITHOUT", "subgroups,large_tiles,tiled_attention,cooperative_matrix");
  }
};
[[maybe_unused]] inline auto* const baseline_kernels = ::testing::AddGlobalTestEnvironment(new BaselineKernels);

}  // namespace hearth::testing
