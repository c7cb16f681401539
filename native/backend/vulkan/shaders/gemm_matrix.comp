#version 450
// Many rows on matrix units: tiles of 64 weight rows by 64 rows of x as 16-bit floats, summed in float32. Four subgroups take 16
// weight rows each. x comes from halve.comp. Sums meet in the device's own order: bytes depend on the kernel here.
// Grid: x weight rows / 64; y rows / 64; z experts of the slice, or 1.
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_cooperative_matrix : require
#pragma use_vulkan_memory_model
#include "matmul.glsl"

layout(local_size_x_id = 0) in;            // four subgroups
layout(constant_id = 2) const uint M = 16;  // of the device's matrices: 16 % M, 64 % N and 32 % K are 0
layout(constant_id = 3) const uint N = 16;
layout(constant_id = 4) const uint K = 16;

layout(set = 0, binding = 2) readonly buffer HalfX { uvec4 half_x[]; };  // cols / 8 vectors a row, and one that begins with its scale

const uint TILE = 64u, STRIDE = 40u, LANES = THREADS / 4u;  // a stride that spreads rows over the banks
const uint DOWN = 16u / M, ACROSS = TILE / N;
shared float16_t w_tile[MATRICES * TILE * STRIDE];
shared float16_t x_tile[TILE * STRIDE];
shared float sums[4u * MATRICES * M * N];

uint row_of(uint i) { return !experts() ? i : lists[p.all_experts + (p.first_expert + gl_WorkGroupID.z) * p.capacity + i]; }

void main() {
  uint thread = gl_LocalInvocationID.x, vectors = p.cols / 8u + 1u;
  uint n0 = gl_WorkGroupID.x * TILE, r0 = gl_WorkGroupID.y * TILE, expert = experts() ? p.first_expert + gl_WorkGroupID.z : 0u;
  uint rows = experts() ? lists[expert] : p.rows;
  if (r0 >= rows) return;
  uint begin = (experts() ? gl_WorkGroupID.z : 0u) * p.outs * p.row_words;

  coopmat<float, gl_ScopeSubgroup, M, N, gl_MatrixUseAccumulator> total[MATRICES * DOWN * ACROSS];
  [[unroll]] for (uint i = 0u; i < MATRICES * DOWN * ACROSS; ++i) total[i] = coopmat<float, gl_ScopeSubgroup, M, N, gl_MatrixUseAccumulator>(0.0);
  for (uint s = 0u; s < p.cols / 32u; ++s) {
    for (uint i = thread; i < MATRICES * TILE * 4u; i += THREADS) {
      uint m = i / (TILE * 4u), n = i / 4u % TILE, octet = i % 4u;
      float w[8];
      weights8(m, begin + min(n0 + n, p.outs - 1u) * p.row_words, sections(), 4u * s + octet, w);
      [[unroll]] for (uint j = 0u; j < 8u; ++j) w_tile[(m * TILE + n) * STRIDE + 8u * octet + j] = float16_t(w[j]);
    }
    for (uint i = thread; i < TILE * 4u; i += THREADS) {
      uint r = i / 4u, octet = i % 4u;
      uvec4 eight = half_x[x_row(row_of(min(r0 + r, rows - 1u))) * vectors + 4u * s + octet];
      [[unroll]] for (uint j = 0u; j < 4u; ++j) {
        f16vec2 two = unpackFloat2x16(eight[j]);
        x_tile[r * STRIDE + 8u * octet + 2u * j] = two.x, x_tile[r * STRIDE + 8u * octet + 2u * j + 1u] = two.y;
      }
    }
    barrier();
    [[unroll]] for (uint k = 0u; k < 32u; k += K) {
      [[unroll]] for (uint across = 0u; across < ACROSS; ++across) {
        coopmat<float16_t, gl_ScopeSubgroup, K, N, gl_MatrixUseB> x;
        coopMatLoad(x, x_tile, across * N * STRIDE + k, STRIDE, gl_CooperativeMatrixLayoutColumnMajor);
        [[unroll]] for (uint i = 0u; i < MATRICES * DOWN; ++i) {
          coopmat<float16_t, gl_ScopeSubgroup, M, K, gl_MatrixUseA> w;
          coopMatLoad(w, w_tile, (i / DOWN * TILE + gl_SubgroupID * 16u + i % DOWN * M) * STRIDE + k, STRIDE, gl_CooperativeMatrixLayoutRowMajor);
          total[i * ACROSS + across] = coopMatMulAdd(w, x, total[i * ACROSS + across]);
        }
      }
    }
    barrier();
  }
  uint mine = gl_SubgroupID * MATRICES * M * N;
  [[unroll]] for (uint at = 0u; at < DOWN * ACROSS; ++at) {
    [[unroll]] for (uint m = 0u; m < MATRICES; ++m) {
      coopMatStore(total[m * DOWN * ACROSS + at], sums, mine + m * M * N, N, gl_CooperativeMatrixLayoutRowMajor);
    }
    controlBarrier(gl_ScopeSubgroup, gl_ScopeSubgroup, gl_StorageSemanticsShared, gl_SemanticsAcquireRelease);
    for (uint i = gl_SubgroupInvocationID; i < M * N; i += LANES) {
      uint n = n0 + gl_SubgroupID * 16u + at / ACROSS * M + i / N, r = r0 + at % ACROSS * N + i % N;
      if (n >= p.outs || r >= rows) continue;
      uint row = row_of(r);
      float scale = uintBitsToFloat(half_x[x_row(row) * vectors + p.cols / 8u].x);
      finish(row, expert, n, sums[mine + i] * scale, sums[mine + (MATRICES - 1u) * M * N + i] * scale);
    }
    controlBarrier(gl_ScopeSubgroup, gl_ScopeSubgroup, gl_StorageSemanticsShared, gl_SemanticsAcquireRelease);
  }
}
