// The ops outside attention and experts, as dispatches.
#include "backend/top_logits.h"
#include "backend/vulkan/vk_state.h"

namespace hearth::vulkan {

void add(Step& step, std::string shader, std::vector<uint32_t> constants, std::initializer_list<Use> uses,
         std::initializer_list<uint32_t> push, std::array<uint32_t, 3> groups, double work) {
  if (groups[0] == 0 || groups[1] == 0 || groups[2] == 0) return;
  for (uint32_t n : groups) {
    if (n > step.state.device.info().limits.group_count) throw Error(ErrorCode::internal, "A step is larger than this graphics device can start.");
  }
  Dispatch dispatch;
  dispatch.shader = std::move(shader), dispatch.constants = std::move(constants), dispatch.groups = groups, dispatch.work = work;
  std::copy(uses.begin(), uses.end(), dispatch.uses.begin());
  std::copy(push.begin(), push.end(), dispatch.push.begin());
  step.program.push_back(std::move(dispatch));
}

void run(Step& step, const Embed& op, OpRows rows) {
  const DeviceWeight& table = step.weight(op.table);
  for (const WeightSlice& slice : table.slices) {
    add(step, "embed_" + std::string(shader_type(table.type)), {},
        {reads(slice.memory.get()), reads(step.state.inputs.memory.get()), writes(step.buffer(op.out))},
        {table.cols, table.layout.words, table.layout.high, table.layout.scales, table.layout.super, step.layout.tokens, slice.first,
         slice.count, word(op.scale)},
        {groups_of(table.cols, 512), rows.rows, 1}, double(table.cols) * rows.rows);
  }
}

void run(Step& step, const Norm& op, OpRows rows) {
  const uint32_t cols = step.cols(op.x);
  add(step, "norm", {}, {reads(step.buffer(op.x)), reads(step.vector(op.weight)), writes(step.buffer(op.out))}, {cols, 0, word(op.eps)},
      {rows.rows, 1, 1}, double(cols) * rows.rows);
}

void run(Step& step, const Clear& op, OpRows rows) {
  const uint32_t cols = step.cols(op.x);
  add(step, "clear", {}, {writes(step.buffer(op.x))}, {cols}, {groups_of(cols, 64), rows.rows, 1}, double(cols) * rows.rows);
}

void run(Step& step, const LinearResidual& op, OpRows rows) {
  const DeviceWeight& w = step.weight(op.w);
  Matmul m;
  m.w = &w, m.x = step.buffer(op.x), m.b = step.vector(op.b), m.rows = rows.rows, m.x_stride = w.cols, m.out_stride = w.rows;
  if (!op.norm) {
    m.out = step.buffer(op.residual), m.epilogue = Epilogue::add;
    return matmul(step, m);
  }
  const Memory* sum = need(step.state, step.state.parts, 4ull * rows.rows * w.rows);
  m.out = sum;
  matmul(step, m);
  add(step, "norm", {}, {reads(sum), reads(step.vector(op.norm)), writes(step.buffer(op.residual))}, {w.rows, 1, word(op.norm_eps)},
      {rows.rows, 1, 1}, double(w.rows) * rows.rows);
}

void run(Step& step, const GateUp& op, OpRows rows) {
  const DeviceWeight &gate = step.weight(op.gate), &up = step.weight(op.up);
  Matmul m;
  m.w = &gate, m.x = step.buffer(op.x), m.b = step.vector(op.bg), m.rows = rows.rows, m.x_stride = gate.cols, m.out_stride = gate.rows;
  if (gate.type == up.type) {
    m.w1 = &up, m.b1 = step.vector(op.bu), m.out = step.buffer(op.out), m.epilogue = Epilogue::activate;
    m.activation = op.activation, m.alpha = op.alpha, m.limit = op.limit;
    return matmul(step, m);
  }
  const uint64_t bytes = 4ull * rows.rows * gate.rows;
  const Memory *gates = need(step.state, step.state.gate, bytes), *ups = need(step.state, step.state.up, bytes);
  m.out = gates;
  matmul(step, m);
  m.w = &up, m.b = step.vector(op.bu), m.out = ups;
  matmul(step, m);
  add(step, "activate", {}, {reads(gates), reads(ups), writes(step.buffer(op.out))},
      {gate.rows, rows.rows, uint32_t(op.activation), word(op.alpha), word(op.limit)}, {groups_of(gate.rows, 64), rows.rows, 1},
      double(gate.rows) * rows.rows);
}

void run(Step& step, const SelectRows& op, OpRows rows) {
  const uint32_t cols = step.cols(op.x);
  add(step, "select", {}, {reads(step.buffer(op.x)), reads(step.state.inputs.memory.get()), writes(step.buffer(op.out))},
      {cols, step.layout.output_rows}, {groups_of(cols, 64), rows.rows, 1}, double(cols) * rows.rows);
}

void run(Step& step, const Logits& op, OpRows rows) {
  const DeviceWeight& w = step.weight(op.w);
  Matmul m;
  m.w = &w, m.x = step.buffer(op.x), m.out = step.buffer(op.out), m.rows = rows.rows, m.x_stride = w.cols, m.out_stride = w.rows;
  matmul(step, m);
  add(step, "finite", {}, {reads(m.out), writes(step.state.flag.memory.get())}, {w.rows}, {groups_of(w.rows, 64), rows.rows, 1},
      double(w.rows) * rows.rows);
}

/// Passes until one run is left of each row. A kernel that the self-test has refused leaves zeros, of which nothing is concluded.
void run(Step& step, const TopLogits& op, OpRows rows) {
  const TopLayout layout{step.cols(op.logits), op.k};
  const Memory *logits = step.buffer(op.logits), *out = step.buffer(op.out);
  if (!step.state.allows(best_logits, "top_logits")) {
    add(step, "clear", {}, {writes(out)}, {layout.cols()}, {groups_of(layout.cols(), 64), rows.rows, 1}, double(layout.cols()) * rows.rows);
    return;
  }
  const Memory* from = nullptr;
  for (uint32_t runs = 0, pass = 0;; ++pass) {
    const uint32_t left = groups_of(runs == 0 ? layout.vocabulary : runs * most_top, top_part_size);
    const Memory* to = left > 1 ? need(step.state, step.state.runs[pass % 2], 8ull * most_top * left * rows.rows) : nullptr;
    add(step, "top_logits", {}, {reads(logits), reads(from), writes(to), writes(out)}, {layout.vocabulary, runs, left == 1 ? 1u : 0u, op.k, layout.cols()},
        {left, rows.rows, 1}, 20.0 * top_part_size * left * rows.rows);
    if (left == 1) return;
    from = to, runs = left;
  }
}

}  // namespace hearth::vulkan
