#version 450
// Many rows, to the bytes of gemm.comp: tiles of 64 weight rows by THREADS / 4 rows of x, a thread 4 times 4 of them, in shared
// memory as vectors across the tile. cols is a multiple of 32.
// Grid: x weight rows / 64; y rows / (THREADS / 4); z experts of the slice, or 1.
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "wide.glsl"

layout(local_size_x_id = 0) in;

const uint OUTS = 64u, ROWS = THREADS / 4u, SUMS = MATRICES * 4u;
shared vec4 w_tile[MATRICES * 32u * (OUTS / 4u)];  // [matrix][column][weight row]
shared vec4 x_tile[32u * (ROWS / 4u)];             // [column][row]

uint row_of(uint i) { return !experts() ? i : lists[p.all_experts + (p.first_expert + gl_WorkGroupID.z) * p.capacity + i]; }

void main() {
  uint thread = gl_LocalInvocationID.x, across = thread & 15u, down = thread >> 4;
  uint n0 = gl_WorkGroupID.x * OUTS, r0 = gl_WorkGroupID.y * ROWS, expert = experts() ? p.first_expert + gl_WorkGroupID.z : 0u;
  uint rows = experts() ? lists[expert] : p.rows;
  if (r0 >= rows) return;
  uint begin = (experts() ? gl_WorkGroupID.z : 0u) * p.outs * p.row_words, segments = p.cols / 32u;
  uint x_of_mine = thread % ROWS, x_begin = x_row(row_of(min(r0 + x_of_mine, rows - 1u))) * p.x_stride >> 2;

  precise vec4 block[SUMS];  // [matrix][row]; a component is a weight row
  precise vec4 total[SUMS];
  for (uint i = 0u; i < SUMS; ++i) block[i] = vec4(0.0), total[i] = vec4(0.0);
  for (uint s = 0u; s < segments; ++s) {
    for (uint i = thread; i < MATRICES * OUTS * 4u; i += THREADS) {  // neighbours write neighbouring banks
      uint n = i % OUTS, octet = i / OUTS % 4u, m = i / (OUTS * 4u);
      float w[8];
      weights8(m, begin + min(n0 + n, p.outs - 1u) * p.row_words, sections(), 4u * s + octet, w);
      [[unroll]] for (uint j = 0u; j < 8u; ++j) w_tile[(m * 32u + 8u * octet + j) * (OUTS / 4u) + n / 4u][n & 3u] = w[j];
    }
    for (uint quad = thread / ROWS; quad < 8u; quad += THREADS / ROWS) {
      vec4 x = wide_x[x_begin + 8u * s + quad];
      [[unroll]] for (uint j = 0u; j < 4u; ++j) x_tile[(4u * quad + j) * (ROWS / 4u) + x_of_mine / 4u][x_of_mine & 3u] = x[j];
    }
    barrier();
    precise vec4 sum[SUMS];
    [[unroll]] for (uint i = 0u; i < SUMS; ++i) sum[i] = vec4(0.0);
    for (uint c = 0u; c < 32u; ++c) {
      vec4 x = x_tile[c * (ROWS / 4u) + down];
      [[unroll]] for (uint m = 0u; m < MATRICES; ++m) {
        vec4 w = w_tile[(m * 32u + c) * (OUTS / 4u) + across];
        [[unroll]] for (uint r = 0u; r < 4u; ++r) sum[m * 4u + r] = fma(w, vec4(x[r]), sum[m * 4u + r]);
      }
    }
    bool ends = (s & 7u) == 7u || s + 1u == segments;
    for (uint i = 0u; i < SUMS; ++i) {
      block[i] += sum[i];
      if (ends) total[i] += block[i], block[i] = vec4(0.0);
    }
    barrier();
  }
  for (uint r = 0u; r < 4u; ++r) {
    for (uint j = 0u; j < 4u; ++j) {
      uint n = n0 + 4u * across + j, row = r0 + 4u * down + r;
      if (n < p.outs && row < rows) finish(row_of(row), expert, n, total[r][j], total[(MATRICES - 1u) * 4u + r][j]);
    }
  }
}
