// The int8 strip kernel for AVX-512 VNNI. Weights become unsigned codes (value + 128), sixteen rows at a time; vpdpbusd
// multiplies them with signed activations, and -128 * sum(activations) takes the offset back out, all in exact integers.
// Few tokens: each block goes from memory through registers once (dots). Many: the strip is unpacked once into an
// interleaved panel that register tiles of up to 12 tokens then share. Both do the same arithmetic per output element.
// Included inside an anonymous namespace after codes.inl.

#if defined(_MSC_VER) && !defined(__clang__)
#define HEARTH_ALWAYS_INLINE __forceinline
#else
#define HEARTH_ALWAYS_INLINE __attribute__((always_inline)) inline
#endif

constexpr uint32_t direct_tokens = 4;  // up to so many tokens the panel would cost more than it saves

/// Addresses of 16 rows: row 4i + v begins at base[i] + v * stride.
struct RowBases {
  const uint8_t* base[4];
  size_t stride;
  const uint8_t* row(uint32_t i, uint32_t v) const { return base[i] + v * stride; }
};

HEARTH_ALWAYS_INLINE RowBases row_bases(const void* first, size_t stride) {
  const auto* p = static_cast<const uint8_t*>(first);
  return {{p, p + 4 * stride, p + 8 * stride, p + 12 * stride}, stride};
}

HEARTH_ALWAYS_INLINE __m128i load128(const uint8_t* p) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p)); }

/// 16 bytes at `offset` of rows v, 4+v, 8+v, 12+v, one a 128-bit lane.
HEARTH_ALWAYS_INLINE __m512i four_rows(const RowBases& rows, uint32_t v, size_t offset) {
  __m512i x = _mm512_castsi128_si512(load128(rows.row(0, v) + offset));
  x = _mm512_mask_broadcast_i32x4(x, 0x00f0, load128(rows.row(1, v) + offset));
  x = _mm512_mask_broadcast_i32x4(x, 0x0f00, load128(rows.row(2, v) + offset));
  return _mm512_mask_broadcast_i32x4(x, 0xf000, load128(rows.row(3, v) + offset));
}

/// Byte `offset` of each row, in row order.
HEARTH_ALWAYS_INLINE __m128i byte_column(const RowBases& rows, size_t offset) {
  __m128i x[4];
  for (uint32_t i = 0; i < 4; ++i) {
    uint32_t word = rows.row(i, 0)[offset];
    for (uint32_t v = 1; v < 4; ++v) word |= uint32_t(rows.row(i, v)[offset]) << (8 * v);
    x[i] = _mm_cvtsi32_si128(static_cast<int>(word));
  }
  return _mm_unpacklo_epi64(_mm_unpacklo_epi32(x[0], x[1]), _mm_unpacklo_epi32(x[2], x[3]));
}

/// The half float at `offset` of each row.
HEARTH_ALWAYS_INLINE __m512 half_column(const RowBases& rows, size_t offset) {
  __m128i x[4];
  for (uint32_t i = 0; i < 4; ++i) {
    uint64_t word = load_u16(rows.row(i, 0) + offset);
    for (uint32_t v = 1; v < 4; ++v) word |= uint64_t(load_u16(rows.row(i, v) + offset)) << (16 * v);
    x[i] = _mm_cvtsi64_si128(static_cast<long long>(word));
  }
  return _mm512_cvtph_ps(_mm256_set_m128i(_mm_unpacklo_epi64(x[2], x[3]), _mm_unpacklo_epi64(x[0], x[1])));
}

/// e8m0_half of 16 bytes; the three bytes whose float is not (byte - 1) << 23 are rare and go the slow way.
HEARTH_ALWAYS_INLINE __m512 e8m0_half_column(__m128i bytes) {
  const __m512i e = _mm512_cvtepu8_epi32(bytes);
  const __m512i plain = _mm512_slli_epi32(_mm512_sub_epi32(e, _mm512_set1_epi32(1)), 23);
  const __mmask16 odd = _mm512_cmpge_epu32_mask(_mm512_sub_epi32(e, _mm512_set1_epi32(2)), _mm512_set1_epi32(253));
  if (__builtin_expect(odd == 0, 1)) return _mm512_castsi512_ps(plain);
  alignas(16) uint8_t b[16];
  alignas(64) float f[16];
  _mm_store_si128(reinterpret_cast<__m128i*>(b), bytes);
  for (int i = 0; i < 16; ++i) f[i] = e8m0_half(b[i]);
  return _mm512_load_ps(f);
}

