// The int8 strip kernel for many tokens (AVX-512 VNNI): the strip is unpacked once into an interleaved panel that register
// tiles of up to 12 tokens then share. Codes and integer arithmetic are those of gemv_avx512.inl, so that a row's bytes do
// not depend on its company. Included inside an anonymous namespace after gemv_avx512.inl.

/// From 4 registers w[v] of (lane i, dword c) to 4 registers out[c] of (lane i, dword v): dword 4i+v is row 4i+v.
HEARTH_ALWAYS_INLINE void transpose_dwords(const __m512i* w, __m512i* out) {
  const __m512i a = _mm512_unpacklo_epi32(w[0], w[1]), b = _mm512_unpackhi_epi32(w[0], w[1]);
  const __m512i c = _mm512_unpacklo_epi32(w[2], w[3]), d = _mm512_unpackhi_epi32(w[2], w[3]);
  out[0] = _mm512_unpacklo_epi64(a, c), out[1] = _mm512_unpackhi_epi64(a, c);
  out[2] = _mm512_unpacklo_epi64(b, d), out[3] = _mm512_unpackhi_epi64(b, d);
}

/// Per block of 32 columns: 8 registers of codes (dword r = 4 columns of row r), then the factors of the 16 rows.
struct Panel {
  uint8_t* codes;
  float *scale, *minimum;
  int32_t *sub0, *sub1;
};

inline Panel panel_in(std::byte* scratch, uint32_t cols) {
  const size_t factors = size_t(cols) / 32 * strip_rows;
  auto* floats = reinterpret_cast<float*>(scratch);
  auto* ints = reinterpret_cast<int32_t*>(floats + 2 * factors);
  return {reinterpret_cast<uint8_t*>(ints + 2 * factors), floats, floats + factors, ints, ints + factors};
}

template <typename Source>
inline void fill_panel(Source& source, uint32_t cols, const Panel& panel) {
  for (uint32_t b = 0; b < cols / 32; ++b) {
    source.begin(b);
    __m512i lo[4], hi[4], out[8];
#pragma GCC unroll 4
    for (uint32_t v = 0; v < 4; ++v) source.codes(b, v, &lo[v], &hi[v]);
    transpose_dwords(lo, out);
    transpose_dwords(hi, out + 4);
#pragma GCC unroll 8
    for (uint32_t j = 0; j < 8; ++j) _mm512_store_si512(panel.codes + size_t(b) * 512 + 64 * j, out[j]);
    _mm512_store_ps(panel.scale + b * 16, source.scale(b));
    if constexpr (Source::with_minimum) _mm512_store_ps(panel.minimum + b * 16, source.minimum(b));
    if constexpr (Source::with_sub) {
      _mm512_store_si512(panel.sub0 + b * 16, source.sub0(b));
      _mm512_store_si512(panel.sub1 + b * 16, source.sub1(b));
    }
  }
}

template <uint32_t N>
HEARTH_ALWAYS_INLINE void half_block(const uint8_t* codes, const int8_t* q, __m512i* acc) {
#pragma GCC unroll 4
  for (uint32_t j = 0; j < 4; ++j) {
    const __m512i w = _mm512_load_si512(codes + 64 * j);
#pragma GCC unroll 12
    for (uint32_t t = 0; t < N; ++t) {
      int32_t four;
      __builtin_memcpy(&four, q + size_t(t) * 32 + 4 * j, 4);
      acc[t] = _mm512_dpbusd_epi32(acc[t], w, _mm512_set1_epi32(four));
    }
  }
}

