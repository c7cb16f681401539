// The int8 strip kernel of AVX2 for many tokens: the strip is unpacked once into an interleaved panel, which register
// tiles of 16 rows by up to 4 tokens then share. Without AVX-VNNI products are added in 16 bits as long as they cannot
// overflow there: eight groups of four columns with 4-bit codes, four with 5-bit codes and MXFP4, two with Q6_K.
// Included inside an anonymous namespace after gemv_avx2.inl, whose arithmetic per output element it repeats.

constexpr uint32_t register_tokens = 4;

/// From 4 registers w[v] of (lane i, dword c) to 4 registers out[c] of (lane i, dword v): dword 4i+v is row 4i+v.
HEARTH_ALWAYS_INLINE void transpose_dwords(const __m256i* w, __m256i* out) {
  const __m256i a = _mm256_unpacklo_epi32(w[0], w[1]), b = _mm256_unpackhi_epi32(w[0], w[1]);
  const __m256i c = _mm256_unpacklo_epi32(w[2], w[3]), d = _mm256_unpackhi_epi32(w[2], w[3]);
  out[0] = _mm256_unpacklo_epi64(a, c), out[1] = _mm256_unpackhi_epi64(a, c);
  out[2] = _mm256_unpacklo_epi64(b, d), out[3] = _mm256_unpackhi_epi64(b, d);
}

/// Per block of 32 columns: 8 times 16 dwords of codes (dword r = 4 columns of row r), then the factors of the 16 rows.
/// Q6_K's factors of half blocks lie as 16-bit pairs: sub0 twice, sub1 twice, and both times the offset (plain dwords for VNNI).
struct Panel {
  uint8_t* codes;
  float *scale, *minimum;
  int32_t *sub0, *sub1, *both;
};

inline Panel panel_in(std::byte* scratch, uint32_t cols) {
  const size_t factors = size_t(cols) / 32 * strip_rows;
  auto* floats = reinterpret_cast<float*>(scratch);
  auto* ints = reinterpret_cast<int32_t*>(floats + 2 * factors);
  return {reinterpret_cast<uint8_t*>(ints + 3 * factors), floats, floats + factors, ints, ints + factors, ints + 2 * factors};
}

HEARTH_ALWAYS_INLINE void store_dwords(int32_t* to, __m256i x) { _mm256_store_si256(reinterpret_cast<__m256i*>(to), x); }
HEARTH_ALWAYS_INLINE __m256i load_dwords(const int32_t* from) { return _mm256_load_si256(reinterpret_cast<const __m256i*>(from)); }
HEARTH_ALWAYS_INLINE __m256i word_pair(__m256i low, __m256i high) {
  return _mm256_blend_epi16(low, _mm256_slli_epi32(high, 16), 0xaa);
}

template <typename Source>
inline void fill_panel(Source source, uint32_t cols, uint32_t octet, const Panel& panel) {
  for (uint32_t b = 0; b < cols / 32; ++b) {
    source.begin(b);
    __m256i lo[4], hi[4], out[8];
#pragma GCC unroll 4
    for (uint32_t v = 0; v < 4; ++v) source.codes(b, v, &lo[v], &hi[v]);
    transpose_dwords(lo, out);
    transpose_dwords(hi, out + 4);
    uint8_t* codes = panel.codes + size_t(b) * 512 + 32 * octet;
#pragma GCC unroll 8
    for (uint32_t j = 0; j < 8; ++j) _mm256_store_si256(reinterpret_cast<__m256i*>(codes + 64 * j), out[j]);
    const size_t at = size_t(b) * strip_rows + 8 * octet;
    _mm256_store_ps(panel.scale + at, source.scale(b));
    if constexpr (Source::with_minimum) _mm256_store_ps(panel.minimum + at, source.minimum(b));
    if constexpr (Source::with_sub) {
      const __m256i sub0 = source.sub0(), sub1 = source.sub1(), offset = _mm256_set1_epi32(code_offset(Source::type));
      store_dwords(panel.sub0 + at, vnni ? sub0 : word_pair(sub0, sub0));
      store_dwords(panel.sub1 + at, vnni ? sub1 : word_pair(sub1, sub1));
      store_dwords(panel.both + at, word_pair(_mm256_mullo_epi32(sub0, offset), _mm256_mullo_epi32(sub1, offset)));
    }
  }
}

