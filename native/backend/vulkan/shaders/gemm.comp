#version 450
// Many rows: a workgroup computes 32 weight rows for 32 rows of x, a thread 4 times 4 of them; weights are unpacked into
// shared memory once for all rows of the tile.
// Grid: x weight rows / 32; y rows / 32; z experts of the slice, or 1.
#extension GL_GOOGLE_include_directive : require
#include "matmul.glsl"

layout(local_size_x_id = 0) in;  // 64

const uint SUMS = MATRICES * 16u, TILE = 32u, STRIDE = 33u;  // one more than a tile: columns of it lie in different banks
shared float w_tile[MATRICES * TILE * STRIDE];
shared float x_tile[TILE * STRIDE];

uint row_of(uint i) { return !experts() ? i : lists[p.all_experts + (p.first_expert + gl_WorkGroupID.z) * p.capacity + i]; }

void main() {
  uint thread = gl_LocalInvocationID.x, across = thread & 7u, down = thread >> 3;
  uint n0 = gl_WorkGroupID.x * TILE, r0 = gl_WorkGroupID.y * TILE, expert = experts() ? p.first_expert + gl_WorkGroupID.z : 0u;
  uint rows = experts() ? lists[expert] : p.rows;
  if (r0 >= rows) return;
  uint begin = (experts() ? gl_WorkGroupID.z : 0u) * p.outs * p.row_words, segments = (p.cols + 31u) / 32u;

  precise float block[SUMS];
  precise float total[SUMS];
  for (uint i = 0u; i < SUMS; ++i) block[i] = 0.0, total[i] = 0.0;
  for (uint s = 0u; s < segments; ++s) {
    for (uint i = thread; i < MATRICES * TILE * 4u; i += THREADS) {
      uint m = i / (TILE * 4u), n = i / 4u % TILE, octet = i % 4u;
      float w[8];
      for (uint j = 0u; j < 8u; ++j) w[j] = 0.0;
      if (n0 + n < p.outs) weights8(m, begin + (n0 + n) * p.row_words, sections(), 4u * s + octet, w);
      for (uint j = 0u; j < 8u; ++j) w_tile[(m * TILE + n) * STRIDE + 8u * octet + j] = w[j];
    }
    for (uint i = thread; i < TILE * 32u; i += THREADS) {
      uint r = i / 32u, c = i % 32u;
      x_tile[r * STRIDE + c] = r0 + r < rows ? x_at(x_row(row_of(r0 + r)), 32u * s + c) : 0.0;
    }
    barrier();
    precise float sum[SUMS];
    for (uint i = 0u; i < SUMS; ++i) sum[i] = 0.0;
    for (uint c = 0u; c < 32u; ++c) {
      float in4[4];
      for (uint i = 0u; i < 4u; ++i) in4[i] = x_tile[(down + 8u * i) * STRIDE + c];
      for (uint m = 0u; m < MATRICES; ++m) {
        for (uint j = 0u; j < 4u; ++j) {
          float w = w_tile[(m * TILE + across + 8u * j) * STRIDE + c];
          for (uint i = 0u; i < 4u; ++i) sum[(m * 4u + j) * 4u + i] = fma(w, in4[i], sum[(m * 4u + j) * 4u + i]);
        }
      }
    }
    bool ends = (s & 7u) == 7u || s + 1u == segments;
    for (uint i = 0u; i < SUMS; ++i) {
      block[i] += sum[i];
      if (ends) total[i] += block[i], block[i] = 0.0;
    }
    barrier();
  }
  for (uint j = 0u; j < 4u; ++j) {
    for (uint i = 0u; i < 4u; ++i) {
      uint n = n0 + across + 8u * j, r = r0 + down + 8u * i, at = j * 4u + i;
      if (n < p.outs && r < rows) finish(row_of(r), expert, n, total[at], total[(MATRICES - 1u) * 16u + at]);
    }
  }
}
