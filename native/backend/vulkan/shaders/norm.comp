#version 450
// out = x * rsqrt(mean(x^2) + eps) * weight, or out += it. Grid: x rows.
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) readonly buffer X { float x[]; };
layout(set = 0, binding = 1) readonly buffer Weight { float weight[]; };
layout(set = 0, binding = 2) buffer Out { float y[]; };
layout(push_constant) uniform Push { uint cols, add; float eps; } p;

shared float part[64];

void main() {
  uint thread = gl_LocalInvocationID.x, begin = gl_WorkGroupID.x * p.cols;
  precise float sum = 0.0;
  for (uint c = thread; c < p.cols; c += 64u) sum = fma(x[begin + c], x[begin + c], sum);
  part[thread] = sum;
  for (uint half_of = 32u; half_of > 0u; half_of >>= 1) {
    barrier();
    if (thread < half_of) part[thread] += part[thread + half_of];
  }
  barrier();
  float factor = 1.0 / sqrt(part[0] / float(p.cols) + p.eps);
  for (uint c = thread; c < p.cols; c += 64u) {
    float value = x[begin + c] * factor * weight[c];
    y[begin + c] = p.add != 0u ? y[begin + c] + value : value;
  }
}
