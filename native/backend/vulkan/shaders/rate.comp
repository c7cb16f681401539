#version 450
// How many multiply-adds a device does: chains of fma that nothing waits for. Grid: x as many as fill it. For measurements only.
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) writeonly buffer Out { float y[]; };
layout(push_constant) uniform Push { uint rounds; float factor; } p;

void main() {
  vec4 a = vec4(gl_LocalInvocationID.x), b = a + 1.0, c = a + 2.0, d = a + 3.0;
  vec4 factor = vec4(p.factor);
  for (uint i = 0u; i < p.rounds; ++i) {  // 16 chains of 4
    a = fma(a, factor, b), b = fma(b, factor, c), c = fma(c, factor, d), d = fma(d, factor, a);
    a = fma(a, factor, b), b = fma(b, factor, c), c = fma(c, factor, d), d = fma(d, factor, a);
    a = fma(a, factor, b), b = fma(b, factor, c), c = fma(c, factor, d), d = fma(d, factor, a);
    a = fma(a, factor, b), b = fma(b, factor, c), c = fma(c, factor, d), d = fma(d, factor, a);
  }
  vec4 sum = a + b + c + d;
  if (sum.x + sum.y + sum.z + sum.w == 12345.678) y[0] = sum.x;  // never, but no compiler knows
}
