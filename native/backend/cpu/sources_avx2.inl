// How AVX2 reads block-quantised weights: eight rows of one block at a time as codes and factors, one source class per
// block layout; the kernels that use them are gemv_avx2.inl and gemm_avx2.inl. Codes are unsigned, value + offset. Types
// that need all eight bits (`wide`) stay signed where vpmaddubsw must multiply them, because it would saturate.
// Included inside an anonymous namespace after codes.inl.

#if defined(HEARTH_AVX_VNNI)
constexpr bool vnni = true;
#else
constexpr bool vnni = false;
#endif

constexpr bool wide(DType t) { return t == DType::q8_0 || t == DType::iq4_nl; }

/// What is added to a value to make its code.
constexpr int code_offset(DType t) {
  if (wide(t)) return vnni ? 128 : 0;
  if (t == DType::mxfp4 || t == DType::mxfp4_planes) return 12;
  return t == DType::q4_0 ? 8 : t == DType::q5_0 ? 16 : t == DType::q6_k ? 32 : 0;
}

/// Products of so many groups of four columns may be added in 16 bits: 2 * largest code * 127 each. 0: signed codes.
constexpr uint32_t code_group(DType t) {
  if (wide(t)) return 0;
  if (t == DType::q4_0 || t == DType::q4_1 || t == DType::q4_k) return 8;
  return t == DType::q6_k ? 2 : 4;
}

/// Addresses of eight rows: row 4i + v begins at base[i] + v * stride.
struct RowBases {
  const uint8_t* base[2];
  size_t stride;
  const uint8_t* row(uint32_t i, uint32_t v) const { return base[i] + v * stride; }
  const uint8_t* row(uint32_t r) const { return row(r / 4, r % 4); }
};

/// Rows 8 * octet to 8 * octet + 7.
HEARTH_ALWAYS_INLINE RowBases row_bases(const void* first, size_t stride, uint32_t octet) {
  const auto* p = static_cast<const uint8_t*>(first) + 8 * octet * stride;
  return {{p, p + 4 * stride}, stride};
}

HEARTH_ALWAYS_INLINE __m128i load128(const uint8_t* p) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p)); }

/// 16 bytes at `offset` of rows v and 4+v, one a 128-bit lane.
HEARTH_ALWAYS_INLINE __m256i two_rows(const RowBases& rows, uint32_t v, size_t offset) {
  return _mm256_inserti128_si256(_mm256_castsi128_si256(load128(rows.row(0, v) + offset)), load128(rows.row(1, v) + offset), 1);
}

/// Byte `offset` of each row, in row order.
HEARTH_ALWAYS_INLINE __m128i byte_column(const RowBases& rows, size_t offset) {
  __m128i x = _mm_cvtsi32_si128(rows.row(0)[offset]);
  x = _mm_insert_epi8(x, rows.row(1)[offset], 1), x = _mm_insert_epi8(x, rows.row(2)[offset], 2);
  x = _mm_insert_epi8(x, rows.row(3)[offset], 3), x = _mm_insert_epi8(x, rows.row(4)[offset], 4);
  x = _mm_insert_epi8(x, rows.row(5)[offset], 5), x = _mm_insert_epi8(x, rows.row(6)[offset], 6);
  return _mm_insert_epi8(x, rows.row(7)[offset], 7);
}

/// The 16-bit word at `offset` of each row.
HEARTH_ALWAYS_INLINE __m128i word_column(const RowBases& rows, size_t offset) {
  __m128i x = _mm_cvtsi32_si128(load_u16(rows.row(0) + offset));
  x = _mm_insert_epi16(x, load_u16(rows.row(1) + offset), 1), x = _mm_insert_epi16(x, load_u16(rows.row(2) + offset), 2);
  x = _mm_insert_epi16(x, load_u16(rows.row(3) + offset), 3), x = _mm_insert_epi16(x, load_u16(rows.row(4) + offset), 4);
  x = _mm_insert_epi16(x, load_u16(rows.row(5) + offset), 5), x = _mm_insert_epi16(x, load_u16(rows.row(6) + offset), 6);
  return _mm_insert_epi16(x, load_u16(rows.row(7) + offset), 7);
}

HEARTH_ALWAYS_INLINE __m256 half_column(const RowBases& rows, size_t offset) { return _mm256_cvtph_ps(word_column(rows, offset)); }

