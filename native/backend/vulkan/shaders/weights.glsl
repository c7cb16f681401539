// Weights of a row from words of 32 bits. The layout is weight_layout.h's; the formulas are backend/quant_rows.inl's.
// The includer defines word(matrix, index) and WEIGHT_TYPE; `high`, `scales` and `super` are the sections' word offsets.
// A group is 32 columns, an octet 8 of them.

#define F32 0
#define F16 1
#define BF16 2
#define Q8_0 3
#define Q4_0 4
#define Q4_1 5
#define Q5_0 6
#define Q5_1 7
#define Q4_K 8
#define Q5_K 9
#define Q6_K 10
#define IQ4_NL 11
#define MXFP4 12

struct Sections { uint high, scales, super_scales; };

float signed_byte(uint word, uint index) { return float(bitfieldExtract(int(word), int(8u * index), 8)); }

// Twice an E2M1 value: 0 1 2 3 4 6 8 12 and their negatives.
float e2m1_doubled(uint code) {
  uint e = (code >> 1) & 3u, m = code & 1u;
  float magnitude = float(e == 0u ? m : (2u | m) << (e - 1u));
  return (code & 8u) != 0u ? -magnitude : magnitude;
}

// Half of an e8m0 scale, the partner of e2m1_doubled.
float e8m0_half(uint b) {
  if (b == 255u) return uintBitsToFloat(0x7fc00000u);
  return uintBitsToFloat(b < 2u ? 0x00200000u << b : (b - 1u) << 23);
}

float iq4_nl(uint code) {
  uint four = code < 8u ? (code < 4u ? 0xbfad9881u : 0xf6eaddcfu) : (code < 12u ? 0x26190d01u : 0x71594535u);
  return signed_byte(four, code & 3u);
}

uint k_byte(uint w0, uint w1, uint w2, uint i) { return ((i < 4u ? w0 : i < 8u ? w1 : w2) >> (8u * (i & 3u))) & 255u; }

// 6-bit scale and minimum of sub-block i of a super-block.
uvec2 k_scale_min(uint w0, uint w1, uint w2, uint i) {
  if (i < 4u) return uvec2(k_byte(w0, w1, w2, i) & 63u, k_byte(w0, w1, w2, i + 4u) & 63u);
  uint last = k_byte(w0, w1, w2, i + 4u);
  return uvec2((last & 15u) | ((k_byte(w0, w1, w2, i - 4u) >> 6) << 4), (last >> 4) | ((k_byte(w0, w1, w2, i) >> 6) << 4));
}

#if WEIGHT_TYPE == F32
const uint OCTET_WORDS = 8u;  // of codes
#elif WEIGHT_TYPE == F16 || WEIGHT_TYPE == BF16
const uint OCTET_WORDS = 4u;
#elif WEIGHT_TYPE == Q8_0
const uint OCTET_WORDS = 2u;
#else
const uint OCTET_WORDS = 1u;
#endif

// What the columns of a group have besides their codes.
struct Factors {
  float scale, least;  // of Q6_K: the scales of its two halves
  uvec2 high;          // further bits of the codes
};

float half_scale(uint m, uint at, uint index) { return half_value((word(m, at + (index >> 1)) >> (16u * (index & 1u))) & 0xffffu); }