inline __m512i nibble_table(const int8_t* values) {
  alignas(16) uint8_t t[16];
  for (int i = 0; i < 16; ++i) t[i] = static_cast<uint8_t>(values[i] + 128);
  return _mm512_broadcast_i32x4(_mm_load_si128(reinterpret_cast<const __m128i*>(t)));
}

constexpr int8_t plain_nibbles[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
constexpr int8_t centred_nibbles[16] = {-8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7};

template <DType T>
constexpr const int8_t* nibble_values() {
  if (T == DType::q4_0) return centred_nibbles;
  if (T == DType::q4_1) return plain_nibbles;
  return T == DType::iq4_nl ? iq4_nl_values : e2m1_doubled;
}

// A source yields, for block b and v in 0..3, the codes of rows v, 4+v, 8+v, 12+v: columns 0..15 and 16..31.

/// Types of 32-wide blocks whose 4-bit codes go through a table.
template <DType T>
struct NibbleSource {
  static constexpr DType type = T;
  static constexpr size_t payload = T == DType::mxfp4_planes ? 0 : T == DType::mxfp4 ? 1 : T == DType::q4_1 ? 4 : 2;
  RowBases rows, scales;
  __m512i table;

  NibbleSource(const Strip& s, std::byte*)
      : rows(row_bases(s.data, s.row_stride)), scales(row_bases(s.scales, s.scale_row_stride)), table(nibble_table(nibble_values<T>())) {}
  void begin(uint32_t) {}
  HEARTH_ALWAYS_INLINE void codes(uint32_t b, uint32_t v, __m512i* lo, __m512i* hi) const {
    const __m512i mask = _mm512_set1_epi8(15), x = four_rows(rows, v, size_t(b) * info(T).bytes + payload);
    *lo = _mm512_shuffle_epi8(table, _mm512_and_si512(x, mask));
    *hi = _mm512_shuffle_epi8(table, _mm512_and_si512(_mm512_srli_epi16(x, 4), mask));
    if constexpr (T == DType::mxfp4_planes) {  // pairs of neighbours instead of halves
      const __m512i even = *lo, odd = *hi;
      *lo = _mm512_unpacklo_epi8(even, odd);
      *hi = _mm512_unpackhi_epi8(even, odd);
    }
  }
  HEARTH_ALWAYS_INLINE __m512 scale(uint32_t b) const {
    if constexpr (T == DType::mxfp4_planes) return e8m0_half_column(byte_column(scales, b));
    if constexpr (T == DType::mxfp4) return e8m0_half_column(byte_column(rows, size_t(b) * 17));
    return half_column(rows, size_t(b) * info(T).bytes);
  }
  HEARTH_ALWAYS_INLINE __m512 minimum(uint32_t b) const { return half_column(rows, size_t(b) * info(T).bytes + 2); }
  __m512i sub0(uint32_t) const { return _mm512_set1_epi32(1); }
  __m512i sub1(uint32_t) const { return _mm512_set1_epi32(1); }
};

struct Q8Source {
  static constexpr DType type = DType::q8_0;
  RowBases rows;

  Q8Source(const Strip& s, std::byte*) : rows(row_bases(s.data, s.row_stride)) {}
  void begin(uint32_t) {}
  HEARTH_ALWAYS_INLINE void codes(uint32_t b, uint32_t v, __m512i* lo, __m512i* hi) const {
    const __m512i offset = _mm512_set1_epi8(-128);
    *lo = _mm512_xor_si512(four_rows(rows, v, size_t(b) * 34 + 2), offset);
    *hi = _mm512_xor_si512(four_rows(rows, v, size_t(b) * 34 + 18), offset);
  }
  HEARTH_ALWAYS_INLINE __m512 scale(uint32_t b) const { return half_column(rows, size_t(b) * 34); }
  HEARTH_ALWAYS_INLINE __m512 minimum(uint32_t) const { return _mm512_setzero_ps(); }
  __m512i sub0(uint32_t) const { return _mm512_set1_epi32(1); }
  __m512i sub1(uint32_t) const { return _mm512_set1_epi32(1); }
};

/// Any type and any number of rows: block b of every row is decoded to signed codes first.
template <DType T>
struct DecodedSource {
  static constexpr DType type = T;
  const Strip& strip;
  int8_t* signed_codes;  // [16][32]
  float *scales, *minima;
  int32_t *subs0, *subs1;

  DecodedSource(const Strip& s, std::byte* scratch) : strip(s) {
    signed_codes = reinterpret_cast<int8_t*>(scratch);
    scales = reinterpret_cast<float*>(scratch + 512), minima = scales + 16;
    subs0 = reinterpret_cast<int32_t*>(minima + 16), subs1 = subs0 + 16;
  }
  void begin(uint32_t b) {
    for (uint32_t r = 0; r < strip_rows; ++r) {
      const uint32_t row = r < strip.rows ? r : strip.rows - 1;  // spare rows repeat the last; their results are not used
      const auto* p = reinterpret_cast<const uint8_t*>(strip.data) + row * strip.row_stride;
      const auto* planes = strip.scales ? reinterpret_cast<const uint8_t*>(strip.scales) + row * strip.scale_row_stride : nullptr;
      const BlockFactors f = block_codes<T>(p, planes, b, signed_codes + 32 * r);
      scales[r] = f.scale, minima[r] = f.minimum, subs0[r] = f.sub0, subs1[r] = f.sub1;
    }
  }
  HEARTH_ALWAYS_INLINE void codes(uint32_t, uint32_t v, __m512i* lo, __m512i* hi) const {
    const RowBases rows = row_bases(signed_codes, 32);
    const __m512i offset = _mm512_set1_epi8(-128);
    *lo = _mm512_xor_si512(four_rows(rows, v, 0), offset);
    *hi = _mm512_xor_si512(four_rows(rows, v, 16), offset);
  }
  HEARTH_ALWAYS_INLINE __m512 scale(uint32_t) const { return _mm512_loadu_ps(scales); }
  HEARTH_ALWAYS_INLINE __m512 minimum(uint32_t) const { return _mm512_loadu_ps(minima); }
  __m512i sub0(uint32_t) const { return _mm512_loadu_si512(subs0); }
  __m512i sub1(uint32_t) const { return _mm512_loadu_si512(subs1); }
};

/// From 4 registers w[v] of (lane i, dword c) to 4 registers out[c] of (lane i, dword v): dword 4i+v is row 4i+v.
HEARTH_ALWAYS_INLINE void transpose_dwords(const __m512i* w, __m512i* out) {
  const __m512i a = _mm512_unpacklo_epi32(w[0], w[1]), b = _mm512_unpackhi_epi32(w[0], w[1]);
  const __m512i c = _mm512_unpacklo_epi32(w[2], w[3]), d = _mm512_unpackhi_epi32(w[2], w[3]);
  out[0] = _mm512_unpacklo_epi64(a, c), out[1] = _mm512_unpackhi_epi64(a, c);
  out[2] = _mm512_unpacklo_epi64(b, d), out[3] = _mm512_unpackhi_epi64(b, d);
}

/// Sums the 4 dwords of each lane of d[v]: dword 4i+v of the result belongs to row 4i+v.
HEARTH_ALWAYS_INLINE __m512i sum_dwords(const __m512i* d) {
  const __m512i a = _mm512_add_epi32(_mm512_unpacklo_epi32(d[0], d[1]), _mm512_unpackhi_epi32(d[0], d[1]));
  const __m512i b = _mm512_add_epi32(_mm512_unpacklo_epi32(d[2], d[3]), _mm512_unpackhi_epi32(d[2], d[3]));
  return _mm512_add_epi32(_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b));
}