/// e8m0_half of 8 bytes; the three bytes whose float is not (byte - 1) << 23 are rare and go the slow way.
HEARTH_ALWAYS_INLINE __m256 e8m0_half_column(__m128i bytes) {
  const __m128i next = _mm_add_epi8(bytes, _mm_set1_epi8(1));  // 255, 0, 1 become 0, 1, 2
  const int odd = _mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(next, _mm_set1_epi8(2)), next)) & 255;
  if (odd == 0) [[likely]] {
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_sub_epi32(_mm256_cvtepu8_epi32(bytes), _mm256_set1_epi32(1)), 23));
  }
  alignas(16) uint8_t b[16];
  alignas(32) float f[8];
  _mm_store_si128(reinterpret_cast<__m128i*>(b), bytes);
  for (int i = 0; i < 8; ++i) f[i] = e8m0_half(b[i]);
  return _mm256_load_ps(f);
}

// A source yields, for block b and v in 0..3, the codes of rows v and 4+v: columns 0..15 and 16..31.

/// Types of 32-wide blocks of 4-bit codes: as they are, or through a table.
template <DType T>
struct NibbleSource {
  static constexpr DType type = T;
  static constexpr bool with_minimum = has_minimum(T), with_sub = false, plain = T == DType::q4_0 || T == DType::q4_1;
  static constexpr size_t payload = T == DType::mxfp4_planes ? 0 : T == DType::mxfp4 ? 1 : T == DType::q4_1 ? 4 : 2;
  RowBases rows, scales;
  __m256i table;

  NibbleSource(const Strip& s, uint32_t octet)
      : rows(row_bases(s.data, s.row_stride, octet)), scales(row_bases(s.scales, s.scale_row_stride, octet)) {
    const int8_t* values = T == DType::iq4_nl ? iq4_nl_values : e2m1_doubled;
    alignas(16) int8_t t[16];
    for (int i = 0; i < 16; ++i) t[i] = static_cast<int8_t>(values[i] + code_offset(T));
    table = _mm256_broadcastsi128_si256(_mm_load_si128(reinterpret_cast<const __m128i*>(t)));
  }
  void begin(uint32_t) {}
  HEARTH_ALWAYS_INLINE __m256i packed(uint32_t b, uint32_t v) const requires(T != DType::mxfp4_planes) { return nibbles(b, v); }
  HEARTH_ALWAYS_INLINE __m256i nibbles(uint32_t b, uint32_t v) const { return two_rows(rows, v, size_t(b) * info(T).bytes + payload); }
  HEARTH_ALWAYS_INLINE void unpack(__m256i x, __m256i* lo, __m256i* hi) const {
    const __m256i mask = _mm256_set1_epi8(15);
    *lo = _mm256_and_si256(x, mask);
    *hi = _mm256_and_si256(_mm256_srli_epi16(x, 4), mask);
    if constexpr (!plain) *lo = _mm256_shuffle_epi8(table, *lo), *hi = _mm256_shuffle_epi8(table, *hi);
  }
  HEARTH_ALWAYS_INLINE void codes(uint32_t b, uint32_t v, __m256i* lo, __m256i* hi) const {
    unpack(nibbles(b, v), lo, hi);
    if constexpr (T == DType::mxfp4_planes) {  // pairs of neighbours instead of halves
      const __m256i even = *lo, odd = *hi;
      *lo = _mm256_unpacklo_epi8(even, odd);
      *hi = _mm256_unpackhi_epi8(even, odd);
    }
  }
  HEARTH_ALWAYS_INLINE __m256 scale(uint32_t b) const {
    if constexpr (T == DType::mxfp4_planes) return e8m0_half_column(byte_column(scales, b));
    if constexpr (T == DType::mxfp4) return e8m0_half_column(byte_column(rows, size_t(b) * 17));
    return half_column(rows, size_t(b) * info(T).bytes);
  }
  HEARTH_ALWAYS_INLINE __m256 minimum(uint32_t b) const { return half_column(rows, size_t(b) * info(T).bytes + 2); }
};

struct Q8Source {
  static constexpr DType type = DType::q8_0;
  static constexpr bool with_minimum = false, with_sub = false;
  RowBases rows;

  Q8Source(const Strip& s, uint32_t octet) : rows(row_bases(s.data, s.row_stride, octet)) {}
  void begin(uint32_t) {}
  HEARTH_ALWAYS_INLINE void codes(uint32_t b, uint32_t v, __m256i* lo, __m256i* hi) const {
    const __m256i offset = _mm256_set1_epi8(static_cast<char>(code_offset(type)));
    *lo = _mm256_xor_si256(two_rows(rows, v, size_t(b) * 34 + 2), offset);
    *hi = _mm256_xor_si256(two_rows(rows, v, size_t(b) * 34 + 18), offset);
  }
  HEARTH_ALWAYS_INLINE __m256 scale(uint32_t b) const { return half_column(rows, size_t(b) * 34); }
};

