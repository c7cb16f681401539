// Eight weights of a row from words of 32 bits. The layout is weight_layout.h's; the formulas are backend/quant_rows.inl's.
// The includer defines word(matrix, index) and WEIGHT_TYPE; `high`, `scales` and `super` are the sections' word offsets.

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

// v = columns [8 octet, 8 octet + 8) of the row of matrix m that begins at word `at`.
void weights8(uint m, uint at, Sections s, uint octet, out float v[8]) {
  uint group = octet >> 2;
#if WEIGHT_TYPE == F32
  for (uint i = 0u; i < 8u; ++i) v[i] = uintBitsToFloat(word(m, at + 8u * octet + i));
#elif WEIGHT_TYPE == F16 || WEIGHT_TYPE == BF16
  for (uint i = 0u; i < 4u; ++i) {
    uint two = word(m, at + 4u * octet + i);
#if WEIGHT_TYPE == F16
    v[2u * i] = half_value(two & 0xffffu), v[2u * i + 1u] = half_value(two >> 16);
#else
    v[2u * i] = bf16_value(two & 0xffffu), v[2u * i + 1u] = bf16_value(two >> 16);
#endif
  }
#elif WEIGHT_TYPE == Q8_0
  float d = half_value((word(m, at + s.scales + (group >> 1)) >> (16u * (group & 1u))) & 0xffffu);
  uint a = word(m, at + 2u * octet), b = word(m, at + 2u * octet + 1u);
  for (uint i = 0u; i < 4u; ++i) v[i] = signed_byte(a, i) * d, v[i + 4u] = signed_byte(b, i) * d;
#else
  uint codes = word(m, at + octet);
#if WEIGHT_TYPE == MXFP4
  float d = e8m0_half((word(m, at + s.scales + (group >> 2)) >> (8u * (group & 3u))) & 255u);
  for (uint i = 0u; i < 8u; ++i) v[i] = e2m1_doubled((codes >> (4u * i)) & 15u) * d;
#elif WEIGHT_TYPE == Q4_0 || WEIGHT_TYPE == IQ4_NL
  float d = half_value((word(m, at + s.scales + (group >> 1)) >> (16u * (group & 1u))) & 0xffffu);
  for (uint i = 0u; i < 8u; ++i) {
    uint code = (codes >> (4u * i)) & 15u;
#if WEIGHT_TYPE == Q4_0
    v[i] = (float(code) - 8.0) * d;
#else
    v[i] = iq4_nl(code) * d;
#endif
  }
#elif WEIGHT_TYPE == Q4_1
  uint both = word(m, at + s.scales + group);
  float d = half_value(both & 0xffffu), least = half_value(both >> 16);
  for (uint i = 0u; i < 8u; ++i) v[i] = fma(float((codes >> (4u * i)) & 15u), d, least);
#elif WEIGHT_TYPE == Q5_0
  float d = half_value((word(m, at + s.scales + (group >> 1)) >> (16u * (group & 1u))) & 0xffffu);
  uint high = word(m, at + s.high + group) >> (8u * (octet & 3u));
  for (uint i = 0u; i < 8u; ++i) v[i] = (float(((codes >> (4u * i)) & 15u) | (((high >> i) & 1u) << 4)) - 16.0) * d;
#elif WEIGHT_TYPE == Q5_1
  uint both = word(m, at + s.scales + group), high = word(m, at + s.high + group) >> (8u * (octet & 3u));
  float d = half_value(both & 0xffffu), least = half_value(both >> 16);
  for (uint i = 0u; i < 8u; ++i) v[i] = fma(float(((codes >> (4u * i)) & 15u) | (((high >> i) & 1u) << 4)), d, least);
#elif WEIGHT_TYPE == Q4_K || WEIGHT_TYPE == Q5_K
  uint header = at + s.scales + 4u * (octet >> 5), both = word(m, header);
  uvec2 factors = k_scale_min(word(m, header + 1u), word(m, header + 2u), word(m, header + 3u), (octet >> 2) & 7u);
  float d = half_value(both & 0xffffu) * float(factors.x), least = half_value(both >> 16) * float(factors.y);
#if WEIGHT_TYPE == Q5_K
  uint high = word(m, at + s.high + group) >> (8u * (octet & 3u));
#else
  uint high = 0u;
#endif
  for (uint i = 0u; i < 8u; ++i) v[i] = fma(d, float(((codes >> (4u * i)) & 15u) | (((high >> i) & 1u) << 4)), -least);
#elif WEIGHT_TYPE == Q6_K
  uint block = octet >> 5, scale = octet >> 1;  // 32 octets a super-block, a scale for 16 columns
  float d = half_value((word(m, at + s.super_scales + (block >> 1)) >> (16u * (block & 1u))) & 0xffffu);
  d *= signed_byte(word(m, at + s.scales + (scale >> 2)), scale & 3u);
  uint high = word(m, at + s.high + (octet >> 1)) >> (16u * (octet & 1u));
  for (uint i = 0u; i < 8u; ++i) v[i] = d * (float(((codes >> (4u * i)) & 15u) | (((high >> (2u * i)) & 3u) << 4)) - 32.0);
#endif
#endif
}
