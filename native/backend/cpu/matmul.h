// Matmuls as strips of 16 weight rows against prepared activation rows. What becomes of a strip's results is the caller's.
#pragma once

#include <initializer_list>

#include "backend/cpu/cpu_state.h"

namespace hearth::cpu {

/// Whether a matmul with this weight runs on int8 activations.
bool uses_int8(const CpuState& cpu, const Matrix& w);

/// Whether activations are quantised twice, the second time what the first rounding left over. Done where the second plane
/// costs little, because int8 alone moves the distribution of small models by more than it should: narrow matrices, and
/// `fine` ones (logits: few rows, bound by memory). A property of the matrix and the op, never of the number of rows.
inline bool two_planes(const Matrix& w, bool fine) { return fine || w.cols <= 2048; }

/// Prepares rows of x ([rows, w.cols], dense; `buffer` is where they lie, so that their int8 form is made only once) for
/// every kind of kernel that the weights use. Groups are cpu.counts[g] consecutive entries of cpu.order (row numbers).
void prepare_grouped(Step& s, std::initializer_list<const Matrix*> weights, Buffer buffer, const float* x, uint32_t rows, bool fine = false);
/// The same with one group of all rows in order.
void prepare(Step& s, std::initializer_list<const Matrix*> weights, Buffer buffer, const float* x, uint32_t rows, bool fine = false);

/// Computes strip `strip` of matrix `expert` for prepared group `group`: out[i * strip_rows + r] for the group's i-th row.
void compute_strip(Step& s, uint32_t thread, const Matrix& w, uint32_t expert, uint32_t strip, uint32_t group, float* out);

inline uint32_t strips_of(const Matrix& w) { return (w.rows + strip_rows - 1) / strip_rows; }
inline uint32_t rows_in_strip(const Matrix& w, uint32_t strip) {
  const uint32_t left = w.rows - strip * strip_rows;
  return left < strip_rows ? left : strip_rows;
}
inline constexpr uint32_t strip_grain = 1;  // strips a thread takes at once: a strip is microseconds, taking it nanoseconds

/// One dense product: out[row * stride + n] = (add ? what is there : 0) + W[n] . x[row] + bias[n].
struct Target {
  const Matrix* w;
  const float* bias;
  float* out;
  size_t stride;
  bool add = false;
};

/// Prepares and runs several products of the same rows in one parallel loop.
void dense(Step& s, Buffer buffer, const float* x, uint32_t rows, std::initializer_list<Target> targets, bool fine = false);

}  // namespace hearth::cpu
