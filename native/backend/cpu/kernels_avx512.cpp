// Kernels for AVX-512 with VNNI. Only code compiled with internal linkage may be used here: a shared inline function
// from this file could end up in the hands of a processor that lacks these instructions.
#include "backend/cpu/kernels.h"

#if defined(__AVX512F__) && defined(__AVX512VNNI__)
#if defined(__GNUC__) && !defined(__clang__)
// GCC 12 takes the deliberately undefined operands of its own intrinsics for mistakes (GCC bug 105593).
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>
#include <math.h>

#include <cstring>

#include "backend/half.h"
#include "backend/kv_layout.h"

namespace hearth::cpu {
namespace {
#include "backend/quant_rows.inl"
#include "backend/cpu/simd_avx512.h"
#include "backend/cpu/kernels_float.inl"
#include "backend/cpu/attention.inl"
#include "backend/cpu/codes.inl"
#include "backend/cpu/sources_avx512.inl"
#include "backend/cpu/gemv_avx512.inl"
#include "backend/cpu/gemm_avx512.inl"
}  // namespace

const Kernels* avx512_kernels() {
  static const Kernels table{"avx512", strip_f32, strip_q8, quantise, norm, activate, attention, panel_tokens, panel_q8};
  return &table;
}

}  // namespace hearth::cpu
#else
namespace hearth::cpu {
const Kernels* avx512_kernels() { return nullptr; }
}  // namespace hearth::cpu
#endif
