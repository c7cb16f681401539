// A gpt-oss-like model of random weights in memory, as if it had been opened: window and full layers in turn, sinks, biases, experts with an
// inner width that no number of ranks divides. For tests of what happens between spec and backend; no file is read.
#pragma once

#include <memory>
#include <vector>

#include "model/model_file.h"
#include "test/backend_testing.h"

namespace hearth::testing {

struct RandomShape {
  uint32_t layers = 3, hidden = 64, heads = 8, kv_heads = 4, head_dim = 16, inner = 2880, experts = 4, used = 2, vocabulary = 101, window = 24;
  DType dense = DType::q8_0, moe = DType::mxfp4;
  bool post_norms = false;
};

class RandomModel {
 public:
  explicit RandomModel(const RandomShape& s = {}, uint32_t seed = 3) : random_(seed) {
    ModelSpec& spec = file.spec;
    spec.hidden = s.hidden, spec.vocabulary = s.vocabulary, spec.context = 4096;
    spec.heads = s.heads, spec.kv_heads = s.kv_heads, spec.head_dim = s.head_dim;
    spec.groups = {{AttentionKind::full, 0, 0}, {AttentionKind::window, s.window, 0}};
    for (uint32_t l = 0; l < s.layers; ++l) add_layer(s, l);
    file.weights.embedding = matrix(DType::f32, s.vocabulary, s.hidden);
    file.weights.output = matrix(s.dense, s.vocabulary, s.hidden);
    file.weights.output_norm = random_floats(random_, s.hidden, 0.2f);
  }

  ModelFile file;

 private:
  Matrix matrix(DType type, uint32_t rows, uint32_t cols, uint32_t experts = 1) {
    owned_.push_back(make_matrix(random_, type, rows, cols, experts));
    return owned_.back()->view;
  }

  void add_layer(const RandomShape& s, uint32_t l) {
    LayerSpec layer;
    layer.attention.kind = l % 2 == 0 ? AttentionKind::window : AttentionKind::full;
    layer.attention.window = l % 2 == 0 ? s.window : 0;
    layer.attention.group = l % 2 == 0 ? 1 : 0;
    layer.attention.layer_in_group = file.spec.groups[layer.attention.group].layers++;
    layer.attention.sinks = layer.attention.qkv_bias = layer.attention.out_bias = true;
    layer.attention.scale = 0.25;
    layer.attention.rope.dims = s.head_dim;
    layer.mlp = {MlpKind::moe, Activation::swiglu_oai, 1.702, 7.0, s.inner, true, s.experts, s.used, RouterSoftmax::chosen};
    layer.post_norms = s.post_norms;
    file.spec.layers.push_back(layer);

    const uint32_t qs = s.heads * s.head_dim, ks = s.kv_heads * s.head_dim;
    LayerWeights w;
    w.attention_norm = random_floats(random_, s.hidden, 0.3f), w.mlp_norm = random_floats(random_, s.hidden, 0.1f);
    if (s.post_norms) w.attention_post_norm = w.mlp_post_norm = w.mlp_norm;
    w.q = matrix(s.dense, qs, s.hidden), w.k = matrix(s.dense, ks, s.hidden), w.v = matrix(s.dense, ks, s.hidden), w.o = matrix(s.dense, s.hidden, qs);
    w.q_bias = random_floats(random_, qs), w.k_bias = random_floats(random_, ks), w.v_bias = random_floats(random_, ks);
    w.o_bias = random_floats(random_, s.hidden), w.sinks = random_floats(random_, s.heads);
    w.router = matrix(DType::f32, s.experts, s.hidden), w.router_bias = random_floats(random_, s.experts);
    w.gate = matrix(s.moe, s.inner, s.hidden, s.experts), w.up = matrix(s.moe, s.inner, s.hidden, s.experts);
    w.down = matrix(s.moe, s.hidden, s.inner, s.experts);
    w.gate_bias = random_floats(random_, size_t(s.experts) * s.inner), w.up_bias = random_floats(random_, size_t(s.experts) * s.inner);
    w.down_bias = random_floats(random_, size_t(s.experts) * s.hidden);
    file.weights.layers.push_back(std::move(w));
  }

  Random random_;
  std::vector<std::unique_ptr<TestMatrix>> owned_;
};

}  // namespace hearth::testing
