#version 450
// Few rows, to the bytes of gemv.comp: subgroups that wait for nobody take OUTS weight rows each, their lanes take groups of 32
// columns with wide loads, and sums meet by shuffles. The size of a subgroup is a power of two from 8 on; cols is a multiple of 32.
// Grid: x weight rows / (OUTS * subgroups of a workgroup); y slots of the routes, or 1.
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_shuffle : require
#include "wide.glsl"

layout(local_size_x_id = 0) in;
layout(constant_id = 2) const uint ROWS = 1;
layout(constant_id = 3) const uint OUTS = 4;
layout(constant_id = 4) const uint LANES = 32;  // of a subgroup

const uint ROWS_OF_W = MATRICES * OUTS, SUMS = ROWS_OF_W * ROWS;
shared float total[THREADS / LANES * SUMS];

// The eight segments of a block one after the other, then the subgroup's blocks; every lane has the same.
float add_in_order(float before, float sum) {
  precise float block = 0.0;
  [[unroll]] for (uint j = 0u; j < 8u; ++j) block += subgroupShuffle(sum, (gl_SubgroupInvocationID & ~7u) + j);
  precise float all = before;
  [[unroll]] for (uint j = 0u; j < LANES; j += 8u) all += subgroupShuffle(block, j);
  return all;
}

void main() {
  uint lane = gl_SubgroupInvocationID, first = (gl_WorkGroupID.x * (THREADS / LANES) + gl_SubgroupID) * OUTS, slot = gl_WorkGroupID.y, expert = 0u;
  if (experts()) {
    expert = routes[slot];
    if (expert < p.first_expert || expert - p.first_expert >= p.experts) return;
  }
  if (first >= p.outs) return;
  uint groups = p.cols / 32u, rows = experts() ? 1u : p.rows, x_first = experts() ? x_row(slot) : 0u;
  uint begin = (expert - (experts() ? p.first_expert : 0u)) * p.outs * p.row_words;
  uint at[OUTS];
  [[unroll]] for (uint o = 0u; o < OUTS; ++o) at[o] = begin + min(first + o, p.outs - 1u) * p.row_words;

  float sums[SUMS];
  [[unroll]] for (uint i = 0u; i < SUMS; ++i) sums[i] = 0.0;
  for (uint pass = 0u; pass < groups; pass += LANES) {
    precise float sum[SUMS];
    [[unroll]] for (uint i = 0u; i < SUMS; ++i) sum[i] = 0.0;
    uint mine = pass + lane;
    if (mine < groups) {
      uvec4 codes[ROWS_OF_W][GROUP_VECTORS];
      Factors factors[ROWS_OF_W];
      [[unroll]] for (uint w = 0u; w < ROWS_OF_W; ++w) {
        [[unroll]] for (uint i = 0u; i < GROUP_VECTORS; ++i) codes[w][i] = wide_word(w / OUTS, (at[w % OUTS] >> 2) + GROUP_VECTORS * mine + i);
        factors[w] = factors_of(w / OUTS, at[w % OUTS], sections(), mine);
      }
      [[unroll]] for (uint octet = 0u; octet < 4u; ++octet) {
        vec4 in8[ROWS][2];
        [[unroll]] for (uint r = 0u; r < ROWS; ++r) {
          [[unroll]] for (uint i = 0u; i < 2u; ++i) {
            in8[r][i] = r < rows ? wide_x[((x_first + r) * p.x_stride >> 2) + 8u * mine + 2u * octet + i] : vec4(0.0);
          }
        }
        [[unroll]] for (uint w = 0u; w < ROWS_OF_W; ++w) {
          uint eight[OCTET_WORDS];
          float v[8];
          codes_of(codes[w], octet, eight);
          unpack8(eight, factors[w], octet, v);
          [[unroll]] for (uint r = 0u; r < ROWS; ++r) {
            [[unroll]] for (uint i = 0u; i < 8u; ++i) sum[w * ROWS + r] = fma(v[i], in8[r][i >> 2][i & 3u], sum[w * ROWS + r]);
          }
        }
      }
    }
    [[unroll]] for (uint i = 0u; i < SUMS; ++i) sums[i] = add_in_order(sums[i], sum[i]);
  }
  uint mine = gl_SubgroupID * SUMS;
  if (lane == 0u) {
    [[unroll]] for (uint i = 0u; i < SUMS; ++i) total[mine + i] = sums[i];
  }
  subgroupMemoryBarrierShared();
  subgroupBarrier();
  for (uint i = lane; i < OUTS * ROWS; i += LANES) {
    uint n = first + i / ROWS, r = i % ROWS;
    if (n < p.outs && r < rows) finish(experts() ? slot : r, expert, n, total[mine + i], total[mine + (MATRICES - 1u) * OUTS * ROWS + i]);
  }
}
