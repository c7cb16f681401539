// The int8 kernel for many tokens (AVX-512 VNNI). Two strips (32 weight rows) are unpacked some columns at a time into a
// panel that stays in L1 while all tokens pass in register tiles of up to 6: each broadcast activation meets two registers
// of weights, and sums rest in the results between two stretches of columns. Codes and arithmetic per output element are
// those of gemv_avx512.inl, so that a row's bytes do not depend on its company.
// Included inside an anonymous namespace after gemv_avx512.inl.

constexpr uint32_t panel_tokens = 6;    // 2 strips x 6 tokens: 12 integer and 12 float accumulators, and room for operands
constexpr uint32_t panel_blocks = 16;   // blocks of 32 columns unpacked at a time: 16 kB of codes

/// The unpacked stretch. Per block and strip: 8 registers of codes (dword r = 4 columns of row r), then the factors of the
/// 16 rows.
struct Panel {
  uint8_t* codes;
  float *scale, *minimum;
  int32_t *sub0, *sub1;
};

inline Panel panel_in(std::byte* scratch) {
  constexpr size_t factors = size_t(panel_blocks) * panel_rows;
  auto* floats = reinterpret_cast<float*>(scratch);
  auto* ints = reinterpret_cast<int32_t*>(floats + 2 * factors);
  return {reinterpret_cast<uint8_t*>(ints + 2 * factors), floats, floats + factors, ints, ints + factors};
}

/// Asks for the memory of the next call, evenly over this one.
struct Prefetcher {
  const char *next, *end;
  uint32_t lines;  // a block

  Prefetcher(const Ahead& a, uint32_t blocks) : next(reinterpret_cast<const char*>(a.data)), end(next + a.bytes) {
    lines = static_cast<uint32_t>(a.bytes / 64 / blocks + 1);
  }
  HEARTH_ALWAYS_INLINE void step() {
    for (uint32_t i = 0; i < lines && next < end; ++i, next += 64) _mm_prefetch(next, _MM_HINT_T1);
  }
};

/// From 4 registers w[v] of (lane i, dword c) to 4 registers out[c] of (lane i, dword v): dword 4i+v is row 4i+v.
HEARTH_ALWAYS_INLINE void transpose_dwords(const __m512i* w, __m512i* out) {
  const __m512i a = _mm512_unpacklo_epi32(w[0], w[1]), b = _mm512_unpackhi_epi32(w[0], w[1]);
  const __m512i c = _mm512_unpacklo_epi32(w[2], w[3]), d = _mm512_unpackhi_epi32(w[2], w[3]);
  out[0] = _mm512_unpacklo_epi64(a, c), out[1] = _mm512_unpackhi_epi64(a, c);
  out[2] = _mm512_unpacklo_epi64(b, d), out[3] = _mm512_unpackhi_epi64(b, d);
}

/// Sources whose nibbles are columns i and 16 + i, and sources that find the scales of four blocks at once.
template <typename Source>
constexpr bool packs_halves = requires(Source s) { s.packed(0u, 0u); };
template <typename Source>
constexpr bool scales_in_fours = requires(Source s, __m512* out) { s.four_scales(0u, 0u, out); };

