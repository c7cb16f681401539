// How AVX-512 reads block-quantised weights: 16 rows of one block at a time as unsigned codes (value + 128) and factors.
// One source class per block layout; the kernels that use them are gemv_avx512.inl and gemm_avx512.inl.
// Included inside an anonymous namespace after codes.inl.

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

/// The 16-bit word at `offset` of each row.
HEARTH_ALWAYS_INLINE __m256i word_column(const RowBases& rows, size_t offset) {
  __m128i x[4];
  for (uint32_t i = 0; i < 4; ++i) {
    uint64_t word = load_u16(rows.row(i, 0) + offset);
    for (uint32_t v = 1; v < 4; ++v) word |= uint64_t(load_u16(rows.row(i, v) + offset)) << (16 * v);
    x[i] = _mm_cvtsi64_si128(static_cast<long long>(word));
  }
  return _mm256_set_m128i(_mm_unpacklo_epi64(x[2], x[3]), _mm_unpacklo_epi64(x[0], x[1]));
}

HEARTH_ALWAYS_INLINE __m512 half_column(const RowBases& rows, size_t offset) { return _mm512_cvtph_ps(word_column(rows, offset)); }

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

template <DType T>
constexpr const int8_t* nibble_values() {
  if (T == DType::q4_0) return centred_nibbles;
  if (T == DType::q4_1) return plain_nibbles;
  return T == DType::iq4_nl ? iq4_nl_values : e2m1_doubled;
}

/// Shuffles: byte i of lane i to byte r of lane i, everything else to 0.
struct ExponentShuffles {
  alignas(64) uint8_t of[16][64];
  constexpr ExponentShuffles() : of{} {
    for (uint32_t r = 0; r < 16; ++r) {
      for (uint32_t i = 0; i < 64; ++i) of[r][i] = i % 16 == r ? static_cast<uint8_t>(i / 16) : 0x80;
    }
  }
  constexpr const uint8_t* operator[](uint32_t r) const { return of[r]; }
};
constexpr ExponentShuffles exponent_to_byte;

// A source yields, for block b and v in 0..3, the codes of rows v, 4+v, 8+v, 12+v: columns 0..15 and 16..31.

/// Types of 32-wide blocks whose 4-bit codes go through a table.
template <DType T>
struct NibbleSource {
  static constexpr bool with_minimum = has_minimum(T), with_sub = false;
  static constexpr size_t payload = T == DType::mxfp4_planes ? 0 : T == DType::mxfp4 ? 1 : T == DType::q4_1 ? 4 : 2;
  RowBases rows, scales;
  __m512i table;

