// V: 16 float lanes as four NEON registers. Meanings are in simd_avx512.h. Included inside an anonymous namespace.
// Compiled on aarch64 only; it has run under an emulator (see design.md).

struct V { float32x4_t v[4]; };
constexpr uint32_t tile_rows = 2, tile_cols = 2;
constexpr uint32_t attend_heads = 4, attend_units = 1;

template <typename F>
inline V quarters(F f) { return {{f(0), f(1), f(2), f(3)}}; }
inline V splat(float x) { return quarters([&](int) { return vdupq_n_f32(x); }); }
inline V zero() { return splat(0.0f); }
inline V load(const float* p) { return quarters([&](int i) { return vld1q_f32(p + 4 * i); }); }
inline V load_part(const float* p, uint32_t low, uint32_t high) {
  float x[16] = {};
  for (uint32_t i = low; i < high; ++i) x[i] = p[i];
  return load(x);
}
inline V load_f16(const uint16_t* p) {
  return quarters([&](int i) { return vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(p + 4 * i))); });
}
inline V load_f16_part(const uint16_t* p, uint32_t low, uint32_t high) {
  uint16_t x[16] = {};
  for (uint32_t i = low; i < high; ++i) x[i] = p[i];
  return load_f16(x);
}
inline V load_i8(const int8_t* p) {
  const int8x16_t x = vld1q_s8(p);
  const int16x8_t low = vmovl_s8(vget_low_s8(x)), high = vmovl_s8(vget_high_s8(x));
  return {{vcvtq_f32_s32(vmovl_s16(vget_low_s16(low))), vcvtq_f32_s32(vmovl_s16(vget_high_s16(low))),
           vcvtq_f32_s32(vmovl_s16(vget_low_s16(high))), vcvtq_f32_s32(vmovl_s16(vget_high_s16(high)))}};
}
inline V load_i8_part(const int8_t* p, uint32_t low, uint32_t high) {
  int8_t x[16] = {};
  for (uint32_t i = low; i < high; ++i) x[i] = p[i];
  return load_i8(x);
}
inline void store_f16(uint16_t* p, V a) {
  for (int i = 0; i < 4; ++i) vst1_u16(p + 4 * i, vreinterpret_u16_f16(vcvt_f16_f32(a.v[i])));
}
inline V load_bf16(const uint16_t* p) {
  return quarters([&](int i) { return vreinterpretq_f32_u32(vshll_n_u16(vld1_u16(p + 4 * i), 16)); });
}
inline V load_bf16_part(const uint16_t* p, uint32_t low, uint32_t high) {
  uint16_t x[16] = {};
  for (uint32_t i = low; i < high; ++i) x[i] = p[i];
  return load_bf16(x);
}
inline void store(float* p, V a) { for (int i = 0; i < 4; ++i) vst1q_f32(p + 4 * i, a.v[i]); }
inline void store_part(float* p, V a, uint32_t high) {
  float x[16];
  store(x, a);
  for (uint32_t i = 0; i < high; ++i) p[i] = x[i];
}
inline V add(V a, V b) { return quarters([&](int i) { return vaddq_f32(a.v[i], b.v[i]); }); }
inline V sub(V a, V b) { return quarters([&](int i) { return vsubq_f32(a.v[i], b.v[i]); }); }
inline V mul(V a, V b) { return quarters([&](int i) { return vmulq_f32(a.v[i], b.v[i]); }); }
inline V div(V a, V b) { return quarters([&](int i) { return vdivq_f32(a.v[i], b.v[i]); }); }
inline V fma(V a, V b, V c) { return quarters([&](int i) { return vfmaq_f32(c.v[i], a.v[i], b.v[i]); }); }
inline V max(V a, V b) { return quarters([&](int i) { return vmaxq_f32(a.v[i], b.v[i]); }); }
inline V clamp(V x, V low, V high) {  // NEON's min and max keep NaN
  return quarters([&](int i) { return vminq_f32(high.v[i], vmaxq_f32(low.v[i], x.v[i])); });
}
inline V round_even(V x) { return quarters([&](int i) { return vrndnq_f32(x.v[i]); }); }
inline V keep_unless_less(V a, V b, V x) {
  return quarters([&](int i) { return vbslq_f32(vcltq_f32(a.v[i], b.v[i]), vdupq_n_f32(0.0f), x.v[i]); });
}
inline V keep_lanes(V x, uint32_t low, uint32_t high, V other) {
  float p[16], q[16];
  store(p, x), store(q, other);
  for (uint32_t i = low; i < high; ++i) q[i] = p[i];
  return load(q);
}
inline V power_of_two(V n) {
  return quarters([&](int i) {
    return vreinterpretq_f32_s32(vshlq_n_s32(vaddq_s32(vcvtnq_s32_f32(n.v[i]), vdupq_n_s32(127)), 23));
  });
}
inline float sum_lanes(V a) {
  const float32x4_t q = vaddq_f32(vaddq_f32(a.v[0], a.v[2]), vaddq_f32(a.v[1], a.v[3]));
  const float32x2_t d = vadd_f32(vget_low_f32(q), vget_high_f32(q));
  return vget_lane_f32(d, 0) + vget_lane_f32(d, 1);
}
inline float max_lanes(V a) { return vmaxvq_f32(vmaxq_f32(vmaxq_f32(a.v[0], a.v[1]), vmaxq_f32(a.v[2], a.v[3]))); }
inline float largest_magnitude(V a, V b) {
  uint32x4_t m = vdupq_n_u32(0);
  for (int i = 0; i < 4; ++i) {
    m = vmaxq_u32(m, vandq_u32(vreinterpretq_u32_f32(a.v[i]), vdupq_n_u32(0x7fffffffu)));
    m = vmaxq_u32(m, vandq_u32(vreinterpretq_u32_f32(b.v[i]), vdupq_n_u32(0x7fffffffu)));
  }
  return float_from_bits(vmaxvq_u32(m));
}
inline int32_t quantise_lanes(V x, V factor, int8_t* out) {
  int32_t total = 0;
  for (int i = 0; i < 4; ++i) {
    const int32x4_t q = vcvtnq_s32_f32(vmulq_f32(x.v[i], factor.v[i]));
    int32_t w[4];
    vst1q_s32(w, q);
    for (int j = 0; j < 4; ++j) out[4 * i + j] = static_cast<int8_t>(w[j]), total += w[j];
  }
  return total;
}
inline void sum_words(const QuantRow&, uint32_t) {}