/// Codes of block b in the panel's order.
template <typename Source>
HEARTH_ALWAYS_INLINE void panel_codes(Source& source, uint32_t b, __m512i* out) {
  __m512i lo[4], hi[4];
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

/// Unpacks `blocks` blocks from `first` on as strip `part` of `parts`.
template <typename Source>
inline void fill_panel(Source& source, uint32_t first, uint32_t blocks, uint32_t part, uint32_t parts, const Panel& panel) {
  for (uint32_t b = 0; b < blocks; ++b) {
    const size_t at = size_t(b) * parts + part;
    source.begin(first + b);
    __m512i out[8];
    panel_codes(source, first + b, out);
#pragma GCC unroll 8
    for (uint32_t j = 0; j < 8; ++j) _mm512_store_si512(panel.codes + at * 512 + 64 * j, out[j]);
    if constexpr (!scales_in_fours<Source>) _mm512_store_ps(panel.scale + at * 16, source.scale(first + b));
    if constexpr (Source::with_minimum) _mm512_store_ps(panel.minimum + at * 16, source.minimum(first + b));
    if constexpr (Source::with_sub) {
      _mm512_store_si512(panel.sub0 + at * 16, source.sub0(first + b));
      _mm512_store_si512(panel.sub1 + at * 16, source.sub1(first + b));
    }
  }
  if constexpr (scales_in_fours<Source>) {
    for (uint32_t b = 0; b < blocks; b += 4) {
      const uint32_t n = blocks - b < 4 ? blocks - b : 4;
      __m512 scales[4];
      source.four_scales(first + b, n, scales);
      for (uint32_t i = 0; i < n; ++i) _mm512_store_ps(panel.scale + (size_t(b + i) * parts + part) * 16, scales[i]);
    }
  }
}

/// acc[s][t] += dots of 16 columns; `codes` and `q` point at them.
template <uint32_t S, uint32_t N>
HEARTH_ALWAYS_INLINE void half_block(const uint8_t* codes, const int8_t* q, __m512i (*acc)[N]) {
#pragma GCC unroll 4
  for (uint32_t j = 0; j < 4; ++j) {
    __m512i w[S];
#pragma GCC unroll 2
    for (uint32_t s = 0; s < S; ++s) w[s] = _mm512_load_si512(codes + 512 * s + 64 * j);
#pragma GCC unroll 6
    for (uint32_t t = 0; t < N; ++t) {
      int32_t four;
      __builtin_memcpy(&four, q + size_t(t) * 32 + 4 * j, 4);
      const __m512i x = _mm512_set1_epi32(four);
#pragma GCC unroll 2
      for (uint32_t s = 0; s < S; ++s) acc[s][t] = _mm512_dpbusd_epi32(acc[s][t], w[s], x);
    }
  }
}

/// The integer dots of one block: those of a block with two factors are scaled half by half.
template <bool Sub, uint32_t S, uint32_t N>
HEARTH_ALWAYS_INLINE void block_dots(const Panel& panel, uint32_t b, const QuantTile& tile, size_t at, __m512i (*acc)[N]) {
  const uint8_t* codes = panel.codes + size_t(b) * S * 512;
  const int8_t* q = tile.q + at * 32;
#pragma GCC unroll 2
  for (uint32_t s = 0; s < S; ++s) {
#pragma GCC unroll 6
    for (uint32_t t = 0; t < N; ++t) acc[s][t] = _mm512_set1_epi32(Sub ? tile.half[at + t] : tile.correction[at + t]);
  }
  half_block<S, N>(codes, q, acc);
  if constexpr (!Sub) return half_block<S, N>(codes + 256, q + 16, acc);
  __m512i second[S][N];
  for (uint32_t s = 0; s < S; ++s) {
    for (uint32_t t = 0; t < N; ++t) second[s][t] = _mm512_set1_epi32(tile.correction[at + t] - tile.half[at + t]);
  }
  half_block<S, N>(codes + 256, q + 16, second);
  for (uint32_t s = 0; s < S; ++s) {
    const __m512i sub0 = _mm512_load_si512(panel.sub0 + (size_t(b) * S + s) * 16);
    const __m512i sub1 = _mm512_load_si512(panel.sub1 + (size_t(b) * S + s) * 16);
    for (uint32_t t = 0; t < N; ++t) {
      acc[s][t] = _mm512_add_epi32(_mm512_mullo_epi32(acc[s][t], sub0), _mm512_mullo_epi32(second[s][t], sub1));
    }
  }
}

/// Takes one tile through the panel: `blocks` blocks from `first` on are added to `out`.
template <bool Minimum, bool Sub, uint32_t S, uint32_t N>
void panel_tile(const Panel& panel, uint32_t first, uint32_t blocks, const QuantTile& tile, float* out, Prefetcher& ahead) {
  __m512 sum[S][N];
#pragma GCC unroll 2
  for (uint32_t s = 0; s < S; ++s) {
#pragma GCC unroll 6
    for (uint32_t t = 0; t < N; ++t) sum[s][t] = first ? _mm512_loadu_ps(out + (t * S + s) * 16) : _mm512_setzero_ps();
  }
  for (uint32_t b = 0; b < blocks; ++b) {
    const size_t at = size_t(first + b) * N;
    ahead.step();
    __m512i acc[S][N];
    block_dots<Sub, S, N>(panel, b, tile, at, acc);
    __m512 scale[S];
#pragma GCC unroll 2
    for (uint32_t s = 0; s < S; ++s) scale[s] = _mm512_load_ps(panel.scale + (size_t(b) * S + s) * 16);
#pragma GCC unroll 6
    for (uint32_t t = 0; t < N; ++t) {
      const __m512 x = _mm512_set1_ps(tile.scale[at + t]);
#pragma GCC unroll 2
      for (uint32_t s = 0; s < S; ++s) sum[s][t] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(acc[s][t]), _mm512_mul_ps(scale[s], x), sum[s][t]);
    }
    if constexpr (Minimum) {
      for (uint32_t s = 0; s < S; ++s) {
        const __m512 minimum = _mm512_load_ps(panel.minimum + (size_t(b) * S + s) * 16);
        for (uint32_t t = 0; t < N; ++t) sum[s][t] = _mm512_fmadd_ps(minimum, _mm512_set1_ps(tile.sum[at + t]), sum[s][t]);
      }
    }
  }
#pragma GCC unroll 2
  for (uint32_t s = 0; s < S; ++s) {
#pragma GCC unroll 6
    for (uint32_t t = 0; t < N; ++t) _mm512_storeu_ps(out + (t * S + s) * 16, sum[s][t]);
  }
}

