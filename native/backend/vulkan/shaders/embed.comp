#version 450
// out[r] = table[token_r] * scale. Grid: x columns / 512; y rows. Of a table that is cut into slices each has its own tokens.
#extension GL_GOOGLE_include_directive : require
#include "numbers.glsl"

layout(local_size_x = 64) in;
layout(set = 0, binding = 0) readonly buffer Table { uint table[]; };
layout(set = 0, binding = 1) readonly buffer Inputs { uint inputs[]; };
layout(set = 0, binding = 2) writeonly buffer Out { float y[]; };
layout(push_constant) uniform Push {
  uint cols, row_words, high, scales, super_scales, tokens, first_token, token_count;
  float factor;
} p;

uint word(uint matrix, uint index) { return table[index]; }
#include "weights.glsl"

void main() {
  uint octet = gl_GlobalInvocationID.x, row = gl_WorkGroupID.y, token = inputs[p.tokens + row];
  if (octet * 8u >= p.cols || token < p.first_token || token - p.first_token >= p.token_count) return;
  float v[8];
  weights8(0u, (token - p.first_token) * p.row_words, Sections(p.high, p.scales, p.super_scales), octet, v);
  for (uint i = 0u; i < 8u; ++i) {
    if (octet * 8u + i < p.cols) y[row * p.cols + octet * 8u + i] = v[i] * p.factor;
  }
}
