// The int8 strip kernel of AVX2 for few tokens: each block goes from memory through registers once, eight rows at a time.
// Per output element the same arithmetic as gemm_avx2.inl. Included inside an anonymous namespace after sources_avx2.inl.

/// Sums the 4 dwords of each lane of d[v]: dword 4i+v of the result belongs to row 4i+v.
HEARTH_ALWAYS_INLINE __m256i sum_dwords(const __m256i* d) {
  const __m256i a = _mm256_add_epi32(_mm256_unpacklo_epi32(d[0], d[1]), _mm256_unpackhi_epi32(d[0], d[1]));
  const __m256i b = _mm256_add_epi32(_mm256_unpacklo_epi32(d[2], d[3]), _mm256_unpackhi_epi32(d[2], d[3]));
  return _mm256_add_epi32(_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b));
}

/// Sums of four neighbouring products of codes and activations, in dwords.
template <uint32_t Group>
HEARTH_ALWAYS_INLINE __m256i four_products(__m256i w, __m256i x) {
#if defined(HEARTH_AVX_VNNI)
  return _mm256_dpbusd_avx_epi32(_mm256_setzero_si256(), w, x);
#else
  const __m256i pairs = Group == 0 ? _mm256_maddubs_epi16(_mm256_abs_epi8(w), _mm256_sign_epi8(x, w)) : _mm256_maddubs_epi16(w, x);
  return _mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
#endif
}

/// The same over both halves of a block.
template <uint32_t Group>
HEARTH_ALWAYS_INLINE __m256i eight_products(__m256i lo, __m256i hi, __m256i x_lo, __m256i x_hi) {
#if defined(HEARTH_AVX_VNNI)
  return _mm256_dpbusd_avx_epi32(four_products<Group>(lo, x_lo), hi, x_hi);
#else
  if constexpr (Group == 0) return _mm256_add_epi32(four_products<0>(lo, x_lo), four_products<0>(hi, x_hi));
  return _mm256_madd_epi16(_mm256_add_epi16(_mm256_maddubs_epi16(lo, x_lo), _mm256_maddubs_epi16(hi, x_hi)), _mm256_set1_epi16(1));
#endif
}

/// What a sum of codes has too much, from -128 * (sum of the activations).
template <DType T>
HEARTH_ALWAYS_INLINE __m256i excess(int32_t correction) { return _mm256_set1_epi32((correction >> 7) * code_offset(T)); }

template <typename Source, uint32_t N>
inline void direct(Source source, const Strip& s, uint32_t octet, const QuantTile& tile) {
  constexpr DType type = Source::type;
  constexpr uint32_t group = code_group(type);
  constexpr bool sub = Source::with_sub;
  __m256 acc[N];
  for (uint32_t t = 0; t < N; ++t) acc[t] = _mm256_setzero_ps();
  const auto* ahead = reinterpret_cast<const char*>(s.data) + 8 * (octet + 1) * s.row_stride;  // the next eight rows, into L2
  const size_t share = 8 * s.row_stride / (s.cols / 32);
  for (uint32_t b = 0; b < s.cols / 32; ++b) {
    for (size_t line = 0; line < share; line += 64) _mm_prefetch(ahead + b * share + line, _MM_HINT_T1);
    source.begin(b);
    __m256i first[N][4], second[N][4];
#pragma GCC unroll 4
    for (uint32_t v = 0; v < 4; ++v) {
      __m256i lo, hi;
      source.codes(b, v, &lo, &hi);
#pragma GCC unroll 4
      for (uint32_t t = 0; t < N; ++t) {
        const auto* q = reinterpret_cast<const __m128i*>(tile.q + (size_t(b) * N + t) * 32);
        const __m256i x_lo = _mm256_broadcastsi128_si256(_mm_loadu_si128(q)), x_hi = _mm256_broadcastsi128_si256(_mm_loadu_si128(q + 1));
        if constexpr (sub) first[t][v] = four_products<group>(lo, x_lo), second[t][v] = four_products<group>(hi, x_hi);
        else first[t][v] = eight_products<group>(lo, hi, x_lo, x_hi);
      }
    }
    const __m256 scale = source.scale(b);
#pragma GCC unroll 4
    for (uint32_t t = 0; t < N; ++t) {
      const size_t at = size_t(b) * N + t;
      __m256i dot;
      if constexpr (sub) {
        const __m256i d0 = _mm256_add_epi32(sum_dwords(first[t]), excess<type>(tile.half[at]));
        const __m256i d1 = _mm256_add_epi32(sum_dwords(second[t]), excess<type>(tile.correction[at] - tile.half[at]));
        dot = _mm256_add_epi32(_mm256_mullo_epi32(d0, source.sub0()), _mm256_mullo_epi32(d1, source.sub1()));
      } else {
        dot = sum_dwords(first[t]);
        if constexpr (code_offset(type) != 0) dot = _mm256_add_epi32(dot, excess<type>(tile.correction[at]));
      }
      acc[t] = _mm256_fmadd_ps(_mm256_cvtepi32_ps(dot), _mm256_mul_ps(scale, _mm256_set1_ps(tile.scale[at])), acc[t]);
      if constexpr (Source::with_minimum) acc[t] = _mm256_fmadd_ps(source.minimum(b), _mm256_set1_ps(tile.sum[at]), acc[t]);
    }
  }
  for (uint32_t t = 0; t < N; ++t) _mm256_storeu_ps(tile.out + t * strip_rows + 8 * octet, acc[t]);
}

template <DType T, uint32_t N>
inline void direct_strip(const Strip& s, const QuantTile& tile) {
  direct<decltype(source_of<T>(s, 0)), N>(source_of<T>(s, 0), s, 0, tile);
  direct<decltype(source_of<T>(s, 0)), N>(source_of<T>(s, 1), s, 1, tile);
}