/// Q5_0 and Q5_1: nibbles, and a word of fifth bits.
template <DType T>
struct FiveBitSource {
  static constexpr DType type = T;
  static constexpr bool with_minimum = has_minimum(T), with_sub = false;
  static constexpr size_t bits = with_minimum ? 4 : 2;
  RowBases rows;

  FiveBitSource(const Strip& s, uint32_t octet) : rows(row_bases(s.data, s.row_stride, octet)) {}
  void begin(uint32_t) {}
  /// 16 in each byte whose bit is set: bits 0..15 of `words` in each lane, or bits 16..31.
  static HEARTH_ALWAYS_INLINE __m256i fifth(__m256i words, long long low_bytes, long long high_bytes) {
    const __m256i spread = _mm256_shuffle_epi8(words, _mm256_setr_epi64x(low_bytes, high_bytes, low_bytes, high_bytes));
    const __m256i bit = _mm256_set1_epi64x(static_cast<long long>(0x8040201008040201ull));
    return _mm256_and_si256(_mm256_cmpeq_epi8(_mm256_and_si256(spread, bit), bit), _mm256_set1_epi8(16));
  }
  HEARTH_ALWAYS_INLINE void codes(uint32_t b, uint32_t v, __m256i* lo, __m256i* hi) const {
    const size_t at = size_t(b) * info(T).bytes;
    const __m256i mask = _mm256_set1_epi8(15), x = two_rows(rows, v, at + bits + 4);
    const __m128i first = _mm_cvtsi32_si128(static_cast<int>(load_u32(rows.row(0, v) + at + bits)));
    const __m128i second = _mm_cvtsi32_si128(static_cast<int>(load_u32(rows.row(1, v) + at + bits)));
    const __m256i words = _mm256_inserti128_si256(_mm256_castsi128_si256(first), second, 1);
    *lo = _mm256_or_si256(_mm256_and_si256(x, mask), fifth(words, 0, 0x0101010101010101));
    *hi = _mm256_or_si256(_mm256_and_si256(_mm256_srli_epi16(x, 4), mask), fifth(words, 0x0202020202020202, 0x0303030303030303));
  }
  HEARTH_ALWAYS_INLINE __m256 scale(uint32_t b) const { return half_column(rows, size_t(b) * info(T).bytes); }
  HEARTH_ALWAYS_INLINE __m256 minimum(uint32_t b) const { return half_column(rows, size_t(b) * info(T).bytes + 2); }
};

/// Q4_K and Q5_K: the factors of a super-block's eight sub-blocks are made at its first.
template <DType T>
struct KSource {
  static constexpr DType type = T;
  static constexpr bool with_minimum = true, with_sub = false;
  RowBases rows;
  alignas(32) float scales[8][8], minima[8][8];  // [sub-block][row]

