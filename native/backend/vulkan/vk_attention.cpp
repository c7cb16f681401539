// QKV with rope and store, and paged attention, as dispatches.
#include <algorithm>

#include "backend/vulkan/vk_state.h"

namespace hearth::vulkan {
namespace {

constexpr uint32_t split = 256;             // positions, as in shaders/attend.glsl
constexpr uint32_t most_heads = 8;          // query heads of a workgroup
constexpr uint32_t most_query = 4096;       // their values, which lie in shared memory
constexpr uint32_t most_rows_apart = 8;     // whose splits are shared out
constexpr uint64_t most_state_floats = 4u << 20;  // of splits that are shared out

uint32_t kv_constant(const State& state) {
  switch (state.kv.type()) {
    case KvType::f16: return 1;
    case KvType::q8: return 2;
    default: return 0;
  }
}

Matmul projection(const Step& step, WeightRef w, VectorRef b, Buffer x, const Memory* out, uint32_t rows) {
  Matmul m;
  m.w = &step.weight(w), m.x = step.buffer(x), m.b = step.vector(b), m.out = out, m.rows = rows;
  m.x_stride = m.w->cols, m.out_stride = m.w->rows;
  return m;
}

/// Rows that a workgroup of the tiled kernel takes: up to 16 queries, and what they share stays below 26 KiB.
uint32_t rows_together(uint32_t heads, uint32_t head_dim) {
  const uint32_t queries = std::min(16u, (24u << 10) / (4 * (head_dim + split + 16)) / 4 * 4);
  return std::max(1u, queries / heads);
}

/// Most splits that a row of this step sees, and how many positions all rows see together.
struct Reach {
  uint32_t splits = 1;
  double positions = 0;
};
Reach reach_of(const StepInputs& inputs, uint32_t window) {
  Reach reach;
  for (uint32_t position : inputs.positions) {
    const uint32_t first = first_seen(position, window);
    reach.splits = std::max(reach.splits, position / split - first / split + 1);
    reach.positions += position - first + 1;
  }
  return reach;
}

}  // namespace

void run(Step& step, const QkvRopeStore& op, OpRows rows) {
  State& state = step.state;
  const uint64_t bytes = 4ull * rows.rows * op.kv_heads * op.head_dim;
  const Memory *q = step.buffer(op.q), *k = need(state, state.k, bytes), *v = need(state, state.v, bytes);
  matmul(step, projection(step, op.wq, op.bq, op.x, q, rows.rows));
  matmul(step, projection(step, op.wk, op.bk, op.x, k, rows.rows));
  matmul(step, projection(step, op.wv, op.bv, op.x, v, rows.rows));
  uint32_t angles = 0, pairs = 0, interleaved = 0;
  if (op.rope) {
    const RopeTable& rope = state.resources.rope(op.rope);
    angles = step.layout.angles.at(op.rope.id), interleaved = rope.layout == RopeLayout::interleaved;
    pairs = rope.layout == RopeLayout::none ? 0 : rope.dims / 2;
  }
  const InputsLayout& in = step.layout;
  add(step, "store", {kv_constant(state), op.head_dim},
      {writes(q), reads(k), reads(v), writes(state.kv.keys(op.layer_in_group)), writes(state.kv.values(op.layer_in_group)),
       reads(state.inputs.memory.get()), reads(step.vector(op.q_norm)), reads(step.vector(op.k_norm))},
      {op.heads, op.kv_heads, op.group, step.inputs.groups, state.kv.shape().block_size, in.positions, in.sequence, in.table_begin, in.blocks,
       angles, pairs, interleaved, (op.q_norm ? 1u : 0u) | (op.k_norm ? 2u : 0u), word(op.norm_eps)},
      {op.heads + 2 * op.kv_heads, rows.rows, 1}, double(op.heads + 2 * op.kv_heads) * op.head_dim * rows.rows);
}

void run(Step& step, const Attention& op, OpRows rows) {
  if (rows.rows == 0) return;
  State& state = step.state;
  const InputsLayout& in = step.layout;
  const Reach reach = reach_of(step.inputs, op.window);
  const uint32_t per_kv = op.heads / op.kv_heads, heads = std::clamp(most_query / op.head_dim, 1u, std::min(per_kv, most_heads)), parts = groups_of(per_kv, heads);
  const bool tiled = state.allows(tiled_attention, attention_kernel(state.kv.type(), op.head_dim, per_kv));
  // Few rows leave most of the device idle unless their splits are shared out; many rows fill it by themselves.
  const uint64_t state_floats = uint64_t(rows.rows) * op.heads * reach.splits * (op.head_dim + 2);
  const bool apart = reach.splits > 1 && rows.rows <= most_rows_apart && state_floats <= most_state_floats;
  const Memory* out = step.buffer(op.out);
  const Memory* states = apart ? need(state, state.states, 4 * state_floats) : nullptr;
  const double work = reach.positions * op.heads * op.head_dim * 2;
  const uint32_t together = tiled && rows.rows > most_rows_apart ? rows_together(heads, op.head_dim) : 1;
  std::vector<uint32_t> constants{kv_constant(state), op.head_dim, heads, apart};
  if (tiled) constants.push_back(together);
  add(step, tiled ? "attention_tiled" : "attention", constants,
      {reads(step.buffer(op.q)), reads(state.kv.keys(op.layer_in_group)), reads(state.kv.values(op.layer_in_group)),
       reads(state.inputs.memory.get()), reads(step.vector(op.sinks)), writes(apart ? states : out)},
      {op.heads, op.kv_heads, op.group, step.inputs.groups, state.kv.shape().block_size, in.positions, in.sequence, in.table_begin, in.blocks,
       op.window, op.sinks ? 1u : 0u, reach.splits, word(op.scale), rows.rows},
      {apart ? reach.splits : 1, op.kv_heads * parts, groups_of(rows.rows, together)}, work);
  if (!apart) return;
  add(step, "join", {}, {reads(states), reads(state.inputs.memory.get()), reads(step.vector(op.sinks)), writes(out)},
      {op.heads, op.head_dim, in.positions, op.window, op.sinks ? 1u : 0u, reach.splits}, {op.heads, rows.rows, 1},
      double(state_floats));
}

}  // namespace hearth::vulkan
