// Decoders from GGUF whose layers are plain attention and a plain or routed MLP: llama (also Mistral and SmolLM2),
// mistral3, qwen2, qwen3, qwen3moe, gemma3, phi3, smollm3. What a family has beside its keys is one line of a table here.
// Keys and names: llama.cpp's converter and gguf-py. Keys that change the mathematics in an unknown way are refused.
#include <cmath>

#include "model/families.h"
#include "model/gguf_common.h"
#include "model/words.h"

namespace hearth {

namespace {

enum class Window {
  pattern_only,  // published models of the family have none; only a pattern in the file makes one
  every_layer,
  five_of_six,
};

struct Family {
  const char* architecture;
  RopeLayout layout;  // interleaved: the converter permutes the rows of q and k
  Window window = Window::pattern_only;
  bool qk_norm = false, experts = false;
  bool gemma = false;            // GeGLU, norms on both sides, scaled embeddings, a rotation of its own in windows
  uint32_t unrotated_every = 0;  // every n-th layer has no rotation
};

constexpr Family families[] = {
    {.architecture = "llama", .layout = RopeLayout::interleaved, .window = Window::every_layer},
    {.architecture = "mistral3", .layout = RopeLayout::interleaved, .window = Window::every_layer},
    {.architecture = "qwen2", .layout = RopeLayout::half_split},
    {.architecture = "qwen3", .layout = RopeLayout::half_split, .qk_norm = true},
    {.architecture = "qwen3moe", .layout = RopeLayout::half_split, .qk_norm = true, .experts = true},
    {.architecture = "gemma3", .layout = RopeLayout::half_split, .window = Window::five_of_six, .qk_norm = true, .gemma = true},
    {.architecture = "phi3", .layout = RopeLayout::half_split, .window = Window::every_layer},
    {.architecture = "smollm3", .layout = RopeLayout::interleaved, .unrotated_every = 4},
};

const Family& family_of(const std::string& architecture) {
  for (const Family& family : families) {
    if (architecture == family.architecture) return family;
  }
  throw Error(ErrorCode::internal, "The architecture " + architecture + " has no row in the table of decoders.");
}

void refuse_unknown_mathematics(const GgufMeta& meta, const std::string& prefix, bool experts) {
  if (!experts && meta.integer(prefix + "expert_count", 0, bounds::experts).value_or(0) > 0) {
    fail(ErrorCode::unsupported_architecture, meta.file(), ": the architecture ", prefix.substr(0, prefix.size() - 1),
         " with experts (Mixtral) is not supported");
  }
  for (const char* key : {"attn_logit_softcapping", "final_logit_softcapping", "logit_scale", "embedding_scale",
                          "residual_scale", "attention.temperature_scale", "rope.scaling.yarn_log_multiplier",
                          "expert_weights_scale"}) {
    // Of a factor 1 changes nothing; of a temperature, a cap or YaRN's multiplier it does.
    const std::string_view name(key);
    const bool neutral_at_one = name.ends_with("scale") && name != "attention.temperature_scale";
    double value = meta.real(prefix + key, -1e30, 1e30).value_or(0.0);
    if (value != 0.0 && !(value == 1.0 && neutral_at_one)) {
      fail(ErrorCode::unsupported_architecture, meta.file(), ": key ", prefix, key, " = ", value, " is not supported");
    }
  }
  for (const char* key : {"expert_shared_count", "expert_group_count", "leading_dense_block_count"}) {
    uint64_t value = meta.integer(prefix + key, 0, bounds::experts).value_or(0);
    if (value > (std::string_view(key) == "expert_group_count" ? 1 : 0)) {
      fail(ErrorCode::unsupported_architecture, meta.file(), ": key ", prefix, key, " = ", value, " is not supported");
    }
  }
}

uint32_t read_head_dim(const GgufMeta& meta, const std::string& prefix, const ModelSpec& spec) {
  if (uint32_t stated = read_gguf_head_dim(meta, prefix)) return stated;
  if (spec.hidden % spec.heads != 0 || spec.hidden / spec.heads % 2 != 0 || spec.hidden / spec.heads > bounds::head_dim) {
    fail(ErrorCode::bad_file, meta.file(), ": ", spec.hidden, " hidden values do not divide into ", spec.heads,
         " attention heads of an even size, and key ", prefix, "attention.key_length is missing");
  }
  return spec.hidden / spec.heads;
}

void read_experts(const GgufMeta& meta, const std::string& prefix, DecoderShape& shape) {
  shape.experts = static_cast<uint32_t>(meta.need_integer(prefix + "expert_count", 1, bounds::experts));
  shape.experts_used = static_cast<uint32_t>(meta.need_integer(prefix + "expert_used_count", 1, shape.experts));
  shape.intermediate =
      static_cast<uint32_t>(meta.need_integer(prefix + "expert_feed_forward_length", 1, bounds::intermediate));
  if (uint64_t function = meta.integer(prefix + "expert_gating_func", 0, 255).value_or(1); function > 1) {
    fail(ErrorCode::unsupported_architecture, meta.file(), ": the gating function ", function,
         " of experts is not supported; softmax is");
  }
  // Written only by files whose weights do not sum to 1: the published models' do.
  if (!meta.boolean(prefix + "expert_weights_norm").value_or(true)) shape.softmax = RouterSoftmax::all;
}

void read_windows(const GgufMeta& meta, const std::string& prefix, const Family& family, uint32_t context,
                  DecoderShape& shape) {
  const bool pattern = meta.has(prefix + "attention.sliding_window_pattern");
  // Files of phi3 that are older than the key are of the one model whose window is smaller than its context of 4096.
  const uint64_t unnamed = family.architecture == std::string_view("phi3") && context == 4096 ? 2047 : 0;
  shape.window = static_cast<uint32_t>(meta.integer(prefix + "attention.sliding_window", 0, bounds::context).value_or(unnamed));
  if (shape.window == 0 || (family.window == Window::pattern_only && !pattern)) return;
  shape.window_layers = read_gguf_windows(meta, prefix, shape.layers, family.window == Window::five_of_six ? 6 : 0);
}

/// What gemma3 has and no key tells: see its published code (transformers, modeling_gemma3).
void add_gemma(const GgufMeta& meta, const std::string& prefix, ModelSpec& spec, DecoderShape& shape) {
  shape.activation = Activation::gelu_tanh;
  shape.post_norms = true;
  spec.embedding_scale = std::sqrt(static_cast<double>(spec.hidden));
  if (!meta.has(prefix + "rope.freq_base")) shape.rope.theta = 1e6;
  // Windows keep the plain rotation of before; scaling is for the full layers alone.
  RopeSpec plain;
  plain.layout = shape.rope.layout;
  plain.dims = shape.rope.dims;
  plain.theta = meta.real(prefix + "rope.freq_base_swa", 1.0001, bounds::theta).value_or(10000.0);
  shape.window_rope = plain;
  // The 27B model alone scales by hidden / heads instead of head_dim, and its file does not say so.
  if (shape.scale == 0 && shape.layers == 62) shape.scale = 1.0 / std::sqrt(static_cast<double>(spec.hidden) / spec.heads);
}

DecoderShape read_shape(const GgufMeta& meta, const std::string& prefix, const Family& family, Binder& binder,
                        ModelSpec& spec) {
  DecoderShape shape;
  shape.layers = read_gguf_base(meta, prefix, binder, spec);
  spec.head_dim = read_head_dim(meta, prefix, spec);
  shape.scale = meta.real(prefix + "attention.scale", 0.0, 1e6).value_or(0.0);
  shape.qk_norm = family.qk_norm;
  shape.qkv_bias = binder.has("blk.0.attn_q.bias") || binder.has("blk.0.attn_qkv.bias");
  shape.out_bias = binder.has("blk.0.attn_output.bias");
  shape.mlp_bias = binder.has("blk.0.ffn_gate.bias");
  if (family.experts) {
    read_experts(meta, prefix, shape);
  } else {
    shape.intermediate = static_cast<uint32_t>(meta.need_integer(prefix + "feed_forward_length", 1, bounds::intermediate));
  }
  read_windows(meta, prefix, family, spec.context, shape);
  // Files of these families were made for ggml, which rounds YaRN's range; so it is rounded whatever the switch says.
  shape.rope = read_gguf_rope(meta, prefix, binder, spec, family.layout, true, "linear");
  shape.window_rope = shape.rope;
  if (family.gemma) add_gemma(meta, prefix, spec, shape);
  for (uint32_t i = 0; family.unrotated_every && i < shape.layers; ++i) {
    shape.unrotated_layers.push_back((i + 1) % family.unrotated_every == 0);
  }
  return shape;
}

void bind_mlp(Binder& binder, const std::string& block, const ModelSpec& spec, const DecoderShape& shape, LayerWeights& out) {
  uint64_t hidden = spec.hidden, inner = shape.intermediate;
  if (shape.experts) {
    out.router = binder.matrix(block + "ffn_gate_inp.weight", shape.experts, hidden);
    out.gate = binder.experts(block + "ffn_gate_exps.weight", shape.experts, inner, hidden);
    out.up = binder.experts(block + "ffn_up_exps.weight", shape.experts, inner, hidden);
    out.down = binder.experts(block + "ffn_down_exps.weight", shape.experts, hidden, inner);
    return;
  }
  if (binder.has(block + "ffn_gate.weight") || !binder.has(block + "ffn_up.weight")) {
    out.gate = binder.matrix(block + "ffn_gate.weight", inner, hidden);
    out.up = binder.matrix(block + "ffn_up.weight", inner, hidden);
  } else {  // phi3: gate above up in one matrix
    Matrix both = binder.matrix(block + "ffn_up.weight", 2 * inner, hidden);
    out.gate = rows_of(both, 0, shape.intermediate);
    out.up = rows_of(both, shape.intermediate, shape.intermediate);
  }
  out.down = binder.matrix(block + "ffn_down.weight", hidden, inner);
  if (!shape.mlp_bias) return;
  out.gate_bias = binder.vector(block + "ffn_gate.bias", {inner});
  out.up_bias = binder.vector(block + "ffn_up.bias", {inner});
  out.down_bias = binder.vector(block + "ffn_down.bias", {hidden});
}

void bind_layer(Binder& binder, const std::string& block, const ModelSpec& spec, const DecoderShape& shape, LayerWeights& out) {
  uint64_t hidden = spec.hidden;
  out.attention_norm = binder.vector(block + "attn_norm.weight", {hidden});
  bind_gguf_qkv(binder, block, spec, shape.qkv_bias, out);
  if (shape.qk_norm) {
    out.q_norm = binder.vector(block + "attn_q_norm.weight", {spec.head_dim});
    out.k_norm = binder.vector(block + "attn_k_norm.weight", {spec.head_dim});
  }
  out.o = binder.matrix(block + "attn_output.weight", hidden, uint64_t(spec.heads) * spec.head_dim);
  if (shape.out_bias) out.o_bias = binder.vector(block + "attn_output.bias", {hidden});
  if (shape.post_norms) {
    out.attention_post_norm = binder.vector(block + "post_attention_norm.weight", {hidden});
    out.mlp_post_norm = binder.vector(block + "post_ffw_norm.weight", {hidden});
  }
  out.mlp_norm = binder.vector(block + "ffn_norm.weight", {hidden});
  bind_mlp(binder, block, spec, shape, out);
}

}  // namespace

void read_gguf_decoder(const GgufMeta& meta, Binder& binder, const OpenOptions&, ModelFile& out) {
  ModelSpec& spec = out.spec;
  spec.architecture = meta.need_text("general.architecture");
  const std::string prefix = spec.architecture + ".";
  const Family& family = family_of(spec.architecture);
  refuse_unknown_mathematics(meta, prefix, family.experts);
  DecoderShape shape = read_shape(meta, prefix, family, binder, spec);
  fill_layers(shape, spec);
  out.weights.layers.resize(shape.layers);
  for (uint32_t i = 0; i < shape.layers; ++i) bind_layer(binder, say("blk.", i, "."), spec, shape, out.weights.layers[i]);
  bind_gguf_ends(binder, spec, out.weights);
  refuse_unread(binder, "blk.");
}

}  // namespace hearth
