// Shapes of the known families to ModelSpec; see families.h.
#include "model/families.h"

#include <cmath>

#include "model/words.h"

namespace hearth {

namespace {

MlpSpec mlp_of(const DecoderShape& shape) {
  MlpSpec mlp;
  mlp.kind = shape.experts ? MlpKind::moe : MlpKind::dense;
  mlp.activation = shape.activation;
  mlp.swiglu_alpha = shape.swiglu_alpha;
  mlp.swiglu_limit = shape.swiglu_limit;
  mlp.intermediate = shape.intermediate;
  mlp.bias = shape.mlp_bias;
  mlp.experts = shape.experts;
  mlp.experts_used = shape.experts_used;
  mlp.softmax = shape.softmax;
  return mlp;
}

}  // namespace

void fill_layers(const DecoderShape& shape, ModelSpec& spec) {
  auto is_window = [&](uint32_t i) {
    return i < shape.window_layers.size() && shape.window_layers[i] && shape.window < spec.context;
  };
  uint32_t windows = 0;
  for (uint32_t i = 0; i < shape.layers; ++i) windows += is_window(i);
  const uint32_t fulls = shape.layers - windows;
  spec.groups.clear();
  if (fulls) spec.groups.push_back({AttentionKind::full, 0, fulls});
  if (windows) spec.groups.push_back({AttentionKind::window, shape.window, windows});
  uint32_t next_full = 0, next_window = 0;
  for (uint32_t i = 0; i < shape.layers; ++i) {
    const bool window = is_window(i);
    LayerSpec layer;
    AttentionSpec& a = layer.attention;
    a.kind = window ? AttentionKind::window : AttentionKind::full;
    a.window = window ? shape.window : 0;
    a.group = window && fulls ? 1 : 0;
    a.layer_in_group = window ? next_window++ : next_full++;
    a.sinks = shape.sinks;
    a.qkv_bias = shape.qkv_bias;
    a.out_bias = shape.out_bias;
    a.qk_norm = shape.qk_norm;
    a.scale = shape.scale > 0 ? shape.scale : 1.0 / std::sqrt(static_cast<double>(spec.head_dim));
    // The rotation goes by what the layer is called, whether or not its window can ever be left.
    a.rope = i < shape.window_layers.size() && shape.window_layers[i] ? shape.window_rope : shape.rope;
    if (i < shape.unrotated_layers.size() && shape.unrotated_layers[i]) a.rope.layout = RopeLayout::none;
    layer.mlp = mlp_of(shape);
    layer.post_norms = shape.post_norms;
    spec.layers.push_back(std::move(layer));
  }
}

DecoderShape gpt_oss_shape(uint32_t layers) {
  DecoderShape shape;
  shape.layers = layers;
  shape.sinks = shape.qkv_bias = shape.out_bias = shape.mlp_bias = true;
  shape.activation = Activation::swiglu_oai;
  return shape;
}

std::string missing_for(std::string_view family) {
  struct Missing { std::string_view families, what; };
  static constexpr Missing table[] = {
      {" gemma2 Gemma2ForCausalLM ", "attention scores and logits that are capped by tanh"},
      {" gemma3n gemma3n_text gemma4 gemma4_text ", "embeddings per layer"},
      {" qwen2moe qwen2_moe llama4 llama4_text deepseek2 deepseek_v2 deepseek_v3 ", "experts that are shared by all tokens"},
      {" mixtral MixtralForCausalLM ", "the experts of Mixtral"},
      {" mamba mamba2 falcon_mamba falcon-mamba falcon_h1 falcon-h1 jamba nemotron_h granitehybrid ", "state space layers"},
      {" qwen3next qwen3_next qwen35 qwen3_5 qwen3_5_text qwen35moe qwen3_5_moe ", "layers with linear attention"},
      {" mistral4 ministral3 ", "attention scores that are scaled by position"},
  };
  for (const Missing& entry : table) {
    if (!family.empty() && entry.families.find(" " + std::string(family) + " ") != std::string_view::npos) return std::string(entry.what);
  }
  return "";
}

double longrope_attention(double context, double original) {
  return context > original ? std::sqrt(1.0 + std::log(context / original) / std::log(original)) : 1.0;
}

void refuse_unread(const Binder& binder, std::string_view layers) {
  for (const std::string& name : binder.unused()) {
    if (!name.starts_with(layers) || name.ends_with("rotary_emb.inv_freq") || name.ends_with("attn_rot_embd")) continue;
    fail(ErrorCode::unsupported_architecture, binder.model(), ": tensor ", name, " is not known for this architecture");
  }
}

void split_pairs(const Vector& pairs, Vector& first, Vector& second) {
  first.resize(pairs.size() / 2);
  second.resize(pairs.size() / 2);
  for (size_t i = 0; i < first.size(); ++i) {
    first[i] = pairs[2 * i];
    second[i] = pairs[2 * i + 1];
  }
}

}  // namespace hearth