HEARTH_ALWAYS_INLINE __m256i four_columns(const int8_t* q) {
  int32_t four;
  std::memcpy(&four, q, 4);
  return _mm256_set1_epi32(four);
}

#if defined(HEARTH_AVX_VNNI)

/// Adds the products of `Columns` columns: acc[t][o] are the dwords of octet o.
template <uint32_t Columns, uint32_t N>
HEARTH_ALWAYS_INLINE void add_products(const uint8_t* codes, const int8_t* q, __m256i (*acc)[2]) {
#pragma GCC unroll 8
  for (uint32_t j = 0; j < Columns / 4; ++j) {
    const __m256i w0 = load_dwords(reinterpret_cast<const int32_t*>(codes + 64 * j));
    const __m256i w1 = load_dwords(reinterpret_cast<const int32_t*>(codes + 64 * j + 32));
#pragma GCC unroll 4
    for (uint32_t t = 0; t < N; ++t) {
      const __m256i x = four_columns(q + size_t(t) * 32 + 4 * j);
      acc[t][0] = _mm256_dpbusd_avx_epi32(acc[t][0], w0, x);
      acc[t][1] = _mm256_dpbusd_avx_epi32(acc[t][1], w1, x);
    }
  }
}

/// The integer dots of block b; `corrections` and `halves` are the tile's at this block.
template <uint32_t Group, bool Sub, uint32_t N>
HEARTH_ALWAYS_INLINE void block_dots(const Panel& panel, uint32_t b, const int8_t* q, const int32_t* corrections, const int32_t* halves,
                                     int32_t offset, __m256i (*acc)[2]) {
  const uint8_t* codes = panel.codes + size_t(b) * 512;
  for (uint32_t t = 0; t < N; ++t) acc[t][0] = acc[t][1] = _mm256_set1_epi32(((Sub ? halves[t] : corrections[t]) >> 7) * offset);
  if constexpr (!Sub) return add_products<32, N>(codes, q, acc);
  __m256i second[N][2];
  for (uint32_t t = 0; t < N; ++t) second[t][0] = second[t][1] = _mm256_set1_epi32(((corrections[t] - halves[t]) >> 7) * offset);
  add_products<16, N>(codes, q, acc);
  add_products<16, N>(codes + 256, q + 16, second);
  for (uint32_t t = 0; t < N; ++t) {
    for (uint32_t o = 0; o < 2; ++o) {
      const __m256i sub0 = load_dwords(panel.sub0 + b * 16 + 8 * o), sub1 = load_dwords(panel.sub1 + b * 16 + 8 * o);
      acc[t][o] = _mm256_add_epi32(_mm256_mullo_epi32(acc[t][o], sub0), _mm256_mullo_epi32(second[t][o], sub1));
    }
  }
}

#else

/// Keeps a sum in its register: GCC would regroup the additions, hold all products at once and spill them.
#if defined(__GNUC__)
#define HEARTH_KEEP(x) __asm__("" : "+x"(x))
#else
#define HEARTH_KEEP(x) (void)(x)
#endif

