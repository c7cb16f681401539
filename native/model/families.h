// The families that the engine knows, as plain shapes: what a reader found out, turned into a ModelSpec.
// Where the numbers came from (GGUF keys, config.json) is the readers' business.
#pragma once

#include <cstdint>
#include <vector>

#include "model/binder.h"
#include "model/gguf_meta.h"
#include "model/hf_config.h"
#include "model/model_file.h"

namespace hearth {

/// Bounds of what is believed. Far above real models; they keep products inside 64 bits and loops short.
namespace bounds {
constexpr uint64_t layers = 1024;
constexpr uint64_t hidden = uint64_t(1) << 20;
constexpr uint64_t vocabulary = uint64_t(1) << 24;
constexpr uint64_t heads = 4096;
constexpr uint64_t head_dim = 1024;
constexpr uint64_t intermediate = uint64_t(1) << 22;
constexpr uint64_t experts = 4096;
constexpr uint64_t context = uint64_t(1) << 28;
constexpr double theta = 1e15;
constexpr double factor = 1e6;
}  // namespace bounds

/// gpt-oss (its published torch/model.py): MoE with swiglu_oai, sinks and biases everywhere, window and full layers.
struct GptOssShape {
  std::vector<bool> window_layers;  // one per layer
  uint32_t window = 128;
  uint32_t intermediate = 0, experts = 0, experts_used = 0;
  double swiglu_alpha = 1.702, swiglu_limit = 7.0;
  RopeSpec rope, window_rope;  // the same in the published models
};
/// Fills groups (full layers first, then window layers; a kind without layers has no group) and layers.
void fill_gpt_oss(const GptOssShape& shape, ModelSpec& spec);

/// llama: dense SwiGLU, full attention, one group.
struct LlamaShape {
  uint32_t layers = 0, intermediate = 0;
  bool qkv_bias = false, out_bias = false, mlp_bias = false;
  double scale = 0;  // of q.k; 0: 1/sqrt(head_dim)
  RopeSpec rope;
};
void fill_llama(const LlamaShape& shape, ModelSpec& spec);

/// Interleaved [.., g0, u0, g1, u1, ..] into two vectors.
void split_pairs(const Vector& pairs, Vector& first, Vector& second);

// The readers: keys and tensors of one family in one container -> out.spec and out.weights.
// Throw Error{bad_file | incomplete_model | unsupported_architecture | unsupported_type} naming key or tensor.
void read_gguf_gpt_oss(const GgufMeta& meta, Binder& binder, const OpenOptions& options, ModelFile& out);
void read_gguf_llama(const GgufMeta& meta, Binder& binder, const OpenOptions& options, ModelFile& out);
void read_hf_gpt_oss(const HfConfig& config, Binder& binder, const OpenOptions& options, ModelFile& out);
void read_hf_llama(const HfConfig& config, Binder& binder, const OpenOptions& options, ModelFile& out);

}  // namespace hearth
