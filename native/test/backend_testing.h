// Shared by the backend tests: random weights of every type, a rig that feeds rows to ops, comparisons. No assertions.
#pragma once

#include <cmath>
#include <cstring>
#include <deque>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "backend/half.h"
#include "backend/quant.h"

namespace hearth::testing {

using Floats = std::vector<float>;
using Random = std::mt19937;

inline const DType all_types[] = {DType::f32,  DType::f16,  DType::bf16, DType::q8_0,   DType::q4_0,  DType::q4_1, DType::q5_0,
                                  DType::q5_1, DType::q4_k, DType::q5_k, DType::q6_k, DType::iq4_nl, DType::mxfp4, DType::mxfp4_planes};

inline std::string type_name(DType t) { return std::string(info(t).name) + (t == DType::mxfp4_planes ? "_planes" : ""); }
inline bool is_block_type(DType t) { return info(t).block > 1; }

inline Floats random_floats(Random& random, size_t n, float amplitude = 1.0f) {
  std::normal_distribution<float> normal(0.0f, amplitude);
  Floats x(n);
  for (float& v : x) v = normal(random);
  return x;
}

/// Random bytes that are valid rows of a type, with scales that keep values around 1.
inline void random_row(Random& random, DType type, uint32_t cols, std::byte* row, std::byte* scales) {
  auto byte = [&] { return static_cast<std::byte>(random() & 255u); };
  auto put_half = [&](std::byte* at, float low, float high) {
    const uint16_t h = float_to_half(std::uniform_real_distribution<float>(low, high)(random));
    std::memcpy(at, &h, 2);
  };
  const DTypeInfo shape = info(type);
  for (uint32_t b = 0; b < cols / shape.block; ++b) {
    std::byte* p = row + size_t(b) * shape.bytes;
    for (uint32_t i = 0; i < shape.bytes; ++i) p[i] = byte();
    switch (type) {
      case DType::f32: { const float v = std::normal_distribution<float>()(random); std::memcpy(p, &v, 4); break; }
      case DType::f16: put_half(p, -2, 2); break;
      case DType::bf16: { const uint16_t v = float_to_bf16(std::normal_distribution<float>()(random)); std::memcpy(p, &v, 2); break; }
      case DType::q8_0: case DType::iq4_nl: put_half(p, -0.02f, 0.02f); break;
      case DType::q4_0: put_half(p, -0.2f, 0.2f); break;
      case DType::q5_0: put_half(p, -0.1f, 0.1f); break;
      case DType::q4_1: case DType::q5_1: put_half(p, 0.02f, 0.1f), put_half(p + 2, -1.5f, 0.0f); break;
      case DType::q4_k: case DType::q5_k: put_half(p, 0.0005f, 0.005f), put_half(p + 2, 0.0005f, 0.03f); break;
      case DType::q6_k: put_half(p + 208, -0.0006f, 0.0006f); break;
      case DType::mxfp4: p[0] = static_cast<std::byte>(124 + random() % 5); break;
      case DType::mxfp4_planes: scales[b] = static_cast<std::byte>(124 + random() % 5); break;
    }
  }
}

/// A weight in memory: the view, its bytes, and its decoded values [experts][rows][cols].
struct TestMatrix {
  Matrix view;
  std::vector<std::byte> bytes, scales;
  Floats values;
  const float* row(uint32_t expert, uint32_t r) const { return &values[(size_t(expert) * view.rows + r) * view.cols]; }
};

inline std::unique_ptr<TestMatrix> make_matrix(Random& random, DType type, uint32_t rows, uint32_t cols, uint32_t experts = 1) {
  auto m = std::make_unique<TestMatrix>();
  const uint64_t stride = row_bytes(type, cols);
  m->bytes.resize(stride * rows * experts);
  if (type == DType::mxfp4_planes) m->scales.resize(size_t(cols) / 32 * rows * experts);
  m->view = {"w_" + type_name(type), type, rows, cols, experts, m->bytes.data(), stride, stride * rows, nullptr, 0, 0};
  if (!m->scales.empty()) m->view.scales = m->scales.data(), m->view.scale_row_stride = cols / 32, m->view.scale_expert_stride = uint64_t(cols) / 32 * rows;
  m->values.resize(size_t(rows) * cols * experts);
  for (uint32_t r = 0; r < rows * experts; ++r) {
    std::byte* planes = m->scales.empty() ? nullptr : &m->scales[size_t(r) * (cols / 32)];
    random_row(random, type, cols, &m->bytes[stride * r], planes);
    decode_row(type, &m->bytes[stride * r], planes, cols, &m->values[size_t(r) * cols]);
  }
  return m;
}

/// A float32 weight with given values.
inline std::unique_ptr<TestMatrix> f32_matrix(Floats values, uint32_t rows, uint32_t cols, uint32_t experts = 1) {
  auto m = std::make_unique<TestMatrix>();
  m->values = std::move(values);
  m->bytes.resize(m->values.size() * 4);
  std::memcpy(m->bytes.data(), m->values.data(), m->bytes.size());
  m->view = {"f32", DType::f32, rows, cols, experts, m->bytes.data(), uint64_t(cols) * 4, uint64_t(cols) * 4 * rows, nullptr, 0, 0};
  return m;
}

/// Feeds ops: token t of a step is row t of every input table.
struct Rig {
  std::unique_ptr<Backend> backend;
  std::deque<std::unique_ptr<TestMatrix>> owned;
  OpList ops;
  StepInputs in;