/// Adds the products of 4 * Group columns, times `by`: acc[t][o] are the dwords of octet o. Group 0: 4 columns of signed codes.
template <uint32_t Group, bool First, uint32_t N>
HEARTH_ALWAYS_INLINE void add_products(const uint8_t* codes, const int8_t* q, __m256i by0, __m256i by1, __m256i (*acc)[2]) {
  __m256i sum[N][2];
#pragma GCC unroll 8
  for (uint32_t j = 0; j < (Group == 0 ? 1 : Group); ++j) {
    const __m256i w0 = load_dwords(reinterpret_cast<const int32_t*>(codes + 64 * j));
    const __m256i w1 = load_dwords(reinterpret_cast<const int32_t*>(codes + 64 * j + 32));
#pragma GCC unroll 4
    for (uint32_t t = 0; t < N; ++t) {
      const __m256i x = four_columns(q + size_t(t) * 32 + 4 * j);
      // |w| * (x with w's sign): products of 7-bit magnitudes cannot overflow the pair sums.
      const __m256i p0 = Group == 0 ? _mm256_maddubs_epi16(_mm256_abs_epi8(w0), _mm256_sign_epi8(x, w0)) : _mm256_maddubs_epi16(w0, x);
      const __m256i p1 = Group == 0 ? _mm256_maddubs_epi16(_mm256_abs_epi8(w1), _mm256_sign_epi8(x, w1)) : _mm256_maddubs_epi16(w1, x);
      sum[t][0] = j == 0 ? p0 : _mm256_add_epi16(sum[t][0], p0);
      sum[t][1] = j == 0 ? p1 : _mm256_add_epi16(sum[t][1], p1);
      HEARTH_KEEP(sum[t][0]);
      HEARTH_KEEP(sum[t][1]);
    }
  }
#pragma GCC unroll 4
  for (uint32_t t = 0; t < N; ++t) {
    const __m256i d0 = _mm256_madd_epi16(sum[t][0], by0), d1 = _mm256_madd_epi16(sum[t][1], by1);
    acc[t][0] = First ? d0 : _mm256_add_epi32(acc[t][0], d0);
    acc[t][1] = First ? d1 : _mm256_add_epi32(acc[t][1], d1);
    HEARTH_KEEP(acc[t][0]);
    HEARTH_KEEP(acc[t][1]);
  }
}

/// The integer dots of block b; `corrections` and `halves` are the tile's at this block.
template <uint32_t Group, bool Sub, uint32_t N>
HEARTH_ALWAYS_INLINE void block_dots(const Panel& panel, uint32_t b, const int8_t* q, const int32_t* corrections, const int32_t* halves,
                                     int32_t offset, __m256i (*acc)[2]) {
  const uint8_t* codes = panel.codes + size_t(b) * 512;
  const __m256i ones = _mm256_set1_epi16(1);
  auto by = [&](const int32_t* sub, uint32_t octet) { return Sub ? load_dwords(sub + b * 16 + 8 * octet) : ones; };
  constexpr uint32_t step = Group == 0 ? 1 : Group;
  add_products<Group, true, N>(codes, q, by(panel.sub0, 0), by(panel.sub0, 1), acc);
#pragma GCC unroll 8
  for (uint32_t j = step; j < 8; j += step) {
    const int32_t* sub = j < 4 ? panel.sub0 : panel.sub1;
    add_products<Group, false, N>(codes + 64 * j, q + 4 * j, by(sub, 0), by(sub, 1), acc);
  }
  if constexpr (Group == 0) return;  // signed codes have no offset
#pragma GCC unroll 4
  for (uint32_t t = 0; t < N; ++t) {
    __m256i e0, e1;
    if constexpr (Sub) {  // offset * sub0 * sum of the first half's activations, the second half's likewise, in one instruction
      const int32_t first = halves[t] >> 7, second = (corrections[t] - halves[t]) >> 7;
      const __m256i sums = _mm256_set1_epi32(int32_t((uint32_t(second) << 16) | (uint32_t(first) & 0xffffu)));
      e0 = _mm256_madd_epi16(load_dwords(panel.both + b * 16), sums);
      e1 = _mm256_madd_epi16(load_dwords(panel.both + b * 16 + 8), sums);
    } else {
      e0 = e1 = _mm256_set1_epi32((corrections[t] >> 7) * offset);
    }
    acc[t][0] = _mm256_add_epi32(acc[t][0], e0);
    acc[t][1] = _mm256_add_epi32(acc[t][1], e1);
  }
}

