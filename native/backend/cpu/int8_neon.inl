// The int8 strip kernel of NEON over signed codes, with the dot product instruction (HEARTH_NEON_DOT) or without.
// Few tokens: decoded codes are multiplied as they come. Many: the strip is unpacked once into an interleaved panel, which
// register tiles of 16 rows by up to 4 tokens share. Both do the same arithmetic per output element.
// Included inside an anonymous namespace after codes.inl.

constexpr uint32_t direct_tokens = 2;  // up to so many tokens the panel would cost more than it saves
constexpr uint32_t register_tokens = 4;

/// Adds the sums of four neighbouring products.
HEARTH_ALWAYS_INLINE int32x4_t add_dots(int32x4_t acc, int8x16_t w, int8x16_t x) {
#if defined(HEARTH_NEON_DOT)
  return vdotq_s32(acc, w, x);
#else
  // Two products fit 16 bits, because activations are never -128.
  return vpadalq_s16(acc, vpaddq_s16(vmull_s8(vget_low_s8(w), vget_low_s8(x)), vmull_high_s8(w, x)));
#endif
}

/// The same with dword C of x for every row.
template <int C>
HEARTH_ALWAYS_INLINE int32x4_t add_dots_by(int32x4_t acc, int8x16_t w, int8x16_t x) {
#if defined(HEARTH_NEON_DOT)
  return vdotq_laneq_s32(acc, w, x, C);
#else
  return add_dots(acc, w, vreinterpretq_s8_s32(vdupq_laneq_s32(vreinterpretq_s32_s8(x), C)));
#endif
}

/// Codes and factors of one block of four rows.
template <DType T>
struct FourRows {
  int8x16_t lo[4], hi[4];
  alignas(16) float scale[4], minimum[4];
  alignas(16) int32_t sub0[4], sub1[4];

  HEARTH_ALWAYS_INLINE void decode(const Strip& s, uint32_t first, uint32_t b) {
    for (uint32_t r = 0; r < 4; ++r) {
      const auto* row = reinterpret_cast<const uint8_t*>(s.data) + (first + r) * s.row_stride;
      const auto* scales = s.scales ? reinterpret_cast<const uint8_t*>(s.scales) + (first + r) * s.scale_row_stride : nullptr;
      int8_t codes[32];
      const BlockFactors f = block_codes<T>(row, scales, b, codes);
      lo[r] = vld1q_s8(codes), hi[r] = vld1q_s8(codes + 16);
      scale[r] = f.scale, minimum[r] = f.minimum, sub0[r] = f.sub0, sub1[r] = f.sub1;
    }
  }
};

HEARTH_ALWAYS_INLINE int32x4_t sum_rows(const int32x4_t* d) { return vpaddq_s32(vpaddq_s32(d[0], d[1]), vpaddq_s32(d[2], d[3])); }

/// One block's step of four output elements.
template <bool Minimum>
HEARTH_ALWAYS_INLINE float32x4_t add_block(float32x4_t sum, int32x4_t dot, float32x4_t scale, const float* minimum, float x_scale, float x_sum) {
  sum = vfmaq_f32(sum, vcvtq_f32_s32(dot), vmulq_n_f32(scale, x_scale));
  return Minimum ? vfmaq_n_f32(sum, vld1q_f32(minimum), x_sum) : sum;
}

// --- few tokens ---------------------------------------------------------------------------------------------------

template <DType T, uint32_t N>
void direct(const Strip& s, uint32_t first, const QuantTile& tile) {
  float32x4_t sum[N];
  for (uint32_t t = 0; t < N; ++t) sum[t] = vdupq_n_f32(0.0f);
  for (uint32_t b = 0; b < s.cols / 32; ++b) {
    FourRows<T> w;
    w.decode(s, first, b);
    for (uint32_t t = 0; t < N; ++t) {
      const size_t at = size_t(b) * N + t;
      const int8x16_t x_lo = vld1q_s8(tile.q + at * 32), x_hi = vld1q_s8(tile.q + at * 32 + 16);
      int32x4_t low[4], high[4];
      for (uint32_t r = 0; r < 4; ++r) {
        low[r] = add_dots(vdupq_n_s32(0), w.lo[r], x_lo);
        if (has_sub(T)) high[r] = add_dots(vdupq_n_s32(0), w.hi[r], x_hi);
        else low[r] = add_dots(low[r], w.hi[r], x_hi);
      }
      int32x4_t dot = sum_rows(low);
      if (has_sub(T)) dot = vmlaq_s32(vmulq_s32(dot, vld1q_s32(w.sub0)), sum_rows(high), vld1q_s32(w.sub1));
      sum[t] = add_block<has_minimum(T)>(sum[t], dot, vld1q_f32(w.scale), w.minimum, tile.scale[at], tile.sum[at]);
    }
  }
  for (uint32_t t = 0; t < N; ++t) vst1q_f32(tile.out + t * strip_rows + first, sum[t]);
}

