#version 450
// How many multiply-adds the matrix units of a device do, from registers. Grid: x as many as fill it. For measurements only.
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_cooperative_matrix : require
#pragma use_vulkan_memory_model

layout(local_size_x_id = 0) in;  // four subgroups
layout(constant_id = 1) const uint M = 16;
layout(constant_id = 2) const uint N = 16;
layout(constant_id = 3) const uint K = 16;
layout(set = 0, binding = 0) writeonly buffer Out { float y[]; };
layout(push_constant) uniform Push { uint rounds; float factor; } p;

void main() {
  coopmat<float16_t, gl_ScopeSubgroup, M, K, gl_MatrixUseA> a = coopmat<float16_t, gl_ScopeSubgroup, M, K, gl_MatrixUseA>(float16_t(p.factor));
  coopmat<float16_t, gl_ScopeSubgroup, K, N, gl_MatrixUseB> b = coopmat<float16_t, gl_ScopeSubgroup, K, N, gl_MatrixUseB>(float16_t(p.factor));
  coopmat<float, gl_ScopeSubgroup, M, N, gl_MatrixUseAccumulator> sums[4];
  for (uint i = 0u; i < 4u; ++i) sums[i] = coopmat<float, gl_ScopeSubgroup, M, N, gl_MatrixUseAccumulator>(float(i));
  for (uint round = 0u; round < p.rounds; ++round) {
    for (uint i = 0u; i < 4u; ++i) sums[i] = coopMatMulAdd(a, b, sums[i]);
  }
  if (p.factor == 12345.0) {
    for (uint i = 0u; i < 4u; ++i) coopMatStore(sums[i], y, i * M * N, N, gl_CooperativeMatrixLayoutRowMajor);
  }
}
