// Implements the cuts.
#include "model/part.h"

#include <memory>
#include <string>

#include "hearth/error.h"

namespace hearth {
namespace {

/// The same matrix, every expert's beginning `bytes` further on.
void shift(Matrix& matrix, uint64_t bytes) {
  matrix.data += bytes;
  if (!matrix.scattered) return;
  auto begins = std::make_shared<std::vector<const std::byte*>>(*matrix.scattered);
  for (const std::byte*& begin : *begins) begin += bytes;
  matrix.scattered = std::move(begins);
}

}  // namespace

ModelPart whole_model(const ModelSpec& spec) {
  ModelPart part;
  for (uint32_t i = 0; i < spec.layers.size(); ++i) part.layers.push_back({i, true, true, 0, {0, spec.layers[i].mlp.intermediate}});
  part.kv_heads = {0, spec.kv_heads};
  part.vocabulary = {0, spec.vocabulary};
  return part;
}

Matrix cut_rows(const Matrix& matrix, Range rows) {
  if (!matrix) return matrix;
  if (rows.last > matrix.rows || rows.first >= rows.last) throw Error(ErrorCode::internal, "A cut outside of " + matrix.name + ".");
  Matrix cut = matrix;
  cut.rows = rows.count();
  shift(cut, rows.first * matrix.row_stride);
  if (cut.scales) cut.scales += rows.first * matrix.scale_row_stride;
  return cut;
}

Matrix cut_columns(const Matrix& matrix, Range columns) {
  if (!matrix) return matrix;
  const uint32_t block = info(matrix.type).block;
  if (columns.last > matrix.cols || columns.first >= columns.last || columns.first % block != 0 || columns.last % block != 0) {
    throw Error(ErrorCode::internal, "A cut through a block, or outside, of " + matrix.name + ".");
  }
  Matrix cut = matrix;
  cut.cols = columns.count();
  if (columns.count() < matrix.cols && cut.cut_from == 0) cut.cut_from = matrix.cols;
  shift(cut, row_bytes(matrix.type, columns.first));
  if (cut.scales) cut.scales += columns.first / 32;
  return cut;
}

Matrix cut_experts(const Matrix& matrix, const std::vector<uint32_t>& experts) {
  if (!matrix) return matrix;
  auto picked = std::make_shared<std::vector<uint32_t>>();
  for (uint32_t expert : experts) {
    if (expert >= matrix.experts) throw Error(ErrorCode::internal, "An expert that " + matrix.name + " does not have.");
    picked->push_back(static_cast<uint32_t>(matrix.place(expert)));
  }
  Matrix cut = matrix;
  cut.experts = static_cast<uint32_t>(experts.size());
  cut.picked = std::move(picked);
  return cut;
}

Vector cut_vector(const Vector& vector, uint32_t each, Range rows) {
  Vector cut;
  for (size_t expert = 0; expert * each < vector.size(); ++expert) {
    const auto begin = vector.begin() + std::ptrdiff_t(expert * each);
    cut.insert(cut.end(), begin + rows.first, begin + rows.last);
  }
  return cut;
}

Vector cut_experts(const Vector& vector, uint32_t each, const std::vector<uint32_t>& experts) {
  Vector cut;
  for (size_t expert : experts) {
    if (vector.empty()) break;
    if ((expert + 1) * each > vector.size()) throw Error(ErrorCode::internal, "An expert without its values.");
    const auto begin = vector.begin() + std::ptrdiff_t(expert * each);
    cut.insert(cut.end(), begin, begin + each);
  }
  return cut;
}

namespace {

/// What is here of a layer whose other experts are elsewhere. Who serves does not choose.
void keep_experts(LayerWeights& layer, const LayerPart& mine, uint32_t hidden) {
  if (!mine.experts) return;
  layer.gate_bias = cut_experts(layer.gate_bias, mine.inner.count(), *mine.experts);
  layer.up_bias = cut_experts(layer.up_bias, mine.inner.count(), *mine.experts);
  layer.down_bias = cut_experts(layer.down_bias, hidden, *mine.experts);
  for (Matrix* matrix : {&layer.gate, &layer.up, &layer.down}) *matrix = cut_experts(*matrix, *mine.experts);
  if (!mine.attention) layer.router = {}, layer.router_bias.clear();
}

}  // namespace

ModelSpec cut_spec(const ModelSpec& spec, const ModelPart& part) {
  ModelSpec cut = spec;
  cut.kv_heads = part.kv_heads.count();
  cut.heads = spec.heads / spec.kv_heads * cut.kv_heads;
  cut.vocabulary = part.vocabulary.count();
  cut.layers.clear();
  for (LayerGroup& group : cut.groups) group.layers = 0;
  for (const LayerPart& each : part.layers) {
    LayerSpec layer = spec.layers.at(each.layer);
    layer.mlp.intermediate = each.inner.count();
    if (each.attention) layer.attention.layer_in_group = cut.groups.at(layer.attention.group).layers++;
    cut.layers.push_back(layer);
  }
  return cut;
}

LayerWeights cut_layer(const ModelSpec& spec, const ModelWeights& weights, const ModelPart& part, size_t i) {
  const LayerPart& mine = part.layers.at(i);
  const LayerWeights& all = weights.layers.at(mine.layer);
  LayerWeights cut;
  if (mine.attention) {
    const uint32_t each = spec.heads / spec.kv_heads;
    const Range kv{part.kv_heads.first * spec.head_dim, part.kv_heads.last * spec.head_dim};
    const Range q{kv.first * each, kv.last * each};
    cut.attention_norm = all.attention_norm, cut.attention_post_norm = all.attention_post_norm;
    cut.mlp_norm = all.mlp_norm, cut.mlp_post_norm = all.mlp_post_norm;
    cut.q_norm = all.q_norm, cut.k_norm = all.k_norm;
    cut.q = cut_rows(all.q, q), cut.k = cut_rows(all.k, kv), cut.v = cut_rows(all.v, kv), cut.o = cut_columns(all.o, q);
    cut.q_bias = cut_vector(all.q_bias, spec.heads * spec.head_dim, q);
    cut.k_bias = cut_vector(all.k_bias, spec.kv_heads * spec.head_dim, kv);
    cut.v_bias = cut_vector(all.v_bias, spec.kv_heads * spec.head_dim, kv);
    cut.sinks = cut_vector(all.sinks, spec.heads, {part.kv_heads.first * each, part.kv_heads.last * each});
    if (part.keeps) cut.o_bias = all.o_bias;
  }
  if (mine.mlp) {
    const uint32_t inner = spec.layers.at(mine.layer).mlp.intermediate;
    cut.router = all.router, cut.router_bias = all.router_bias;
    cut.gate = cut_rows(all.gate, mine.inner), cut.up = cut_rows(all.up, mine.inner), cut.down = cut_columns(all.down, mine.inner);
    cut.gate_bias = cut_vector(all.gate_bias, inner, mine.inner), cut.up_bias = cut_vector(all.up_bias, inner, mine.inner);
    if (part.keeps) cut.down_bias = all.down_bias;
    keep_experts(cut, mine, spec.hidden);
  }
  return cut;
}

}  // namespace hearth
