// Block-quantised weights as signed integer codes, the form in which int8 kernels want them.
// Included inside an anonymous namespace after quant_rows.inl.

#if defined(_MSC_VER) && !defined(__clang__)
#define HEARTH_ALWAYS_INLINE __forceinline
#else
#define HEARTH_ALWAYS_INLINE __attribute__((always_inline)) inline
#endif

/// A block of 32 columns: value = scale * code + minimum. q6_k: value = scale * sub0 * code in the first 16 columns,
/// scale * sub1 * code in the others.
struct BlockFactors { float scale, minimum; int32_t sub0, sub1; };

constexpr bool has_minimum(DType t) { return t == DType::q4_1 || t == DType::q5_1 || t == DType::q4_k || t == DType::q5_k; }
constexpr bool has_sub(DType t) { return t == DType::q6_k; }

constexpr int8_t plain_nibbles[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
constexpr int8_t centred_nibbles[16] = {-8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7};

/// 16 bytes of nibbles through a table: low ones to out[0..16), high ones to out[16..32); or, for planes, alternating.
/// Compilers do not find the byte shuffle by themselves, and this is where decoding spends its time.
template <bool Alternate = false>
inline void nibbles_through(const uint8_t* q, const int8_t* table, int8_t* out) {
#if defined(__SSSE3__) || defined(__AVX2__)
  const __m128i t = _mm_loadu_si128(reinterpret_cast<const __m128i*>(table)), mask = _mm_set1_epi8(15);
  const __m128i x = _mm_loadu_si128(reinterpret_cast<const __m128i*>(q));
  const __m128i low = _mm_shuffle_epi8(t, _mm_and_si128(x, mask)), high = _mm_shuffle_epi8(t, _mm_and_si128(_mm_srli_epi16(x, 4), mask));
  auto* to = reinterpret_cast<__m128i*>(out);
  _mm_storeu_si128(to, Alternate ? _mm_unpacklo_epi8(low, high) : low);
  _mm_storeu_si128(to + 1, Alternate ? _mm_unpackhi_epi8(low, high) : high);
#elif defined(HEARTH_NEON)
  const int8x16_t t = vld1q_s8(table);
  const uint8x16_t x = vld1q_u8(q);
  const int8x16_t low = vqtbl1q_s8(t, vandq_u8(x, vdupq_n_u8(15))), high = vqtbl1q_s8(t, vshrq_n_u8(x, 4));
  vst1q_s8(out, Alternate ? vzip1q_s8(low, high) : low);
  vst1q_s8(out + 16, Alternate ? vzip2q_s8(low, high) : high);
#else
  for (int j = 0; j < 16; ++j) {
    out[Alternate ? 2 * j : j] = table[q[j] & 15];
    out[Alternate ? 2 * j + 1 : j + 16] = table[q[j] >> 4];
  }
#endif
}
inline void fifth_bits(const uint8_t* q, uint32_t high, int offset, int8_t* out) {
  for (int j = 0; j < 16; ++j) {
    out[j] = static_cast<int8_t>(static_cast<int>((q[j] & 15) | (((high >> j) & 1) << 4)) - offset);
    out[j + 16] = static_cast<int8_t>(static_cast<int>((q[j] >> 4) | (((high >> (j + 16)) & 1) << 4)) - offset);
  }
}

/// k_scale_min of all eight sub-blocks, byte i for sub-block i.
inline void k_scales_mins(const uint8_t* s, uint64_t* scales, uint64_t* minima) {
  const uint32_t first = load_u32(s), second = load_u32(s + 4), third = load_u32(s + 8);
  const uint32_t high_scales = (third & 0x0f0f0f0fu) | ((first >> 2) & 0x30303030u);
  const uint32_t high_minima = ((third >> 4) & 0x0f0f0f0fu) | ((second >> 2) & 0x30303030u);
  *scales = (first & 0x3f3f3f3fu) | uint64_t(high_scales) << 32;
  *minima = (second & 0x3f3f3f3fu) | uint64_t(high_minima) << 32;
}

#if defined(__SSSE3__) || defined(__AVX2__)
/// Eight bytes of each of eight rows, turned round: out[i] holds byte i of the rows in its low half, byte i + 4 in its high one.
HEARTH_ALWAYS_INLINE void transpose_bytes(const uint64_t* rows, __m128i* out) {
  auto row = [&](int r) { return _mm_cvtsi64_si128(static_cast<long long>(rows[r])); };
  const __m128i a = _mm_unpacklo_epi8(row(0), row(1)), b = _mm_unpacklo_epi8(row(2), row(3));
  const __m128i c = _mm_unpacklo_epi8(row(4), row(5)), d = _mm_unpacklo_epi8(row(6), row(7));
  const __m128i ab0 = _mm_unpacklo_epi16(a, b), ab4 = _mm_unpackhi_epi16(a, b);
  const __m128i cd0 = _mm_unpacklo_epi16(c, d), cd4 = _mm_unpackhi_epi16(c, d);
  const __m128i r01 = _mm_unpacklo_epi32(ab0, cd0), r23 = _mm_unpackhi_epi32(ab0, cd0);
  const __m128i r45 = _mm_unpacklo_epi32(ab4, cd4), r67 = _mm_unpackhi_epi32(ab4, cd4);
  out[0] = _mm_unpacklo_epi64(r01, r45), out[1] = _mm_unpackhi_epi64(r01, r45);
  out[2] = _mm_unpacklo_epi64(r23, r67), out[3] = _mm_unpackhi_epi64(r23, r67);
}

/// Eight 16-bit words of each of eight rows, turned round: out[i] holds word i of every row.
HEARTH_ALWAYS_INLINE void transpose_words(const __m128i* rows, __m128i* out) {
  __m128i a[8], b[8];
  for (int i = 0; i < 4; ++i) {
    a[i] = _mm_unpacklo_epi16(rows[2 * i], rows[2 * i + 1]);      // words 0..3 of a pair of rows
    a[i + 4] = _mm_unpackhi_epi16(rows[2 * i], rows[2 * i + 1]);  // words 4..7
  }
  for (int i = 0; i < 8; i += 2) {  // four rows: b[i] words 0 and 1 (or 4 and 5), b[i + 1] the next two
    b[i] = _mm_unpacklo_epi32(a[i / 4 * 4 + i % 4], a[i / 4 * 4 + i % 4 + 1]);
    b[i + 1] = _mm_unpackhi_epi32(a[i / 4 * 4 + i % 4], a[i / 4 * 4 + i % 4 + 1]);
  }
  for (int i = 0; i < 8; i += 4) {
    out[i] = _mm_unpacklo_epi64(b[i], b[i + 2]), out[i + 1] = _mm_unpackhi_epi64(b[i], b[i + 2]);
    out[i + 2] = _mm_unpacklo_epi64(b[i + 1], b[i + 3]), out[i + 3] = _mm_unpackhi_epi64(b[i + 1], b[i + 3]);
  }
}
#endif

/// Codes and factors of block b of a row. `scales` is the row's scale plane (mxfp4_planes only).
template <DType T>
inline BlockFactors block_codes(const uint8_t* row, const uint8_t* scales, uint32_t b, int8_t* out) {
  constexpr uint32_t per_super = info(T).block / 32;
  const uint8_t* p = row + size_t(b / per_super) * info(T).bytes;
  const int sub = static_cast<int>(b % per_super);
  if constexpr (T == DType::q8_0) {
    std::memcpy(out, p + 2, 32);
    return {load_half(p), 0, 1, 1};
  } else if constexpr (T == DType::q4_0) {
    nibbles_through(p + 2, centred_nibbles, out);
    return {load_half(p), 0, 1, 1};
  } else if constexpr (T == DType::q4_1) {
    nibbles_through(p + 4, plain_nibbles, out);
    return {load_half(p), load_half(p + 2), 1, 1};
  } else if constexpr (T == DType::q5_0) {
    fifth_bits(p + 6, load_u32(p + 2), 16, out);
    return {load_half(p), 0, 1, 1};
  } else if constexpr (T == DType::q5_1) {
    fifth_bits(p + 8, load_u32(p + 4), 0, out);
    return {load_half(p), load_half(p + 2), 1, 1};
  } else if constexpr (T == DType::iq4_nl) {
    nibbles_through(p + 2, iq4_nl_values, out);
    return {load_half(p), 0, 1, 1};
  } else if constexpr (T == DType::mxfp4) {
    nibbles_through(p + 1, e2m1_doubled, out);
    return {e8m0_half(p[0]), 0, 1, 1};
  } else if constexpr (T == DType::mxfp4_planes) {
    nibbles_through<true>(p, e2m1_doubled, out);
    return {e8m0_half(scales[b]), 0, 1, 1};
  } else if constexpr (T == DType::q4_k) {
    uint8_t scale, minimum;
    k_scale_min(p + 4, sub, &scale, &minimum);
    const uint8_t* q = p + 16 + 32 * (sub / 2);
    const int shift = sub % 2 * 4;
    for (int l = 0; l < 32; ++l) out[l] = static_cast<int8_t>((q[l] >> shift) & 15);
    return {load_half(p) * scale, -(load_half(p + 2) * minimum), 1, 1};
  } else if constexpr (T == DType::q5_k) {
    uint8_t scale, minimum;
    k_scale_min(p + 4, sub, &scale, &minimum);
    const uint8_t *q = p + 48 + 32 * (sub / 2), *high = p + 16;
    const int shift = sub % 2 * 4;
    for (int l = 0; l < 32; ++l) out[l] = static_cast<int8_t>(((q[l] >> shift) & 15) | (((high[l] >> sub) & 1) << 4));
    return {load_half(p) * scale, -(load_half(p + 2) * minimum), 1, 1};
  } else {
    static_assert(T == DType::q6_k);
    const int8_t* s = reinterpret_cast<const int8_t*>(p + 192) + 2 * sub;
    for (int l = 0; l < 32; ++l) out[l] = static_cast<int8_t>(q6_k_code(p, sub, l));
    return {load_half(p + 208), 0, s[0], s[1]};
  }
}

/// A strip of fewer than 16 rows with its last row repeated, so that the kernels need know only whole strips.
inline Strip whole_strip(const Strip& s, std::byte* memory) {
  const size_t bytes = row_bytes(s.type, s.cols), scale_bytes = s.scales ? s.cols / 32 : 0;
  for (uint32_t r = 0; r < strip_rows; ++r) {
    const uint32_t row = r < s.rows ? r : s.rows - 1;
    std::memcpy(memory + r * bytes, s.data + row * s.row_stride, bytes);
    if (s.scales) std::memcpy(memory + strip_rows * bytes + r * scale_bytes, s.scales + row * s.scale_row_stride, scale_bytes);
  }
  return {s.type, memory, bytes, s.scales ? memory + strip_rows * bytes : nullptr, scale_bytes, strip_rows, s.cols};
}

/// Calls run.template operator()<T>() for a block-quantised type; false for the others.
template <typename Run>
inline bool with_type(DType type, Run run) {
  switch (type) {
    case DType::q8_0: return run.template operator()<DType::q8_0>(), true;
    case DType::q4_0: return run.template operator()<DType::q4_0>(), true;
    case DType::q4_1: return run.template operator()<DType::q4_1>(), true;
    case DType::q5_0: return run.template operator()<DType::q5_0>(), true;
    case DType::q5_1: return run.template operator()<DType::q5_1>(), true;
    case DType::q4_k: return run.template operator()<DType::q4_k>(), true;
    case DType::q5_k: return run.template operator()<DType::q5_k>(), true;
    case DType::q6_k: return run.template operator()<DType::q6_k>(), true;
    case DType::iq4_nl: return run.template operator()<DType::iq4_nl>(), true;
    case DType::mxfp4: return run.template operator()<DType::mxfp4>(), true;
    case DType::mxfp4_planes: return run.template operator()<DType::mxfp4_planes>(), true;
    default: return false;
  }
}
