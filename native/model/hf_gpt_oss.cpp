// gpt-oss from Hugging Face folders: config.json and tensor names of GptOssForCausalLM, experts packed as MXFP4 or not.
// Source: transformers' configuration and model code of gpt-oss; for MXFP4 torch/weights.py of openai/gpt-oss.
#include "model/families.h"
#include "model/hf_common.h"
#include "model/words.h"

namespace hearth {

namespace {

/// Gate and up are the even and odd rows of one matrix, so both are views with a doubled stride.
void bind_experts(Binder& binder, const std::string& at, const ModelSpec& spec, const DecoderShape& shape,
                  LayerWeights& out) {
  uint64_t experts = shape.experts, inner = shape.intermediate, hidden = spec.hidden;
  bool packed = binder.has(at + "gate_up_proj_blocks") || !binder.has(at + "gate_up_proj");
  Matrix pairs = packed ? binder.planes(at + "gate_up_proj", experts, 2 * inner, hidden)
                        : binder.transposed_experts(at + "gate_up_proj", experts, 2 * inner, hidden);
  out.gate = rows_of(pairs, 0, shape.intermediate, 2);
  out.up = rows_of(pairs, 1, shape.intermediate, 2);
  out.gate.name = at + "gate_up_proj (gate)";
  out.up.name = at + "gate_up_proj (up)";
  split_pairs(binder.vector(at + "gate_up_proj_bias", {experts, 2 * inner}), out.gate_bias, out.up_bias);
  out.down = packed ? binder.planes(at + "down_proj", experts, hidden, inner)
                    : binder.transposed_experts(at + "down_proj", experts, hidden, inner);
  out.down_bias = binder.vector(at + "down_proj_bias", {experts, hidden});
}

}  // namespace

void read_hf_gpt_oss(const HfConfig& config, Binder& binder, const OpenOptions& options, ModelFile& out) {
  ModelSpec& spec = out.spec;
  spec.architecture = "gpt-oss";
  refuse_quantised(config);
  uint32_t layers = read_hf_base(config, {.head_dim = 64, .norm_eps = 1e-5}, spec);
  DecoderShape shape = gpt_oss_shape(layers);
  shape.window_layers = read_hf_windows(config, layers);
  if (shape.window_layers.empty()) {
    for (uint32_t i = 0; i < layers; ++i) shape.window_layers.push_back(i % 2 == 0);
  }
  shape.window = static_cast<uint32_t>(config.integer("sliding_window", 1, bounds::context).value_or(128));
  shape.experts = static_cast<uint32_t>(
      config.need_integer(config.has("num_local_experts") ? "num_local_experts" : "num_experts", 1, bounds::experts));
  shape.experts_used = static_cast<uint32_t>(config.need_integer(
      config.has("num_experts_per_tok") ? "num_experts_per_tok" : "experts_per_token", 1, shape.experts));
  shape.intermediate = static_cast<uint32_t>(config.need_integer("intermediate_size", 1, bounds::intermediate));
  shape.swiglu_alpha = config.real("swiglu_alpha", 0.0, 1e3).value_or(1.702);
  shape.swiglu_limit = config.real("swiglu_limit", 0.0, 1e6).value_or(7.0);
  shape.rope = read_hf_rope(config, spec, {.theta = 150000.0, .truncate = false});
  if (options.yarn_truncate) shape.rope.yarn_truncate = true;
  shape.window_rope = shape.rope;
  fill_layers(shape, spec);

  out.weights.layers.resize(layers);
  for (uint32_t i = 0; i < layers; ++i) {
    const std::string at = say("model.layers.", i, ".");
    LayerWeights& layer = out.weights.layers[i];
    bind_hf_attention(binder, at, spec, true, true, layer);
    layer.sinks = binder.vector(at + "self_attn.sinks", {spec.heads});
    layer.router = binder.matrix(at + "mlp.router.weight", shape.experts, spec.hidden);
    layer.router_bias = binder.vector(at + "mlp.router.bias", {shape.experts});
    bind_experts(binder, at + "mlp.experts.", spec, shape, layer);
  }
  bind_hf_ends(config, binder, spec, out.weights);
}

}  // namespace hearth
