// The float kernels, written once over V (16 lanes): matmul strips, quantisation, norm, activations.
// Included inside an anonymous namespace after a simd_<isa>.h and quant_rows.inl. Sums run in 16 fixed lanes that are
// added by a fixed tree; a lane's additions follow the column or key order, so tiling changes nothing.

const float infinity = float_from_bits(0x7f800000u);

/// e^x to about 2 ulp; 0 below -87.3, NaN for NaN.
inline V exp_lanes(V x) {
  const V low = splat(-87.33654f);
  const V c = clamp(x, low, splat(88.0f));
  const V n = round_even(mul(c, splat(1.44269504f)));
  V r = fma(n, splat(-0.693359375f), c);
  r = fma(n, splat(2.12194440e-4f), r);
  V p = splat(1.9875691500e-4f);
  for (float k : {1.3981999507e-3f, 8.3334519073e-3f, 4.1665795894e-2f, 1.6666665459e-1f, 5.0000001201e-1f}) p = fma(p, r, splat(k));
  p = add(fma(p, mul(r, r), r), splat(1.0f));
  return keep_unless_less(x, low, mul(p, power_of_two(n)));
}

// --- matmul strips ------------------------------------------------------------------------------------------------

struct FromF32 {
  static V full(const std::byte* row, uint32_t c) { return load(reinterpret_cast<const float*>(row) + c); }
  static V part(const std::byte* row, uint32_t c, uint32_t n) { return load_part(reinterpret_cast<const float*>(row) + c, 0, n); }
};
struct FromF16 {
  static V full(const std::byte* row, uint32_t c) { return load_f16(reinterpret_cast<const uint16_t*>(row) + c); }
  static V part(const std::byte* row, uint32_t c, uint32_t n) { return load_f16_part(reinterpret_cast<const uint16_t*>(row) + c, 0, n); }
};
struct FromBf16 {
  static V full(const std::byte* row, uint32_t c) { return load_bf16(reinterpret_cast<const uint16_t*>(row) + c); }
  static V part(const std::byte* row, uint32_t c, uint32_t n) { return load_bf16_part(reinterpret_cast<const uint16_t*>(row) + c, 0, n); }
};

/// R weight rows times T activation rows.
template <typename From, uint32_t R, uint32_t T>
inline void float_tile(const std::byte* const* w, const float* const* x, uint32_t cols, float* out) {
  V acc[R][T];
  for (uint32_t r = 0; r < R; ++r) for (uint32_t t = 0; t < T; ++t) acc[r][t] = zero();
  uint32_t c = 0;
  for (; c + 16 <= cols; c += 16) {
    V xs[T];
    for (uint32_t t = 0; t < T; ++t) xs[t] = load(x[t] + c);
    for (uint32_t r = 0; r < R; ++r) {
      const V ws = From::full(w[r], c);
      for (uint32_t t = 0; t < T; ++t) acc[r][t] = fma(ws, xs[t], acc[r][t]);
    }
  }
  if (c < cols) {
    for (uint32_t r = 0; r < R; ++r) {
      const V ws = From::part(w[r], c, cols - c);
      for (uint32_t t = 0; t < T; ++t) acc[r][t] = fma(ws, load_part(x[t] + c, 0, cols - c), acc[r][t]);
    }
  }
  for (uint32_t r = 0; r < R; ++r) for (uint32_t t = 0; t < T; ++t) out[t * strip_rows + r] = sum_lanes(acc[r][t]);
}

/// R weight rows times up to T activation rows.
template <typename From, uint32_t R, uint32_t T = tile_cols>
inline void float_rows(const std::byte* const* w, const float* const* x, uint32_t tokens, uint32_t cols, float* out) {
  if constexpr (T > 1) {
    if (tokens < T) return float_rows<From, R, T - 1>(w, x, tokens, cols, out);
  }
  float_tile<From, R, T>(w, x, cols, out);
}

/// Tokens outside, rows inside: a strip of weights fits the second cache, the activation rows of a long prompt do not.
template <typename From>
inline void float_strip(const std::byte* const* w, uint32_t rows, const float* const* x, uint32_t tokens, uint32_t cols, float* out) {
  for (uint32_t t = 0; t < tokens; t += tile_cols) {
    for (uint32_t r = 0; r < rows;) {
      const bool wide = r + tile_rows <= rows;
      float* to = out + t * strip_rows + r;
      if (wide) float_rows<From, tile_rows>(w + r, x + t, tokens - t, cols, to);
      else float_rows<From, 1>(w + r, x + t, tokens - t, cols, to);
      r += wide ? tile_rows : 1;
    }
  }
}