// --- few tokens: straight from memory -----------------------------------------------------------------------------

template <typename Source, uint32_t N>
inline void direct(Source& source, const Strip& s, const QuantTile& tile) {
  constexpr bool minimum = has_minimum(Source::type), sub = has_sub(Source::type);
  __m512 acc[N];
  for (uint32_t t = 0; t < N; ++t) acc[t] = _mm512_setzero_ps();
  const auto* ahead = reinterpret_cast<const char*>(s.data) + 16 * s.row_stride;  // the next strip of this matrix
  const size_t share = 16 * s.row_stride / (s.cols / 32);
  for (uint32_t b = 0; b < s.cols / 32; ++b) {
    for (size_t line = 0; line < share; line += 64) _mm_prefetch(ahead + b * share + line, _MM_HINT_T0);
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

// --- many tokens: panel and tiles ---------------------------------------------------------------------------------

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
    if constexpr (has_minimum(Source::type)) _mm512_store_ps(panel.minimum + b * 16, source.minimum(b));
    if constexpr (has_sub(Source::type)) {
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

template <DType T, uint32_t N>
void panel_tile(const Panel& panel, uint32_t cols, const QuantTile& tile) {
  __m512 sum[N];
  for (uint32_t t = 0; t < N; ++t) sum[t] = _mm512_setzero_ps();
  for (uint32_t b = 0; b < cols / 32; ++b) {
    const size_t at = size_t(b) * N;
    const uint8_t* codes = panel.codes + size_t(b) * 512;
    const int8_t* q = tile.q + at * 32;
    __m512i acc[N];
    if constexpr (has_sub(T)) {
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
    if constexpr (has_minimum(T)) {
      const __m512 minimum = _mm512_load_ps(panel.minimum + b * 16);
      for (uint32_t t = 0; t < N; ++t) sum[t] = _mm512_fmadd_ps(minimum, _mm512_set1_ps(tile.sum[at + t]), sum[t]);
    }
  }
  for (uint32_t t = 0; t < N; ++t) _mm512_storeu_ps(tile.out + t * strip_rows, sum[t]);
}

template <DType T>
inline void run_tile(const Panel& panel, uint32_t cols, const QuantTile& tile) {
  switch (tile.tokens) {
    case 1: return panel_tile<T, 1>(panel, cols, tile);
    case 2: return panel_tile<T, 2>(panel, cols, tile);
    case 3: return panel_tile<T, 3>(panel, cols, tile);
    case 4: return panel_tile<T, 4>(panel, cols, tile);
    case 5: return panel_tile<T, 5>(panel, cols, tile);
    case 6: return panel_tile<T, 6>(panel, cols, tile);
    case 7: return panel_tile<T, 7>(panel, cols, tile);
    case 8: return panel_tile<T, 8>(panel, cols, tile);
    case 9: return panel_tile<T, 9>(panel, cols, tile);
    case 10: return panel_tile<T, 10>(panel, cols, tile);
    case 11: return panel_tile<T, 11>(panel, cols, tile);
    case 12: return panel_tile<T, 12>(panel, cols, tile);
  }
}

/// The kinds of tile that differ; types of one kind share the code.
template <DType T>
constexpr DType tile_kind() { return has_sub(T) ? DType::q6_k : has_minimum(T) ? DType::q4_1 : DType::q8_0; }

template <typename Source>
inline void run_source(const Strip& s, const QuantTile* tiles, uint32_t count, std::byte* scratch) {
  Source source(s, scratch);
  if (count == 1 && tiles[0].tokens <= direct_tokens) {
    switch (tiles[0].tokens) {
      case 1: return direct<Source, 1>(source, s, tiles[0]);
      case 2: return direct<Source, 2>(source, s, tiles[0]);
      case 3: return direct<Source, 3>(source, s, tiles[0]);
      case 4: return direct<Source, 4>(source, s, tiles[0]);
    }
  }
  const Panel panel = panel_in(scratch + 1024, s.cols);
  fill_panel(source, s.cols, panel);
  for (uint32_t i = 0; i < count; ++i) run_tile<tile_kind<Source::type>()>(panel, s.cols, tiles[i]);
}

void strip_q8(const Strip& s, const QuantTile* tiles, uint32_t count, std::byte* scratch) {
  with_type(s.type, [&]<DType T>() {
    if (s.rows < strip_rows) return run_source<DecodedSource<T>>(s, tiles, count, scratch);
    if constexpr (T == DType::q8_0) run_source<Q8Source>(s, tiles, count, scratch);
    else if constexpr (info(T).block == 32 && T != DType::q5_0 && T != DType::q5_1) run_source<NibbleSource<T>>(s, tiles, count, scratch);
    else run_source<DecodedSource<T>>(s, tiles, count, scratch);
  });
}
