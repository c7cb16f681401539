// Sixteen bytes at a time: the weights and the inputs of matmul.glsl seen as vectors. Rows of weights begin at multiples of four
// words (weight_layout.h); rows of x do where their columns are a multiple of 32, which these kernels ask for.
#include "matmul.glsl"

layout(set = 0, binding = 0) readonly buffer Wide0 { uvec4 wide0[]; };
layout(set = 0, binding = 1) readonly buffer Wide1 { uvec4 wide1[]; };
layout(set = 0, binding = 2) readonly buffer WideX { vec4 wide_x[]; };

uvec4 wide_word(uint matrix, uint index) {
  if (matrix == 0u) return wide0[index];
  return wide1[index];
}

const uint GROUP_VECTORS = OCTET_WORDS;  // of codes: four octets, four words a vector

// The codes of octet i out of those of its group.
void codes_of(uvec4 group[GROUP_VECTORS], uint i, out uint codes[OCTET_WORDS]) {
  for (uint j = 0u; j < OCTET_WORDS; ++j) {
    uint at = OCTET_WORDS * i + j;
    codes[j] = group[at >> 2][at & 3u];
  }
}
