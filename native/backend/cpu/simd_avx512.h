// V: 16 float lanes on AVX-512. The same names exist in simd_avx2.h, simd_neon.h and simd_scalar.h; kernels_float.inl is
// written over them. Included inside an anonymous namespace.

struct V { __m512 v; };
constexpr uint32_t tile_rows = 4, tile_cols = 4;    // register tile of the float matmul: weight rows x tokens
constexpr uint32_t attend_heads = 8, attend_units = 2;  // register tile of attention: heads x registers of positions or dimensions

inline __mmask16 lanes(uint32_t low, uint32_t high) { return static_cast<__mmask16>((1u << high) - (1u << low)); }
inline V zero() { return {_mm512_setzero_ps()}; }
inline V splat(float x) { return {_mm512_set1_ps(x)}; }
inline V load(const float* p) { return {_mm512_loadu_ps(p)}; }
/// Lanes [low, high) from p[low..high), the others 0 and their memory untouched.
inline V load_part(const float* p, uint32_t low, uint32_t high) { return {_mm512_maskz_loadu_ps(lanes(low, high), p)}; }
inline V load_f16(const uint16_t* p) { return {_mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)))}; }
inline V load_f16_part(const uint16_t* p, uint32_t low, uint32_t high) {
  return {_mm512_cvtph_ps(_mm256_maskz_loadu_epi16(lanes(low, high), p))};
}
inline V load_i8(const int8_t* p) {
  return {_mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))))};
}
inline V load_i8_part(const int8_t* p, uint32_t low, uint32_t high) {
  return {_mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_maskz_loadu_epi8(lanes(low, high), p)))};
}
inline void store_f16(uint16_t* p, V a) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), _mm512_cvtps_ph(a.v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}
inline V widen_bf16(__m256i x) { return {_mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(x), 16))}; }
inline V load_bf16(const uint16_t* p) { return widen_bf16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))); }
inline V load_bf16_part(const uint16_t* p, uint32_t low, uint32_t high) {
  return widen_bf16(_mm256_maskz_loadu_epi16(lanes(low, high), p));
}
inline void store(float* p, V a) { _mm512_storeu_ps(p, a.v); }
inline void store_part(float* p, V a, uint32_t high) { _mm512_mask_storeu_ps(p, lanes(0, high), a.v); }
inline V add(V a, V b) { return {_mm512_add_ps(a.v, b.v)}; }
inline V sub(V a, V b) { return {_mm512_sub_ps(a.v, b.v)}; }
inline V mul(V a, V b) { return {_mm512_mul_ps(a.v, b.v)}; }
inline V div(V a, V b) { return {_mm512_div_ps(a.v, b.v)}; }
inline V fma(V a, V b, V c) { return {_mm512_fmadd_ps(a.v, b.v, c.v)}; }
inline V max(V a, V b) { return {_mm512_max_ps(a.v, b.v)}; }
/// NaN of x stays NaN.
inline V clamp(V x, V low, V high) { return {_mm512_min_ps(high.v, _mm512_max_ps(low.v, x.v))}; }
inline V round_even(V x) { return {_mm512_roundscale_ps(x.v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)}; }
/// x where a >= b or either is NaN, else 0.
inline V keep_unless_less(V a, V b, V x) { return {_mm512_maskz_mov_ps(_mm512_cmp_ps_mask(a.v, b.v, _CMP_NLT_UQ), x.v)}; }
/// Lanes [low, high) of x, `other` elsewhere.
inline V keep_lanes(V x, uint32_t low, uint32_t high, V other) { return {_mm512_mask_mov_ps(other.v, lanes(low, high), x.v)}; }
/// 2^n for whole n in [-126, 127].
inline V power_of_two(V n) {
  return {_mm512_castsi512_ps(_mm512_slli_epi32(_mm512_add_epi32(_mm512_cvtps_epi32(n.v), _mm512_set1_epi32(127)), 23))};
}
/// Fixed tree: halves of 8, 4, 2, 1.
inline float sum_lanes(V a) {
  const __m256 h = _mm256_add_ps(_mm512_castps512_ps256(a.v), _mm512_extractf32x8_ps(a.v, 1));
  __m128 q = _mm_add_ps(_mm256_castps256_ps128(h), _mm256_extractf128_ps(h, 1));
  q = _mm_add_ps(q, _mm_movehl_ps(q, q));
  return _mm_cvtss_f32(_mm_add_ss(q, _mm_shuffle_ps(q, q, 1)));
}
inline float max_lanes(V a) { return _mm512_reduce_max_ps(a.v); }
/// Largest |x| of 32 values, compared as integers, so that infinity and NaN win.
inline float largest_magnitude(V a, V b) {
  const __m512i mask = _mm512_set1_epi32(0x7fffffff);
  const __m512i x = _mm512_and_si512(_mm512_castps_si512(a.v), mask), y = _mm512_and_si512(_mm512_castps_si512(b.v), mask);
  return float_from_bits(static_cast<uint32_t>(_mm512_reduce_max_epi32(_mm512_max_epi32(x, y))));
}
/// out[16] = round(x * factor); returns their sum.
inline int32_t quantise_lanes(V x, V factor, int8_t* out) {
  const __m512i q = _mm512_cvtps_epi32(_mm512_mul_ps(x.v, factor.v));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(out), _mm512_cvtepi32_epi8(q));
  // Not _mm512_reduce_add_epi32: its last addition is a plain int's, and NaN makes it overflow.
  const __m256i h = _mm256_add_epi32(_mm512_castsi512_si256(q), _mm512_extracti64x4_epi64(q, 1));
  __m128i s = _mm_add_epi32(_mm256_castsi256_si128(h), _mm256_extracti128_si256(h, 1));
  s = _mm_add_epi32(s, _mm_shuffle_epi32(s, 0x4e));
  return _mm_cvtsi128_si32(_mm_add_epi32(s, _mm_shuffle_epi32(s, 0xb1)));
}
inline void sum_words(const QuantRow&, uint32_t) {}
