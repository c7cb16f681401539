#version 450
// Few rows: OUTS weight rows a workgroup, each read once for all ROWS rows of x. A thread takes segments of 32 columns.
// Grid: x weight rows / OUTS; y slots of the routes, or 1.
#extension GL_GOOGLE_include_directive : require
#include "matmul.glsl"

layout(local_size_x_id = 0) in;
layout(constant_id = 2) const uint ROWS = 1;
layout(constant_id = 3) const uint OUTS = 4;

const uint SUMS = MATRICES * OUTS * ROWS, BLOCKS = THREADS / 8u;
shared float segment[SUMS * THREADS];
shared float block[SUMS * BLOCKS];
shared float total[SUMS];

void main() {
  uint thread = gl_LocalInvocationID.x, first = gl_WorkGroupID.x * OUTS, slot = gl_WorkGroupID.y, expert = 0u;
  if (experts()) {
    expert = routes[slot];
    if (expert < p.first_expert || expert - p.first_expert >= p.experts) return;
  }
  uint segments = (p.cols + 31u) / 32u, rows = experts() ? 1u : p.rows, x_first = experts() ? x_row(slot) : 0u;
  uint begin = (expert - (experts() ? p.first_expert : 0u)) * p.outs * p.row_words;
  for (uint i = thread; i < SUMS; i += THREADS) total[i] = 0.0;

  for (uint pass = 0u; pass < segments; pass += THREADS) {
    precise float sum[SUMS];
    for (uint i = 0u; i < SUMS; ++i) sum[i] = 0.0;
    uint mine = pass + thread;
    for (uint octet = 4u * mine; mine < segments && octet < 4u * mine + 4u; ++octet) {
      float in8[ROWS * 8u];
      for (uint r = 0u; r < ROWS; ++r) {
        for (uint i = 0u; i < 8u; ++i) in8[r * 8u + i] = r < rows ? x_at(x_first + r, 8u * octet + i) : 0.0;
      }
      for (uint m = 0u; m < MATRICES; ++m) {
        for (uint o = 0u; o < OUTS; ++o) {
          if (first + o >= p.outs) break;
          float w[8];
          weights8(m, begin + (first + o) * p.row_words, sections(), octet, w);
          for (uint r = 0u; r < ROWS; ++r) {
            uint at = (m * OUTS + o) * ROWS + r;
            for (uint i = 0u; i < 8u; ++i) sum[at] = fma(w[i], in8[r * 8u + i], sum[at]);
          }
        }
      }
    }
    for (uint i = 0u; i < SUMS; ++i) segment[i * THREADS + thread] = sum[i];
    barrier();
    for (uint i = thread; i < SUMS * BLOCKS; i += THREADS) {
      precise float of_block = 0.0;
      for (uint j = 0u; j < 8u; ++j) of_block += segment[i * 8u + j];
      block[i] = of_block;
    }
    barrier();
    for (uint i = thread; i < SUMS; i += THREADS) {
      precise float all = total[i];
      for (uint j = 0u; j < BLOCKS; ++j) all += block[i * BLOCKS + j];
      total[i] = all;
    }
  }
  barrier();
  for (uint i = thread; i < OUTS * ROWS; i += THREADS) {
    uint n = first + i / ROWS, r = i % ROWS;
    if (n >= p.outs || r >= rows) continue;
    finish(experts() ? slot : r, expert, n, total[i], MATRICES > 1u ? total[(MATRICES - 1u) * OUTS * ROWS + i] : 0.0);
  }
}