template <bool Minimum, bool Sub, uint32_t N>
void panel_tile(const Panel& panel, uint32_t cols, const QuantTile& tile) {
  __m512 sum[N];
  for (uint32_t t = 0; t < N; ++t) sum[t] = _mm512_setzero_ps();
  for (uint32_t b = 0; b < cols / 32; ++b) {
    const size_t at = size_t(b) * N;
    const uint8_t* codes = panel.codes + size_t(b) * 512;
    const int8_t* q = tile.q + at * 32;
    __m512i acc[N];
    if constexpr (Sub) {
      __m512i second[N];
      for (uint32_t t = 0; t < N; ++t) acc[t] = _mm512_set1_epi32(tile.half[at + t]);
      half_block<N>(codes, q, acc);
      for (uint32_t t = 0; t < N; ++t) second[t] = _mm512_set1_epi32(tile.correction[at + t] - tile.half[at + t]);
      half_block<N>(codes + 256, q + 16, second);
      const __m512i sub0 = _mm512_load_si512(panel.sub0 + b * 16), sub1 = _mm512_load_si512(panel.sub1 + b * 16);
      for (uint32_t t = 0; t < N; ++t) {
        acc[t] = _mm512_add_epi32(_mm512_mullo_epi32(acc[t], sub0), _mm512_mullo_epi32(second[t], sub1));
      }
    } else {
      for (uint32_t t = 0; t < N; ++t) acc[t] = _mm512_set1_epi32(tile.correction[at + t]);
      half_block<N>(codes, q, acc);
      half_block<N>(codes + 256, q + 16, acc);
    }
    const __m512 scale = _mm512_load_ps(panel.scale + b * 16);
#pragma GCC unroll 12
    for (uint32_t t = 0; t < N; ++t) {
      sum[t] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(acc[t]), _mm512_mul_ps(scale, _mm512_set1_ps(tile.scale[at + t])), sum[t]);
    }
    if constexpr (Minimum) {
      const __m512 minimum = _mm512_load_ps(panel.minimum + b * 16);
      for (uint32_t t = 0; t < N; ++t) sum[t] = _mm512_fmadd_ps(minimum, _mm512_set1_ps(tile.sum[at + t]), sum[t]);
    }
  }
  for (uint32_t t = 0; t < N; ++t) _mm512_storeu_ps(tile.out + t * strip_rows, sum[t]);
}

template <bool Minimum, bool Sub>
inline void run_tile(const Panel& panel, uint32_t cols, const QuantTile& tile) {
  switch (tile.tokens) {
    case 1: return panel_tile<Minimum, Sub, 1>(panel, cols, tile);
    case 2: return panel_tile<Minimum, Sub, 2>(panel, cols, tile);
    case 3: return panel_tile<Minimum, Sub, 3>(panel, cols, tile);
    case 4: return panel_tile<Minimum, Sub, 4>(panel, cols, tile);
    case 5: return panel_tile<Minimum, Sub, 5>(panel, cols, tile);
    case 6: return panel_tile<Minimum, Sub, 6>(panel, cols, tile);
    case 7: return panel_tile<Minimum, Sub, 7>(panel, cols, tile);
    case 8: return panel_tile<Minimum, Sub, 8>(panel, cols, tile);
    case 9: return panel_tile<Minimum, Sub, 9>(panel, cols, tile);
    case 10: return panel_tile<Minimum, Sub, 10>(panel, cols, tile);
    case 11: return panel_tile<Minimum, Sub, 11>(panel, cols, tile);
    case 12: return panel_tile<Minimum, Sub, 12>(panel, cols, tile);
  }
}

template <typename Source>
inline void run_source(Source source, const Strip& s, const QuantTile* tiles, uint32_t count, std::byte* scratch) {
  if (run_direct(source, s, tiles, count)) return;
  const Panel panel = panel_in(scratch + 1024, s.cols);
  fill_panel(source, s.cols, panel);
  for (uint32_t i = 0; i < count; ++i) run_tile<Source::with_minimum, Source::with_sub>(panel, s.cols, tiles[i]);
}

void strip_q8(const Strip& s, const QuantTile* tiles, uint32_t count, std::byte* scratch) {
  with_type(s.type, [&]<DType T>() {
    if (s.rows == strip_rows) return run_source(source_of<T>(s), s, tiles, count, scratch);
    run_source(DecodedSource<has_minimum(T), has_sub(T)>(s, scratch, block_codes<T>), s, tiles, count, scratch);
  });
}
