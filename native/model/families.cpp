// Shapes of the known families to ModelSpec; see families.h.
#include "model/families.h"

#include <algorithm>
#include <cmath>

namespace hearth {

void fill_gpt_oss(const GptOssShape& shape, ModelSpec& spec) {
  uint32_t windows = static_cast<uint32_t>(std::count(shape.window_layers.begin(), shape.window_layers.end(), true));
  uint32_t fulls = static_cast<uint32_t>(shape.window_layers.size()) - windows;
  spec.groups.clear();
  if (fulls) spec.groups.push_back({AttentionKind::full, 0, fulls});
  if (windows) spec.groups.push_back({AttentionKind::window, shape.window, windows});
  uint32_t next_full = 0, next_window = 0;
  for (bool window : shape.window_layers) {
    LayerSpec layer;
    layer.attention.kind = window ? AttentionKind::window : AttentionKind::full;
    layer.attention.window = window ? shape.window : 0;
    layer.attention.group = window && fulls ? 1 : 0;
    layer.attention.layer_in_group = window ? next_window++ : next_full++;
    layer.attention.sinks = layer.attention.qkv_bias = layer.attention.out_bias = true;
    layer.attention.scale = 1.0 / std::sqrt(static_cast<double>(spec.head_dim));
    layer.attention.rope = window ? shape.window_rope : shape.rope;
    layer.mlp.kind = MlpKind::moe;
    layer.mlp.activation = Activation::swiglu_oai;
    layer.mlp.swiglu_alpha = shape.swiglu_alpha;
    layer.mlp.swiglu_limit = shape.swiglu_limit;
    layer.mlp.intermediate = shape.intermediate;
    layer.mlp.bias = true;
    layer.mlp.experts = shape.experts;
    layer.mlp.experts_used = shape.experts_used;
    spec.layers.push_back(std::move(layer));
  }
}

void fill_llama(const LlamaShape& shape, ModelSpec& spec) {
  spec.groups = {{AttentionKind::full, 0, shape.layers}};
  for (uint32_t i = 0; i < shape.layers; ++i) {
    LayerSpec layer;
    layer.attention.layer_in_group = i;
    layer.attention.qkv_bias = shape.qkv_bias;
    layer.attention.out_bias = shape.out_bias;
    layer.attention.scale = shape.scale > 0 ? shape.scale : 1.0 / std::sqrt(static_cast<double>(spec.head_dim));
    layer.attention.rope = shape.rope;
    layer.mlp.intermediate = shape.intermediate;
    layer.mlp.bias = shape.mlp_bias;
    spec.layers.push_back(std::move(layer));
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