  explicit NibbleSource(const Strip& s)
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
  /// Both halves of the columns still in their nibbles, and their unpacking, which may follow a transposition.
  HEARTH_ALWAYS_INLINE __m512i packed(uint32_t b, uint32_t v) const requires(T != DType::mxfp4_planes) {
    return four_rows(rows, v, size_t(b) * info(T).bytes + payload);
  }
  HEARTH_ALWAYS_INLINE void unpack(__m512i x, __m512i* lo, __m512i* hi) const {
    const __m512i mask = _mm512_set1_epi8(15);
    *lo = _mm512_shuffle_epi8(table, _mm512_and_si512(x, mask));
    *hi = _mm512_shuffle_epi8(table, _mm512_and_si512(_mm512_srli_epi16(x, 4), mask));
  }
  /// The scales of n <= 4 blocks from b on. In 64 bytes from a block's begin, exponent i is byte i of lane i.
  HEARTH_ALWAYS_INLINE void four_scales(uint32_t b, uint32_t n, __m512* out) const requires(T == DType::mxfp4) {
    const __mmask64 room = n == 4 ? ~0ull : (1ull << (17 * n)) - 1;
    __m512i exponents = _mm512_setzero_si512();
#pragma GCC unroll 16
    for (uint32_t r = 0; r < 16; ++r) {
      const __m512i x = _mm512_maskz_loadu_epi8(room, rows.row(r / 4, r % 4) + size_t(b) * 17);
      exponents = _mm512_or_si512(exponents, _mm512_shuffle_epi8(x, _mm512_load_si512(exponent_to_byte[r])));
    }
    out[0] = e8m0_half_column(_mm512_castsi512_si128(exponents));
    out[1] = e8m0_half_column(_mm512_extracti32x4_epi32(exponents, 1));
    out[2] = e8m0_half_column(_mm512_extracti32x4_epi32(exponents, 2));
    out[3] = e8m0_half_column(_mm512_extracti32x4_epi32(exponents, 3));
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
  static constexpr bool with_minimum = false, with_sub = false;
  RowBases rows;

  explicit Q8Source(const Strip& s) : rows(row_bases(s.data, s.row_stride)) {}
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

/// Q5_0 and Q5_1: nibbles, and a word of fifth bits that serves as a mask.
template <DType T>
struct FiveBitSource {
  static constexpr bool with_minimum = has_minimum(T), with_sub = false;
  static constexpr size_t bits = with_minimum ? 4 : 2;
  RowBases rows;

  explicit FiveBitSource(const Strip& s) : rows(row_bases(s.data, s.row_stride)) {}
  void begin(uint32_t) {}
  HEARTH_ALWAYS_INLINE void codes(uint32_t b, uint32_t v, __m512i* lo, __m512i* hi) const {
    const size_t at = size_t(b) * info(T).bytes;
    const __m512i mask = _mm512_set1_epi8(15), fifth = _mm512_set1_epi8(16), x = four_rows(rows, v, at + bits + 4);
    __mmask64 low = 0, high = 0;
    for (uint32_t i = 0; i < 4; ++i) {
      const uint32_t word = load_u32(rows.row(i, v) + at + bits);
      low |= uint64_t(word & 0xffffu) << (16 * i), high |= uint64_t(word >> 16) << (16 * i);
    }
    const __m512i offset = _mm512_set1_epi8(static_cast<char>(with_minimum ? 128 : 112));  // q5_0 counts from -16
    const __m512i a = _mm512_and_si512(x, mask), c = _mm512_and_si512(_mm512_srli_epi16(x, 4), mask);
    *lo = _mm512_add_epi8(_mm512_or_si512(a, _mm512_maskz_mov_epi8(low, fifth)), offset);
    *hi = _mm512_add_epi8(_mm512_or_si512(c, _mm512_maskz_mov_epi8(high, fifth)), offset);
  }
  HEARTH_ALWAYS_INLINE __m512 scale(uint32_t b) const { return half_column(rows, size_t(b) * info(T).bytes); }
  HEARTH_ALWAYS_INLINE __m512 minimum(uint32_t b) const { return half_column(rows, size_t(b) * info(T).bytes + 2); }
  __m512i sub0(uint32_t) const { return _mm512_set1_epi32(1); }
  __m512i sub1(uint32_t) const { return _mm512_set1_epi32(1); }
};

/// Q4_K and Q5_K: the factors of a super-block's eight sub-blocks are made at its first.
template <DType T>
struct KSource {
  static constexpr bool with_minimum = true, with_sub = false;
  RowBases rows;
  alignas(64) float scales[8][16], minima[8][16];  // [sub-block][row]

  explicit KSource(const Strip& s) : rows(row_bases(s.data, s.row_stride)) {}
  static HEARTH_ALWAYS_INLINE void spread(const uint64_t* six_bits, __m512 factor, float (*out)[16]) {
    __m128i a[4], b[4];
    transpose_bytes(six_bits, a), transpose_bytes(six_bits + 8, b);
    for (int i = 0; i < 4; ++i) {
      const __m128i low = _mm_unpacklo_epi64(a[i], b[i]), high = _mm_unpackhi_epi64(a[i], b[i]);
      _mm512_store_ps(out[i], _mm512_mul_ps(factor, _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(low))));
      _mm512_store_ps(out[i + 4], _mm512_mul_ps(factor, _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(high))));
    }
  }
  HEARTH_ALWAYS_INLINE void begin(uint32_t b) {
    if (b % 8 != 0) return;
    const size_t at = size_t(b / 8) * info(T).bytes;
    uint64_t scale[16], least[16];
    for (uint32_t r = 0; r < 16; ++r) k_scales_mins(rows.row(r / 4, r % 4) + at + 4, &scale[r], &least[r]);
    spread(scale, half_column(rows, at), scales);
    spread(least, _mm512_castsi512_ps(_mm512_xor_si512(_mm512_castps_si512(half_column(rows, at + 2)), _mm512_set1_epi32(static_cast<int>(0x80000000u)))), minima);
  }
  HEARTH_ALWAYS_INLINE __m512i half_codes(size_t at, uint32_t sub, uint32_t v, size_t half) const {
    constexpr size_t payload = T == DType::q4_k ? 16 : 48;
    __m512i x = four_rows(rows, v, at + payload + 32 * (sub / 2) + half);
    x = _mm512_and_si512(_mm512_srl_epi16(x, _mm_cvtsi32_si128(sub % 2 * 4)), _mm512_set1_epi8(15));
    if constexpr (T == DType::q5_k) {
      const __mmask64 fifth = _mm512_test_epi8_mask(four_rows(rows, v, at + 16 + half), _mm512_set1_epi8(static_cast<char>(1 << sub)));
      x = _mm512_mask_add_epi8(x, fifth, x, _mm512_set1_epi8(16));
    }
    return _mm512_xor_si512(x, _mm512_set1_epi8(-128));
  }
  HEARTH_ALWAYS_INLINE void codes(uint32_t b, uint32_t v, __m512i* lo, __m512i* hi) const {
    const size_t at = size_t(b / 8) * info(T).bytes;
    *lo = half_codes(at, b % 8, v, 0);
    *hi = half_codes(at, b % 8, v, 16);
  }
  HEARTH_ALWAYS_INLINE __m512 scale(uint32_t b) const { return _mm512_load_ps(scales[b % 8]); }
  HEARTH_ALWAYS_INLINE __m512 minimum(uint32_t b) const { return _mm512_load_ps(minima[b % 8]); }
  __m512i sub0(uint32_t) const { return _mm512_set1_epi32(1); }
  __m512i sub1(uint32_t) const { return _mm512_set1_epi32(1); }
};