// Of the row of matrix m that begins at word `at`.
Factors factors_of(uint m, uint at, Sections s, uint group) {
  Factors f = Factors(0.0, 0.0, uvec2(0u));
#if WEIGHT_TYPE == Q5_0 || WEIGHT_TYPE == Q5_1 || WEIGHT_TYPE == Q5_K
  f.high.x = word(m, at + s.high + group);
#endif
#if WEIGHT_TYPE == Q8_0 || WEIGHT_TYPE == Q4_0 || WEIGHT_TYPE == IQ4_NL || WEIGHT_TYPE == Q5_0
  f.scale = half_scale(m, at + s.scales, group);
#elif WEIGHT_TYPE == MXFP4
  f.scale = e8m0_half((word(m, at + s.scales + (group >> 2)) >> (8u * (group & 3u))) & 255u);
#elif WEIGHT_TYPE == Q4_1 || WEIGHT_TYPE == Q5_1
  uint both = word(m, at + s.scales + group);
  f.scale = half_value(both & 0xffffu), f.least = half_value(both >> 16);
#elif WEIGHT_TYPE == Q4_K || WEIGHT_TYPE == Q5_K
  uint header = at + s.scales + 4u * (group >> 3), both = word(m, header);
  uvec2 factors = k_scale_min(word(m, header + 1u), word(m, header + 2u), word(m, header + 3u), group & 7u);
  f.scale = half_value(both & 0xffffu) * float(factors.x), f.least = half_value(both >> 16) * float(factors.y);
#elif WEIGHT_TYPE == Q6_K
  float d = half_scale(m, at + s.super_scales, group >> 3);  // 8 groups a super-block, a scale for 16 columns
  uint scales = word(m, at + s.scales + (group >> 1)), first = 2u * (group & 1u);
  f.scale = d * signed_byte(scales, first), f.least = d * signed_byte(scales, first + 1u);
  f.high = uvec2(word(m, at + s.high + 2u * group), word(m, at + s.high + 2u * group + 1u));
#endif
  return f;
}

// v = the columns of octet `i` (0..3) of a group with these codes and factors.
void unpack8(uint codes[OCTET_WORDS], Factors f, uint i, out float v[8]) {
#if WEIGHT_TYPE == F32
  for (uint j = 0u; j < 8u; ++j) v[j] = uintBitsToFloat(codes[j]);
#elif WEIGHT_TYPE == F16
  for (uint j = 0u; j < 8u; ++j) v[j] = half_value((codes[j >> 1] >> (16u * (j & 1u))) & 0xffffu);
#elif WEIGHT_TYPE == BF16
  for (uint j = 0u; j < 8u; ++j) v[j] = bf16_value((codes[j >> 1] >> (16u * (j & 1u))) & 0xffffu);
#elif WEIGHT_TYPE == Q8_0
  for (uint j = 0u; j < 8u; ++j) v[j] = signed_byte(codes[j >> 2], j & 3u) * f.scale;
#else
  for (uint j = 0u; j < 8u; ++j) {
    uint code = (codes[0] >> (4u * j)) & 15u;
#if WEIGHT_TYPE == MXFP4
    v[j] = e2m1_doubled(code) * f.scale;
#elif WEIGHT_TYPE == Q4_0
    v[j] = (float(code) - 8.0) * f.scale;
#elif WEIGHT_TYPE == IQ4_NL
    v[j] = iq4_nl(code) * f.scale;
#elif WEIGHT_TYPE == Q4_1
    v[j] = fma(float(code), f.scale, f.least);
#elif WEIGHT_TYPE == Q4_K
    v[j] = fma(f.scale, float(code), -f.least);
#elif WEIGHT_TYPE == Q6_K
    uint high = ((i < 2u ? f.high.x : f.high.y) >> (16u * (i & 1u) + 2u * j)) & 3u;
    v[j] = (i < 2u ? f.scale : f.least) * (float(code | high << 4) - 32.0);
#else
    uint five = code | (((f.high.x >> (8u * i + j)) & 1u) << 4);
#if WEIGHT_TYPE == Q5_0
    v[j] = (float(five) - 16.0) * f.scale;
#elif WEIGHT_TYPE == Q5_1
    v[j] = fma(float(five), f.scale, f.least);
#else
    v[j] = fma(f.scale, float(five), -f.least);
#endif
#endif
  }
#endif
}

// v = columns [8 octet, 8 octet + 8) of the row of matrix m that begins at word `at`.
void weights8(uint m, uint at, Sections s, uint octet, out float v[8]) {
  uint codes[OCTET_WORDS];
  for (uint j = 0u; j < OCTET_WORDS; ++j) codes[j] = word(m, at + OCTET_WORDS * octet + j);
  unpack8(codes, factors_of(m, at, s, octet >> 2), octet & 3u, v);
}