// --- many tokens: panel and tiles ---------------------------------------------------------------------------------

/// Per block of 32 columns: 8 times 16 dwords of codes (dword r = 4 columns of row r), then the factors of the 16 rows.
struct Panel {
  int8_t* codes;
  float *scale, *minimum;
  int32_t *sub0, *sub1;
};

inline Panel panel_in(std::byte* scratch, uint32_t cols) {
  const size_t factors = size_t(cols) / 32 * strip_rows;
  auto* floats = reinterpret_cast<float*>(scratch);
  auto* ints = reinterpret_cast<int32_t*>(floats + 2 * factors);
  return {reinterpret_cast<int8_t*>(ints + 2 * factors), floats, floats + factors, ints, ints + factors};
}

/// From 16 columns of four rows to four columns of four rows at to[0], to[64], to[128], to[192].
HEARTH_ALWAYS_INLINE void store_interleaved(const int8x16_t* rows, int8_t* to) {
  const int32x4_t a = vreinterpretq_s32_s8(rows[0]), b = vreinterpretq_s32_s8(rows[1]);
  const int32x4_t c = vreinterpretq_s32_s8(rows[2]), d = vreinterpretq_s32_s8(rows[3]);
  const int64x2_t ab0 = vreinterpretq_s64_s32(vtrn1q_s32(a, b)), ab1 = vreinterpretq_s64_s32(vtrn2q_s32(a, b));
  const int64x2_t cd0 = vreinterpretq_s64_s32(vtrn1q_s32(c, d)), cd1 = vreinterpretq_s64_s32(vtrn2q_s32(c, d));
  vst1q_s8(to, vreinterpretq_s8_s64(vtrn1q_s64(ab0, cd0)));
  vst1q_s8(to + 64, vreinterpretq_s8_s64(vtrn1q_s64(ab1, cd1)));
  vst1q_s8(to + 128, vreinterpretq_s8_s64(vtrn2q_s64(ab0, cd0)));
  vst1q_s8(to + 192, vreinterpretq_s8_s64(vtrn2q_s64(ab1, cd1)));
}

template <DType T>
void fill_panel(const Strip& s, const Panel& panel) {
  for (uint32_t b = 0; b < s.cols / 32; ++b) {
    for (uint32_t first = 0; first < strip_rows; first += 4) {
      FourRows<T> w;
      w.decode(s, first, b);
      int8_t* codes = panel.codes + size_t(b) * 512 + 4 * first;
      store_interleaved(w.lo, codes);
      store_interleaved(w.hi, codes + 256);
      const size_t at = size_t(b) * strip_rows + first;
      vst1q_f32(panel.scale + at, vld1q_f32(w.scale));
      if (has_minimum(T)) vst1q_f32(panel.minimum + at, vld1q_f32(w.minimum));
      if (has_sub(T)) vst1q_s32(panel.sub0 + at, vld1q_s32(w.sub0)), vst1q_s32(panel.sub1 + at, vld1q_s32(w.sub1));
    }
  }
}

/// Adds the products of columns 4C to 4C + 3 of a half block: acc[t][i] are rows 4i to 4i + 3.
template <int C, uint32_t N>
HEARTH_ALWAYS_INLINE void add_columns(const int8_t* codes, const int8x16_t* x, int32x4_t (*acc)[4]) {
#pragma GCC unroll 4
  for (uint32_t i = 0; i < 4; ++i) {
    const int8x16_t w = vld1q_s8(codes + 64 * C + 16 * i);
#pragma GCC unroll 4
    for (uint32_t t = 0; t < N; ++t) acc[t][i] = add_dots_by<C>(acc[t][i], w, x[t]);
  }
}

