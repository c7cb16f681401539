// The float kernels, written once over V (16 lanes): matmul strips, quantisation, norm, activations, attention.
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

template <typename From>
inline void float_strip(const std::byte* const* w, uint32_t rows, const float* const* x, uint32_t tokens, uint32_t cols, float* out) {
  for (uint32_t r = 0; r < rows;) {
    const bool wide = r + tile_rows <= rows;
    for (uint32_t t = 0; t < tokens;) {
      float* to = out + t * strip_rows + r;
      const bool many = t + tile_cols <= tokens;
      if (wide && many) float_tile<From, tile_rows, tile_cols>(w + r, x + t, cols, to);
      else if (wide) float_tile<From, tile_rows, 1>(w + r, x + t, cols, to);
      else if (many) float_tile<From, 1, tile_cols>(w + r, x + t, cols, to);
      else float_tile<From, 1, 1>(w + r, x + t, cols, to);
      t += many ? tile_cols : 1;
    }
    r += wide ? tile_rows : 1;
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

// --- attention ----------------------------------------------------------------------------------------------------

struct KvF32 {
  using Element = float;
  static V full(const float* p) { return load(p); }
  static V part(const float* p, uint32_t low, uint32_t high) { return load_part(p, low, high); }
};
struct KvF16 {
  using Element = uint16_t;
  static V full(const uint16_t* p) { return load_f16(p); }
  static V part(const uint16_t* p, uint32_t low, uint32_t high) { return load_f16_part(p, low, high); }
};

/// Scores of lanes [low, high) of 16 neighbouring slots for H heads: keys lie [head_dim][block_size].
template <typename Kv, uint32_t H>
inline void score_slots(const AttendJob& j, const typename Kv::Element* keys, uint32_t head, uint32_t low, uint32_t high, float* scores) {
  V acc[H];
  for (uint32_t h = 0; h < H; ++h) acc[h] = zero();
  const float* q = j.q + size_t(head) * j.head_dim;
  const bool whole = low == 0 && high == 16;
  for (uint32_t d = 0; d < j.head_dim; ++d) {
    const auto* p = keys + size_t(d) * j.block_size;
    const V k = whole ? Kv::full(p) : Kv::part(p, low, high);
    for (uint32_t h = 0; h < H; ++h) acc[h] = fma(k, splat(q[h * j.head_dim + d]), acc[h]);
  }
  for (uint32_t h = 0; h < H; ++h) {
    const V s = keep_lanes(mul(acc[h], splat(j.scale)), low, high, splat(-infinity));
    store(scores + size_t(head + h) * (kv_split + 16), s);
  }
}

/// Adds H heads' weighted values of C chunks of 16 dimensions.
template <typename Kv, uint32_t H, uint32_t C>
inline void weigh_values(const AttendJob& j, uint32_t head, uint32_t d, uint32_t split_begin) {
  V acc[H][C];
  for (uint32_t h = 0; h < H; ++h) for (uint32_t c = 0; c < C; ++c) acc[h][c] = zero();
  const uint32_t first_block = j.first / j.block_size;
  const bool partial = d + 16 * C > j.head_dim;  // only with C == 1
  for (uint32_t p = j.first; p <= j.last; ++p) {
    const auto* values = reinterpret_cast<const typename Kv::Element*>(j.values[p / j.block_size - first_block]);
    values += size_t(p % j.block_size) * j.head_dim + d;
    V v[C];
    for (uint32_t c = 0; c < C; ++c) v[c] = partial ? Kv::part(values, 0, j.head_dim - d) : Kv::full(values + 16 * c);
    for (uint32_t h = 0; h < H; ++h) {
      const V weight = splat(j.scratch[size_t(head + h) * (kv_split + 16) + (p - split_begin)]);
      for (uint32_t c = 0; c < C; ++c) acc[h][c] = fma(weight, v[c], acc[h][c]);
    }
  }
  for (uint32_t h = 0; h < H; ++h) {
    float* out = j.out + size_t(head + h) * (j.head_dim + 2) + 2 + d;
    for (uint32_t c = 0; c < C; ++c) partial ? store_part(out, acc[h][c], j.head_dim - d) : store(out + 16 * c, acc[h][c]);
  }
}

/// Turns the scores of one head into weights e^(s - max), in place; writes maximum and sum.
inline void soften(const AttendJob& j, uint32_t head, uint32_t begin, uint32_t end) {
  float* scores = j.scratch + size_t(head) * (kv_split + 16);
  V highest = splat(-infinity);
  for (uint32_t i = begin; i < end; i += 16) highest = max(highest, load(scores + i));
  const float top = max_lanes(highest);
  V total = zero();
  for (uint32_t i = begin; i < end; i += 16) {
    const V weight = exp_lanes(sub(load(scores + i), splat(top)));
    store(scores + i, weight);
    total = add(total, weight);
  }
  j.out[size_t(head) * (j.head_dim + 2)] = top;
  j.out[size_t(head) * (j.head_dim + 2) + 1] = sum_lanes(total);
}

template <typename Kv>
inline void attend(const AttendJob& j) {
  const uint32_t split_begin = j.first / kv_split * kv_split, first_block = j.first / j.block_size;
  const uint32_t begin = (j.first - split_begin) / 16 * 16, end = j.last - split_begin + 1;
  for (uint32_t h = 0; h < j.heads; ++h) store(j.scratch + size_t(h) * (kv_split + 16) + begin, splat(-infinity));
  for (uint32_t block = first_block; block <= j.last / j.block_size; ++block) {
    const uint32_t base = block * j.block_size;
    const auto* keys = reinterpret_cast<const typename Kv::Element*>(j.keys[block - first_block]);
    for (uint32_t slot = 0; slot < j.block_size; slot += 16) {
      const uint32_t at = base + slot, room = j.block_size - slot < 16 ? j.block_size - slot : 16;
      if (at > j.last || at + room <= j.first) continue;
      const uint32_t low = j.first > at ? j.first - at : 0, high = j.last - at + 1 < room ? j.last - at + 1 : room;
      float* scores = j.scratch + (at - split_begin);
      uint32_t h = 0;
      for (; h + 8 <= j.heads; h += 8) score_slots<Kv, 8>(j, keys + slot, h, low, high, scores);
      for (; h + 2 <= j.heads; h += 2) score_slots<Kv, 2>(j, keys + slot, h, low, high, scores);
      for (; h < j.heads; ++h) score_slots<Kv, 1>(j, keys + slot, h, low, high, scores);
    }
  }
  for (uint32_t h = 0; h < j.heads; ++h) soften(j, h, begin, end);
  for (uint32_t d = 0; d < j.head_dim;) {
    const bool wide = d + 16 * value_chunks <= j.head_dim;
    for (uint32_t h = 0; h < j.heads;) {
      const bool many = h + value_heads <= j.heads;
      if (wide && many) weigh_values<Kv, value_heads, value_chunks>(j, h, d, split_begin);
      else if (wide) weigh_values<Kv, 1, value_chunks>(j, h, d, split_begin);
      else if (many) weigh_values<Kv, value_heads, 1>(j, h, d, split_begin);
      else weigh_values<Kv, 1, 1>(j, h, d, split_begin);
      h += many ? value_heads : 1;
    }
    d += wide ? 16 * value_chunks : 16;
  }
}

void attend_f32(const AttendJob& j) { attend<KvF32>(j); }
void attend_f16(const AttendJob& j) { attend<KvF16>(j); }
