#version 450
// The k largest of a row's logits by (value desc, index asc), and their weights: a softmax over them, or their part of one
// over all. The choice stays k different experts when there is NaN. Grid: x rows.
#extension GL_GOOGLE_include_directive : require
#include "numbers.glsl"

layout(local_size_x = 64) in;
layout(set = 0, binding = 0) readonly buffer Logits { float logits[]; };
layout(set = 0, binding = 1) readonly buffer Inputs { uint inputs[]; };
layout(set = 0, binding = 2) writeonly buffer Routes { uint routes[]; };  // experts [slots], then at weights_at their weights
layout(push_constant) uniform Push {
  uint experts, k, weights_at;
  uint over_all;               // the softmax
  uint forced, forced_rows_at; // word offsets in the inputs, ~0: none. forced_rows_at: which rows, for selected ones
} p;

shared float best[64];
shared uint where[64];
shared uint chosen[64];  // k of them

bool before(float a, uint i, float b, uint j) {
  if (j == ~0u || i == ~0u) return j == ~0u && i != ~0u;
  return a > b || (!(b > a) && i < j);
}

bool taken(uint count, uint expert) {
  for (uint i = 0u; i < count; ++i) {
    if (chosen[i] == expert) return true;
  }
  return false;
}

void choose(uint thread, uint begin) {
  for (uint i = 0u; i < p.k; ++i) {
    float value = 0.0;
    uint expert = ~0u;
    for (uint e = thread; e < p.experts; e += 64u) {
      if (!taken(i, e) && before(logits[begin + e], e, value, expert)) value = logits[begin + e], expert = e;
    }
    best[thread] = value, where[thread] = expert;
    for (uint half_of = 32u; half_of > 0u; half_of >>= 1) {
      barrier();
      if (thread < half_of && before(best[thread + half_of], where[thread + half_of], best[thread], where[thread])) {
        best[thread] = best[thread + half_of], where[thread] = where[thread + half_of];
      }
    }
    barrier();
    if (thread == 0u) chosen[i] = where[0];
    barrier();
  }
}

void main() {
  uint thread = gl_LocalInvocationID.x, row = gl_WorkGroupID.x, begin = row * p.experts, slot = row * p.k;
  if (p.forced == ~0u) {
    choose(thread, begin);
  } else if (thread == 0u) {
    uint from = p.forced_rows_at == ~0u ? row : inputs[p.forced_rows_at + row];
    for (uint i = 0u; i < p.k; ++i) chosen[i] = inputs[p.forced + from * p.k + i];
  }
  if (thread != 0u) return;
  float highest = logits[begin + chosen[0]];
  for (uint i = 1u; i < p.k; ++i) {
    float value = logits[begin + chosen[i]];
    if (value > highest) highest = value;
  }
  precise float total = 0.0;
  if (p.over_all != 0u) {
    for (uint e = 0u; e < p.experts; ++e) {
      if (logits[begin + e] > highest) highest = logits[begin + e];
    }
    for (uint e = 0u; e < p.experts; ++e) total += exp_of(logits[begin + e] - highest);
  } else {
    for (uint i = 0u; i < p.k; ++i) total += exp_of(logits[begin + chosen[i]] - highest);
  }
  for (uint i = 0u; i < p.k; ++i) {
    routes[slot + i] = chosen[i];
    routes[p.weights_at + slot + i] = floatBitsToUint(exp_of(logits[begin + chosen[i]] - highest) / total);
  }
}