template <uint32_t N>
HEARTH_ALWAYS_INLINE void half_block(const int8_t* codes, const int8_t* q, int32x4_t (*acc)[4]) {
  int8x16_t x[N];
  for (uint32_t t = 0; t < N; ++t) x[t] = vld1q_s8(q + size_t(t) * 32);
  add_columns<0, N>(codes, x, acc);
  add_columns<1, N>(codes, x, acc);
  add_columns<2, N>(codes, x, acc);
  add_columns<3, N>(codes, x, acc);
}

/// Tokens [first, first + N) of a tile.
template <bool Minimum, bool Sub, uint32_t N>
void panel_tile(const Panel& panel, uint32_t cols, const QuantTile& tile, uint32_t first) {
  float32x4_t sum[N][4];
  for (uint32_t t = 0; t < N; ++t) for (uint32_t i = 0; i < 4; ++i) sum[t][i] = vdupq_n_f32(0.0f);
  for (uint32_t b = 0; b < cols / 32; ++b) {
    const size_t at = size_t(b) * tile.tokens + first;
    const int8_t* codes = panel.codes + size_t(b) * 512;
    int32x4_t acc[N][4], second[N][4];
    for (uint32_t t = 0; t < N; ++t) for (uint32_t i = 0; i < 4; ++i) acc[t][i] = second[t][i] = vdupq_n_s32(0);
    half_block<N>(codes, tile.q + at * 32, acc);
    half_block<N>(codes + 256, tile.q + at * 32 + 16, Sub ? second : acc);
    for (uint32_t i = 0; i < 4; ++i) {
      const size_t row = size_t(b) * strip_rows + 4 * i;
      const float32x4_t scale = vld1q_f32(panel.scale + row);
      for (uint32_t t = 0; t < N; ++t) {
        const int32x4_t dot = Sub ? vmlaq_s32(vmulq_s32(acc[t][i], vld1q_s32(panel.sub0 + row)), second[t][i], vld1q_s32(panel.sub1 + row)) : acc[t][i];
        sum[t][i] = add_block<Minimum>(sum[t][i], dot, scale, panel.minimum + row, tile.scale[at + t], tile.sum[at + t]);
      }
    }
  }
  for (uint32_t t = 0; t < N; ++t) for (uint32_t i = 0; i < 4; ++i) vst1q_f32(tile.out + (first + t) * strip_rows + 4 * i, sum[t][i]);
}

template <bool Minimum, bool Sub>
void run_tile(const Panel& panel, uint32_t cols, const QuantTile& tile) {
  uint32_t first = 0;
  for (; first + register_tokens <= tile.tokens; first += register_tokens) panel_tile<Minimum, Sub, register_tokens>(panel, cols, tile, first);
  switch (tile.tokens - first) {
    case 1: return panel_tile<Minimum, Sub, 1>(panel, cols, tile, first);
    case 2: return panel_tile<Minimum, Sub, 2>(panel, cols, tile, first);
    case 3: return panel_tile<Minimum, Sub, 3>(panel, cols, tile, first);
  }
}

template <DType T>
void run_strip(const Strip& s, const QuantTile* tiles, uint32_t count, std::byte* scratch) {
  if (count == 1 && tiles[0].tokens <= direct_tokens) {
    for (uint32_t first = 0; first < strip_rows; first += 4) {
      if (tiles[0].tokens == 1) direct<T, 1>(s, first, tiles[0]);
      else direct<T, 2>(s, first, tiles[0]);
    }
    return;
  }
  const Panel panel = panel_in(scratch, s.cols);
  fill_panel<T>(s, panel);
  for (uint32_t i = 0; i < count; ++i) run_tile<has_minimum(T), has_sub(T)>(panel, s.cols, tiles[i]);
}

void strip_q8(const Strip& strip, const QuantTile* tiles, uint32_t count, std::byte* scratch) {
  const size_t panel_bytes = size_t(strip.cols) * 24;  // codes 16 bytes a column, factors 8
  const Strip s = strip.rows == strip_rows ? strip : whole_strip(strip, scratch + panel_bytes);
  with_type(s.type, [&]<DType T>() { run_strip<T>(s, tiles, count, scratch); });
}
