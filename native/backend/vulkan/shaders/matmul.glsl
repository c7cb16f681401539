// What the matmul kernels share: bindings, the order of additions, and what happens to a sum.
//
// y[r][n] = sum over c of W[n][c] * x[r][c], always added in one order: columns of a segment of 32 one after the other from 0,
// the 8 segments of a block of 256 one after the other from 0, blocks one after the other from 0. So a row's bytes depend
// neither on how many rows there are, nor on which of the kernels computes them (cooperative matrices apart).
#include "numbers.glsl"

layout(set = 0, binding = 0) readonly buffer Weights0 { uint weights0[]; };
layout(set = 0, binding = 1) readonly buffer Weights1 { uint weights1[]; };
layout(set = 0, binding = 2) readonly buffer X { float x[]; };
layout(set = 0, binding = 3) buffer Out { float y[]; };
layout(set = 0, binding = 4) readonly buffer Bias0 { float bias0[]; };
layout(set = 0, binding = 5) readonly buffer Bias1 { float bias1[]; };
layout(set = 0, binding = 6) readonly buffer Routes { uint routes[]; };  // experts [slots], then at weights_at their weights
layout(set = 0, binding = 7) readonly buffer Lists { uint lists[]; };    // counts [all_experts], then slots [all_experts][capacity]

layout(push_constant) uniform Push {
  uint cols, outs, first_out, rows;
  uint x_stride, out_stride, row_words, high;
  uint scales, super_scales, k, first_expert;
  uint experts, flags, activation;
  float alpha, limit;
  uint bias_stride, weights_at, capacity, all_experts;
} p;

// EXPERTS: rows are slots of the routes.
const uint HAS_BIAS0 = 1u, HAS_BIAS1 = 2u, X_PER_SLOT = 4u, EXPERTS = 8u;

// Epilogues, from bit 4 of the flags on: what becomes of the sums. No constants: all ops of a weight type share a pipeline.
const uint STORE = 0u, ADD = 1u, ACTIVATE = 2u, WEIGH = 3u;

layout(constant_id = 0) const uint THREADS = 64;
layout(constant_id = 1) const uint MATRICES = 1;  // 2: gate and up

uint word(uint matrix, uint index) {
  if (matrix == 0u) return weights0[index];
  return weights1[index];
}

#include "weights.glsl"

bool experts() { return (p.flags & EXPERTS) != 0u; }

Sections sections() { return Sections(p.high, p.scales, p.super_scales); }

// Beyond the columns there is whatever lies there, perhaps NaN: it is not read.
float x_at(uint row, uint column) { return column < p.cols ? x[row * p.x_stride + column] : 0.0; }

uint x_row(uint slot) { return !experts() || (p.flags & X_PER_SLOT) != 0u ? slot : slot / p.k; }

// `row`: of y, or the slot. n: within this slice of the weight.
void finish(uint row, uint expert, uint n, float sum0, float sum1) {
  uint at = row * p.out_stride + p.first_out + n, bias = expert * p.bias_stride + p.first_out + n, epilogue = p.flags >> 4;
  if ((p.flags & HAS_BIAS0) != 0u) sum0 += bias0[bias];
  if (epilogue == ACTIVATE) {
    if ((p.flags & HAS_BIAS1) != 0u) sum1 += bias1[bias];
    y[at] = activate(p.activation, p.alpha, p.limit, sum0, sum1);
  } else if (epilogue == ADD) {
    y[at] += sum0;
  } else if (epilogue == WEIGH) {
    y[at] = uintBitsToFloat(routes[p.weights_at + row]) * sum0;
  } else {
    y[at] = sum0;
  }
}
