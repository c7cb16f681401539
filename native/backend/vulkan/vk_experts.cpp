// The router and the chosen experts, as dispatches. Which experts were chosen stays on the device.
#include "backend/vulkan/vk_state.h"

namespace hearth::vulkan {
namespace {

constexpr uint32_t none = ~0u;

/// Where a buffer of routes has its weights, in words.
uint32_t weights_at(const Step& step, Buffer routes) {
  const BufferState& state = step.state.resources.buffer(routes);
  return state.max_rows * state.k;
}

}  // namespace

void run(Step& step, const Router& op, OpRows rows) {
  const DeviceWeight& w = step.weight(op.w);
  const Memory* logits = need(step.state, step.state.parts, 4ull * rows.rows * op.experts);
  Matmul m;
  m.w = &w, m.x = step.buffer(op.x), m.b = step.vector(op.b), m.out = logits;
  m.rows = rows.rows, m.x_stride = w.cols, m.out_stride = op.experts;
  matmul(step, m);
  const bool forced = !step.inputs.forced.experts.empty();
  add(step, "route", {}, {reads(logits), reads(step.state.inputs.memory.get()), writes(step.buffer(op.routes))},
      {op.experts, op.k, weights_at(step, op.routes), op.softmax == RouterSoftmax::all,
       forced ? step.layout.forced + op.layer * step.inputs.rows() * op.k : none, rows.selected ? step.layout.output_rows : none},
      {rows.rows, 1, 1}, double(op.experts) * op.k * rows.rows);
}

void run(Step& step, const PickRoutes& op, OpRows rows) {
  const uint32_t slots = rows.rows * step.state.resources.buffer(op.routes).k;
  add(step, "pick", {}, {reads(step.buffer(op.routes)), reads(step.vector(op.places)), writes(step.buffer(op.out))},
      {slots, weights_at(step, op.routes), weights_at(step, op.out)}, {groups_of(slots, 64), 1, 1}, slots);
}

void run(Step& step, const ExpertsGateUp& op, OpRows rows) {
  const DeviceWeight &gate = step.weight(op.gate), &up = step.weight(op.up);
  if (gate.type != up.type) throw Error(ErrorCode::unsupported_type, "Experts whose gate and up have different types are not run on graphics devices yet.");
  Matmul m;
  m.w = &gate, m.w1 = &up, m.x = step.buffer(op.x), m.out = step.buffer(op.out), m.b = step.vector(op.bg), m.b1 = step.vector(op.bu);
  m.rows = rows.rows * op.k, m.x_stride = gate.cols, m.out_stride = gate.rows, m.epilogue = Epilogue::activate;
  m.activation = op.activation, m.alpha = op.alpha, m.limit = op.limit;
  m.routes = step.buffer(op.routes), m.k = op.k, m.weights_at = weights_at(step, op.routes);
  matmul(step, m);
}

void run(Step& step, const ExpertsDown& op, OpRows rows) {
  const DeviceWeight& down = step.weight(op.down);
  const uint32_t slots = rows.rows * op.k;
  const Memory* parts = need(step.state, step.state.parts, 4ull * slots * down.rows);
  Matmul m;
  m.w = &down, m.x = step.buffer(op.x), m.out = parts, m.b = step.vector(op.b);
  m.rows = slots, m.x_stride = down.cols, m.out_stride = down.rows, m.epilogue = Epilogue::weigh;
  m.routes = step.buffer(op.routes), m.k = op.k, m.weights_at = weights_at(step, op.routes), m.x_per_slot = true;
  matmul(step, m);
  add(step, "combine", {}, {reads(parts), writes(step.buffer(op.residual)), reads(step.buffer(op.routes))}, {down.rows, op.k}, {groups_of(down.rows, 64), rows.rows, 1},
      double(down.rows) * slots);
}

}  // namespace hearth::vulkan
