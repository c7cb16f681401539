// Implements the forward pass: binding of weights first, then the page that a paper would print.
#include "model/transformer.h"

#include "hearth/error.h"

namespace hearth {
namespace {

WeightRef weight_or_none(Backend& backend, const Matrix& matrix) { return matrix ? backend.add_weight(matrix) : WeightRef{}; }
VectorRef vector_or_none(Backend& backend, const Vector& v) { return v.empty() ? VectorRef{} : backend.add_vector(v); }

}  // namespace

Transformer::Transformer(const ModelSpec& spec, const ModelWeights& weights, Backend& backend, TransformerLimits limits,
                         const std::function<void(double)>& progress)
    : spec_(spec), backend_(backend), context_(limits.context) {
  const uint32_t rows = limits.rows;
  residual_ = backend.add_buffer("residual", spec.hidden, rows);
  normed_ = backend.add_buffer("normed", spec.hidden, rows);
  query_ = backend.add_buffer("query", spec.heads * spec.head_dim, rows);
  attended_ = backend.add_buffer("attended", spec.heads * spec.head_dim, rows);
  selected_ = backend.add_buffer("selected", spec.hidden, limits.output_rows);
  final_ = backend.add_buffer("final", spec.hidden, limits.output_rows);
  logits_ = backend.add_buffer("logits", spec.vocabulary, limits.output_rows);

  embedding_ = backend.add_weight(weights.embedding);
  for (size_t i = 0; i < spec.layers.size(); ++i) {
    if (progress) progress(double(i) / double(spec.layers.size()));
    layers_.push_back(bind(spec.layers[i], weights.layers.at(i), rows));
  }
  output_norm_ = backend.add_vector(weights.output_norm);
  output_ = backend.add_weight(weights.output);
  if (progress) progress(1.0);
}

Transformer::Layer Transformer::bind(const LayerSpec& spec, const LayerWeights& w, uint32_t rows) {
  Layer layer;
  layer.attention_norm = backend_.add_vector(w.attention_norm);
  layer.attention_post_norm = vector_or_none(backend_, w.attention_post_norm);
  layer.mlp_post_norm = vector_or_none(backend_, w.mlp_post_norm);
  layer.q_norm = vector_or_none(backend_, w.q_norm);
  layer.k_norm = vector_or_none(backend_, w.k_norm);
  layer.q = backend_.add_weight(w.q);
  layer.k = backend_.add_weight(w.k);
  layer.v = backend_.add_weight(w.v);
  layer.q_bias = vector_or_none(backend_, w.q_bias);
  layer.k_bias = vector_or_none(backend_, w.k_bias);
  layer.v_bias = vector_or_none(backend_, w.v_bias);
  layer.rope = bind_rope(spec.attention.rope);
  layer.sinks = vector_or_none(backend_, w.sinks);
  layer.o = backend_.add_weight(w.o);
  layer.o_bias = vector_or_none(backend_, w.o_bias);
  layer.mlp_norm = backend_.add_vector(w.mlp_norm);
  layer.router = weight_or_none(backend_, w.router);
  layer.router_bias = vector_or_none(backend_, w.router_bias);
  layer.gate = backend_.add_weight(w.gate);
  layer.up = backend_.add_weight(w.up);
  layer.down = backend_.add_weight(w.down);
  layer.gate_bias = vector_or_none(backend_, w.gate_bias);
  layer.up_bias = vector_or_none(backend_, w.up_bias);
  layer.down_bias = vector_or_none(backend_, w.down_bias);
  if (spec.mlp.kind == MlpKind::moe) layer.routes = backend_.add_routes(spec.mlp.experts_used, rows);
  // The chosen experts of a row lie side by side.
  layer.hidden = hidden_buffer(spec.mlp.intermediate * (spec.mlp.kind == MlpKind::moe ? spec.mlp.experts_used : 1), rows);
  return layer;
}

Buffer Transformer::hidden_buffer(uint32_t width, uint32_t rows) {
  for (const auto& [known, buffer] : hidden_) {
    if (known == width) return buffer;
  }
  hidden_.emplace_back(width, backend_.add_buffer("hidden", width, rows));
  return hidden_.back().second;
}

RopeRef Transformer::bind_rope(const RopeSpec& spec) {
  if (spec.layout == RopeLayout::none) return {};
  for (const auto& [known, ref] : ropes_) {
    if (known == spec) return ref;
  }
  ropes_.emplace_back(spec, backend_.add_rope(make_rope_table(spec, context_)));
  return ropes_.back().second;
}

KvShape Transformer::kv_shape(const ModelSpec& spec, uint32_t block_size) {
  KvShape shape;
  shape.block_size = block_size;
  shape.kv_heads = spec.kv_heads;
  shape.head_dim = spec.head_dim;
  for (const LayerGroup& group : spec.groups) shape.layers_per_group.push_back(group.layers);
  return shape;
}

OpList Transformer::record(const RankContext& rank, LayerRange layers, StepTail tail) const {
  if (!rank.alone()) throw Error(ErrorCode::internal, "This build runs a model on one rank only.");
  const bool whole_end = layers.last == layers_.size();
  OpList ops;
  if (layers.first == 0) ops.push_back(Embed{embedding_, static_cast<float>(spec_.embedding_scale), residual_});
  for (uint32_t i = layers.first; i < layers.last; ++i) {
    // Without output rows nothing reads what follows the last layer's keys and values.
    const bool kv_only = tail == StepTail::kv_only && i + 1 == layers_.size();
    attention(ops, i, kv_only);
    if (!kv_only) mlp(ops, i);
  }
  if (whole_end && tail == StepTail::logits) {
    ops.push_back(SelectRows{residual_, selected_});
    ops.push_back(Norm{selected_, output_norm_, eps(), final_});
    ops.push_back(Logits{final_, output_, logits_});
  }
  return ops;
}

void Transformer::attention(OpList& ops, uint32_t index, bool kv_only) const {
  const AttentionSpec& a = spec_.layers[index].attention;
  const Layer& w = layers_[index];
  const uint32_t window = a.kind == AttentionKind::window ? a.window : 0;
  ops.push_back(Norm{residual_, w.attention_norm, eps(), normed_});
  ops.push_back(QkvRopeStore{normed_, w.q, w.k, w.v, w.q_bias, w.k_bias, w.v_bias, w.rope, a.group, a.layer_in_group,
                             spec_.heads, spec_.kv_heads, spec_.head_dim, query_, w.q_norm, w.k_norm, eps()});
  if (kv_only) return;
  ops.push_back(Attention{query_, w.sinks, a.group, a.layer_in_group, spec_.heads, spec_.kv_heads, spec_.head_dim, window,
                          static_cast<float>(a.scale), attended_});
  ops.push_back(LinearResidual{attended_, w.o, w.o_bias, residual_, w.attention_post_norm, eps()});
}

void Transformer::mlp(OpList& ops, uint32_t index) const {
  const MlpSpec& m = spec_.layers[index].mlp;
  const Layer& w = layers_[index];
  ops.push_back(Norm{residual_, w.mlp_norm, eps(), normed_});
  if (m.kind == MlpKind::moe) return experts(ops, index);
  ops.push_back(GateUp{normed_, w.gate, w.up, w.gate_bias, w.up_bias, m.activation, static_cast<float>(m.swiglu_alpha),
                       static_cast<float>(m.swiglu_limit), w.hidden});
  ops.push_back(LinearResidual{w.hidden, w.down, w.down_bias, residual_, w.mlp_post_norm, eps()});
}

void Transformer::experts(OpList& ops, uint32_t index) const {
  const MlpSpec& m = spec_.layers[index].mlp;
  const Layer& w = layers_[index];
  ops.push_back(Router{normed_, w.router, w.router_bias, m.experts, m.experts_used, index, w.routes, m.softmax});
  ops.push_back(ExpertsGateUp{normed_, w.routes, w.gate, w.up, w.gate_bias, w.up_bias, m.experts_used, m.activation,
                              static_cast<float>(m.swiglu_alpha), static_cast<float>(m.swiglu_limit), w.hidden});
  ops.push_back(ExpertsDown{w.hidden, w.routes, w.down, w.down_bias, m.experts_used, residual_});
}

}  // namespace hearth
