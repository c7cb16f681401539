// Implements the forward pass: binding of weights first, then the page that a paper would print.
#include "model/transformer.h"

#include <algorithm>

#include "backend/top_logits.h"

namespace hearth {
namespace {

WeightRef weight_or_none(Backend& backend, const Matrix& matrix) { return matrix ? backend.add_weight(matrix) : WeightRef{}; }
/// Whether these rows of a matrix are the whole of the other, as where embedding and output are tied.
bool is_all_of(const Matrix& matrix, Range rows, const Matrix& other) {
  return matrix && matrix.data == other.data && rows == Range{0, other.rows} && matrix.rows == other.rows;
}

/// Of each of `count` experts its number among those that are here, or -1.
Vector places_of(const std::vector<uint32_t>& experts, uint32_t count) {
  Vector places(count, -1.0f);
  for (size_t i = 0; i < experts.size(); ++i) places.at(experts[i]) = static_cast<float>(i);
  return places;
}

VectorRef vector_or_none(Backend& backend, const Vector& v) { return v.empty() ? VectorRef{} : backend.add_vector(v); }

}  // namespace

Transformer::Transformer(const ModelSpec& spec, const ModelWeights& weights, Backend& backend, TransformerLimits limits,
                         const Progress& progress)
    : Transformer(spec, weights, whole_model(spec), backend, limits, progress) {}

Transformer::Transformer(const ModelSpec& spec, const ModelWeights& weights, const ModelPart& part, Backend& backend,
                         TransformerLimits limits, const Progress& progress)
    : spec_(cut_spec(spec, part)), part_(part), model_layers_(spec.layers.size()), backend_(backend), context_(limits.context) {
  add_buffers(limits);
  if (part.embeds) embedding_ = backend.add_weight(weights.embedding);
  for (size_t i = 0; i < part.layers.size(); ++i) {
    if (progress) progress(double(i) / double(part.layers.size()));
    layers_.push_back(bind(i, cut_layer(spec, weights, part, i), limits.rows));
  }
  if (part.ends) {
    output_norm_ = backend.add_vector(weights.output_norm);
    output_ = part.embeds && is_all_of(weights.output, part.vocabulary, weights.embedding)
                  ? embedding_  // once in a device's memory
                  : backend.add_weight(cut_rows(weights.output, part.vocabulary));
  }
  if (progress) progress(1.0);
}

/// Those that no op of this part names are left out: a device's memory is taken at once.
void Transformer::add_buffers(const TransformerLimits& limits) {
  residual_ = backend_.add_buffer("residual", spec_.hidden, limits.rows);
  normed_ = backend_.add_buffer("normed", spec_.hidden, limits.rows);
  if (std::ranges::any_of(part_.layers, &LayerPart::attention)) {
    query_ = backend_.add_buffer("query", spec_.heads * spec_.head_dim, limits.rows);
    attended_ = backend_.add_buffer("attended", spec_.heads * spec_.head_dim, limits.rows);
  }
  if (!part_.ends) return;
  selected_ = backend_.add_buffer("selected", spec_.hidden, limits.output_rows);
  final_ = backend_.add_buffer("final", spec_.hidden, limits.output_rows);
  logits_ = backend_.add_buffer("logits", spec_.vocabulary, limits.output_rows);
  top_logits_ = backend_.add_buffer("top_logits", TopLayout{spec_.vocabulary, most_top}.cols(), limits.output_rows);
}

Transformer::Layer Transformer::bind(size_t i, const LayerWeights& w, uint32_t rows) {
  Layer layer;
  if (part_.layers[i].attention) bind_attention(layer, spec_.layers[i].attention, w);
  if (part_.layers[i].mlp) bind_mlp(layer, i, w, rows);
  return layer;
}

void Transformer::bind_attention(Layer& layer, const AttentionSpec& spec, const LayerWeights& w) {
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
  layer.rope = bind_rope(spec.rope);
  layer.sinks = vector_or_none(backend_, w.sinks);
  layer.o = backend_.add_weight(w.o);
  layer.o_bias = vector_or_none(backend_, w.o_bias);
  layer.mlp_norm = backend_.add_vector(w.mlp_norm);
}

void Transformer::bind_mlp(Layer& layer, size_t i, const LayerWeights& w, uint32_t rows) {
  const MlpSpec& spec = spec_.layers[i].mlp;
  layer.router = weight_or_none(backend_, w.router);
  layer.router_bias = vector_or_none(backend_, w.router_bias);
  layer.gate = backend_.add_weight(w.gate);
  layer.up = backend_.add_weight(w.up);
  layer.down = backend_.add_weight(w.down);
  layer.gate_bias = vector_or_none(backend_, w.gate_bias);
  layer.up_bias = vector_or_none(backend_, w.up_bias);
  layer.down_bias = vector_or_none(backend_, w.down_bias);
  if (spec.kind == MlpKind::moe) layer.routes = layer.here = backend_.add_routes(spec.experts_used, rows);
  if (const auto& experts = part_.layers[i].experts) {
    layer.places = backend_.add_vector(places_of(*experts, spec.experts));
    layer.here = backend_.add_routes(spec.experts_used, rows);
  }
  // The chosen experts of a row lie side by side.
  layer.hidden = hidden_buffer(spec.intermediate * (spec.kind == MlpKind::moe ? spec.experts_used : 1), rows);
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

OpList Transformer::record(StepTail tail) const {
  OpList ops;
  begin(ops);
  for (size_t i = 0; i < layers_.size(); ++i) {
    const LayerPart& layer = part_.layers[i];
    // Without output rows nothing reads what follows the last layer's keys and values.
    const bool kv_only = tail == StepTail::kv_only && layer.layer + 1 == model_layers_;
    if (layer.attention) attention(ops, i, kv_only);
    if (kv_only) continue;
    if (layer.attention) mlp(ops, i);
    else serve(ops, i);
  }
  if (part_.after) ops.push_back(Send{residual_, *part_.after});
  if (tail != StepTail::kv_only) end(ops);
  if (tail == StepTail::top_logits && part_.ends) ops.push_back(TopLogits{logits_, most_top, top_logits_});
  return ops;
}

/// The residual of the first layer here: from the embedding, from whoever has it, or from the rank before.
void Transformer::begin(OpList& ops) const {
  if (part_.embeds) ops.push_back(Embed{embedding_, static_cast<float>(spec_.embedding_scale), residual_});
  if (part_.before) ops.push_back(Recv{residual_, *part_.before});
  if (!part_.divided) return;
  if (!part_.embeds) ops.push_back(Clear{residual_});
  sum_parts(ops);
}

void Transformer::end(OpList& ops) const {
  if (part_.output_to) ops.push_back(Send{residual_, *part_.output_to});
  if (!part_.ends) return;
  if (part_.output_from) ops.push_back(Recv{residual_, *part_.output_from});
  ops.push_back(SelectRows{residual_, selected_});
  ops.push_back(Norm{selected_, output_norm_, eps(), final_});
  ops.push_back(Logits{final_, output_, logits_});
}

void Transformer::attention(OpList& ops, size_t index, bool kv_only) const {
  const AttentionSpec& a = spec_.layers[index].attention;
  const Layer& w = layers_[index];
  const uint32_t window = a.kind == AttentionKind::window ? a.window : 0;
  ops.push_back(Norm{residual_, w.attention_norm, eps(), normed_});
  ops.push_back(QkvRopeStore{normed_, w.q, w.k, w.v, w.q_bias, w.k_bias, w.v_bias, w.rope, a.group, a.layer_in_group,
                             spec_.heads, spec_.kv_heads, spec_.head_dim, query_, w.q_norm, w.k_norm, eps()});
  if (kv_only) return;
  ops.push_back(Attention{query_, w.sinks, a.group, a.layer_in_group, spec_.heads, spec_.kv_heads, spec_.head_dim, window,
                          static_cast<float>(a.scale), attended_});
  clear_part(ops);
  ops.push_back(LinearResidual{attended_, w.o, w.o_bias, residual_, w.attention_post_norm, eps()});
  sum_parts(ops);
}

void Transformer::mlp(OpList& ops, size_t index) const {
  ops.push_back(Norm{residual_, layers_[index].mlp_norm, eps(), normed_});
  const LayerPart& layer = part_.layers[index];
  if (!layer.mlp) return elsewhere(ops, layer);
  choose(ops, index);
  if (layer.experts) {  // the partner computes its experts at the same time
    ops.push_back(Send{normed_, layer.partner});
    ops.push_back(SendRoutes{layers_[index].routes, layer.layer, layer.partner});
  }
  inner(ops, index);
  clear_part(ops);
  outer(ops, index);
  if (layer.experts) ops.push_back(Recv{residual_, layer.partner, true});
  sum_parts(ops);
}

/// Which experts, where the MLP has any.
void Transformer::choose(OpList& ops, size_t index) const {
  const MlpSpec& m = spec_.layers[index].mlp;
  const Layer& w = layers_[index];
  if (m.kind == MlpKind::dense) return;
  ops.push_back(Router{normed_, w.router, w.router_bias, m.experts, m.experts_used, part_.layers[index].layer, w.routes, m.softmax});
  if (part_.share_routes) ops.push_back(ShareRoutes{w.routes});
}

/// From the normed rows to the MLP's inner activations.
void Transformer::inner(OpList& ops, size_t index) const {
  const MlpSpec& m = spec_.layers[index].mlp;
  const Layer& w = layers_[index];
  const auto alpha = static_cast<float>(m.swiglu_alpha), limit = static_cast<float>(m.swiglu_limit);
  if (m.kind == MlpKind::dense) {
    ops.push_back(GateUp{normed_, w.gate, w.up, w.gate_bias, w.up_bias, m.activation, alpha, limit, w.hidden});
    return;
  }
  if (w.places) ops.push_back(PickRoutes{w.routes, w.places, w.here});
  ops.push_back(ExpertsGateUp{normed_, w.here, w.gate, w.up, w.gate_bias, w.up_bias, m.experts_used, m.activation, alpha, limit, w.hidden});
}

/// From there to the residual.
void Transformer::outer(OpList& ops, size_t index) const {
  const MlpSpec& m = spec_.layers[index].mlp;
  const Layer& w = layers_[index];
  if (m.kind == MlpKind::dense) ops.push_back(LinearResidual{w.hidden, w.down, w.down_bias, residual_, w.mlp_post_norm, eps()});
  else ops.push_back(ExpertsDown{w.hidden, w.here, w.down, w.down_bias, m.experts_used, residual_});
}

void Transformer::elsewhere(OpList& ops, const LayerPart& layer) const {
  ops.push_back(Send{normed_, layer.partner});
  ops.push_back(Recv{residual_, layer.partner, true});
}

void Transformer::serve(OpList& ops, size_t index) const {
  const uint32_t asker = part_.layers[index].partner;
  ops.push_back(Recv{normed_, asker});
  if (part_.layers[index].experts) ops.push_back(RecvRoutes{layers_[index].routes, spec_.layers[index].mlp.experts, asker});
  else choose(ops, index);
  inner(ops, index);
  ops.push_back(Clear{residual_});
  outer(ops, index);
  ops.push_back(Send{residual_, asker});
}

/// What follows adds to nothing where the residual is kept by another rank.
void Transformer::clear_part(OpList& ops) const {
  if (part_.divided && !part_.keeps) ops.push_back(Clear{residual_});
}

void Transformer::sum_parts(OpList& ops) const {
  if (part_.divided) ops.push_back(AllReduce{residual_});
}

}  // namespace hearth
