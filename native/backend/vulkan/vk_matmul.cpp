// Which kernel a matmul takes and with what grid: GEMV for few rows, GEMM for many, each once for every slice of the weight.
#include <algorithm>

#include "backend/vulkan/vk_state.h"

namespace hearth::vulkan {
namespace {

constexpr uint32_t most_gemv_rows = 8, threads = 64, tile = 32;

uint32_t flags_of(const Matmul& m) { return (m.b ? 1u : 0u) | (m.b1 ? 2u : 0u) | (m.x_per_slot ? 4u : 0u); }

/// Rows that a GEMV kernel is compiled for.
uint32_t rounded_rows(uint32_t rows) { return rows <= 2 ? rows : rows <= 4 ? 4 : 8; }

struct Grid {
  std::string kernel;
  std::vector<uint32_t> constants;
  std::array<uint32_t, 3> groups;
};

Grid gemv_grid(const Matmul& m, uint32_t outs) {
  const bool experts = m.routes != nullptr;
  const uint32_t each = outs > 65536 ? 8 : 4;
  const uint32_t matrices = m.w1 ? 2 : 1, rows = experts ? 1 : rounded_rows(m.rows);
  return {"gemv_", {threads, matrices, experts, uint32_t(m.epilogue), rows, each}, {groups_of(outs, each), experts ? m.rows : 1, 1}};
}

Grid gemm_grid(const Matmul& m, uint32_t outs, uint32_t experts_here) {
  const bool experts = m.routes != nullptr;
  // An expert is chosen at most once for a row; a forced choice may repeat it, so its list may have every slot.
  return {"gemm_", {threads, m.w1 ? 2u : 1u, experts, uint32_t(m.epilogue)}, {groups_of(outs, tile), groups_of(m.rows, tile), experts ? experts_here : 1}};
}

/// Lists of slots by expert: once for all slices, and again for each op, since routes change in between.
const Memory* group_slots(Step& step, const Matmul& m) {
  const uint32_t experts = m.w->experts;
  Memory* lists = need(step.state, step.state.lists, 4ull * experts * (uint64_t(m.rows) + 1));
  add(step, "group", {}, {reads(m.routes), writes(lists)}, {m.rows, experts, m.rows}, {experts, 1, 1}, double(experts) * m.rows);
  return lists;
}

}  // namespace

void matmul(Step& step, const Matmul& m) {
  if (m.rows == 0) return;
  const bool experts = m.routes != nullptr, few = experts ? m.rows <= most_gemv_rows * m.k : m.rows <= most_gemv_rows;
  const Memory* lists = experts && !few ? group_slots(step, m) : nullptr;
  for (size_t s = 0; s < m.w->slices.size(); ++s) {
    const WeightSlice& slice = m.w->slices[s];
    const bool by_expert = m.w->experts > 1;
    const uint32_t outs = by_expert ? m.w->rows : slice.count, first_out = by_expert ? 0 : slice.first;
    const uint32_t first_expert = by_expert ? slice.first : 0, experts_here = by_expert ? slice.count : 1;
    const Grid grid = few ? gemv_grid(m, outs) : gemm_grid(m, outs, experts_here);
    const RowLayout& layout = m.w->layout;
    const Use out{m.out, true};
    add(step, grid.kernel + std::string(shader_type(m.w->type)), grid.constants,
        {reads(slice.memory.get()), reads(m.w1 ? m.w1->slices[s].memory.get() : nullptr), reads(m.x), out, reads(m.b), reads(m.b1),
         reads(m.routes), reads(lists)},
        {m.w->cols, outs, first_out, m.rows, m.x_stride, m.out_stride, layout.words, layout.high, layout.scales, layout.super, m.k,
         first_expert, experts_here, flags_of(m), uint32_t(m.activation), word(m.alpha), word(m.limit), m.w->rows, m.weights_at, m.rows,
         m.w->experts},
        grid.groups, double(outs) * m.w->cols * m.rows * (m.w1 ? 2 : 1) * (by_expert ? double(experts_here) / m.w->experts : 1.0));
  }
}

}  // namespace hearth::vulkan
