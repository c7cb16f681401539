// Reference: embedding, norm, dense matmuls, activation, row selection, logits.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "backend/quant.h"
#include "backend/reference/reference_ops.h"
#include "backend/top_logits.h"

namespace hearth::reference {

void matmul(const Matrix& w, uint32_t expert, const float* bias, const float* x, uint64_t x_stride, uint32_t rows,
            float* out, uint64_t out_stride) {
  std::vector<float> weights(w.cols);
  for (uint32_t n = 0; n < w.rows; ++n) {
    decode_row(w, expert, n, weights.data());
    for (uint32_t r = 0; r < rows; ++r) {
      double sum = bias ? bias[n] : 0.0;
      for (uint32_t c = 0; c < w.cols; ++c) sum += double(weights[c]) * double(x[r * x_stride + c]);
      out[r * out_stride + n] = static_cast<float>(sum);
    }
  }
}

void norm(const float* x, const float* weight, float eps, uint32_t cols, float* out) {
  double squares = 0.0;
  for (uint32_t i = 0; i < cols; ++i) squares += double(x[i]) * x[i];
  const double factor = 1.0 / std::sqrt(squares / cols + eps);
  for (uint32_t i = 0; i < cols; ++i) out[i] = static_cast<float>(x[i] * factor * weight[i]);
}

float activate(Activation kind, float alpha, float limit, float gate, float up) {
  const double g = gate, u = up;
  switch (kind) {
    case Activation::silu: return static_cast<float>(g / (1.0 + std::exp(-g)) * u);
    case Activation::gelu_tanh:
      return static_cast<float>(0.5 * g * (1.0 + std::tanh(0.7978845608028654 * (g + 0.044715 * g * g * g))) * u);
    case Activation::swiglu_oai: {
      // Comparisons that let NaN through: a clamp must not hide an upstream error (ENGINE reference 1.5).
      const double gc = g > limit ? limit : g, uc = u > limit ? limit : u < -limit ? -limit : u;
      return static_cast<float>(gc / (1.0 + std::exp(-double(alpha) * gc)) * (uc + 1.0));
    }
  }
  return 0.0f;
}

void run(Context& c, const Embed& op) {
  BufferState& out = c.resources.buffer(op.out);
  const Matrix& table = c.resources.weight(op.table);
  for (uint32_t r = 0; r < c.rows.rows; ++r) {
    decode_row(table, 0, static_cast<uint32_t>(c.inputs.tokens[r]), out.row(r));
    for (uint32_t i = 0; i < out.cols; ++i) out.row(r)[i] *= op.scale;
  }
}

void run(Context& c, const Norm& op) {
  const BufferState& x = c.resources.buffer(op.x);
  BufferState& out = c.resources.buffer(op.out);
  const float* weight = c.resources.values(op.weight);
  for (uint32_t r = 0; r < c.rows.rows; ++r) norm(x.row(r), weight, op.eps, x.cols, out.row(r));
}

void run(Context& c, const LinearResidual& op) {
  const BufferState& x = c.resources.buffer(op.x);
  BufferState& residual = c.resources.buffer(op.residual);
  std::vector<float> y(size_t(c.rows.rows) * residual.cols);
  matmul(c.resources.weight(op.w), 0, c.resources.values(op.b), x.row(0), x.cols, c.rows.rows, y.data(), residual.cols);
  const float* weight = c.resources.values(op.norm);
  for (uint32_t r = 0; weight && r < c.rows.rows; ++r) {
    float* row = &y[size_t(r) * residual.cols];
    norm(row, weight, op.norm_eps, residual.cols, row);
  }
  for (size_t i = 0; i < y.size(); ++i) residual.row(0)[i] += y[i];
}

void run(Context& c, const GateUp& op) {
  const BufferState& x = c.resources.buffer(op.x);
  BufferState& out = c.resources.buffer(op.out);
  std::vector<float> gate(size_t(c.rows.rows) * out.cols), up(gate.size());
  matmul(c.resources.weight(op.gate), 0, c.resources.values(op.bg), x.row(0), x.cols, c.rows.rows, gate.data(), out.cols);
  matmul(c.resources.weight(op.up), 0, c.resources.values(op.bu), x.row(0), x.cols, c.rows.rows, up.data(), out.cols);
  for (size_t i = 0; i < gate.size(); ++i) out.row(0)[i] = activate(op.activation, op.alpha, op.limit, gate[i], up[i]);
}

void run(Context& c, const SelectRows& op) {
  const BufferState& x = c.resources.buffer(op.x);
  BufferState& out = c.resources.buffer(op.out);
  for (uint32_t r = 0; r < c.rows.rows; ++r) std::memcpy(out.row(r), x.row(c.inputs.output_rows[r]), x.cols * sizeof(float));
}

void run(Context& c, const Logits& op) {
  const BufferState& x = c.resources.buffer(op.x);
  BufferState& out = c.resources.buffer(op.out);
  matmul(c.resources.weight(op.w), 0, nullptr, x.row(0), x.cols, c.rows.rows, out.row(0), out.cols);
  const size_t n = size_t(c.rows.rows) * out.cols;
  if (!std::all_of(out.row(0), out.row(0) + n, [](float v) { return std::isfinite(v); })) {
    throw Error(ErrorCode::numeric_error, "The model computed logits that are not finite numbers.");
  }
}

void run(Context& c, const TopLogits& op) {
  const BufferState& logits = c.resources.buffer(op.logits);
  BufferState& out = c.resources.buffer(op.out);
  for (uint32_t r = 0; r < c.rows.rows; ++r) top_logits(logits.row(r), {logits.cols, op.k}, out.row(r));
}

}  // namespace hearth::reference
