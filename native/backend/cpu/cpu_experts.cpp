// CPU: the router and the chosen experts. Rows are grouped by expert, so that a weight row is decoded once for all the
// tokens that chose it; a row's own sum over its experts keeps the order of its routes.
#include <algorithm>
#include <cmath>
#include <cstring>

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

/// Sorts the routes (slot = row * k + i) by expert into cpu.slots; cpu.counts and cpu.active are the non-empty groups. Slots whose expert is
/// elsewhere (-1) are in none. False: there are no others.
bool group_by_expert(CpuState& cpu, const BufferState& routes, uint32_t slots, uint32_t experts) {
  const std::span<const int32_t> chosen = std::span(routes.experts).first(slots);
  cpu.expert_begin.assign(experts + 1, 0);
  for (int32_t expert : chosen) {
    if (expert >= 0) ++cpu.expert_begin[static_cast<uint32_t>(expert) + 1];
  }
  cpu.counts.clear(), cpu.active.clear();
  for (uint32_t e = 0; e < experts; ++e) {
    if (cpu.expert_begin[e + 1] > 0) cpu.active.push_back(e), cpu.counts.push_back(cpu.expert_begin[e + 1]);
    cpu.expert_begin[e + 1] += cpu.expert_begin[e];
  }
  cpu.slots.resize(cpu.expert_begin[experts]);
  for (uint32_t i = 0; i < slots; ++i) {
    if (chosen[i] >= 0) cpu.slots[cpu.expert_begin[static_cast<uint32_t>(chosen[i])]++] = i;
  }
  return !cpu.slots.empty();
}

/// to[n] += sum over i of weights[i] * from[i][n], in the order of i, of experts that are here. Column stretches, so that the sums stay in
/// registers and the compiler finds vectors in them.
void add_weighted(const float* from, const int32_t* experts, const float* weights, uint32_t k, uint32_t cols, float* to) {
  constexpr uint32_t stretch = 32;
  for (uint32_t first = 0; first < cols; first += stretch) {
    const uint32_t n = std::min(stretch, cols - first);
    float sum[stretch] = {};
    for (uint32_t i = 0; i < k; ++i) {
      if (experts[i] < 0) continue;
      const float* part = from + size_t(i) * cols + first;
      for (uint32_t c = 0; c < n; ++c) sum[c] += weights[i] * part[c];
    }
    for (uint32_t c = 0; c < n; ++c) to[first + c] += sum[c];
  }
}

/// A unit of one expert's matrix, for the rows that chose it.
struct ExpertUnit {
  uint32_t group, expert, index, rows;
  const uint32_t* slots;  // [rows]
};

/// The units of all experts in use, expert by expert. A thread takes neighbours, so that it knows what it reads next.
struct ExpertUnits {
  const CpuState& cpu;
  Cut cut;
  uint32_t each, count, most;  // units an expert, in all; rows of the largest group

  ExpertUnits(const CpuState& cpu, const Matrix& w, Cut cut)
      : cpu(cpu), cut(cut), each(cut.units(w)), count(each * static_cast<uint32_t>(cpu.active.size())),
        most(*std::max_element(cpu.counts.begin(), cpu.counts.end())) {}
  /// Behind the last: a unit of no expert.
  ExpertUnit at(uint32_t item) const {
    if (item >= count) return {0, ~0u, 0, 0, nullptr};
    const uint32_t group = item / each, expert = cpu.active[group], rows = cpu.counts[group];
    return {group, expert, item % each, rows, &cpu.slots[cpu.expert_begin[expert] - rows]};
  }
};

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
  s.cpu.resources.count_routes(op.layer, std::span(routes.experts).first(size_t(rows) * op.k), rows);
}

