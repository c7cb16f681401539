// The int8 strip kernel of AVX2 for many tokens: a strip is unpacked a stretch of columns at a time into an interleaved
// panel that stays in L1 while all tokens pass in register tiles of 16 rows by up to 4; sums rest in the results between
// two stretches. Without AVX-VNNI the products of a block are added in 16 bits: they may overflow on the way, because the
// sums begin at minus what the codes' offset will add, so that what comes out is the dot of the values, which fits.
// Included inside an anonymous namespace after gemv_avx2.inl, whose results it repeats.

constexpr uint32_t register_tokens = 4;

/// Blocks of 32 columns unpacked at a time: 16 kB of codes.
constexpr uint32_t stretch_blocks = 32;

/// From 4 registers w[v] of (lane i, dword c) to 4 registers out[c] of (lane i, dword v): dword 4i+v is row 4i+v.
HEARTH_ALWAYS_INLINE void transpose_dwords(const __m256i* w, __m256i* out) {
  const __m256i a = _mm256_unpacklo_epi32(w[0], w[1]), b = _mm256_unpackhi_epi32(w[0], w[1]);
  const __m256i c = _mm256_unpacklo_epi32(w[2], w[3]), d = _mm256_unpackhi_epi32(w[2], w[3]);
  out[0] = _mm256_unpacklo_epi64(a, c), out[1] = _mm256_unpackhi_epi64(a, c);
  out[2] = _mm256_unpacklo_epi64(b, d), out[3] = _mm256_unpackhi_epi64(b, d);
}

/// The unpacked stretch. Per block: 8 times 16 dwords of codes (dword r = 4 columns of row r), then the factors of the 16
/// rows. Q6_K's factors of half blocks lie as 16-bit pairs (plain dwords for VNNI).
struct Panel {
  uint8_t* codes;
  float *scale, *minimum;
  int32_t *sub0, *sub1;
};

inline Panel panel_in(std::byte* scratch) {
  constexpr size_t factors = stretch_blocks * strip_rows;
  auto* floats = reinterpret_cast<float*>(scratch);
  auto* ints = reinterpret_cast<int32_t*>(floats + 2 * factors);
  return {reinterpret_cast<uint8_t*>(ints + 2 * factors), floats, floats + factors, ints, ints + factors};
}
constexpr size_t panel_bytes = stretch_blocks * (strip_rows * 16 + 512);

/// Asks for the strip behind this one, evenly over all that is done with this one.
struct Prefetcher {
  const char *next, *end;
  size_t lines;  // a block and register tile

  Prefetcher(const Strip& s, uint32_t steps)
      : next(reinterpret_cast<const char*>(s.data) + strip_rows * s.row_stride), end(next + strip_rows * s.row_stride),
        lines(strip_rows * s.row_stride / 64 / steps + 1) {}
  HEARTH_ALWAYS_INLINE void step() {
    for (size_t i = 0; i < lines && next < end; ++i, next += 64) _mm_prefetch(next, _MM_HINT_T1);
  }
};

HEARTH_ALWAYS_INLINE void store_dwords(void* to, __m256i x) { _mm256_store_si256(static_cast<__m256i*>(to), x); }
HEARTH_ALWAYS_INLINE __m256i load_dwords(const void* from) { return _mm256_load_si256(static_cast<const __m256i*>(from)); }
HEARTH_ALWAYS_INLINE __m256i word_pair(__m256i x) { return _mm256_blend_epi16(x, _mm256_slli_epi32(x, 16), 0xaa); }

/// Sources whose nibbles are columns i and 16 + i.
template <typename Source>
constexpr bool packs_halves = requires(const Source s) { s.packed(0u, 0u); };

/// Codes of block b in the panel's order: register j holds 4 columns of eight rows.
template <typename Source>
HEARTH_ALWAYS_INLINE void panel_codes(const Source& source, uint32_t b, __m256i* out) {
  __m256i lo[4], hi[4];
  if constexpr (packs_halves<Source>) {  // half as much to transpose while it is packed
#pragma GCC unroll 4
    for (uint32_t v = 0; v < 4; ++v) lo[v] = source.packed(b, v);
    transpose_dwords(lo, hi);
#pragma GCC unroll 4
    for (uint32_t c = 0; c < 4; ++c) source.unpack(hi[c], &out[c], &out[4 + c]);
  } else {
#pragma GCC unroll 4
    for (uint32_t v = 0; v < 4; ++v) source.codes(b, v, &lo[v], &hi[v]);
    transpose_dwords(lo, out);
    transpose_dwords(hi, out + 4);
  }
}

