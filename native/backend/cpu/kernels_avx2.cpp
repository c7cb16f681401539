// Kernels for AVX2 with FMA and F16C. Only code compiled with internal linkage may be used here: a shared inline function
// from this file could end up in the hands of a processor that lacks these instructions.
#include "backend/cpu/kernels.h"

#if defined(__AVX2__)
#include <immintrin.h>
#include <math.h>

#include <cstring>

#include "backend/half.h"
#include "backend/kv_layout.h"

namespace hearth::cpu {
namespace {
#include "backend/quant_rows.inl"
#include "backend/cpu/simd_avx2.h"
#include "backend/cpu/kernels_float.inl"
#include "backend/cpu/attention.inl"
#include "backend/cpu/codes.inl"
#include "backend/cpu/sources_avx2.inl"
#include "backend/cpu/gemv_avx2.inl"
#include "backend/cpu/gemm_avx2.inl"
}  // namespace

const Kernels* avx2_kernels() {
  static const Kernels table{"avx2", strip_f32, strip_q8, quantise, norm, activate, attention, 12, nullptr, true};
  return &table;
}

}  // namespace hearth::cpu
#else
namespace hearth::cpu {
const Kernels* avx2_kernels() { return nullptr; }
}  // namespace hearth::cpu
#endif
