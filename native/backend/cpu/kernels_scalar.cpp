// Kernels in plain C++: what runs where nothing better does, and the yardstick of the vector kernels' tests.
#include <math.h>

#include <cstring>

#include "backend/cpu/kernels.h"
#include "backend/half.h"
#include "backend/kv_layout.h"

namespace hearth::cpu {
namespace {
#include "backend/quant_rows.inl"
#include "backend/cpu/simd_scalar.h"
#include "backend/cpu/kernels_float.inl"
#include "backend/cpu/attention.inl"
#include "backend/cpu/codes.inl"
#include "backend/cpu/int8_portable.inl"
}  // namespace

const Kernels* scalar_kernels() {
  static const Kernels table{"scalar", strip_f32, strip_q8, quantise, norm, activate, attention};
  return &table;
}

}  // namespace hearth::cpu