/// Unpacks `blocks` blocks from `first` on of eight rows.
template <typename Source>
inline void fill_panel(Source& source, uint32_t first, uint32_t blocks, uint32_t octet, const Panel& panel) {
  for (uint32_t b = 0; b < blocks; ++b) {
    source.begin(first + b);
    __m256i out[8];
    panel_codes(source, first + b, out);
    uint8_t* codes = panel.codes + size_t(b) * 512 + 32 * octet;
#pragma GCC unroll 8
    for (uint32_t j = 0; j < 8; ++j) store_dwords(codes + 64 * j, out[j]);
    const size_t at = size_t(b) * strip_rows + 8 * octet;
    _mm256_store_ps(panel.scale + at, source.scale(first + b));
    if constexpr (Source::with_minimum) _mm256_store_ps(panel.minimum + at, source.minimum(first + b));
    if constexpr (Source::with_sub) {
      store_dwords(panel.sub0 + at, vnni ? source.sub0() : word_pair(source.sub0()));
      store_dwords(panel.sub1 + at, vnni ? source.sub1() : word_pair(source.sub1()));
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
    const __m256i w0 = load_dwords(codes + 64 * j), w1 = load_dwords(codes + 64 * j + 32);
#pragma GCC unroll 4
    for (uint32_t t = 0; t < N; ++t) {
      const __m256i x = four_columns(q + size_t(t) * 32 + 4 * j);
      acc[t][0] = _mm256_dpbusd_avx_epi32(acc[t][0], w0, x);
      acc[t][1] = _mm256_dpbusd_avx_epi32(acc[t][1], w1, x);
    }
  }
}

/// The integer dots of block b of the panel; tokens begin at `at` in the tile's arrays.
template <DType T, uint32_t N>
HEARTH_ALWAYS_INLINE void block_dots(const Panel& panel, uint32_t b, const QuantTile& tile, size_t at, __m256i (*dots)[2]) {
  constexpr bool sub = has_sub(T);
  const uint8_t* codes = panel.codes + size_t(b) * 512;
  const int8_t* q = tile.q + at * 32;
  for (uint32_t t = 0; t < N; ++t) dots[t][0] = dots[t][1] = excess<T>(sub ? tile.half[at + t] : tile.correction[at + t]);
  if constexpr (!sub) return add_products<32, N>(codes, q, dots);
  __m256i second[N][2];
  for (uint32_t t = 0; t < N; ++t) second[t][0] = second[t][1] = excess<T>(tile.correction[at + t] - tile.half[at + t]);
  add_products<16, N>(codes, q, dots);
  add_products<16, N>(codes + 256, q + 16, second);
  for (uint32_t t = 0; t < N; ++t) {
    for (uint32_t o = 0; o < 2; ++o) {
      const __m256i sub0 = load_dwords(panel.sub0 + b * 16 + 8 * o), sub1 = load_dwords(panel.sub1 + b * 16 + 8 * o);
      dots[t][o] = _mm256_add_epi32(_mm256_mullo_epi32(dots[t][o], sub0), _mm256_mullo_epi32(second[t][o], sub1));
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

/// What codes are above the values whose dots fit in 16 bits: 16 columns a word, so at most 16 * 16 * 127.
constexpr int word_offset(DType t) { return t == DType::q5_1 || t == DType::q5_k ? 16 : code_offset(t); }

/// Adds the products of 4 * Groups columns with the two registers of codes of each group, in 16 bits.
template <uint32_t Groups, uint32_t N>
HEARTH_ALWAYS_INLINE void add_products(const uint8_t* codes, const int8_t* q, __m256i (*acc)[2]) {
#pragma GCC unroll 8
  for (uint32_t j = 0; j < Groups; ++j) {
    const __m256i w0 = load_dwords(codes + 64 * j), w1 = load_dwords(codes + 64 * j + 32);
#pragma GCC unroll 4
    for (uint32_t t = 0; t < N; ++t) {
      const __m256i x = four_columns(q + size_t(t) * 32 + 4 * j);
      acc[t][0] = _mm256_add_epi16(acc[t][0], _mm256_maddubs_epi16(w0, x));
      acc[t][1] = _mm256_add_epi16(acc[t][1], _mm256_maddubs_epi16(w1, x));
      HEARTH_KEEP(acc[t][0]);
      HEARTH_KEEP(acc[t][1]);
    }
  }
}

/// The same of all 32 columns with signed codes, in 32 bits: |w| * (x with w's sign), whose pair sums cannot overflow.
template <uint32_t N>
HEARTH_ALWAYS_INLINE void add_signed_products(const uint8_t* codes, const int8_t* q, __m256i (*acc)[2]) {
  const __m256i ones = _mm256_set1_epi16(1);
#pragma GCC unroll 8
  for (uint32_t j = 0; j < 8; ++j) {
#pragma GCC unroll 2
    for (uint32_t o = 0; o < 2; ++o) {
      const __m256i w = load_dwords(codes + 64 * j + 32 * o), magnitude = _mm256_abs_epi8(w);
#pragma GCC unroll 4
      for (uint32_t t = 0; t < N; ++t) {
        const __m256i x = _mm256_sign_epi8(four_columns(q + size_t(t) * 32 + 4 * j), w);
        const __m256i d = _mm256_madd_epi16(_mm256_maddubs_epi16(magnitude, x), ones);
        acc[t][o] = j == 0 ? d : _mm256_add_epi32(acc[t][o], d);
        HEARTH_KEEP(acc[t][o]);
      }
    }
  }
}

/// Where sums begin: minus what the offset adds. `words` are the sums of activations of a QuantTile.
template <DType T>
HEARTH_ALWAYS_INLINE __m256i before(__m256i words) {
  return word_offset(T) == 0 ? _mm256_setzero_si256() : _mm256_mullo_epi16(words, _mm256_set1_epi16(-word_offset(T)));
}

/// The integer dots of block b of the panel; tokens begin at `at` in the tile's arrays.
template <DType T, uint32_t N>
HEARTH_ALWAYS_INLINE void block_dots(const Panel& panel, uint32_t b, const QuantTile& tile, size_t at, __m256i (*dots)[2]) {
  const uint8_t* codes = panel.codes + size_t(b) * 512;
  const int8_t* q = tile.q + at * 32;
  const __m256i ones = _mm256_set1_epi16(1);
  __m256i acc[N][2];
  if constexpr (wide(T)) {
    add_signed_products<N>(codes, q, dots);
  } else if constexpr (has_sub(T)) {
#pragma GCC unroll 4
    for (uint32_t t = 0; t < N; ++t) acc[t][0] = acc[t][1] = before<T>(_mm256_set1_epi32(tile.half_words[at + t]));
    add_products<4, N>(codes, q, acc);
#pragma GCC unroll 4
    for (uint32_t t = 0; t < N; ++t) {
      for (uint32_t o = 0; o < 2; ++o) dots[t][o] = _mm256_madd_epi16(acc[t][o], load_dwords(panel.sub0 + b * 16 + 8 * o));
      const __m256i rest = _mm256_sub_epi16(_mm256_set1_epi32(tile.words[at + t]), _mm256_set1_epi32(tile.half_words[at + t]));
      acc[t][0] = acc[t][1] = before<T>(rest);
    }
    add_products<4, N>(codes + 256, q + 16, acc);
#pragma GCC unroll 4
    for (uint32_t t = 0; t < N; ++t) {
      for (uint32_t o = 0; o < 2; ++o) {
        dots[t][o] = _mm256_add_epi32(dots[t][o], _mm256_madd_epi16(acc[t][o], load_dwords(panel.sub1 + b * 16 + 8 * o)));
      }
    }
  } else {
#pragma GCC unroll 4
    for (uint32_t t = 0; t < N; ++t) acc[t][0] = acc[t][1] = before<T>(_mm256_set1_epi32(tile.words[at + t]));
    add_products<8, N>(codes, q, acc);
#pragma GCC unroll 4
    for (uint32_t t = 0; t < N; ++t) {
      dots[t][0] = _mm256_madd_epi16(acc[t][0], ones), dots[t][1] = _mm256_madd_epi16(acc[t][1], ones);
      if constexpr (word_offset(T) != code_offset(T)) {
        const __m256i added = _mm256_set1_epi32((tile.correction[at + t] >> 7) * (code_offset(T) - word_offset(T)));
        dots[t][0] = _mm256_add_epi32(dots[t][0], added), dots[t][1] = _mm256_add_epi32(dots[t][1], added);
      }
    }
  }
}

#endif

/// Takes tokens [first, first + N) of a tile through the panel: `blocks` blocks from `begin` on are added to the results.
template <DType T, uint32_t N>
void panel_tile(const Panel& panel, uint32_t begin, uint32_t blocks, const QuantTile& tile, uint32_t first, Prefetcher& ahead) {
  float* out = tile.out + first * strip_rows;
  __m256 sum[N][2];
  for (uint32_t t = 0; t < N; ++t) {
    for (uint32_t o = 0; o < 2; ++o) sum[t][o] = begin ? _mm256_loadu_ps(out + t * strip_rows + 8 * o) : _mm256_setzero_ps();
  }
  for (uint32_t b = 0; b < blocks; ++b) {
    ahead.step();
    const size_t at = size_t(begin + b) * tile.tokens + first;
    __m256i dots[N][2];
    block_dots<T, N>(panel, b, tile, at, dots);
#pragma GCC unroll 2
    for (uint32_t o = 0; o < 2; ++o) {
      const __m256 scale = _mm256_load_ps(panel.scale + b * 16 + 8 * o);
#pragma GCC unroll 4
      for (uint32_t t = 0; t < N; ++t) {
        sum[t][o] = _mm256_fmadd_ps(_mm256_cvtepi32_ps(dots[t][o]), _mm256_mul_ps(scale, _mm256_set1_ps(tile.scale[at + t])), sum[t][o]);
      }
      if constexpr (has_minimum(T)) {
        const __m256 minimum = _mm256_load_ps(panel.minimum + b * 16 + 8 * o);
        for (uint32_t t = 0; t < N; ++t) sum[t][o] = _mm256_fmadd_ps(minimum, _mm256_set1_ps(tile.sum[at + t]), sum[t][o]);
      }
    }
  }
  for (uint32_t t = 0; t < N; ++t) {
    for (uint32_t o = 0; o < 2; ++o) _mm256_storeu_ps(out + t * strip_rows + 8 * o, sum[t][o]);
  }
}

template <DType T>
void run_tile(const Panel& panel, uint32_t begin, uint32_t blocks, const QuantTile& tile, Prefetcher& ahead) {
  uint32_t first = 0;
  for (; first + register_tokens <= tile.tokens; first += register_tokens) {
    panel_tile<T, register_tokens>(panel, begin, blocks, tile, first, ahead);
  }
  switch (tile.tokens - first) {
    case 1: return panel_tile<T, 1>(panel, begin, blocks, tile, first, ahead);
    case 2: return panel_tile<T, 2>(panel, begin, blocks, tile, first, ahead);
    case 3: return panel_tile<T, 3>(panel, begin, blocks, tile, first, ahead);
  }
}

template <DType T>
inline void run_strip(const Strip& s, const QuantTile* tiles, uint32_t count, std::byte* scratch) {
  if (count == 1 && tiles[0].tokens == 1) return direct_strip<T, 1>(s, tiles[0]);  // for 3 tokens a panel costs no more
  if (count == 1 && tiles[0].tokens == 2) return direct_strip<T, 2>(s, tiles[0]);
  const Panel panel = panel_in(scratch);
  const uint32_t blocks = s.cols / 32, stretches = (blocks + stretch_blocks - 1) / stretch_blocks;
  uint32_t passes = 0;
  for (uint32_t i = 0; i < count; ++i) passes += (tiles[i].tokens + register_tokens - 1) / register_tokens;
  Prefetcher ahead(s, blocks * passes);
  auto low = source_of<T>(s, 0), high = source_of<T>(s, 1);
  for (uint32_t i = 0, begin = 0; i < stretches; ++i) {  // equal stretches rather than full ones and a rest
    const uint32_t n = (blocks - begin + stretches - i - 1) / (stretches - i);
    fill_panel(low, begin, n, 0, panel);
    fill_panel(high, begin, n, 1, panel);
    for (uint32_t t = 0; t < count; ++t) run_tile<T>(panel, begin, n, tiles[t], ahead);
    begin += n;
  }
}

void strip_q8(const Strip& strip, const QuantTile* tiles, uint32_t count, std::byte* scratch) {
  const Strip s = strip.rows == strip_rows ? strip : whole_strip(strip, scratch + panel_bytes);
  with_type(s.type, [&]<DType T>() { run_strip<T>(s, tiles, count, scratch); });
}
