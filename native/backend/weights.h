// Weights as the readers hand them over: views into a mapped file (or into memory that the reader owns), nothing copied.
// Backends decide where they live; they never interpret names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "backend/dtype.h"

namespace hearth {

/// A matrix, or `experts` matrices of one shape: y[rows] = W[rows, cols] . x[cols]. Strides are bytes.
/// Row r of expert e begins at begin(e) + r*row_stride (an interleaved gate/up pair is two views). A view of some of the experts keeps
/// the strides of all, and names those that it has.
struct Matrix {
  std::string name;
  DType type = DType::f32;
  uint32_t rows = 0, cols = 0, experts = 1;
  const std::byte* data = nullptr;
  uint64_t row_stride = 0, expert_stride = 0;
  const std::byte* scales = nullptr;  // mxfp4_planes only: one e8m0 byte per 32 columns
  uint64_t scale_row_stride = 0, scale_expert_stride = 0;
  std::shared_ptr<const std::vector<const std::byte*>> scattered;  // experts that are tensors of their own: where each begins
  std::shared_ptr<const std::vector<uint32_t>> picked;  // [experts]: which of them they are; none: all
  uint32_t cut_from = 0;  // columns of the matrix of which this has some, for another rank; 0: it has all

  const std::byte* begin(uint64_t expert) const {
    const uint64_t at = place(expert);
    return scattered ? (*scattered)[at] : data + at * expert_stride;
  }
  /// The same of its scales; nullptr where it has no plane of them.
  const std::byte* scales_begin(uint64_t expert) const { return scales ? scales + place(expert) * scale_expert_stride : nullptr; }
  uint64_t place(uint64_t expert) const { return picked ? (*picked)[expert] : expert; }
  explicit operator bool() const { return data != nullptr; }
  uint64_t bytes() const {
    uint64_t scale = scales ? uint64_t(cols) / 32 : 0;
    return uint64_t(experts) * rows * (row_bytes(type, cols) + scale);
  }
};

/// Norms, biases, sinks: float32, read once. [n], or [experts * n] for the biases of experts.
using Vector = std::vector<float>;

struct LayerWeights {
  Vector attention_norm, mlp_norm;
  Vector attention_post_norm, mlp_post_norm;  // LayerSpec::post_norms
  Vector q_norm, k_norm;                      // [head_dim], the same for all heads
  Matrix q, k, v, o;
  Vector q_bias, k_bias, v_bias, o_bias, sinks;
  Matrix router;
  Vector router_bias;
  Matrix gate, up, down;                 // dense: experts == 1
  Vector gate_bias, up_bias, down_bias;  // [experts * rows]
};

struct ModelWeights {
  Matrix embedding, output;  // output views the embedding when tied
  Vector output_norm;
  std::vector<LayerWeights> layers;
};

}  // namespace hearth