template <bool Minimum, bool Sub, uint32_t S>
inline void run_tile(const Panel& panel, uint32_t first, uint32_t blocks, const QuantTile& tile, float* out, Prefetcher& ahead) {
  switch (tile.tokens) {
    case 1: return panel_tile<Minimum, Sub, S, 1>(panel, first, blocks, tile, out, ahead);
    case 2: return panel_tile<Minimum, Sub, S, 2>(panel, first, blocks, tile, out, ahead);
    case 3: return panel_tile<Minimum, Sub, S, 3>(panel, first, blocks, tile, out, ahead);
    case 4: return panel_tile<Minimum, Sub, S, 4>(panel, first, blocks, tile, out, ahead);
    case 5: return panel_tile<Minimum, Sub, S, 5>(panel, first, blocks, tile, out, ahead);
    case 6: return panel_tile<Minimum, Sub, S, 6>(panel, first, blocks, tile, out, ahead);
  }
}

/// out[i * 16 * S + row] for the i-th token of all tiles.
template <uint32_t S, typename Source>
inline void run_panel(Source* sources, uint32_t cols, const QuantTile* tiles, uint32_t count, float* out, std::byte* scratch, const Ahead& next) {
  const Panel panel = panel_in(scratch);
  const uint32_t blocks = cols / 32, stretches = (blocks + panel_blocks - 1) / panel_blocks;
  Prefetcher ahead(next, blocks * (count == 0 ? 1 : count));
  for (uint32_t i = 0, first = 0; i < stretches; ++i) {
    const uint32_t n = (blocks - first + stretches - i - 1) / (stretches - i);
    for (uint32_t s = 0; s < S; ++s) fill_panel(sources[s], first, n, s, S, panel);
    float* to = out;
    for (uint32_t t = 0; t < count; to += size_t(tiles[t++].tokens) * 16 * S) {
      run_tile<Source::with_minimum, Source::with_sub, S>(panel, first, n, tiles[t], to, ahead);
    }
    first += n;
  }
}

/// Few tokens: strip by strip straight from memory. False: too many for that.
template <typename Source>
inline bool run_direct_pair(Source* sources, const Strip* strips, const QuantTile* tiles, uint32_t count, float* out) {
  if (count != 1 || tiles[0].tokens > direct_tokens) return false;
  float part[direct_tokens * strip_rows];
  QuantTile tile = tiles[0];
  tile.out = part;
  for (uint32_t s = 0; s < 2; ++s) {
    run_direct(sources[s], strips[s], &tile, 1);
    for (uint32_t t = 0; t < tile.tokens; ++t) __builtin_memcpy(out + (2 * t + s) * strip_rows, part + t * strip_rows, sizeof(float) * strip_rows);
  }
  return true;
}

inline Strip second_strip(const Strip& s) {
  Strip second = s;
  second.data += 16 * s.row_stride, second.rows -= 16;
  if (s.scales) second.scales += 16 * s.scale_row_stride;
  return second;
}

constexpr size_t decoded_scratch = 1024;  // what a DecodedSource works in

void strip_q8(const Strip& s, const QuantTile* tiles, uint32_t count, std::byte* scratch) {
  with_type(s.type, [&]<DType T>() {
    if (s.rows == strip_rows) {
      auto source = source_of<T>(s);
      if (!run_direct(source, s, tiles, count)) run_panel<1>(&source, s.cols, tiles, count, tiles[0].out, scratch, {});
      return;
    }
    DecodedSource<has_minimum(T), has_sub(T)> source(s, scratch, block_codes<T>);
    if (!run_direct(source, s, tiles, count)) run_panel<1>(&source, s.cols, tiles, count, tiles[0].out, scratch + decoded_scratch, {});
  });
}

void panel_q8(const Strip& s, const QuantTile* tiles, uint32_t count, float* out, std::byte* scratch, const Ahead& ahead) {
  Strip halves[2] = {s, second_strip(s)};
  halves[0].rows = strip_rows;
  with_type(s.type, [&]<DType T>() {
    if (s.rows == panel_rows) {
      decltype(source_of<T>(s)) sources[2] = {source_of<T>(halves[0]), source_of<T>(halves[1])};
      if (!run_direct_pair(sources, halves, tiles, count, out)) run_panel<2>(sources, s.cols, tiles, count, out, scratch, ahead);
      return;
    }
    using Decoded = DecodedSource<has_minimum(T), has_sub(T)>;
    Decoded sources[2] = {Decoded(halves[0], scratch, block_codes<T>), Decoded(halves[1], scratch + decoded_scratch, block_codes<T>)};
    if (!run_direct_pair(sources, halves, tiles, count, out)) run_panel<2>(sources, s.cols, tiles, count, out, scratch + 2 * decoded_scratch, ahead);
  });
}