#endif

/// Tokens [first, first + N) of a tile.
template <uint32_t Group, bool Minimum, bool Sub, uint32_t N>
void panel_tile(const Panel& panel, uint32_t cols, const QuantTile& tile, uint32_t first, int32_t offset) {
  __m256 sum[N][2];
  for (uint32_t t = 0; t < N; ++t) sum[t][0] = sum[t][1] = _mm256_setzero_ps();
  for (uint32_t b = 0; b < cols / 32; ++b) {
    const size_t at = size_t(b) * tile.tokens + first;
    __m256i acc[N][2];
    block_dots<Group, Sub, N>(panel, b, tile.q + at * 32, tile.correction + at, tile.half + at, offset, acc);
#pragma GCC unroll 2
    for (uint32_t o = 0; o < 2; ++o) {
      const __m256 scale = _mm256_load_ps(panel.scale + b * 16 + 8 * o);
#pragma GCC unroll 4
      for (uint32_t t = 0; t < N; ++t) {
        sum[t][o] = _mm256_fmadd_ps(_mm256_cvtepi32_ps(acc[t][o]), _mm256_mul_ps(scale, _mm256_set1_ps(tile.scale[at + t])), sum[t][o]);
      }
      if constexpr (Minimum) {
        const __m256 minimum = _mm256_load_ps(panel.minimum + b * 16 + 8 * o);
        for (uint32_t t = 0; t < N; ++t) sum[t][o] = _mm256_fmadd_ps(minimum, _mm256_set1_ps(tile.sum[at + t]), sum[t][o]);
      }
    }
  }
  for (uint32_t t = 0; t < N; ++t) {
    _mm256_storeu_ps(tile.out + (first + t) * strip_rows, sum[t][0]);
    _mm256_storeu_ps(tile.out + (first + t) * strip_rows + 8, sum[t][1]);
  }
}

template <uint32_t Group, bool Minimum, bool Sub>
void run_tile(const Panel& panel, uint32_t cols, const QuantTile& tile, int32_t offset) {
  uint32_t first = 0;
  for (; first + register_tokens <= tile.tokens; first += register_tokens) {
    panel_tile<Group, Minimum, Sub, register_tokens>(panel, cols, tile, first, offset);
  }
  switch (tile.tokens - first) {
    case 1: return panel_tile<Group, Minimum, Sub, 1>(panel, cols, tile, first, offset);
    case 2: return panel_tile<Group, Minimum, Sub, 2>(panel, cols, tile, first, offset);
    case 3: return panel_tile<Group, Minimum, Sub, 3>(panel, cols, tile, first, offset);
  }
}

template <DType T>
inline void run_strip(const Strip& s, const QuantTile* tiles, uint32_t count, std::byte* scratch) {
  if (count == 1 && tiles[0].tokens == 1) return direct_strip<T, 1>(s, tiles[0]);  // for 3 tokens a panel costs no more
  if (count == 1 && tiles[0].tokens == 2) return direct_strip<T, 2>(s, tiles[0]);
  const Panel panel = panel_in(scratch, s.cols);
  fill_panel(source_of<T>(s, 0), s.cols, 0, panel);
  fill_panel(source_of<T>(s, 1), s.cols, 1, panel);
  for (uint32_t i = 0; i < count; ++i) {
    run_tile<vnni ? 0 : code_group(T), has_minimum(T), has_sub(T)>(panel, s.cols, tiles[i], code_offset(T));
  }
}

void strip_q8(const Strip& strip, const QuantTile* tiles, uint32_t count, std::byte* scratch) {
  const size_t panel_bytes = size_t(strip.cols) * 26;  // codes 16 bytes a column, factors 10
  const Strip s = strip.rows == strip_rows ? strip : whole_strip(strip, scratch + panel_bytes);
  with_type(s.type, [&]<DType T>() { run_strip<T>(s, tiles, count, scratch); });
}
