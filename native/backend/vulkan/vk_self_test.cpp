// Implements the trials: for each kernel an op list that runs on both, and the comparison.
#include "backend/vulkan/vk_self_test.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <deque>
#include <mutex>
#include <numeric>

#include "backend/rope.h"
#include "backend/synthetic_weights.h"
#include "backend/top_logits.h"
#include "backend/vulkan/cache_file.h"
#include "backend/vulkan/embedded_shaders.h"
#include "backend/vulkan/vk_weights.h"

namespace hearth::vulkan {
namespace {

using Clock = std::chrono::steady_clock;
using Results = std::vector<std::vector<float>>;  // of each buffer that is looked at

constexpr const char* no_time = "there was no time to try it";
constexpr uint32_t chosen = 2, experts = 4, outs = 100, cols = 512, inner = 256;

/// Feeds an op list: token t of a step is row t of the input.
struct Trial {
  Backend& backend;
  std::deque<SyntheticMatrix> owned;
  OpList ops;
  StepInputs inputs;

  WeightRef weight(DType type, uint32_t rows, uint32_t columns, uint32_t of_experts = 1) {
    owned.emplace_back("weight", type, rows, columns, of_experts, owned.size());
    return backend.add_weight(owned.back().matrix);
  }
  VectorRef vector(size_t n) {
    std::vector<float> values(n);
    for (size_t i = 0; i < n; ++i) values[i] = 0.1f * static_cast<float>(std::sin(double(i) * 1.7));
    return backend.add_vector(values);
  }
  Buffer input(uint32_t columns, uint32_t rows) {
    const Buffer x = backend.add_buffer("x", columns, rows);
    // Rows out of the seed scatter by 1 / sqrt(columns); activations by 1.
    ops.push_back(Embed{weight(DType::f32, rows, columns), std::sqrt(static_cast<float>(columns)), x});
    return x;
  }
  void run(uint32_t first, uint32_t rows) {
    inputs.tokens.resize(rows), inputs.positions.resize(rows), inputs.sequence.assign(rows, 0);
    std::iota(inputs.tokens.begin(), inputs.tokens.end(), static_cast<int32_t>(first));
    std::iota(inputs.positions.begin(), inputs.positions.end(), first);
    inputs.sequences = 1;
    backend.submit(ops, inputs, nullptr)->wait();
  }
  std::vector<float> read(Buffer buffer, uint32_t rows, uint32_t columns) {
    std::vector<float> values(size_t(rows) * columns);
    backend.read(buffer, 0, rows, values.data());
    return values;
  }
};

/// One matrix, two, and those of chosen experts, all of them here and only three, for numbers of rows that are compiled apart.
Results matmuls(Backend& backend, DType type, const std::vector<uint32_t>& row_counts) {
  const uint32_t most = *std::max_element(row_counts.begin(), row_counts.end());
  Trial trial{backend};
  const Buffer x = trial.input(cols, most), y = backend.add_buffer("y", outs, most), residual = backend.add_buffer("residual", outs, most);
  const Buffer inside = backend.add_buffer("inside", inner * chosen, most), routes = backend.add_routes(chosen, most);
  trial.ops.push_back(Logits{x, trial.weight(type, outs, cols), y});
  trial.ops.push_back(Embed{trial.weight(DType::f32, most, outs), 1.0f, residual});
  trial.ops.push_back(Router{x, trial.weight(DType::f32, experts, cols), {}, experts, chosen, 0, routes});
  trial.ops.push_back(ExpertsGateUp{x, routes, trial.weight(type, inner, cols, experts), trial.weight(type, inner, cols, experts),
                                    trial.vector(experts * inner), trial.vector(experts * inner), chosen, Activation::swiglu_oai, 1.702f, 7.0f, inside});
  trial.ops.push_back(ExpertsDown{inside, routes, trial.weight(type, outs, inner, experts), trial.vector(experts * outs), chosen, residual});
  const Buffer here = backend.add_routes(chosen, most);
  trial.ops.push_back(PickRoutes{routes, backend.add_vector({2, -1, 0, 1}), here});
  trial.ops.push_back(ExpertsGateUp{x, here, trial.weight(type, inner, cols, experts - 1), trial.weight(type, inner, cols, experts - 1), {}, {}, chosen,
                                    Activation::silu, 0, 0, inside});
  trial.ops.push_back(ExpertsDown{inside, here, trial.weight(type, outs, inner, experts - 1), {}, chosen, residual});
  Results results;
  for (uint32_t rows : row_counts) {
    trial.inputs.forced.experts.clear();  // rounding must not choose others
    for (uint32_t r = 0; r < rows; ++r) {
      trial.inputs.forced.experts.push_back(static_cast<int32_t>(r % 3));
      trial.inputs.forced.experts.push_back(static_cast<int32_t>((r % 3 + 1 + r % 2) % experts));
    }
    trial.run(0, rows);
    results.push_back(trial.read(y, rows, outs));
    results.push_back(trial.read(residual, rows, outs));
  }
  return results;
}

/// A prompt over several splits, and a row after it; a layer that sees all, and one with a window.
Results attentions(Backend& backend, uint32_t heads_each, uint32_t head_dim) {
  constexpr uint32_t hidden = 64, prompt = 300, block = 16, blocks = (prompt + block) / block;
  Trial trial{backend};
  const uint32_t width = heads_each * head_dim;
  const Buffer x = trial.input(hidden, prompt + 1), q = backend.add_buffer("q", width, prompt);
  const Buffer all = backend.add_buffer("all", width, prompt), near = backend.add_buffer("near", width, prompt);
  backend.set_kv_shape({block, 1, head_dim, {1}});
  backend.resize_kv(blocks);
  trial.ops.push_back(QkvRopeStore{x, trial.weight(DType::f32, width, hidden), trial.weight(DType::f32, head_dim, hidden), trial.weight(DType::f32, head_dim, hidden),
                                   trial.vector(width), trial.vector(head_dim), trial.vector(head_dim), {}, 0, 0, heads_each, 1, head_dim, q});
  const VectorRef sinks = trial.vector(heads_each);
  const float scale = 1.0f / std::sqrt(static_cast<float>(head_dim));
  trial.ops.push_back(Attention{q, sinks, 0, 0, heads_each, 1, head_dim, 0, scale, all});
  trial.ops.push_back(Attention{q, sinks, 0, 0, heads_each, 1, head_dim, 40, scale, near});
  trial.inputs.groups = 1, trial.inputs.table_begin = {0};
  for (uint32_t i = 0; i < blocks; ++i) trial.inputs.blocks.push_back(blocks - 1 - i);
  Results results;
  for (auto [first, rows] : {std::pair{0u, prompt}, std::pair{prompt, 1u}}) {
    trial.run(first, rows);
    results.push_back(trial.read(all, rows, width));
    results.push_back(trial.read(near, rows, width));
  }
  return results;
}

/// Rows of several parts, the last of them not whole, through two passes and three.
Results best_of_rows(Backend& backend) {
  Results results;
  for (const auto& [vocabulary, k] : {std::pair{5000u, most_top}, std::pair{40'001u, 20u}}) {
    const TopLayout layout{vocabulary, k};
    Trial trial{backend};
    const Buffer x = trial.input(vocabulary, 3), out = backend.add_buffer("out", layout.cols(), 3);
    trial.ops.push_back(TopLogits{x, k, out});
    trial.run(0, 3);
    results.push_back(trial.read(out, 3, layout.cols()));
  }
  return results;
}

/// Largest difference, by how much values scatter.
double difference(const std::vector<float>& got, const std::vector<float>& want) {
  double power = 0, worst = 0;
  for (float value : want) power += double(value) * value;
  const double scatter = std::sqrt(power / double(want.size())) + 1e-30;
  for (size_t i = 0; i < want.size(); ++i) {
    const double d = std::fabs(double(got[i]) - want[i]) / (std::fabs(want[i]) + scatter);
    if (!(d <= worst)) worst = d;  // NaN counts as worst
  }
  return worst;
}

std::string compare(const Results& got, const Results& want, double tolerance) {
  double worst = 0;
  for (size_t i = 0; i < want.size(); ++i) {
    const double d = difference(got[i], want[i]);
    if (!(d <= worst)) worst = d;
  }
  if (worst <= tolerance) return std::string(Verdicts::ok);
  char text[80];
  std::snprintf(text, sizeof text, "it gave wrong numbers (off by %.2g of their size)", worst);
  return text;
}

/// Kernels that add products of float32 agree but for rounding; those of 16-bit inputs round each input.
double tolerance(const std::string& kernel, KvType kv) {
  if (variant_of(kernel)->feature == cooperative_matrix) return 2e-2;
  if (variant_of(kernel)->feature == best_logits) return 1e-5;  // a token that is off by one is off by more
  return kernel.rfind("attention", 0) == 0 && kv != KvType::f32 ? 2e-2 : 1e-4;  // a value that is stored may round the other way
}

struct Judge {
  VulkanOptions options;
  KvType kv;
  Needs needs;

  Results run(Backend& backend, const std::string& kernel) const {
    if (variant_of(kernel)->feature == best_logits) return best_of_rows(backend);
    if (kernel.rfind("attention", 0) == 0) return attentions(backend, needs.heads / needs.kv_heads, needs.head_dim);
    const std::string_view stem = variant_of(kernel)->stem, ending = std::string_view(kernel).substr(stem.size() + 1);
    const DType type = *std::find_if(needs.types.begin(), needs.types.end(), [&](DType t) { return shader_type(t) == ending; });
    return matmuls(backend, type, stem == "gemv_subgroup" ? std::vector<uint32_t>{1, 2, 3, 8} : std::vector<uint32_t>{20, 70});
  }
  std::string reason(const std::string& kernel) const {
    try {
      VulkanOptions alone = options;
      alone.self_test_seconds = 0, alone.kv_type = kv;
      const Results want = run(*make_reference_backend(kv), kernel), got = run(*make_vulkan_backend(alone), kernel);
      return compare(got, want, tolerance(kernel, kv));
    } catch (const std::exception& error) {
      std::string what = error.what();
      while (!what.empty() && what.back() == '.') what.pop_back();
      return "it failed: " + what;
    }
  }
};

std::vector<std::string> kernels_of(const Device& device, KvType kv, const Needs& needs) {
  std::vector<std::string> kernels;
  for (const Variant& variant : variants) {
    if (!device.has(variant.feature)) continue;
    if (variant.feature == best_logits) {
      if (needs.top_logits) kernels.emplace_back(variant.stem);
      continue;
    }
    if (variant.baseline == "attention") {
      if (needs.heads > 0) kernels.push_back(attention_kernel(kv, needs.head_dim, needs.heads / needs.kv_heads));
      continue;
    }
    for (DType type : needs.types) {
      const std::string kernel = std::string(variant.stem) + "_" + std::string(shader_type(type));
      if (find_shader(kernel)) kernels.push_back(kernel);
    }
  }
  return kernels;
}

std::string verdict_file(const std::string& folder, const VulkanDevice& device) { return device_file(folder, device, ".tested"); }

void keep(const std::string& folder, const VulkanDevice& device, const Verdicts& verdicts) {
  const std::string text = verdicts.text(shaders_hash());
  const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
  if (!folder.empty()) write_cache_file(verdict_file(folder, device), {bytes, bytes + text.size()});
}

std::mutex testing;                        // one at a time in a process
std::map<std::string, Verdicts> in_process;  // by device and driver, where nothing is kept on disk

}  // namespace

std::string attention_kernel(KvType kv, uint32_t head_dim, uint32_t heads_each) {
  const char* name = kv == KvType::f16 ? "f16" : kv == KvType::q8 ? "q8" : "f32";
  return "attention_tiled/" + std::string(name) + "/" + std::to_string(head_dim) + "/" + std::to_string(heads_each);
}

Verdicts kept_verdicts(const std::string& folder, const VulkanDevice& device) {
  const std::vector<std::byte> bytes = folder.empty() ? std::vector<std::byte>{} : read_cache_file(verdict_file(folder, device));
  return Verdicts::parse({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, shaders_hash());
}

Verdicts self_test(const VulkanOptions& options, const Device& device, KvType kv, const Needs& needs) {
  const std::lock_guard lock(testing);
  Verdicts& in_memory = in_process[device_file("", device.info(), "")];
  Verdicts known = options.cache_folder.empty() ? in_memory : kept_verdicts(options.cache_folder, device.info());
  std::vector<std::string> late;
  const Clock::time_point begin = Clock::now();
  Judge judge{options, kv, needs};
  judge.options.device = device.info().id;
  for (const std::string& kernel : kernels_of(device, kv, needs)) {
    if (known.knows(kernel)) continue;
    if (std::chrono::duration<double>(Clock::now() - begin).count() > options.self_test_seconds) {
      late.push_back(kernel);
      continue;
    }
    known.under_test(kernel);
    keep(options.cache_folder, device.info(), known);
    known.set(kernel, judge.reason(kernel));
    keep(options.cache_folder, device.info(), known);
  }
  in_memory = known;
  for (const std::string& kernel : late) known.set(kernel, no_time);
  return known;
}

}  // namespace hearth::vulkan
