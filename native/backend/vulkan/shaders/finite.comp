#version 450
// Sets flag[0] where a value is NaN or infinite. Grid: x columns / 64; y rows.
#extension GL_GOOGLE_include_directive : require
#include "numbers.glsl"

layout(local_size_x = 64) in;
layout(set = 0, binding = 0) readonly buffer X { float x[]; };
layout(set = 0, binding = 1) buffer Flag { uint flag[]; };
layout(push_constant) uniform Push { uint cols; } p;

void main() {
  uint c = gl_GlobalInvocationID.x;
  if (c < p.cols && !finite(x[gl_WorkGroupID.y * p.cols + c])) atomicOr(flag[0], 1u);
}
