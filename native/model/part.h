// A rank's part of a model as plain data, and the cutting of spec and weights to it. How large the parts are is decided elsewhere
// (division.h); a cut copies no weights, since rows, columns and experts of a matrix are views with its strides.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "backend/weights.h"
#include "model/spec.h"

namespace hearth {

/// [first, last)
struct Range {
  uint32_t first = 0, last = 0;
  uint32_t count() const { return last - first; }
  bool operator==(const Range&) const = default;
};

/// What a rank does of one layer.
struct LayerPart {
  uint32_t layer = 0;                 // of the model
  bool attention = true, mlp = true;  // is done here
  uint32_t partner = 0;               // where only one of them is: the rank that has the other
  Range inner;                        // columns of the MLP's inner activations that are here
  std::optional<std::vector<uint32_t>> experts = {};  // of the layer's experts those that are here, ascending; the partner has the others. None: all
};

/// What one rank holds, and whom it hears from. Ranks of one model are of three kinds, which may be mixed:
/// - *divided*: each has some heads, some inner columns and some of the vocabulary, of every layer; what it adds to the residual is a part of
///   a sum over all of them, and the first of them keeps the residual and the biases;
/// - *in a row*: each has whole layers and hands the residual on; embedding and output are on the first, which is the fastest;
/// - *serving*: it has the MLPs of some layers, or some of their experts, and computes them for the rank that has their attention.
struct ModelPart {
  std::vector<LayerPart> layers;
  Range kv_heads, vocabulary;
  bool embeds = true;                     // has the embedding
  bool ends = true;                       // has (its part of) the output
  bool divided = false, keeps = true;     // keeps: what is not a sum is added here
  bool share_routes = false;              // divided: experts are chosen by rank 0 for all
  std::optional<uint32_t> before, after;  // in a row: who hands the residual on
  std::optional<uint32_t> output_from, output_to;  // where the last layer and the output are on different ranks
};

/// All of it.
ModelPart whole_model(const ModelSpec& spec);

/// Views of a matrix. Columns are cut at whole blocks of its type.
Matrix cut_rows(const Matrix& matrix, Range rows);
Matrix cut_columns(const Matrix& matrix, Range columns);
Matrix cut_experts(const Matrix& matrix, const std::vector<uint32_t>& experts);
/// The same rows of each expert's piece of a vector of `each` values an expert.
Vector cut_vector(const Vector& vector, uint32_t each, Range rows);
/// The pieces of these experts.
Vector cut_experts(const Vector& vector, uint32_t each, const std::vector<uint32_t>& experts);

/// The model as this rank sees it: its layers, heads, inner width and vocabulary.
ModelSpec cut_spec(const ModelSpec& spec, const ModelPart& part);
/// What it holds of the weights of its i-th layer; what it does not hold is empty.
LayerWeights cut_layer(const ModelSpec& spec, const ModelWeights& weights, const ModelPart& part, size_t i);

}  // namespace hearth
