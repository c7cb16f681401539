// llama from Hugging Face folders: config.json and tensor names of LlamaForCausalLM.
// Rotation pairs are half-split here; only GGUF files store them interleaved.
#include "model/families.h"
#include "model/hf_common.h"
#include "model/words.h"

namespace hearth {

namespace {

void bind_mlp(Binder& binder, const std::string& at, const ModelSpec& spec, const LlamaShape& shape,
              LayerWeights& out) {
  uint64_t inner = shape.intermediate, hidden = spec.hidden;
  out.gate = binder.matrix(at + "gate_proj.weight", inner, hidden);
  out.up = binder.matrix(at + "up_proj.weight", inner, hidden);
  out.down = binder.matrix(at + "down_proj.weight", hidden, inner);
  if (!shape.mlp_bias) return;
  out.gate_bias = binder.vector(at + "gate_proj.bias", {inner});
  out.up_bias = binder.vector(at + "up_proj.bias", {inner});
  out.down_bias = binder.vector(at + "down_proj.bias", {hidden});
}

}  // namespace

void read_hf_llama(const HfConfig& config, Binder& binder, const OpenOptions&, ModelFile& out) {
  ModelSpec& spec = out.spec;
  spec.architecture = "llama";
  LlamaShape shape;
  shape.layers = read_hf_base(config, 0, spec);
  std::string activation = config.text("hidden_act").value_or("silu");
  if (activation != "silu" && activation != "swish") {
    fail(ErrorCode::unsupported_architecture, config.file(), ": the activation ", shown(activation),
         " is not supported for llama");
  }
  shape.intermediate = static_cast<uint32_t>(config.need_integer("intermediate_size", 1, bounds::intermediate));
  shape.qkv_bias = shape.out_bias = config.boolean("attention_bias").value_or(false);
  shape.mlp_bias = config.boolean("mlp_bias").value_or(false);
  shape.rope = read_hf_rope(config, spec, 10000.0, true);
  fill_llama(shape, spec);

  out.weights.layers.resize(shape.layers);
  for (uint32_t i = 0; i < shape.layers; ++i) {
    const std::string at = say("model.layers.", i, ".");
    LayerWeights& layer = out.weights.layers[i];
    bind_hf_attention(binder, at, spec, shape.qkv_bias, shape.out_bias, layer);
    bind_mlp(binder, at + "mlp.", spec, shape, layer);
    binder.use(at + "self_attn.rotary_emb.inv_freq");  // old writers store the table
  }
  bind_hf_ends(config, binder, spec, out.weights);
}

}  // namespace hearth
