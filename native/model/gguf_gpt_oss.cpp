// gpt-oss from GGUF: keys and tensor names of architecture "gpt-oss" (and "gptoss", older files of Ollama).
// Source: llama.cpp's converter of gpt-oss and gguf-py's constants; Ollama's convert_gptoss.go for its own files.
#include "model/families.h"
#include "model/gguf_common.h"
#include "model/words.h"

namespace hearth {

namespace {

/// The first of the names that the file has, else the first.
std::string either(const Binder& binder, const std::string& name, const std::string& older) {
  return !binder.has(name) && binder.has(older) ? older : name;
}

void bind_experts(Binder& binder, const std::string& block, const ModelSpec& spec, const DecoderShape& shape,
                  bool pairs_fused, LayerWeights& out) {
  uint64_t experts = shape.experts, inner = shape.intermediate, hidden = spec.hidden;
  if (pairs_fused && binder.has(block + "ffn_gate_up_exps.weight")) {
    Matrix pairs = binder.experts(block + "ffn_gate_up_exps.weight", experts, 2 * inner, hidden);
    out.gate = rows_of(pairs, 0, shape.intermediate, 2);
    out.up = rows_of(pairs, 1, shape.intermediate, 2);
    split_pairs(binder.vector(block + "ffn_gate_up_exps.bias", {experts, 2 * inner}), out.gate_bias, out.up_bias);
  } else {
    out.gate = binder.experts(block + "ffn_gate_exps.weight", experts, inner, hidden);
    out.gate_bias = binder.vector(block + "ffn_gate_exps.bias", {experts, inner});
    out.up = binder.experts(block + "ffn_up_exps.weight", experts, inner, hidden);
    out.up_bias = binder.vector(block + "ffn_up_exps.bias", {experts, inner});
  }
  out.down = binder.experts(block + "ffn_down_exps.weight", experts, hidden, inner);
  out.down_bias = binder.vector(block + "ffn_down_exps.bias", {experts, hidden});
}

void bind_layer(Binder& binder, const std::string& block, const ModelSpec& spec, const DecoderShape& shape,
                bool pairs_fused, LayerWeights& out) {
  uint64_t hidden = spec.hidden;
  out.attention_norm = binder.vector(block + "attn_norm.weight", {hidden});
  bind_gguf_qkv(binder, block, spec, true, out);
  std::string o = either(binder, block + "attn_output.weight", block + "attn_out.weight");
  out.o = binder.matrix(o, hidden, uint64_t(spec.heads) * spec.head_dim);
  out.o_bias = binder.vector(either(binder, block + "attn_output.bias", block + "attn_out.bias"), {hidden});
  out.sinks = binder.vector(either(binder, block + "attn_sinks.weight", block + "attn_sinks"), {spec.heads});
  out.mlp_norm =
      binder.vector(either(binder, block + "post_attention_norm.weight", block + "ffn_norm.weight"), {hidden});
  out.router = binder.matrix(block + "ffn_gate_inp.weight", shape.experts, hidden);
  out.router_bias = binder.vector(block + "ffn_gate_inp.bias", {shape.experts});
  bind_experts(binder, block, spec, shape, pairs_fused, out);
}

}  // namespace

void read_gguf_gpt_oss(const GgufMeta& meta, Binder& binder, const OpenOptions& options, ModelFile& out) {
  ModelSpec& spec = out.spec;
  std::string prefix = meta.need_text("general.architecture") + ".";
  spec.architecture = "gpt-oss";
  uint32_t layers = read_gguf_base(meta, prefix, binder, spec);
  spec.head_dim = read_gguf_head_dim(meta, prefix);
  if (spec.head_dim == 0) spec.head_dim = 64;  // published models; never hidden / heads

  DecoderShape shape = gpt_oss_shape(layers);
  shape.window_layers = read_gguf_windows(meta, prefix, layers, 2);
  shape.window = static_cast<uint32_t>(meta.need_integer(prefix + "attention.sliding_window", 1, bounds::context));
  shape.experts = static_cast<uint32_t>(meta.need_integer(prefix + "expert_count", 1, bounds::experts));
  shape.experts_used = static_cast<uint32_t>(meta.need_integer(prefix + "expert_used_count", 1, shape.experts));
  std::string inner = prefix + "expert_feed_forward_length";
  if (!meta.has(inner)) inner = prefix + "feed_forward_length";
  shape.intermediate = static_cast<uint32_t>(meta.need_integer(inner, 1, bounds::intermediate));
  // GGUF has no key for the cut of YaRN's range; the published model does not round it (rope.cpp).
  shape.rope = read_gguf_rope(meta, prefix, binder, spec, RopeLayout::half_split, options.yarn_truncate, "yarn");
  shape.window_rope = shape.rope;
  shape.window_rope.theta = meta.real(prefix + "rope.freq_base_swa", 1.0001, bounds::theta).value_or(shape.rope.theta);
  fill_layers(shape, spec);

  out.weights.layers.resize(layers);
  // Ollama's files fuse gate and up row by row; others that fuse them put one after the other, which is not read here.
  bool pairs_fused = prefix == "gptoss.";
  for (uint32_t i = 0; i < layers; ++i) {
    bind_layer(binder, say("blk.", i, "."), spec, shape, pairs_fused, out.weights.layers[i]);
  }
  bind_gguf_ends(binder, spec, out.weights);
}

}  // namespace hearth
