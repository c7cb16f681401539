// CPU: embedding, norm, dense matmuls, activation, row selection, logits.
#include <cmath>

#include "backend/cpu/matmul.h"
#include "backend/quant.h"
#include "backend/top_logits.h"

namespace hearth::cpu {

void run(Step& s, const Embed& op) {
  BufferState& out = s.cpu.resources.buffer(op.out);
  const Matrix& table = s.cpu.resources.weight(op.table);
  s.parallel(s.rows.rows, 8, 4.0 * s.rows.rows * out.cols, [&](uint32_t, uint32_t r) {
    float* row = out.row(r);
    decode_row(table, 0, static_cast<uint32_t>(s.inputs.tokens[r]), row);
    if (op.scale != 1.0f) {
      for (uint32_t c = 0; c < out.cols; ++c) row[c] *= op.scale;
    }
  });
}

void run(Step& s, const Norm& op) {
  const BufferState& x = s.cpu.resources.buffer(op.x);
  BufferState& out = s.cpu.resources.buffer(op.out);
  const float* weight = s.cpu.resources.values(op.weight);
  s.parallel(s.rows.rows, 8, 4.0 * s.rows.rows * x.cols,
             [&](uint32_t, uint32_t r) { s.cpu.kernels.norm(x.row(r), weight, op.eps, x.cols, out.row(r)); });
}

void run(Step& s, const LinearResidual& op) {
  BufferState& residual = s.cpu.resources.buffer(op.residual);
  const Matrix& w = s.cpu.resources.weight(op.w);
  const float *x = s.cpu.resources.buffer(op.x).row(0), *bias = s.cpu.resources.values(op.b), *weight = s.cpu.resources.values(op.norm);
  const uint32_t rows = s.rows.rows, cols = residual.cols;
  if (!weight) return dense(s, op.x, x, rows, {{&w, bias, residual.row(0), cols, true}});
  float* y = s.cpu.temporary.need_as<float>(size_t(rows) * cols);
  dense(s, op.x, x, rows, {{&w, bias, y, cols}});
  s.parallel(rows, 8, 5.0 * rows * cols, [&](uint32_t, uint32_t r) {
    float *row = y + size_t(r) * cols, *to = residual.row(r);
    s.cpu.kernels.norm(row, weight, op.norm_eps, cols, row);
    for (uint32_t n = 0; n < cols; ++n) to[n] += row[n];
  });
}

void run(Step& s, const GateUp& op) {
  const Resources& res = s.cpu.resources;
  const Matrix &gate = res.weight(op.gate), &up = res.weight(op.up);
  const float *bg = res.values(op.bg), *bu = res.values(op.bu);
  BufferState& out = s.cpu.resources.buffer(op.out);
  const uint32_t rows = s.rows.rows;
  const Cut cut = cut_for(s.cpu, gate, rows);
  const uint32_t units = cut.units(gate);
  prepare(s, {&gate, &up}, op.x, res.buffer(op.x).row(0), rows);
  s.reserve(gate.cols, size_t(rows) * cut.width * 2);
  s.parallel(units, unit_grain, 4.0 * gate.rows * gate.cols * rows, [&](uint32_t thread, uint32_t unit) {
    float* g = s.cpu.scratch[thread].out.as<float>();
    float* u = g + 2 * size_t(rows) * cut.width;  // room for two planes
    compute_unit(s, thread, gate, 0, cut, unit, 0, g, unit_bytes(up, 0, cut, unit));
    compute_unit(s, thread, up, 0, cut, unit, 0, u, unit_bytes(gate, 0, cut, unit + 1));
    const uint32_t first = unit * cut.width, count = cut.rows_in(gate, unit);
    for (uint32_t r = 0; r < rows; ++r, g += cut.width, u += cut.width) {
      add_bias(g, bg ? bg + first : nullptr, count);
      add_bias(u, bu ? bu + first : nullptr, count);
      s.cpu.kernels.activate(op.activation, op.alpha, op.limit, g, u, count, out.row(r) + first);
    }
  });
}

void run(Step& s, const SelectRows& op) {
  const BufferState& x = s.cpu.resources.buffer(op.x);
  BufferState& out = s.cpu.resources.buffer(op.out);
  for (uint32_t r = 0; r < s.rows.rows; ++r) std::memcpy(out.row(r), x.row(s.inputs.output_rows[r]), x.cols * sizeof(float));
}

/// Throws Error{numeric_error} when a logit is NaN or infinite.
void run(Step& s, const Logits& op) {
  BufferState& out = s.cpu.resources.buffer(op.out);
  dense(s, op.x, s.cpu.resources.buffer(op.x).row(0), s.rows.rows,
        {{&s.cpu.resources.weight(op.w), nullptr, out.row(0), out.cols}}, true);
  if (s.stop && s.stop->load(std::memory_order_relaxed)) return;
  for (uint32_t r = 0; r < s.rows.rows; ++r) {
    const float* row = out.row(r);
    uint32_t highest = 0;  // largest exponent; all ones is what is not finite
    for (uint32_t n = 0; n < out.cols; ++n) {
      uint32_t bits;
      std::memcpy(&bits, row + n, sizeof bits);
      bits &= 0x7fffffffu;
      highest = bits > highest ? bits : highest;
    }
    if (highest >= 0x7f800000u) throw Error(ErrorCode::numeric_error, "The model computed logits that are not finite numbers.");
  }
}

/// In plain form: a processor's rows lie where the sampler reads them, so this is only asked of one that shares a vocabulary with devices
/// whose rows do not.
void run(Step& s, const TopLogits& op) {
  const BufferState& logits = s.cpu.resources.buffer(op.logits);
  BufferState& out = s.cpu.resources.buffer(op.out);
  for (uint32_t r = 0; r < s.rows.rows; ++r) top_logits(logits.row(r), {logits.cols, op.k}, out.row(r));
}

}  // namespace hearth::cpu
