// Kernels for aarch64 with the dot product instruction (ARMv8.2 on): those of kernels_neon.cpp, but one instruction adds
// four products. Only code compiled with internal linkage may be used here, as in the files for AVX2 and AVX-512.
#include "backend/cpu/kernels.h"

#if defined(__ARM_FEATURE_DOTPROD) || defined(_M_ARM64)
#define HEARTH_NEON_DOT 1
#define HEARTH_NEON 1
#include <arm_neon.h>
#include <math.h>

#include <cstring>

#include "backend/half.h"
#include "backend/kv_layout.h"

namespace hearth::cpu {
namespace {
#include "backend/quant_rows.inl"
#include "backend/cpu/simd_neon.h"
#include "backend/cpu/kernels_float.inl"
#include "backend/cpu/attention.inl"
#include "backend/cpu/codes.inl"
#include "backend/cpu/int8_neon.inl"
}  // namespace

const Kernels* neondot_kernels() {
  static const Kernels table{"neondot", strip_f32, strip_q8, quantise, norm, activate, attention};
  return &table;
}

}  // namespace hearth::cpu
#else
namespace hearth::cpu {
const Kernels* neondot_kernels() { return nullptr; }
}  // namespace hearth::cpu
#endif
