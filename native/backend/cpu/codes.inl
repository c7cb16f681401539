// Block-quantised weights as signed integer codes, the form in which int8 kernels want them.
// Included inside an anonymous namespace after quant_rows.inl.

/// A block of 32 columns: value = scale * code + minimum. q6_k: value = scale * sub0 * code in the first 16 columns,
/// scale * sub1 * code in the others.
struct BlockFactors { float scale, minimum; int32_t sub0, sub1; };

constexpr bool has_minimum(DType t) { return t == DType::q4_1 || t == DType::q5_1 || t == DType::q4_k || t == DType::q5_k; }
constexpr bool has_sub(DType t) { return t == DType::q6_k; }

inline void nibbles(const uint8_t* q, int8_t offset, int8_t* out) {
  for (int j = 0; j < 16; ++j) {
    out[j] = static_cast<int8_t>((q[j] & 15) - offset);
    out[j + 16] = static_cast<int8_t>((q[j] >> 4) - offset);
  }
}
inline void nibbles_through(const uint8_t* q, const int8_t* table, int8_t* out) {
  for (int j = 0; j < 16; ++j) out[j] = table[q[j] & 15], out[j + 16] = table[q[j] >> 4];
}
inline void fifth_bits(const uint8_t* q, uint32_t high, int offset, int8_t* out) {
  for (int j = 0; j < 16; ++j) {
    out[j] = static_cast<int8_t>(static_cast<int>((q[j] & 15) | (((high >> j) & 1) << 4)) - offset);
    out[j + 16] = static_cast<int8_t>(static_cast<int>((q[j] >> 4) | (((high >> (j + 16)) & 1) << 4)) - offset);
  }
}

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
    nibbles(p + 2, 8, out);
    return {load_half(p), 0, 1, 1};
  } else if constexpr (T == DType::q4_1) {
    nibbles(p + 4, 0, out);
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
    for (int j = 0; j < 16; ++j) out[2 * j] = e2m1_doubled[p[j] & 15], out[2 * j + 1] = e2m1_doubled[p[j] >> 4];
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
