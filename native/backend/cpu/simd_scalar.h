// V: 16 float lanes in plain C++. Meanings are in simd_avx512.h. fma rounds twice here: without the instruction the
// library's exact version would be a hundred times slower. Included inside an anonymous namespace.

struct V { float v[16]; };
constexpr uint32_t tile_rows = 1, tile_cols = 1;
constexpr uint32_t attend_heads = 1, attend_units = 1;

template <typename F>
inline V each(F f) {
  V r;
  for (uint32_t i = 0; i < 16; ++i) r.v[i] = f(i);
  return r;
}
inline V splat(float x) { return each([&](uint32_t) { return x; }); }
inline V zero() { return splat(0.0f); }
inline V load(const float* p) { return each([&](uint32_t i) { return p[i]; }); }
inline V load_part(const float* p, uint32_t low, uint32_t high) {
  V r = zero();
  for (uint32_t i = low; i < high; ++i) r.v[i] = p[i];
  return r;
}
inline V load_f16_part(const uint16_t* p, uint32_t low, uint32_t high) {
  V r = zero();
  for (uint32_t i = low; i < high; ++i) r.v[i] = half_to_float(p[i]);
  return r;
}
inline V load_f16(const uint16_t* p) { return load_f16_part(p, 0, 16); }
inline V load_i8_part(const int8_t* p, uint32_t low, uint32_t high) {
  V r = zero();
  for (uint32_t i = low; i < high; ++i) r.v[i] = static_cast<float>(p[i]);
  return r;
}
inline V load_i8(const int8_t* p) { return load_i8_part(p, 0, 16); }
inline void store_f16(uint16_t* p, const V& a) {
  for (uint32_t i = 0; i < 16; ++i) p[i] = float_to_half(a.v[i]);
}
inline V load_bf16_part(const uint16_t* p, uint32_t low, uint32_t high) {
  V r = zero();
  for (uint32_t i = low; i < high; ++i) r.v[i] = bf16_to_float(p[i]);
  return r;
}
inline V load_bf16(const uint16_t* p) { return load_bf16_part(p, 0, 16); }
inline void store_part(float* p, const V& a, uint32_t high) {
  for (uint32_t i = 0; i < high; ++i) p[i] = a.v[i];
}
inline void store(float* p, const V& a) { store_part(p, a, 16); }
inline V add(const V& a, const V& b) { return each([&](uint32_t i) { return a.v[i] + b.v[i]; }); }
inline V sub(const V& a, const V& b) { return each([&](uint32_t i) { return a.v[i] - b.v[i]; }); }
inline V mul(const V& a, const V& b) { return each([&](uint32_t i) { return a.v[i] * b.v[i]; }); }
inline V div(const V& a, const V& b) { return each([&](uint32_t i) { return a.v[i] / b.v[i]; }); }
inline V fma(const V& a, const V& b, const V& c) { return each([&](uint32_t i) { return a.v[i] * b.v[i] + c.v[i]; }); }
inline V max(const V& a, const V& b) { return each([&](uint32_t i) { return a.v[i] > b.v[i] ? a.v[i] : b.v[i]; }); }
inline V clamp(const V& x, const V& low, const V& high) {
  return each([&](uint32_t i) { return x.v[i] < low.v[i] ? low.v[i] : x.v[i] > high.v[i] ? high.v[i] : x.v[i]; });
}
inline float round_even(float x) {  // |x| < 2^22: the adder rounds for us
  volatile float shifted = x + 0x1.8p23f;
  return shifted - 0x1.8p23f;
}
inline V round_even(const V& x) { return each([&](uint32_t i) { return round_even(x.v[i]); }); }
inline V keep_unless_less(const V& a, const V& b, const V& x) {
  return each([&](uint32_t i) { return a.v[i] < b.v[i] ? 0.0f : x.v[i]; });
}
inline V keep_lanes(const V& x, uint32_t low, uint32_t high, const V& other) {
  return each([&](uint32_t i) { return i >= low && i < high ? x.v[i] : other.v[i]; });
}
inline V power_of_two(const V& n) {
  return each([&](uint32_t i) {
    // NaN has no exponent to build; it goes through as it is.
    return n.v[i] != n.v[i] ? n.v[i] : float_from_bits(static_cast<uint32_t>(static_cast<int32_t>(n.v[i]) + 127) << 23);
  });
}
inline float sum_lanes(const V& a) {
  float s[16];
  for (int i = 0; i < 16; ++i) s[i] = a.v[i];
  for (int half = 8; half >= 1; half /= 2) {
    for (int i = 0; i < half; ++i) s[i] += s[i + half];
  }
  return s[0];
}
inline float max_lanes(const V& a) {
  float m = a.v[0];
  for (int i = 1; i < 16; ++i) m = a.v[i] > m ? a.v[i] : m;
  return m;
}
inline float largest_magnitude(const V& a, const V& b) {
  uint32_t m = 0;
  for (int i = 0; i < 16; ++i) {
    const uint32_t x = bits_from_float(a.v[i]) & 0x7fffffffu, y = bits_from_float(b.v[i]) & 0x7fffffffu;
    m = x > m ? x : m;
    m = y > m ? y : m;
  }
  return float_from_bits(m);
}
inline int32_t quantise_lanes(const V& x, const V& factor, int8_t* out) {
  int32_t total = 0;
  for (int i = 0; i < 16; ++i) {
    const float scaled = x.v[i] * factor.v[i];
    // Beyond 127.5 only where the scale is not finite and the block is lost anyway.
    const int32_t q = scaled > -127.5f && scaled < 127.5f ? static_cast<int32_t>(round_even(scaled)) : 0;
    out[i] = static_cast<int8_t>(q);
    total += q;
  }
  return total;
}
inline void sum_words(const QuantRow&, uint32_t) {}
