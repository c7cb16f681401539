#version 450
// out = act(gate, up), where gate and up are of different weight types and so could not meet in one matmul. Grid: x values / 64.
#extension GL_GOOGLE_include_directive : require
#include "numbers.glsl"

layout(local_size_x = 64) in;
layout(set = 0, binding = 0) readonly buffer Gate { float gate[]; };
layout(set = 0, binding = 1) readonly buffer Up { float up[]; };
layout(set = 0, binding = 2) writeonly buffer Out { float y[]; };
layout(push_constant) uniform Push { uint cols, rows, activation; float alpha, limit; } p;

void main() {
  uint c = gl_GlobalInvocationID.x, at = gl_WorkGroupID.y * p.cols + c;
  if (c < p.cols) y[at] = activate(p.activation, p.alpha, p.limit, gate[at], up[at]);
}
