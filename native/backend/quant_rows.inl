// The decoders behind decode_row, as internal functions: included once by quant.cpp and once per instruction set, so
// that each copy is compiled with its own flags. Included inside an anonymous namespace, after half.h and dtype.h.

constexpr int8_t iq4_nl_values[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};
/// Twice the E2M1 values, so that they are integers; scales are halved to match.
constexpr int8_t e2m1_doubled[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

inline uint16_t load_u16(const uint8_t* p) { return static_cast<uint16_t>(p[0] | (p[1] << 8)); }
inline uint32_t load_u32(const uint8_t* p) {
  return uint32_t(p[0]) | uint32_t(p[1]) << 8 | uint32_t(p[2]) << 16 | uint32_t(p[3]) << 24;
}
inline float load_half(const uint8_t* p) { return half_to_float(load_u16(p)); }

/// 6-bit scale and minimum of sub-block i of a Q4_K / Q5_K super-block.
inline void k_scale_min(const uint8_t* s, int i, uint8_t* scale, uint8_t* minimum) {
  if (i < 4) {
    *scale = s[i] & 63, *minimum = s[i + 4] & 63;
  } else {
    *scale = static_cast<uint8_t>((s[i + 4] & 15) | ((s[i - 4] >> 6) << 4));
    *minimum = static_cast<uint8_t>((s[i + 4] >> 4) | ((s[i] >> 6) << 4));
  }
}

/// Half of an e8m0 scale, 2^(byte - 128): partner of e2m1_doubled.
inline float e8m0_half(uint8_t byte) {
  if (byte == 255) return float_from_bits(0x7fc00000u);
  return byte < 2 ? float_from_bits(0x00200000u << byte) : float_from_bits(uint32_t(byte - 1) << 23);
}

inline void decode_f32(const uint8_t* p, uint32_t n, float* out) { std::memcpy(out, p, size_t(n) * 4); }
inline void decode_f16(const uint8_t* p, uint32_t n, float* out) {
  for (uint32_t i = 0; i < n; ++i) out[i] = load_half(p + 2 * size_t(i));
}
inline void decode_bf16(const uint8_t* p, uint32_t n, float* out) {
  for (uint32_t i = 0; i < n; ++i) out[i] = bf16_to_float(load_u16(p + 2 * size_t(i)));
}
inline void decode_q8_0(const uint8_t* p, float* out) {
  const float d = load_half(p);
  for (int i = 0; i < 32; ++i) out[i] = static_cast<float>(static_cast<int8_t>(p[2 + i])) * d;
}
inline void decode_q4_0(const uint8_t* p, float* out) {
  const float d = load_half(p);
  for (int j = 0; j < 16; ++j) {
    out[j] = static_cast<float>((p[2 + j] & 15) - 8) * d;
    out[j + 16] = static_cast<float>((p[2 + j] >> 4) - 8) * d;
  }
}
inline void decode_q4_1(const uint8_t* p, float* out) {
  const float d = load_half(p), m = load_half(p + 2);
  for (int j = 0; j < 16; ++j) {
    out[j] = static_cast<float>(p[4 + j] & 15) * d + m;
    out[j + 16] = static_cast<float>(p[4 + j] >> 4) * d + m;
  }
}
inline void decode_q5_0(const uint8_t* p, float* out) {
  const float d = load_half(p);
  const uint32_t high = load_u32(p + 2);
  for (int j = 0; j < 16; ++j) {
    out[j] = static_cast<float>(static_cast<int>((p[6 + j] & 15) | (((high >> j) & 1) << 4)) - 16) * d;
    out[j + 16] = static_cast<float>(static_cast<int>((p[6 + j] >> 4) | (((high >> (j + 16)) & 1) << 4)) - 16) * d;
  }
}
inline void decode_q5_1(const uint8_t* p, float* out) {
  const float d = load_half(p), m = load_half(p + 2);
  const uint32_t high = load_u32(p + 4);
  for (int j = 0; j < 16; ++j) {
    out[j] = static_cast<float>((p[8 + j] & 15) | (((high >> j) & 1) << 4)) * d + m;
    out[j + 16] = static_cast<float>((p[8 + j] >> 4) | (((high >> (j + 16)) & 1) << 4)) * d + m;
  }
}
inline void decode_iq4_nl(const uint8_t* p, float* out) {
  const float d = load_half(p);
  for (int j = 0; j < 16; ++j) {
    out[j] = static_cast<float>(iq4_nl_values[p[2 + j] & 15]) * d;
    out[j + 16] = static_cast<float>(iq4_nl_values[p[2 + j] >> 4]) * d;
  }
}
inline void decode_mxfp4(const uint8_t* p, float* out) {
  const float d = e8m0_half(p[0]);
  for (int j = 0; j < 16; ++j) {
    out[j] = static_cast<float>(e2m1_doubled[p[1 + j] & 15]) * d;
    out[j + 16] = static_cast<float>(e2m1_doubled[p[1 + j] >> 4]) * d;
  }
}
inline void decode_mxfp4_plane(const uint8_t* p, uint8_t scale, float* out) {
  const float d = e8m0_half(scale);
  for (int b = 0; b < 16; ++b) {
    out[2 * b] = static_cast<float>(e2m1_doubled[p[b] & 15]) * d;
    out[2 * b + 1] = static_cast<float>(e2m1_doubled[p[b] >> 4]) * d;
  }
}
inline void decode_q4_k(const uint8_t* p, float* out) {
  const float d = load_half(p), dmin = load_half(p + 2);
  for (int sub = 0; sub < 8; ++sub) {
    uint8_t scale, minimum;
    k_scale_min(p + 4, sub, &scale, &minimum);
    const float ds = d * scale, dm = dmin * minimum;
    const uint8_t* q = p + 16 + 32 * (sub / 2);
    const int shift = sub % 2 * 4;
    for (int l = 0; l < 32; ++l) out[32 * sub + l] = ds * static_cast<float>((q[l] >> shift) & 15) - dm;
  }
}
inline void decode_q5_k(const uint8_t* p, float* out) {
  const float d = load_half(p), dmin = load_half(p + 2);
  const uint8_t* high = p + 16;
  for (int sub = 0; sub < 8; ++sub) {
    uint8_t scale, minimum;
    k_scale_min(p + 4, sub, &scale, &minimum);
    const float ds = d * scale, dm = dmin * minimum;
    const uint8_t* q = p + 48 + 32 * (sub / 2);
    const int shift = sub % 2 * 4;
    for (int l = 0; l < 32; ++l) {
      const int value = ((q[l] >> shift) & 15) | (((high[l] >> sub) & 1) << 4);
      out[32 * sub + l] = ds * static_cast<float>(value) - dm;
    }
  }
}
/// Signed 6-bit code of column 32*sub + l of a Q6_K super-block.
inline int q6_k_code(const uint8_t* p, int sub, int l) {
  const uint8_t* low = p + 64 * (sub / 4) + 32 * (sub % 2);
  const uint8_t* high = p + 128 + 32 * (sub / 4);
  const int part = sub % 4;
  return (((low[l] >> (part / 2 * 4)) & 15) | (((high[l] >> (2 * part)) & 3) << 4)) - 32;
}
inline void decode_q6_k(const uint8_t* p, float* out) {
  const int8_t* scales = reinterpret_cast<const int8_t*>(p + 192);
  const float d = load_half(p + 208);
  for (int sub = 0; sub < 8; ++sub) {
    for (int l = 0; l < 32; ++l) {
      out[32 * sub + l] = d * static_cast<float>(scales[2 * sub + l / 16]) * static_cast<float>(q6_k_code(p, sub, l));
    }
  }
}

template <typename DecodeBlock>
inline void decode_blocks(DType type, const uint8_t* p, uint32_t cols, float* out, DecodeBlock decode) {
  const DTypeInfo shape = info(type);
  for (uint32_t c = 0; c < cols; c += shape.block, p += shape.bytes) decode(p, out + c);
}

inline void decode_any(DType type, const std::byte* row, const std::byte* scales, uint32_t cols, float* out) {
  const auto* p = reinterpret_cast<const uint8_t*>(row);
  switch (type) {
    case DType::f32: return decode_f32(p, cols, out);
    case DType::f16: return decode_f16(p, cols, out);
    case DType::bf16: return decode_bf16(p, cols, out);
    case DType::q8_0: return decode_blocks(type, p, cols, out, decode_q8_0);
    case DType::q4_0: return decode_blocks(type, p, cols, out, decode_q4_0);
    case DType::q4_1: return decode_blocks(type, p, cols, out, decode_q4_1);
    case DType::q5_0: return decode_blocks(type, p, cols, out, decode_q5_0);
    case DType::q5_1: return decode_blocks(type, p, cols, out, decode_q5_1);
    case DType::q4_k: return decode_blocks(type, p, cols, out, decode_q4_k);
    case DType::q5_k: return decode_blocks(type, p, cols, out, decode_q5_k);
    case DType::q6_k: return decode_blocks(type, p, cols, out, decode_q6_k);
    case DType::iq4_nl: return decode_blocks(type, p, cols, out, decode_iq4_nl);
    case DType::mxfp4: return decode_blocks(type, p, cols, out, decode_mxfp4);
    case DType::mxfp4_planes:
      for (uint32_t c = 0; c < cols; c += 32) {
        decode_mxfp4_plane(p + c / 2, static_cast<uint8_t>(scales[c / 32]), out + c);
      }
      return;
  }
}
