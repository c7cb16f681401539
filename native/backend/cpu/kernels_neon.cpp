// Kernels for aarch64 without the dot product instruction. The tests have run them under an emulator only.
#include "backend/cpu/kernels.h"

#if defined(__aarch64__) || defined(_M_ARM64)
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

const Kernels* neon_kernels() {
  static const Kernels table{"neon", strip_f32, strip_q8, quantise, norm, activate, attention};
  return &table;
}

}  // namespace hearth::cpu
#else
namespace hearth::cpu {
const Kernels* neon_kernels() { return nullptr; }
}  // namespace hearth::cpu
#endif
