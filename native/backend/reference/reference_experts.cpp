// Reference: the router and the chosen experts (ENGINE reference 1.5).
#include <algorithm>
#include <cmath>

#include "backend/reference/reference_ops.h"

namespace hearth::reference {

namespace {

/// The k largest by (value desc, index asc). No sort: NaN has no order, and the choice must stay k different experts.
void choose(const std::vector<float>& logits, uint32_t k, int32_t* experts) {
  for (uint32_t i = 0; i < k; ++i) {
    int32_t best = -1;
    for (int32_t e = 0; e < static_cast<int32_t>(logits.size()); ++e) {
      const bool taken = std::find(experts, experts + i, e) != experts + i;
      if (!taken && (best < 0 || logits[e] > logits[best])) best = e;
    }
    experts[i] = best;
  }
}

}  // namespace

void run(Context& c, const Router& op) {
  const BufferState& x = c.resources.buffer(op.x);
  BufferState& routes = c.resources.buffer(op.routes);
  std::vector<float> logits(op.experts);
  for (uint32_t r = 0; r < c.rows.rows; ++r) {
    matmul(c.resources.weight(op.w), 0, c.resources.values(op.b), x.row(r), x.cols, 1, logits.data(), op.experts);
    int32_t* experts = &routes.experts[size_t(r) * op.k];
    if (c.inputs.forced.experts.empty()) {
      choose(logits, op.k, experts);
    } else {
      const uint32_t row = c.rows.selected ? c.inputs.output_rows[r] : r;
      std::copy_n(&c.inputs.forced.experts[(size_t(op.layer) * c.inputs.rows() + row) * op.k], op.k, experts);
    }
    double highest = -INFINITY, total = 0.0;
    for (uint32_t i = 0; i < op.k; ++i) highest = std::max(highest, double(logits[experts[i]]));
    if (op.softmax == RouterSoftmax::all) {
      for (float logit : logits) highest = std::max(highest, double(logit));  // forced experts need not be the highest
      for (float logit : logits) total += std::exp(logit - highest);
    } else {
      for (uint32_t i = 0; i < op.k; ++i) total += std::exp(logits[experts[i]] - highest);
    }
    for (uint32_t i = 0; i < op.k; ++i) {
      routes.weights[size_t(r) * op.k + i] = static_cast<float>(std::exp(logits[experts[i]] - highest) / total);
    }
  }
  c.resources.count_routes(op.layer, std::span(routes.experts).first(size_t(c.rows.rows) * op.k), c.rows.rows);
}

void run(Context& c, const ExpertsGateUp& op) {
  const BufferState &x = c.resources.buffer(op.x), &routes = c.resources.buffer(op.routes);
  const Matrix &gate_weights = c.resources.weight(op.gate), &up_weights = c.resources.weight(op.up);
  const float *bg = c.resources.values(op.bg), *bu = c.resources.values(op.bu);
  const uint32_t n = gate_weights.rows;
  float* out = c.resources.buffer(op.out).row(0);
  std::vector<float> gate(n), up(n);
  for (uint32_t r = 0; r < c.rows.rows; ++r) {
    for (uint32_t i = 0; i < op.k; ++i) {
      if (routes.experts[size_t(r) * op.k + i] < 0) continue;  // elsewhere
      const uint32_t expert = static_cast<uint32_t>(routes.experts[size_t(r) * op.k + i]);
      matmul(gate_weights, expert, bg ? bg + size_t(expert) * n : nullptr, x.row(r), x.cols, 1, gate.data(), n);
      matmul(up_weights, expert, bu ? bu + size_t(expert) * n : nullptr, x.row(r), x.cols, 1, up.data(), n);
      float* to = out + (size_t(r) * op.k + i) * n;
      for (uint32_t j = 0; j < n; ++j) to[j] = activate(op.activation, op.alpha, op.limit, gate[j], up[j]);
    }
  }
}

void run(Context& c, const ExpertsDown& op) {
  const BufferState &x = c.resources.buffer(op.x), &routes = c.resources.buffer(op.routes);
  BufferState& residual = c.resources.buffer(op.residual);
  const Matrix& down = c.resources.weight(op.down);
  const float* b = c.resources.values(op.b);
  std::vector<float> y(down.rows);
  std::vector<double> sum(down.rows);
  for (uint32_t r = 0; r < c.rows.rows; ++r) {
    std::fill(sum.begin(), sum.end(), 0.0);
    for (uint32_t i = 0; i < op.k; ++i) {
      const size_t route = size_t(r) * op.k + i;
      if (routes.experts[route] < 0) continue;
      const uint32_t expert = static_cast<uint32_t>(routes.experts[route]);
      matmul(down, expert, b ? b + size_t(expert) * down.rows : nullptr, x.row(0) + route * down.cols, down.cols, 1, y.data(), down.rows);
      for (uint32_t n = 0; n < down.rows; ++n) sum[n] += double(routes.weights[route]) * y[n];
    }
    for (uint32_t n = 0; n < down.rows; ++n) residual.row(r)[n] = static_cast<float>(residual.row(r)[n] + sum[n]);
  }
}

}  // namespace hearth::reference