void run(Step& s, const ExpertsGateUp& op) {
  CpuState& cpu = s.cpu;
  const Matrix &gate = cpu.resources.weight(op.gate), &up = cpu.resources.weight(op.up);
  const float *bg = cpu.resources.values(op.bg), *bu = cpu.resources.values(op.bu);
  float* out = cpu.resources.buffer(op.out).row(0);
  if (!group_by_expert(cpu, cpu.resources.buffer(op.routes), s.rows.rows * op.k, gate.experts)) return;
  cpu.order.resize(cpu.slots.size());
  for (size_t i = 0; i < cpu.slots.size(); ++i) cpu.order[i] = cpu.slots[i] / op.k;
  prepare_grouped(s, {&gate, &up}, op.x, cpu.resources.buffer(op.x).row(0), s.rows.rows);

  const ExpertUnits all(cpu, gate, cut_for(cpu, gate, s.rows.rows));
  s.reserve(gate.cols, size_t(all.most) * all.cut.width * 2);
  s.parallel(all.count, unit_grain, 4.0 * gate.rows * gate.cols * cpu.slots.size(), [&](uint32_t thread, uint32_t item) {
    const ExpertUnit unit = all.at(item), next = all.at(item + 1);
    const uint32_t first = unit.index * all.cut.width, count = all.cut.rows_in(gate, unit.index);
    float* g = cpu.scratch[thread].out.as<float>();
    float* u = g + 2 * size_t(unit.rows) * all.cut.width;  // room for two planes
    compute_unit(s, thread, gate, unit.expert, all.cut, unit.index, unit.group, g, unit_bytes(up, unit.expert, all.cut, unit.index));
    compute_unit(s, thread, up, unit.expert, all.cut, unit.index, unit.group, u, unit_bytes(gate, next.expert, all.cut, next.index));
    const size_t bias = size_t(unit.expert) * gate.rows + first;
    for (uint32_t r = 0; r < unit.rows; ++r, g += all.cut.width, u += all.cut.width) {
      add_bias(g, bg ? bg + bias : nullptr, count);
      add_bias(u, bu ? bu + bias : nullptr, count);
      cpu.kernels.activate(op.activation, op.alpha, op.limit, g, u, count, out + size_t(unit.slots[r]) * gate.rows + first);
    }
  });
}

namespace {

/// y[slot] = down[its expert].x[slot] + b, of the slots that group_by_expert() has sorted.
void experts_down(Step& s, const ExpertsDown& op, const BufferState& routes, float* y) {
  CpuState& cpu = s.cpu;
  const Matrix& down = cpu.resources.weight(op.down);
  const float* b = cpu.resources.values(op.b);
  cpu.order = cpu.slots;
  prepare_grouped(s, {&down}, op.x, cpu.resources.buffer(op.x).row(0), s.rows.rows * op.k, false, routes.experts.data());

  const ExpertUnits all(cpu, down, cut_for(cpu, down, s.rows.rows));
  s.reserve(down.cols, size_t(all.most) * all.cut.width);
  s.parallel(all.count, unit_grain, 2.0 * down.rows * down.cols * cpu.slots.size(), [&](uint32_t thread, uint32_t item) {
    const ExpertUnit unit = all.at(item), next = all.at(item + 1);
    const uint32_t first = unit.index * all.cut.width, count = all.cut.rows_in(down, unit.index);
    float* out = cpu.scratch[thread].out.as<float>();
    compute_unit(s, thread, down, unit.expert, all.cut, unit.index, unit.group, out, unit_bytes(down, next.expert, all.cut, next.index));
    for (uint32_t r = 0; r < unit.rows; ++r, out += all.cut.width) {
      add_bias(out, b ? b + size_t(unit.expert) * down.rows + first : nullptr, count);
      std::memcpy(y + size_t(unit.slots[r]) * down.rows + first, out, count * sizeof(float));
    }
  });
}

}  // namespace

void run(Step& s, const ExpertsDown& op) {
  CpuState& cpu = s.cpu;
  const uint32_t slots = s.rows.rows * op.k, cols = cpu.resources.weight(op.down).rows;
  const BufferState& routes = cpu.resources.buffer(op.routes);
  BufferState& residual = cpu.resources.buffer(op.residual);
  float* y = cpu.temporary.need_as<float>(size_t(slots) * cols);  // [slot][cols]
  if (group_by_expert(cpu, routes, slots, cpu.resources.weight(op.down).experts)) experts_down(s, op, routes, y);
  // Also where no row has an expert here: what a row gets does not depend on the others.
  s.parallel(s.rows.rows, 4, 4.0 * slots * cols, [&](uint32_t, uint32_t r) {
    const size_t first = size_t(r) * op.k;
    add_weighted(y + first * cols, &routes.experts[first], &routes.weights[first], op.k, cols, residual.row(r));
  });
}

}  // namespace hearth::cpu
