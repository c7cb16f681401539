// The int8 strip kernel for few tokens (AVX-512 VNNI): each block goes from memory through registers once, no panel.
// Weights become unsigned codes (value + 128), sixteen rows at a time; vpdpbusd multiplies them with signed activations,
// and -128 * sum(activations) takes the offset back out, all in exact integers. Per output element the arithmetic is that
// of gemm_avx512.inl. Included inside an anonymous namespace after sources_avx512.inl.

constexpr uint32_t direct_tokens = 4;  // up to so many tokens the panel would cost more than it saves

/// Sums the 4 dwords of each lane of d[v]: dword 4i+v of the result belongs to row 4i+v.
HEARTH_ALWAYS_INLINE __m512i sum_dwords(const __m512i* d) {
  const __m512i a = _mm512_add_epi32(_mm512_unpacklo_epi32(d[0], d[1]), _mm512_unpackhi_epi32(d[0], d[1]));
  const __m512i b = _mm512_add_epi32(_mm512_unpacklo_epi32(d[2], d[3]), _mm512_unpackhi_epi32(d[2], d[3]));
  return _mm512_add_epi32(_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b));
}

template <typename Source, uint32_t N>
inline void direct(Source& source, const Strip& s, const QuantTile& tile) {
  constexpr bool minimum = Source::with_minimum, sub = Source::with_sub;
  __m512 acc[N];
  for (uint32_t t = 0; t < N; ++t) acc[t] = _mm512_setzero_ps();
  // The next strip, which as a rule this thread computes next (thread_pool.h), into L2: it would not fit L1. Sixteen rows are
  // sixteen short streams, too many for the processor to follow by itself; measured with the AVX2 twin of this loop, MXFP4
  // from memory doubles.
  const auto* ahead = reinterpret_cast<const char*>(s.data) + 16 * s.row_stride;
  const size_t share = 16 * s.row_stride / (s.cols / 32);
  size_t fetched = 0;
  for (uint32_t b = 0; b < s.cols / 32; ++b) {
    for (const size_t until = (b + 1) * share; fetched < until; fetched += 64) _mm_prefetch(ahead + fetched, _MM_HINT_T1);
    source.begin(b);
    __m512i first[N][4], second[N][4];
#pragma GCC unroll 4
    for (uint32_t v = 0; v < 4; ++v) {
      __m512i lo, hi;
      source.codes(b, v, &lo, &hi);
#pragma GCC unroll 4
      for (uint32_t t = 0; t < N; ++t) {
        const auto* q = reinterpret_cast<const __m128i*>(tile.q + (size_t(b) * N + t) * 32);
        const __m512i x_lo = _mm512_broadcast_i32x4(_mm_loadu_si128(q)), x_hi = _mm512_broadcast_i32x4(_mm_loadu_si128(q + 1));
        first[t][v] = _mm512_dpbusd_epi32(_mm512_setzero_si512(), lo, x_lo);
        if constexpr (sub) second[t][v] = _mm512_dpbusd_epi32(_mm512_setzero_si512(), hi, x_hi);
        else first[t][v] = _mm512_dpbusd_epi32(first[t][v], hi, x_hi);
      }
    }
    const __m512 scale = source.scale(b);
#pragma GCC unroll 4
    for (uint32_t t = 0; t < N; ++t) {
      const size_t at = size_t(b) * N + t;
      __m512i dot;
      if constexpr (sub) {
        const __m512i d0 = _mm512_add_epi32(sum_dwords(first[t]), _mm512_set1_epi32(tile.half[at]));
        const __m512i d1 = _mm512_add_epi32(sum_dwords(second[t]), _mm512_set1_epi32(tile.correction[at] - tile.half[at]));
        dot = _mm512_add_epi32(_mm512_mullo_epi32(d0, source.sub0(b)), _mm512_mullo_epi32(d1, source.sub1(b)));
      } else {
        dot = _mm512_add_epi32(sum_dwords(first[t]), _mm512_set1_epi32(tile.correction[at]));
      }
      acc[t] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(dot), _mm512_mul_ps(scale, _mm512_set1_ps(tile.scale[at])), acc[t]);
      if constexpr (minimum) acc[t] = _mm512_fmadd_ps(source.minimum(b), _mm512_set1_ps(tile.sum[at]), acc[t]);
    }
  }
  for (uint32_t t = 0; t < N; ++t) _mm512_storeu_ps(tile.out + t * strip_rows, acc[t]);
}

/// False: too many tokens for this way.
template <typename Source>
inline bool run_direct(Source& source, const Strip& s, const QuantTile* tiles, uint32_t count) {
  if (count != 1 || tiles[0].tokens > direct_tokens) return false;
  switch (tiles[0].tokens) {
    case 1: direct<Source, 1>(source, s, tiles[0]); break;
    case 2: direct<Source, 2>(source, s, tiles[0]); break;
    case 3: direct<Source, 3>(source, s, tiles[0]); break;
    case 4: direct<Source, 4>(source, s, tiles[0]); break;
  }
  return true;
}
