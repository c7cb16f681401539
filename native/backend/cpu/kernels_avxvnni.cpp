// Kernels for AVX2 with FMA, F16C and AVX-VNNI: those of kernels_avx2.cpp, but one instruction adds four products.
// Only code compiled with internal linkage may be used here: a shared inline function from this file could end up in the
// hands of a processor that lacks these instructions.
#include "backend/cpu/kernels.h"

#if defined(__AVXVNNI__) || (defined(__AVX2__) && defined(_MSC_VER))
#define HEARTH_AVX_VNNI 1
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

const Kernels* avxvnni_kernels() {
  static const Kernels table{"avxvnni", strip_f32, strip_q8, quantise, norm, activate, attention};
  return &table;
}

}  // namespace hearth::cpu
#else
namespace hearth::cpu {
const Kernels* avxvnni_kernels() { return nullptr; }
}  // namespace hearth::cpu
#endif