void strip_f32(const Strip& s, const float* const* x, uint32_t tokens, float* out, std::byte* scratch) {
  const std::byte* rows[strip_rows];
  for (uint32_t r = 0; r < s.rows; ++r) rows[r] = s.data + r * s.row_stride;
  const bool aligned = (reinterpret_cast<uintptr_t>(s.data) | s.row_stride) % info(s.type).bytes == 0;  // files promise nothing
  if (s.type == DType::f32 && aligned) return float_strip<FromF32>(rows, s.rows, x, tokens, s.cols, out);
  if (s.type == DType::f16 && aligned) return float_strip<FromF16>(rows, s.rows, x, tokens, s.cols, out);
  if (s.type == DType::bf16 && aligned) return float_strip<FromBf16>(rows, s.rows, x, tokens, s.cols, out);
  auto* decoded = reinterpret_cast<float*>(scratch);
  for (uint32_t r = 0; r < s.rows; ++r) {
    float* to = decoded + size_t(r) * s.cols;
    decode_any(s.type, rows[r], s.scales ? s.scales + r * s.scale_row_stride : nullptr, s.cols, to);
    rows[r] = reinterpret_cast<const std::byte*>(to);
  }
  float_strip<FromF32>(rows, s.rows, x, tokens, s.cols, out);
}

// --- activations and norms ----------------------------------------------------------------------------------------

void quantise(const float* x, uint32_t cols, const QuantRow& to) {
  for (uint32_t b = 0; b < cols / 32; ++b) {
    const V lo = load(x + 32 * b), hi = load(x + 32 * b + 16);
    const float magnitude = largest_magnitude(lo, hi);
    const float d = magnitude / 127.0f;
    const V factor = splat(magnitude > 0.0f ? 127.0f / magnitude : 0.0f);
    const int32_t first = quantise_lanes(lo, factor, to.q + 32 * b), second = quantise_lanes(hi, factor, to.q + 32 * b + 16);
    to.scale[b] = d;
    to.half[b] = int32_t(uint32_t(first) * uint32_t(-128));
    to.correction[b] = int32_t((uint32_t(first) + uint32_t(second)) * uint32_t(-128));
    to.sum[b] = d * static_cast<float>(int64_t(first) + second);
    sum_words(to, b);
  }
}

void norm(const float* x, const float* weight, float eps, uint32_t cols, float* out) {
  V squares = zero();
  uint32_t c = 0;
  for (; c + 16 <= cols; c += 16) squares = fma(load(x + c), load(x + c), squares);
  if (c < cols) {
    const V rest = load_part(x + c, 0, cols - c);
    squares = fma(rest, rest, squares);
  }
  const V factor = splat(1.0f / sqrtf(sum_lanes(squares) / static_cast<float>(cols) + eps));
  for (c = 0; c + 16 <= cols; c += 16) store(out + c, mul(mul(load(x + c), factor), load(weight + c)));
  if (c < cols) {
    store_part(out + c, mul(mul(load_part(x + c, 0, cols - c), factor), load_part(weight + c, 0, cols - c)), cols - c);
  }
}

inline V sigmoid(V x) { return div(splat(1.0f), add(splat(1.0f), exp_lanes(sub(zero(), x)))); }

inline V activate_lanes(Activation kind, float alpha, float limit, V g, V u) {
  const V one = splat(1.0f);
  if (kind == Activation::silu) return mul(mul(g, sigmoid(g)), u);
  if (kind == Activation::gelu_tanh) {  // 0.5 (1 + tanh z) is sigmoid(2 z)
    const V z = mul(splat(0.79788456f), fma(mul(splat(0.044715f), mul(g, g)), g, g));
    return mul(mul(g, sigmoid(add(z, z))), u);
  }
  const V gc = clamp(g, splat(-3.0e38f), splat(limit)), uc = clamp(u, splat(-limit), splat(limit));
  return mul(mul(gc, sigmoid(mul(splat(alpha), gc))), add(uc, one));
}

void activate(Activation kind, float alpha, float limit, const float* gate, const float* up, uint32_t n, float* out) {
  uint32_t i = 0;
  for (; i + 16 <= n; i += 16) store(out + i, activate_lanes(kind, alpha, limit, load(gate + i), load(up + i)));
  if (i < n) {
    store_part(out + i, activate_lanes(kind, alpha, limit, load_part(gate + i, 0, n - i), load_part(up + i, 0, n - i)), n - i);
  }
}
