// CPU: the router and the chosen experts. Rows are grouped by expert, so that a weight row is decoded once for all the
// tokens that chose it; a row's own sum over its experts keeps the order of its routes.
#include <algorithm>
#include <cmath>

#include "backend/cpu/matmul.h"

namespace hearth::cpu {
namespace {

/// The k largest by (value desc, index asc) into experts[k]. Always k different experts, also among NaN.
void choose(const float* logits, uint32_t count, uint32_t k, int32_t* experts) {
  for (uint32_t i = 0; i < k; ++i) {
    int32_t best = -1;
    for (uint32_t e = 0; e < count; ++e) {
      if (std::find(experts, experts + i, static_cast<int32_t>(e)) != experts + i) continue;
      if (best < 0 || logits[e] > logits[best]) best = static_cast<int32_t>(e);
    }
    experts[i] = best;
  }
}

void soften(const float* logits, const Router& op, const int32_t* experts, float* weights) {
  const bool all = op.softmax == RouterSoftmax::all;
  float highest = -INFINITY, total = 0.0f;
  for (uint32_t i = 0; i < op.k; ++i) highest = std::max(highest, logits[experts[i]]);
  for (uint32_t e = 0; all && e < op.experts; ++e) highest = std::max(highest, logits[e]);
  for (uint32_t e = 0; all && e < op.experts; ++e) total += std::exp(logits[e] - highest);
  for (uint32_t i = 0; i < op.k; ++i) {
    weights[i] = std::exp(logits[experts[i]] - highest);
    if (!all) total += weights[i];
  }
  for (uint32_t i = 0; i < op.k; ++i) weights[i] /= total;
}

/// Sorts the routes (slot = row * k + i) by expert into cpu.slots; cpu.counts and cpu.active are the non-empty groups.
void group_by_expert(CpuState& cpu, const BufferState& routes, uint32_t slots, uint32_t experts) {
  cpu.expert_begin.assign(experts + 1, 0);
  for (uint32_t i = 0; i < slots; ++i) ++cpu.expert_begin[static_cast<uint32_t>(routes.experts[i]) + 1];
  cpu.counts.clear(), cpu.active.clear();
  for (uint32_t e = 0; e < experts; ++e) {
    if (cpu.expert_begin[e + 1] > 0) cpu.active.push_back(e), cpu.counts.push_back(cpu.expert_begin[e + 1]);
    cpu.expert_begin[e + 1] += cpu.expert_begin[e];
  }
  cpu.slots.resize(slots);
  for (uint32_t i = 0; i < slots; ++i) cpu.slots[cpu.expert_begin[static_cast<uint32_t>(routes.experts[i])]++] = i;
}

}  // namespace

void run(Step& s, const Router& op) {
  const Resources& res = s.cpu.resources;
  BufferState& routes = s.cpu.resources.buffer(op.routes);
  const uint32_t rows = s.rows.rows;
  float* logits = s.cpu.temporary.need_as<float>(size_t(rows) * op.experts);
  dense(s, op.x, res.buffer(op.x).row(0), rows, {{&res.weight(op.w), res.values(op.b), logits, op.experts}});
  for (uint32_t r = 0; r < rows; ++r) {
    int32_t* experts = &routes.experts[size_t(r) * op.k];
    if (s.inputs.forced.experts.empty()) {
      choose(logits + size_t(r) * op.experts, op.experts, op.k, experts);
    } else {
      const uint32_t row = s.rows.selected ? s.inputs.output_rows[r] : r;
      std::copy_n(&s.inputs.forced.experts[(size_t(op.layer) * s.inputs.rows() + row) * op.k], op.k, experts);
    }
    soften(logits + size_t(r) * op.experts, op, experts, &routes.weights[size_t(r) * op.k]);
  }
}

void run(Step& s, const ExpertsGateUp& op) {
  CpuState& cpu = s.cpu;
  const Matrix &gate = cpu.resources.weight(op.gate), &up = cpu.resources.weight(op.up);
  const float *bg = cpu.resources.values(op.bg), *bu = cpu.resources.values(op.bu);
  float* out = cpu.resources.buffer(op.out).row(0);
  if (s.rows.rows == 0) return;
  group_by_expert(cpu, cpu.resources.buffer(op.routes), s.rows.rows * op.k, gate.experts);
  cpu.order.resize(cpu.slots.size());
  for (size_t i = 0; i < cpu.slots.size(); ++i) cpu.order[i] = cpu.slots[i] / op.k;
  prepare_grouped(s, {&gate, &up}, op.x, cpu.resources.buffer(op.x).row(0), s.rows.rows);

  const uint32_t most = *std::max_element(cpu.counts.begin(), cpu.counts.end());
  s.reserve(gate.cols, size_t(most) * strip_rows * 2);
  const uint32_t strips = strips_of(gate), items = strips * static_cast<uint32_t>(cpu.active.size());
  s.parallel(items, strip_grain, 4.0 * gate.rows * gate.cols * cpu.slots.size(), [&](uint32_t thread, uint32_t item) {
    const uint32_t group = item / strips, strip = item % strips, expert = cpu.active[group], rows = cpu.counts[group];
    const uint32_t first = strip * strip_rows, count = rows_in_strip(gate, strip);
    float* g = cpu.scratch[thread].out.as<float>();
    float* u = g + size_t(rows) * strip_rows;
    compute_strip(s, thread, gate, expert, strip, group, g);
    compute_strip(s, thread, up, expert, strip, group, u);
    const uint32_t* slots = &cpu.slots[cpu.expert_begin[expert] - rows];
    const size_t bias = size_t(expert) * gate.rows + first;
    for (uint32_t r = 0; r < rows; ++r, g += strip_rows, u += strip_rows) {
      for (uint32_t n = 0; n < count; ++n) g[n] += bg ? bg[bias + n] : 0.0f, u[n] += bu ? bu[bias + n] : 0.0f;
      cpu.kernels.activate(op.activation, op.alpha, op.limit, g, u, count, out + size_t(slots[r]) * gate.rows + first);
    }
  });
}

void run(Step& s, const ExpertsDown& op) {
  CpuState& cpu = s.cpu;
  const Matrix& down = cpu.resources.weight(op.down);
  const float* b = cpu.resources.values(op.b);
  const BufferState& routes = cpu.resources.buffer(op.routes);
  BufferState& residual = cpu.resources.buffer(op.residual);
  const uint32_t slots = s.rows.rows * op.k;
  if (slots == 0) return;
  group_by_expert(cpu, routes, slots, down.experts);
  cpu.order = cpu.slots;
  prepare_grouped(s, {&down}, op.x, cpu.resources.buffer(op.x).row(0), slots);

  float* y = cpu.temporary.need_as<float>(size_t(slots) * down.rows);  // [slot][rows]
  const uint32_t most = *std::max_element(cpu.counts.begin(), cpu.counts.end());
  s.reserve(down.cols, size_t(most) * strip_rows);
  const uint32_t strips = strips_of(down), items = strips * static_cast<uint32_t>(cpu.active.size());
  s.parallel(items, strip_grain, 2.0 * down.rows * down.cols * slots, [&](uint32_t thread, uint32_t item) {
    const uint32_t group = item / strips, strip = item % strips, expert = cpu.active[group], rows = cpu.counts[group];
    const uint32_t first = strip * strip_rows, count = rows_in_strip(down, strip);
    float* out = cpu.scratch[thread].out.as<float>();
    compute_strip(s, thread, down, expert, strip, group, out);
    const uint32_t* slot = &cpu.slots[cpu.expert_begin[expert] - rows];
    for (uint32_t r = 0; r < rows; ++r) {
      float* to = y + size_t(slot[r]) * down.rows + first;
      for (uint32_t n = 0; n < count; ++n) to[n] = out[size_t(r) * strip_rows + n] + (b ? b[size_t(expert) * down.rows + first + n] : 0.0f);
    }
  });
  s.parallel(s.rows.rows, 4, 4.0 * slots * down.rows, [&](uint32_t, uint32_t r) {
    float* to = residual.row(r);
    const float* from = y + size_t(r) * op.k * down.rows;
    const float* weight = &routes.weights[size_t(r) * op.k];
    for (uint32_t n = 0; n < down.rows; ++n) {
      float sum = 0.0f;
      for (uint32_t i = 0; i < op.k; ++i) sum += weight[i] * from[size_t(i) * down.rows + n];
      to[n] += sum;
    }
  });
}

}  // namespace hearth::cpu