/// Its factors, too, are made at a super-block's first block.
struct Q6KSource {
  static constexpr bool with_minimum = false, with_sub = true;
  RowBases rows;
  __m128i pairs[2][8];  // [half of the rows][sub-block]: two signed bytes of every row
  __m512 scales;
  __m512i subs0, subs1;

  explicit Q6KSource(const Strip& s) : rows(row_bases(s.data, s.row_stride)) {}
  HEARTH_ALWAYS_INLINE void begin(uint32_t b) {
    if (b % 8 == 0) {
      const size_t at = size_t(b / 8) * 210;
      __m128i bytes[16];
      for (uint32_t r = 0; r < 16; ++r) bytes[r] = load128(rows.row(r / 4, r % 4) + at + 192);
      transpose_words(bytes, pairs[0]), transpose_words(bytes + 8, pairs[1]);
      scales = half_column(rows, at + 208);
    }
    const __m512i pair = _mm512_cvtepu16_epi32(_mm256_set_m128i(pairs[1][b % 8], pairs[0][b % 8]));
    subs0 = _mm512_srai_epi32(_mm512_slli_epi32(pair, 24), 24);
    subs1 = _mm512_srai_epi32(_mm512_slli_epi32(pair, 16), 24);
  }
  HEARTH_ALWAYS_INLINE __m512i half_codes(size_t at, uint32_t sub, uint32_t v, size_t half) const {
    const uint32_t part = sub % 4;
    const __m512i low = four_rows(rows, v, at + 64 * (sub / 4) + 32 * (sub % 2) + half), high = four_rows(rows, v, at + 128 + 32 * (sub / 4) + half);
    const __m512i a = _mm512_and_si512(_mm512_srl_epi16(low, _mm_cvtsi32_si128(part / 2 * 4)), _mm512_set1_epi8(15));
    const __m512i c = _mm512_and_si512(_mm512_srl_epi16(high, _mm_cvtsi32_si128(2 * part)), _mm512_set1_epi8(3));
    return _mm512_add_epi8(_mm512_or_si512(a, _mm512_slli_epi16(c, 4)), _mm512_set1_epi8(96));  // counts from -32
  }
  HEARTH_ALWAYS_INLINE void codes(uint32_t b, uint32_t v, __m512i* lo, __m512i* hi) const {
    const size_t at = size_t(b / 8) * 210;
    *lo = half_codes(at, b % 8, v, 0);
    *hi = half_codes(at, b % 8, v, 16);
  }
  HEARTH_ALWAYS_INLINE __m512 scale(uint32_t) const { return scales; }
  HEARTH_ALWAYS_INLINE __m512 minimum(uint32_t) const { return _mm512_setzero_ps(); }
  __m512i sub0(uint32_t) const { return subs0; }
  __m512i sub1(uint32_t) const { return subs1; }
};

/// Any type and any number of rows (the last strip of a matrix may have fewer than 16): block b of every row is decoded to signed codes first. One class per kind of factors,
/// not per type, so that the compiler need not make every kernel eleven times.
template <bool Minimum, bool Sub>
struct DecodedSource {
  static constexpr bool with_minimum = Minimum, with_sub = Sub;
  using Decode = BlockFactors (*)(const uint8_t*, const uint8_t*, uint32_t, int8_t*);
  const Strip& strip;
  Decode decode;
  int8_t* signed_codes;  // [16][32]
  float *scales, *minima;
  int32_t *subs0, *subs1;

  DecodedSource(const Strip& s, std::byte* scratch, Decode block_decoder) : strip(s), decode(block_decoder) {
    signed_codes = reinterpret_cast<int8_t*>(scratch);
    scales = reinterpret_cast<float*>(scratch + 512), minima = scales + 16;
    subs0 = reinterpret_cast<int32_t*>(minima + 16), subs1 = subs0 + 16;
  }
  void begin(uint32_t b) {
    for (uint32_t r = 0; r < strip_rows; ++r) {
      const uint32_t row = r < strip.rows ? r : strip.rows - 1;  // spare rows repeat the last; their results are not used
      const auto* p = reinterpret_cast<const uint8_t*>(strip.data) + row * strip.row_stride;
      const auto* planes = strip.scales ? reinterpret_cast<const uint8_t*>(strip.scales) + row * strip.scale_row_stride : nullptr;
      const BlockFactors f = decode(p, planes, b, signed_codes + 32 * r);
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

template <DType T>
inline auto source_of(const Strip& s) {
  if constexpr (T == DType::q8_0) return Q8Source(s);
  else if constexpr (T == DType::q6_k) return Q6KSource(s);
  else if constexpr (T == DType::q4_k || T == DType::q5_k) return KSource<T>(s);
  else if constexpr (T == DType::q5_0 || T == DType::q5_1) return FiveBitSource<T>(s);
  else return NibbleSource<T>(s);
}
