#version 450
// Folds the states of a head's splits, as attention.comp does when it goes through them by itself. Grid: x heads; y rows.
#extension GL_GOOGLE_include_directive : require
#include "numbers.glsl"
#include "attend.glsl"

layout(local_size_x = 64) in;
layout(set = 0, binding = 0) readonly buffer States { float states[]; };  // maximum, sum, weighted values
layout(set = 0, binding = 1) readonly buffer Inputs { uint inputs[]; };
layout(set = 0, binding = 2) readonly buffer Sinks { float sinks[]; };
layout(set = 0, binding = 3) writeonly buffer Out { float y[]; };
layout(push_constant) uniform Push { uint heads, head_dim, positions, window, has_sinks, splits; } p;

void main() {
  uint head = gl_WorkGroupID.x, row = gl_WorkGroupID.y, position = inputs[p.positions + row];
  uint first = p.window == 0u || position < p.window ? 0u : position - p.window + 1u;
  uint splits = position / SPLIT - first / SPLIT + 1u, begin = (row * p.heads + head) * p.splits * (p.head_dim + 2u);
  for (uint d = gl_LocalInvocationID.x; d < p.head_dim; d += 64u) {
    float highest = NOTHING, total = 0.0;
    precise float sum = 0.0;
    for (uint s = 0u; s < splits; ++s) {
      uint at = begin + s * (p.head_dim + 2u);
      float old, new;
      fold(highest, total, states[at], states[at + 1u], old, new);
      sum = sum * old + states[at + 2u + d] * new;
    }
    float sink = p.has_sinks != 0u ? sinks[head] : 0.0;
    y[(row * p.heads + head) * p.head_dim + d] = sum * finish_factor(highest, total, p.has_sinks != 0u, sink);
  }
}
