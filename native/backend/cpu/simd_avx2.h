// V: 16 float lanes as two AVX2 registers. Meanings are in simd_avx512.h. Included inside an anonymous namespace.

struct V { __m256 a, b; };
constexpr uint32_t tile_rows = 2, tile_cols = 3;
constexpr uint32_t attend_heads = 4, attend_units = 1;

inline V zero() { return {_mm256_setzero_ps(), _mm256_setzero_ps()}; }
inline V splat(float x) { return {_mm256_set1_ps(x), _mm256_set1_ps(x)}; }
inline V load(const float* p) { return {_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8)}; }
inline V load_part(const float* p, uint32_t low, uint32_t high) {
  alignas(32) float x[16] = {};
  for (uint32_t i = low; i < high; ++i) x[i] = p[i];
  return load(x);
}
inline V load_f16(const uint16_t* p) {
  const auto* q = reinterpret_cast<const __m128i*>(p);
  return {_mm256_cvtph_ps(_mm_loadu_si128(q)), _mm256_cvtph_ps(_mm_loadu_si128(q + 1))};
}
inline V load_f16_part(const uint16_t* p, uint32_t low, uint32_t high) {
  alignas(32) uint16_t x[16] = {};
  for (uint32_t i = low; i < high; ++i) x[i] = p[i];
  return load_f16(x);
}
inline V load_i8(const int8_t* p) {
  const __m128i x = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  return {_mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(x)), _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_srli_si128(x, 8)))};
}
inline V load_i8_part(const int8_t* p, uint32_t low, uint32_t high) {
  alignas(16) int8_t x[16] = {};
  for (uint32_t i = low; i < high; ++i) x[i] = p[i];
  return load_i8(x);
}
inline void store_f16(uint16_t* p, V x) {
  auto* q = reinterpret_cast<__m128i*>(p);
  _mm_storeu_si128(q, _mm256_cvtps_ph(x.a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
  _mm_storeu_si128(q + 1, _mm256_cvtps_ph(x.b, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}
inline __m256 widen_bf16(__m128i x) { return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(x), 16)); }
inline V load_bf16(const uint16_t* p) {
  const auto* q = reinterpret_cast<const __m128i*>(p);
  return {widen_bf16(_mm_loadu_si128(q)), widen_bf16(_mm_loadu_si128(q + 1))};
}
inline V load_bf16_part(const uint16_t* p, uint32_t low, uint32_t high) {
  alignas(32) uint16_t x[16] = {};
  for (uint32_t i = low; i < high; ++i) x[i] = p[i];
  return load_bf16(x);
}
inline void store(float* p, V x) { _mm256_storeu_ps(p, x.a), _mm256_storeu_ps(p + 8, x.b); }
inline void store_part(float* p, V v, uint32_t high) {
  alignas(32) float x[16];
  store(x, v);
  for (uint32_t i = 0; i < high; ++i) p[i] = x[i];
}
inline V add(V x, V y) { return {_mm256_add_ps(x.a, y.a), _mm256_add_ps(x.b, y.b)}; }
inline V sub(V x, V y) { return {_mm256_sub_ps(x.a, y.a), _mm256_sub_ps(x.b, y.b)}; }
inline V mul(V x, V y) { return {_mm256_mul_ps(x.a, y.a), _mm256_mul_ps(x.b, y.b)}; }
inline V div(V x, V y) { return {_mm256_div_ps(x.a, y.a), _mm256_div_ps(x.b, y.b)}; }
inline V fma(V x, V y, V z) { return {_mm256_fmadd_ps(x.a, y.a, z.a), _mm256_fmadd_ps(x.b, y.b, z.b)}; }
inline V max(V x, V y) { return {_mm256_max_ps(x.a, y.a), _mm256_max_ps(x.b, y.b)}; }
inline V clamp(V x, V low, V high) {
  return {_mm256_min_ps(high.a, _mm256_max_ps(low.a, x.a)), _mm256_min_ps(high.b, _mm256_max_ps(low.b, x.b))};
}
inline V round_even(V x) {
  constexpr int mode = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
  return {_mm256_round_ps(x.a, mode), _mm256_round_ps(x.b, mode)};
}
inline V keep_unless_less(V x, V y, V z) {
  return {_mm256_and_ps(_mm256_cmp_ps(x.a, y.a, _CMP_NLT_UQ), z.a), _mm256_and_ps(_mm256_cmp_ps(x.b, y.b, _CMP_NLT_UQ), z.b)};
}
inline V keep_lanes(V x, uint32_t low, uint32_t high, V other) {
  alignas(32) float p[16], q[16];
  store(p, x), store(q, other);
  for (uint32_t i = low; i < high; ++i) q[i] = p[i];
  return load(q);
}
inline __m256 power_of_two(__m256 n) {
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(_mm256_cvtps_epi32(n), _mm256_set1_epi32(127)), 23));
}
inline V power_of_two(V n) { return {power_of_two(n.a), power_of_two(n.b)}; }
inline float sum_lanes(V x) {
  const __m256 h = _mm256_add_ps(x.a, x.b);
  __m128 q = _mm_add_ps(_mm256_castps256_ps128(h), _mm256_extractf128_ps(h, 1));
  q = _mm_add_ps(q, _mm_movehl_ps(q, q));
  return _mm_cvtss_f32(_mm_add_ss(q, _mm_shuffle_ps(q, q, 1)));
}
inline float max_lanes(V x) {
  const __m256 h = _mm256_max_ps(x.a, x.b);
  __m128 q = _mm_max_ps(_mm256_castps256_ps128(h), _mm256_extractf128_ps(h, 1));
  q = _mm_max_ps(q, _mm_movehl_ps(q, q));
  return _mm_cvtss_f32(_mm_max_ss(q, _mm_shuffle_ps(q, q, 1)));
}
inline float largest_magnitude(V x, V y) {
  const __m256i mask = _mm256_set1_epi32(0x7fffffff);
  auto bits = [&](__m256 v) { return _mm256_and_si256(_mm256_castps_si256(v), mask); };
  const __m256i m = _mm256_max_epi32(_mm256_max_epi32(bits(x.a), bits(x.b)), _mm256_max_epi32(bits(y.a), bits(y.b)));
  __m128i q = _mm_max_epi32(_mm256_castsi256_si128(m), _mm256_extracti128_si256(m, 1));
  q = _mm_max_epi32(q, _mm_shuffle_epi32(q, 0x4e));
  q = _mm_max_epi32(q, _mm_shuffle_epi32(q, 0xb1));
  return float_from_bits(static_cast<uint32_t>(_mm_cvtsi128_si32(q)));
}
inline int32_t quantise_lanes(V x, V factor, int8_t* out) {
  const __m256i a = _mm256_cvtps_epi32(_mm256_mul_ps(x.a, factor.a)), b = _mm256_cvtps_epi32(_mm256_mul_ps(x.b, factor.b));
  const __m256i words = _mm256_permute4x64_epi64(_mm256_packs_epi32(a, b), 0xd8);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(out),
                   _mm_packs_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1)));
  const __m256i s = _mm256_add_epi32(a, b);
  __m128i q = _mm_add_epi32(_mm256_castsi256_si128(s), _mm256_extracti128_si256(s, 1));
  q = _mm_add_epi32(q, _mm_shuffle_epi32(q, 0x4e));
  q = _mm_add_epi32(q, _mm_shuffle_epi32(q, 0xb1));
  return _mm_cvtsi128_si32(q);
}
/// The 16-bit sums of 16 columns as a QuantTile has them.
inline __m128i word_sums(const int8_t* q) {
  __m128i x = _mm_maddubs_epi16(_mm_set1_epi8(1), _mm_loadu_si128(reinterpret_cast<const __m128i*>(q)));
  x = _mm_add_epi16(x, _mm_shuffle_epi32(x, 0x4e));
  return _mm_add_epi16(x, _mm_shuffle_epi32(x, 0xb1));
}
inline void sum_words(const QuantRow& row, uint32_t b) {
  const __m128i half = word_sums(row.q + 32 * b), all = _mm_add_epi16(half, word_sums(row.q + 32 * b + 16));
  row.half_words[b] = _mm_cvtsi128_si32(half);
  row.words[b] = _mm_cvtsi128_si32(all);
}