  explicit Rig(std::unique_ptr<Backend> b) : backend(std::move(b)) {}

  Buffer input(const char* name, const Floats& rows, uint32_t cols, uint32_t max_rows) {
    owned.push_back(f32_matrix(rows, static_cast<uint32_t>(rows.size() / cols), cols));
    const Buffer b = backend->add_buffer(name, cols, max_rows);
    ops.push_back(Embed{backend->add_weight(owned.back()->view), 1.0f, b});
    return b;
  }
  /// One sequence of `rows` tokens 0, 1, ... at positions 0, 1, ...
  void rows(uint32_t n, uint32_t first = 0) {
    in.tokens.clear(), in.positions.clear();
    for (uint32_t r = 0; r < n; ++r) in.tokens.push_back(static_cast<int32_t>(first + r)), in.positions.push_back(first + r);
    in.sequence.assign(n, 0);
    in.sequences = 1;
    if (in.groups == 0) in.table_begin.clear();
  }
  void run() { backend->submit(ops, in, nullptr)->wait(); }
  Floats read(Buffer b, uint32_t rows, uint32_t cols) {
    Floats out(size_t(rows) * cols);
    backend->read(b, 0, rows, out.data());
    return out;
  }
};

/// Mean squared difference over mean square, or over `power` where that is larger: the sum of squares that products of
/// random signs have on average. A single output near 0 would otherwise be judged by its luck.
inline double nmse(const Floats& got, const std::vector<double>& want, double power = 0.0) {
  double error = 0.0, square = 0.0;
  for (size_t i = 0; i < want.size(); ++i) error += (got[i] - want[i]) * (got[i] - want[i]), square += want[i] * want[i];
  power = std::max(power, square);
  return power == 0.0 ? error : error / power;
}

/// Largest |difference| over (|wanted| + their root mean square): relative where values are large, never divided by nothing.
inline double worst(const Floats& got, const std::vector<double>& want) {
  double power = 0.0, result = 0.0;
  for (double w : want) power += w * w;
  const double rms = std::sqrt(power / std::max<size_t>(1, want.size()));
  for (size_t i = 0; i < want.size(); ++i) {
    const double d = std::fabs(got[i] - want[i]) / (std::fabs(want[i]) + rms + 1e-30);
    if (!(d <= result)) result = d;  // NaN counts as worst
  }
  return got.size() == want.size() ? result : INFINITY;
}
inline double worst(const Floats& got, const Floats& want) { return worst(got, std::vector<double>(want.begin(), want.end())); }

/// y[r][n] = W[expert] . x + bias in double.
inline std::vector<double> product(const TestMatrix& w, uint32_t expert, const float* bias, const float* x, uint32_t rows) {
  std::vector<double> y(size_t(rows) * w.view.rows);
  for (uint32_t r = 0; r < rows; ++r) {
    for (uint32_t n = 0; n < w.view.rows; ++n) {
      double sum = bias ? bias[n] : 0.0;
      for (uint32_t c = 0; c < w.view.cols; ++c) sum += double(w.row(expert, n)[c]) * x[size_t(r) * w.view.cols + c];
      y[size_t(r) * w.view.rows + n] = sum;
    }
  }
  return y;
}

/// Sum over all outputs of sum_c (W . x)^2 taken term by term.
inline double product_power(const TestMatrix& w, uint32_t expert, const float* x, uint32_t rows) {
  double power = 0.0;
  for (uint32_t r = 0; r < rows; ++r) {
    for (uint32_t n = 0; n < w.view.rows; ++n) {
      for (uint32_t c = 0; c < w.view.cols; ++c) power += std::pow(double(w.row(expert, n)[c]) * x[size_t(r) * w.view.cols + c], 2);
    }
  }
  return power;
}

/// x * rsqrt(mean(x^2) + eps) * weight, in place, of weight.size() values.
inline void normed(double* x, const Floats& weight, double eps) {
  double squares = 0;
  for (size_t i = 0; i < weight.size(); ++i) squares += x[i] * x[i];
  for (size_t i = 0; i < weight.size(); ++i) x[i] *= weight[i] / std::sqrt(squares / double(weight.size()) + eps);
}

inline double oracle_activation(Activation kind, double alpha, double limit, double g, double u) {
  if (kind == Activation::silu) return g / (1 + std::exp(-g)) * u;
  if (kind == Activation::gelu_tanh) return 0.5 * g * (1 + std::tanh(std::sqrt(2 / M_PI) * (g + 0.044715 * g * g * g))) * u;
  g = std::min(g, limit), u = std::min(std::max(u, -limit), limit);
  return g / (1 + std::exp(-alpha * g)) * (u + 1);
}

}  // namespace hearth::testing
