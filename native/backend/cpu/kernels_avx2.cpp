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

/// Sixteen weight rows as signed codes, row by row, with their factors per block: scale, minimum, sub[block][16].
struct DecodedStrip {
  int8_t* codes;
  float *scale, *minimum;
  int32_t *sub0, *sub1;
};

template <DType T>
inline void decode_strip(const Strip& s, const DecodedStrip& d) {
  for (uint32_t r = 0; r < strip_rows; ++r) {
    const uint32_t row = r < s.rows ? r : s.rows - 1;  // spare rows repeat the last; their results are not used
    const auto* p = reinterpret_cast<const uint8_t*>(s.data) + row * s.row_stride;
    const auto* scales = s.scales ? reinterpret_cast<const uint8_t*>(s.scales) + row * s.scale_row_stride : nullptr;
    for (uint32_t b = 0; b < s.cols / 32; ++b) {
      const BlockFactors f = block_codes<T>(p, scales, b, d.codes + size_t(r) * s.cols + 32 * b);
      const size_t at = size_t(b) * strip_rows + r;
      d.scale[at] = f.scale;
      if (has_minimum(T)) d.minimum[at] = f.minimum;
      if (has_sub(T)) d.sub0[at] = f.sub0, d.sub1[at] = f.sub1;
    }
  }
}

/// Integer dots of 8 rows with one activation block: lane r of `first` sums columns 0..15 of row r, `second` the others.
inline void eight_dots(const int8_t* codes, size_t row_stride, __m256i x, __m256i* first, __m256i* second) {
  const __m256i ones = _mm256_set1_epi16(1);
  __m256i d[8];
  for (int r = 0; r < 8; ++r) {
    const __m256i w = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(codes + r * row_stride));
    // |w| * (x with w's sign): products of 7-bit magnitudes cannot overflow the pair sums.
    d[r] = _mm256_madd_epi16(_mm256_maddubs_epi16(_mm256_abs_epi8(w), _mm256_sign_epi8(x, w)), ones);
  }
  const __m256i a = _mm256_hadd_epi32(_mm256_hadd_epi32(d[0], d[1]), _mm256_hadd_epi32(d[2], d[3]));
  const __m256i b = _mm256_hadd_epi32(_mm256_hadd_epi32(d[4], d[5]), _mm256_hadd_epi32(d[6], d[7]));
  *first = _mm256_permute2x128_si256(a, b, 0x20);
  *second = _mm256_permute2x128_si256(a, b, 0x31);
}

template <DType T>
inline void dot_token(const DecodedStrip& d, uint32_t cols, const QuantTile& tile, uint32_t token) {
  for (uint32_t half = 0; half < strip_rows; half += 8) {
    __m256 sum = _mm256_setzero_ps();
    for (uint32_t b = 0; b < cols / 32; ++b) {
      const size_t at = size_t(b) * tile.tokens + token, w = size_t(b) * strip_rows + half;
      const __m256i x = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(tile.q + at * 32));
      __m256i first, second;
      eight_dots(d.codes + size_t(half) * cols + 32 * b, cols, x, &first, &second);
      if (has_sub(T)) {
        first = _mm256_mullo_epi32(first, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(d.sub0 + w)));
        second = _mm256_mullo_epi32(second, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(d.sub1 + w)));
      }
      const __m256 dot = _mm256_cvtepi32_ps(_mm256_add_epi32(first, second));
      sum = _mm256_fmadd_ps(dot, _mm256_mul_ps(_mm256_loadu_ps(d.scale + w), _mm256_set1_ps(tile.scale[at])), sum);
      if (has_minimum(T)) sum = _mm256_fmadd_ps(_mm256_loadu_ps(d.minimum + w), _mm256_set1_ps(tile.sum[at]), sum);
    }
    _mm256_storeu_ps(tile.out + token * strip_rows + half, sum);
  }
}

void strip_q8(const Strip& s, const QuantTile* tiles, uint32_t count, std::byte* scratch) {
  const size_t factors = size_t(s.cols) / 32 * strip_rows;
  auto* floats = reinterpret_cast<float*>(scratch);
  auto* ints = reinterpret_cast<int32_t*>(floats + 2 * factors);
  const DecodedStrip d{reinterpret_cast<int8_t*>(ints + 2 * factors), floats, floats + factors, ints, ints + factors};
  with_type(s.type, [&]<DType T>() {
    decode_strip<T>(s, d);
    for (uint32_t i = 0; i < count; ++i) {
      for (uint32_t t = 0; t < tiles[i].tokens; ++t) dot_token<T>(d, s.cols, tiles[i], t);
    }
  });
}

}  // namespace

const Kernels* avx2_kernels() {
  static const Kernels table{"avx2", strip_f32, strip_q8, quantise, norm, activate, attention};
  return &table;
}

}  // namespace hearth::cpu
#else
namespace hearth::cpu {
const Kernels* avx2_kernels() { return nullptr; }
}  // namespace hearth::cpu
#endif
