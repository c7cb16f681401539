// Matmuls as strips of 16 weight rows against prepared activation rows. What becomes of a strip's results is the caller's.
#pragma once

#include <algorithm>
#include <initializer_list>

#include "backend/cpu/cpu_state.h"

namespace hearth::cpu {

/// Whether a matmul with this weight runs on int8 activations.
bool uses_int8(const CpuState& cpu, const Matrix& w);

/// Whether activations are quantised twice, the second time what the first rounding left over. Done where the second plane
/// costs little, because int8 alone moves the distribution of small models by more than it should: narrow matrices, and
/// `fine` ones (logits: few rows, bound by memory). A property of the whole matrix and the op, never of the number of rows, nor of the
/// number of ranks: a wide one that is shared out would cost each rank what it was to save.
inline bool two_planes(const Matrix& w, bool fine) { return fine || std::max(w.cols, w.cut_from) <= 2048; }

/// Prepares rows of x ([rows, w.cols], dense; `buffer` is where they lie, so that their int8 form is made only once) for
/// every kind of kernel that the weights use. Groups are cpu.counts[g] consecutive entries of cpu.order (row numbers). `experts`: of each
/// row the one that it goes to; rows that go to none (-1) are not looked at, for nobody has written them.
void prepare_grouped(Step& s, std::initializer_list<const Matrix*> weights, Buffer buffer, const float* x, uint32_t rows, bool fine = false,
                     const int32_t* experts = nullptr);
/// The same with one group of all rows in order.
void prepare(Step& s, std::initializer_list<const Matrix*> weights, Buffer buffer, const float* x, uint32_t rows, bool fine = false);

/// How a matrix is cut into units of work: strips, or panels of two strips for many activation rows where the kernels have
/// a way for them. Results are the same.
struct Cut {
  uint32_t width;  // weight rows of a unit
  uint32_t units(const Matrix& w) const { return (w.rows + width - 1) / width; }
  uint32_t rows_in(const Matrix& w, uint32_t unit) const {
    const uint32_t left = w.rows - unit * width;
    return left < width ? left : width;
  }
};
inline Cut cut_for(const CpuState& cpu, const Matrix& w, uint32_t rows) {
  return {rows > strip_rows && cpu.kernels.panel_q8 && uses_int8(cpu, w) ? panel_rows : strip_rows};
}

/// Computes unit `unit` of matrix `expert` for prepared group `group`: out[i * cut.width + r] for the group's i-th row.
/// `ahead` is what this thread will probably read next.
void compute_unit(Step& s, uint32_t thread, const Matrix& w, uint32_t expert, Cut cut, uint32_t unit, uint32_t group, float* out,
                  const Ahead& ahead = {});

/// The bytes of a unit, as `ahead` of the call before it. None where there is no such unit.
Ahead unit_bytes(const Matrix& w, uint32_t expert, Cut cut, uint32_t unit);

inline constexpr uint32_t unit_grain = 1;  // units a thread takes at once: a unit is microseconds, taking it nanoseconds

inline void add_bias(float* to, const float* bias, uint32_t count) {
  if (!bias) return;
  for (uint32_t n = 0; n < count; ++n) to[n] += bias[n];
}

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
