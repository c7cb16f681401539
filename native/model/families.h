// The families that the engine knows, as plain shapes: what a reader found out, turned into a ModelSpec.
// Where the numbers came from (GGUF keys, config.json) is the readers' business.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
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

/// A decoder whose layers differ only in reach and rotation: every known family is one of these.
struct DecoderShape {
  uint32_t layers = 0;
  std::vector<bool> window_layers;  // one per layer; empty: all are full
  uint32_t window = 0;
  bool sinks = false, qkv_bias = false, out_bias = false, qk_norm = false, post_norms = false;
  double scale = 0;                     // of q.k; 0: 1/sqrt(head_dim)
  RopeSpec rope, window_rope;           // of full and of window layers
  std::vector<bool> unrotated_layers;   // one per layer; empty: all are rotated
  Activation activation = Activation::silu;
  double swiglu_alpha = 1.702, swiglu_limit = 7.0;
  uint32_t intermediate = 0;
  bool mlp_bias = false;
  uint32_t experts = 0, experts_used = 0;  // 0: dense
  RouterSoftmax softmax = RouterSoftmax::chosen;
};
/// Fills groups (full layers first, then window layers; a kind without layers has no group) and layers. A window that no
/// position of the context can leave is none.
void fill_layers(const DecoderShape& shape, ModelSpec& spec);

/// gpt-oss (its published torch/model.py): MoE with swiglu_oai, sinks and biases everywhere.
DecoderShape gpt_oss_shape(uint32_t layers);

/// What a family that Hearth does not know would need beside what it knows, e.g. "capped attention scores"; "" for
/// names that tell nothing. By the names of both containers.
std::string missing_for(std::string_view family);

/// What LongRoPE multiplies cos and sin by where a file does not say: sqrt(1 + ln(context / original) / ln(original)).
double longrope_attention(double context, double original);

/// A tensor of a layer that nobody asked for means mathematics that nobody does: refuses those whose name begins with
/// `layers`, but for tables that old writers store.
void refuse_unread(const Binder& binder, std::string_view layers);

/// Interleaved [.., g0, u0, g1, u1, ..] into two vectors.
void split_pairs(const Vector& pairs, Vector& first, Vector& second);

// The readers: keys and tensors of one family in one container -> out.spec and out.weights.
// Throw Error{bad_file | incomplete_model | unsupported_architecture | unsupported_type} naming key or tensor.
void read_gguf_gpt_oss(const GgufMeta& meta, Binder& binder, const OpenOptions& options, ModelFile& out);
void read_gguf_decoder(const GgufMeta& meta, Binder& binder, const OpenOptions& options, ModelFile& out);
void read_hf_gpt_oss(const HfConfig& config, Binder& binder, const OpenOptions& options, ModelFile& out);
void read_hf_decoder(const HfConfig& config, Binder& binder, const OpenOptions& options, ModelFile& out);

}  // namespace hearth
