// Which kernel a matmul takes and with what grid: GEMV for few rows, GEMM for many, each once for every slice of the weight.
#include <algorithm>

#include "backend/vulkan/vk_state.h"

namespace hearth::vulkan {
namespace {

constexpr uint32_t most_gemv_rows = 8;

// Bits of the flags, as in shaders/matmul.glsl.
uint32_t flags_of(const Matmul& m) {
  return (m.b ? 1u : 0u) | (m.b1 ? 2u : 0u) | (m.x_per_slot ? 4u : 0u) | (m.routes ? 8u : 0u) | uint32_t(m.epilogue) << 4;
}

/// Rows that a GEMV kernel is compiled for.
uint32_t rounded_rows(uint32_t rows) { return rows <= 2 ? rows : rows <= 4 ? 4 : 8; }

struct Grid {
  std::string kernel;
  std::vector<uint32_t> constants;
  std::array<uint32_t, 3> groups;
  bool halves = false;  // takes x as 16-bit floats
};

/// Types whose values 16-bit floats hold: those of blocks under scales, and their own.
bool fits_half(DType type) { return type != DType::f32 && type != DType::bf16; }

Grid gemv_grid(const State& state, const Matmul& m, uint32_t outs) {
  const std::string type(shader_type(m.w->type));
  const uint32_t matrices = m.w1 ? 2 : 1, rows = m.routes ? 1 : rounded_rows(m.rows), slots = m.routes ? m.rows : 1;
  if (m.w->cols % 32 == 0 && state.allows(subgroups, "gemv_subgroup_" + type)) {
    const uint32_t threads = 128, lanes = state.device.info().limits.subgroup, each = m.w1 || rows == 8 ? 2 : 4;
    return {"gemv_subgroup_" + type, {threads, matrices, rows, each, lanes}, {groups_of(outs, each * (threads / lanes)), slots, 1}};
  }
  const uint32_t threads = 64, each = outs > 65536 ? 8 : 4;
  return {"gemv_" + type, {threads, matrices, rows, each}, {groups_of(outs, each), slots, 1}};
}

Grid gemm_grid(const State& state, const Matmul& m, uint32_t outs, uint32_t experts_here) {
  const std::string type(shader_type(m.w->type));
  const uint32_t matrices = m.w1 ? 2 : 1, experts = m.routes ? experts_here : 1;
  const VulkanLimits& limits = state.device.info().limits;
  if (m.w->cols % 32 == 0 && fits_half(m.w->type) && state.allows(cooperative_matrix, "gemm_matrix_" + type)) {
    return {"gemm_matrix_" + type, {4 * limits.subgroup, matrices, limits.matrix_m, limits.matrix_n, limits.matrix_k},
            {groups_of(outs, 64), groups_of(m.rows, 64), experts}, true};
  }
  // An expert is chosen at most once for a row; a forced choice may repeat it, so its list may have every slot.
  if (m.w->cols % 32 == 0 && state.allows(large_tiles, "gemm_large_" + type)) {
    const uint32_t threads = m.rows > 32 * experts ? 256 : 128, rows = threads / 4;  // of an expert on average
    return {"gemm_large_" + type, {threads, matrices}, {groups_of(outs, 64), groups_of(m.rows, rows), experts}};
  }
  return {"gemm_" + type, {64, matrices}, {groups_of(outs, 32), groups_of(m.rows, 32), experts}};
}

/// Lists of slots by expert: once for all slices, and again for each op, since routes change in between.
const Memory* group_slots(Step& step, const Matmul& m) {
  const uint32_t experts = m.w->experts;
  Memory* lists = need(step.state, step.state.lists, 4ull * experts * (uint64_t(m.rows) + 1));
  add(step, "group", {}, {reads(m.routes), writes(lists)}, {m.rows, experts, m.rows}, {experts, 1, 1}, double(experts) * m.rows);
  return lists;
}

bool written_since(const Program& program, size_t at, const Memory* memory) {
  return std::any_of(program.begin() + std::ptrdiff_t(at), program.end(), [&](const Dispatch& dispatch) {
    return std::any_of(dispatch.uses.begin(), dispatch.uses.end(), [&](const Use& use) { return use.write && use.memory == memory; });
  });
}

/// The rows of x as shaders/halve.comp writes them; once for several matmuls of the same rows.
const Memory* halved(Step& step, const Matmul& m) {
  const uint32_t rows = m.routes && !m.x_per_slot ? m.rows / m.k : m.rows, cols = m.w->cols;
  auto& last = step.halved;
  if (last.x == m.x && last.rows == rows && last.cols == cols && !written_since(step.program, last.at, m.x)) return step.state.halves.memory.get();
  const Memory* halves = need(step.state, step.state.halves, 4ull * rows * (cols / 2 + 4));
  last = {m.x, rows, cols, step.program.size()};
  add(step, "halve", {}, {reads(m.x), writes(halves)}, {cols}, {rows, 1, 1}, double(cols) * rows);
  return halves;
}

}  // namespace

void matmul(Step& step, const Matmul& m) {
  if (m.rows == 0) return;
  const bool experts = m.routes != nullptr, few = experts ? m.rows <= most_gemv_rows * m.k : m.rows <= most_gemv_rows;
  const Memory* lists = experts && !few ? group_slots(step, m) : nullptr;
  const Memory* halves = nullptr;
  for (size_t s = 0; s < m.w->slices.size(); ++s) {
    const WeightSlice& slice = m.w->slices[s];
    const bool by_expert = m.w->experts > 1;
    const uint32_t outs = by_expert ? m.w->rows : slice.count, first_out = by_expert ? 0 : slice.first;
    const uint32_t first_expert = by_expert ? slice.first : 0, experts_here = by_expert ? slice.count : 1;
    const Grid grid = few ? gemv_grid(step.state, m, outs) : gemm_grid(step.state, m, outs, experts_here);
    if (grid.halves && !halves) halves = halved(step, m);
    const RowLayout& layout = m.w->layout;
    const Use out{m.out, true};
    add(step, grid.kernel, grid.constants,
        {reads(slice.memory.get()), reads(m.w1 ? m.w1->slices[s].memory.get() : nullptr), reads(halves ? halves : m.x), out, reads(m.b), reads(m.b1),
         reads(m.routes), reads(lists)},
        {m.w->cols, outs, first_out, m.rows, m.x_stride, m.out_stride, layout.words, layout.high, layout.scales, layout.super, m.k,
         first_expert, experts_here, flags_of(m), uint32_t(m.activation), word(m.alpha), word(m.limit), m.w->rows, m.weights_at, m.rows,
         m.w->experts},
        grid.groups, double(outs) * m.w->cols * m.rows * (m.w1 ? 2 : 1) * (by_expert ? double(experts_here) / m.w->experts : 1.0));
  }
}

}  // namespace hearth::vulkan