  KSource(const Strip& s, uint32_t octet) : rows(row_bases(s.data, s.row_stride, octet)) {}
  static HEARTH_ALWAYS_INLINE void spread(const uint64_t* six_bits, __m256 factor, float (*out)[8]) {
    __m128i subs[4];
    transpose_bytes(six_bits, subs);
    for (int i = 0; i < 4; ++i) {
      _mm256_store_ps(out[i], _mm256_mul_ps(factor, _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(subs[i]))));
      _mm256_store_ps(out[i + 4], _mm256_mul_ps(factor, _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_unpackhi_epi64(subs[i], subs[i])))));
    }
  }
  HEARTH_ALWAYS_INLINE void begin(uint32_t b) {
    if (b % 8 != 0) return;
    const size_t at = size_t(b / 8) * info(T).bytes;
    uint64_t scale[8], least[8];
    for (uint32_t r = 0; r < 8; ++r) k_scales_mins(rows.row(r) + at + 4, &scale[r], &least[r]);
    spread(scale, half_column(rows, at), scales);
    spread(least, _mm256_xor_ps(half_column(rows, at + 2), _mm256_set1_ps(-0.0f)), minima);
  }
  HEARTH_ALWAYS_INLINE __m256i half_codes(size_t at, uint32_t sub, uint32_t v, size_t half) const {
    constexpr size_t payload = T == DType::q4_k ? 16 : 48;
    __m256i x = two_rows(rows, v, at + payload + 32 * (sub / 2) + half);
    x = _mm256_and_si256(_mm256_srl_epi16(x, _mm_cvtsi32_si128(sub % 2 * 4)), _mm256_set1_epi8(15));
    if constexpr (T == DType::q5_k) {
      const __m256i bit = _mm256_set1_epi8(static_cast<char>(1 << sub));
      const __m256i set = _mm256_cmpeq_epi8(_mm256_and_si256(two_rows(rows, v, at + 16 + half), bit), bit);
      x = _mm256_or_si256(x, _mm256_and_si256(set, _mm256_set1_epi8(16)));
    }
    return x;
  }
  HEARTH_ALWAYS_INLINE void codes(uint32_t b, uint32_t v, __m256i* lo, __m256i* hi) const {
    const size_t at = size_t(b / 8) * info(T).bytes;
    *lo = half_codes(at, b % 8, v, 0);
    *hi = half_codes(at, b % 8, v, 16);
  }
  HEARTH_ALWAYS_INLINE __m256 scale(uint32_t b) const { return _mm256_load_ps(scales[b % 8]); }
  HEARTH_ALWAYS_INLINE __m256 minimum(uint32_t b) const { return _mm256_load_ps(minima[b % 8]); }
};

/// Its factors, too, are made at a super-block's first block.
struct Q6KSource {
  static constexpr DType type = DType::q6_k;
  static constexpr bool with_minimum = false, with_sub = true;
  RowBases rows;
  __m128i pairs[8], subs;  // per sub-block: two signed bytes of every row
  __m256 scales;

  Q6KSource(const Strip& s, uint32_t octet) : rows(row_bases(s.data, s.row_stride, octet)) {}
  HEARTH_ALWAYS_INLINE void begin(uint32_t b) {
    if (b % 8 == 0) {
      const size_t at = size_t(b / 8) * 210;
      __m128i bytes[8];
      for (uint32_t r = 0; r < 8; ++r) bytes[r] = load128(rows.row(r) + at + 192);
      transpose_words(bytes, pairs);
      scales = half_column(rows, at + 208);
    }
    subs = pairs[b % 8];
  }
  HEARTH_ALWAYS_INLINE __m256i half_codes(size_t at, uint32_t sub, uint32_t v, size_t half) const {
    const uint32_t part = sub % 4;
    const __m256i low = two_rows(rows, v, at + 64 * (sub / 4) + 32 * (sub % 2) + half), high = two_rows(rows, v, at + 128 + 32 * (sub / 4) + half);
    const __m256i a = _mm256_and_si256(_mm256_srl_epi16(low, _mm_cvtsi32_si128(part / 2 * 4)), _mm256_set1_epi8(15));
    const __m256i c = _mm256_and_si256(_mm256_srl_epi16(high, _mm_cvtsi32_si128(2 * part)), _mm256_set1_epi8(3));
    return _mm256_or_si256(a, _mm256_slli_epi16(c, 4));
  }
  HEARTH_ALWAYS_INLINE void codes(uint32_t b, uint32_t v, __m256i* lo, __m256i* hi) const {
    const size_t at = size_t(b / 8) * 210;
    *lo = half_codes(at, b % 8, v, 0);
    *hi = half_codes(at, b % 8, v, 16);
  }
  HEARTH_ALWAYS_INLINE __m256 scale(uint32_t) const { return scales; }
  /// Factors of columns 0..15 and of columns 16..31, one dword a row.
  HEARTH_ALWAYS_INLINE __m256i sub0() const { return _mm256_srai_epi32(_mm256_slli_epi32(_mm256_cvtepu16_epi32(subs), 24), 24); }
  HEARTH_ALWAYS_INLINE __m256i sub1() const { return _mm256_srai_epi32(_mm256_slli_epi32(_mm256_cvtepu16_epi32(subs), 16), 24); }
};

template <DType T>
inline auto source_of(const Strip& s, uint32_t octet) {
  if constexpr (T == DType::q8_0) return Q8Source(s, octet);
  else if constexpr (T == DType::q6_k) return Q6KSource(s, octet);
  else if constexpr (T == DType::q4_k || T == DType::q5_k) return KSource<T>(s, octet);
  else if constexpr (T == DType::q5_0 || T == DType::q5_1) return FiveBitSource<T>(s, octet);
  else return NibbleSource<T>(s, octet);
}
