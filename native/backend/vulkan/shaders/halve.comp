#version 450
// Rows of x as 16-bit floats for matrix units, each under a power of two that brings its largest value to 2^12: activations may be
// larger than 16 bits hold. A row is cols / 8 vectors, and one that begins with the power to multiply with. Grid: x rows.
#extension GL_GOOGLE_include_directive : require
#include "numbers.glsl"

layout(local_size_x = 64) in;
layout(set = 0, binding = 0) readonly buffer X { float x[]; };
layout(set = 0, binding = 1) writeonly buffer Out { uint y[]; };
layout(push_constant) uniform Push { uint cols; } p;

shared float part[64];

void main() {
  uint thread = gl_LocalInvocationID.x, from = gl_WorkGroupID.x * p.cols, to = gl_WorkGroupID.x * (p.cols / 2u + 4u);
  float most = 0.0;
  for (uint c = thread; c < p.cols; c += 64u) {
    float a = abs(x[from + c]);
    if (a > most && finite(a)) most = a;
  }
  part[thread] = most;
  for (uint half_of = 32u; half_of > 0u; half_of >>= 1) {
    barrier();
    if (thread < half_of) part[thread] = max(part[thread], part[thread + half_of]);
  }
  barrier();
  // The exponent as it is in the bits: 2^(e - 127) <= most. Between 2^-100 and 2^100 both powers are normal numbers.
  uint e = clamp(floatBitsToUint(part[0]) >> 23, 27u, 227u);
  float down = uintBitsToFloat((266u - e) << 23), up = uintBitsToFloat((e - 12u) << 23);
  for (uint i = thread; i < p.cols / 2u; i += 64u) {
    y[to + i] = half_bits(x[from + 2u * i] * down) | half_bits(x[from + 2u * i + 1u] * down) << 16;
  }
  if (thread == 0u) y[to + p.cols / 2u] = floatBitsToUint(up);
}
