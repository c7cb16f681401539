// Attention over V (16 lanes), written once for every instruction set and KV type. A score's lane, a sum's lane and the
// order of keys follow the position, so neither the rows of a job nor its tiles change a row's bytes. Lanes that a row
// does not see add exactly 0 and are not read. Included inside an anonymous namespace after kernels_float.inl.

struct KvF32 {
  using Element = float;
  static constexpr KvType type = KvType::f32;
  static V full(const float* p) { return load(p); }
  static V part(const float* p, uint32_t low, uint32_t high) { return load_part(p, low, high); }
};
struct KvF16 {
  using Element = uint16_t;
  static constexpr KvType type = KvType::f16;
  static V full(const uint16_t* p) { return load_f16(p); }
  static V part(const uint16_t* p, uint32_t low, uint32_t high) { return load_f16_part(p, low, high); }
};
struct KvQ8 {
  using Element = int8_t;
  static constexpr KvType type = KvType::q8;
  static V full(const int8_t* p) { return load_i8(p); }
  static V part(const int8_t* p, uint32_t low, uint32_t high) { return load_i8_part(p, low, high); }
};

/// A head's plane in a block: elements, and scales where the type has them.
template <typename Kv>
struct Plane {
  const typename Kv::Element* elements;
  const float* scales;
  Plane(const std::byte* p, uint32_t block_size, uint32_t head_dim)
      : elements(reinterpret_cast<const typename Kv::Element*>(p)),
        scales(reinterpret_cast<const float*>(p + kv_elements_bytes(Kv::type, block_size, head_dim))) {}
};

// --- rotation and storing -----------------------------------------------------------------------------------------

inline void rotate_pair(float& a, float& b, float c, float n) {
  const float x = a, y = b;
  a = x * c - y * n;
  b = y * c + x * n;
}

void rotate(float* head, const float* cosine, const float* sine, uint32_t pairs, bool half_split) {
  uint32_t i = 0;
  for (; half_split && i + 16 <= pairs; i += 16) {
    const V x = load(head + i), y = load(head + i + pairs), c = load(cosine + i), n = load(sine + i);
    store(head + i, sub(mul(x, c), mul(y, n)));
    store(head + i + pairs, add(mul(y, c), mul(x, n)));
  }
  for (; i < pairs; ++i) rotate_pair(head[half_split ? i : 2 * i], head[half_split ? i + pairs : 2 * i + 1], cosine[i], sine[i]);
}

/// One position to float32 or f16.
template <typename Kv>
void store_floats(const StoreJob& j) {
  using Element = typename Kv::Element;
  auto* keys = reinterpret_cast<Element*>(j.keys) + j.slot;
  auto* values = reinterpret_cast<Element*>(j.values) + size_t(j.slot) * j.head_dim;
  for (uint32_t d = 0; d < j.head_dim; d += 16) {
    const uint32_t n = j.head_dim - d < 16 ? j.head_dim - d : 16;
    Element key[16], value[16];
    const V k = load_part(j.key + d, 0, n), v = load_part(j.value + d, 0, n);
    if constexpr (Kv::type == KvType::f16) store_f16(key, k), store_f16(value, v);
    else store(key, k), store(value, v);
    for (uint32_t i = 0; i < n; ++i) keys[size_t(d + i) * j.block_size] = key[i];
    memcpy(values + d, value, n * sizeof(Element));
  }
}

/// Up to 32 values to int8 with one scale, max / 127. NaN and infinity give a scale that is not finite.
inline float quantise_group(const float* x, uint32_t n, int8_t* out) {
  const V low = load_part(x, 0, n < 16 ? n : 16), high = n > 16 ? load_part(x + 16, 0, n - 16) : zero();
  const float magnitude = largest_magnitude(low, high);
  const V factor = splat(magnitude > 0.0f ? 127.0f / magnitude : 0.0f);
  quantise_lanes(low, factor, out);
  quantise_lanes(high, factor, out + 16);
  return magnitude / 127.0f;
}

void store_q8(const StoreJob& j) {
  auto* keys = reinterpret_cast<int8_t*>(j.keys) + j.slot;
  auto* values = reinterpret_cast<int8_t*>(j.values) + size_t(j.slot) * j.head_dim;
  const uint64_t elements = kv_elements_bytes(KvType::q8, j.block_size, j.head_dim);
  auto* key_scales = reinterpret_cast<float*>(j.keys + elements) + j.slot;
  auto* value_scales = reinterpret_cast<float*>(j.values + elements) + j.slot;
  for (uint32_t g = 0, d = 0; d < j.head_dim; ++g, d += kv_group) {
    const uint32_t n = j.head_dim - d < kv_group ? j.head_dim - d : kv_group;
    int8_t key[kv_group], value[kv_group];
    key_scales[size_t(g) * j.block_size] = quantise_group(j.key + d, n, key);
    value_scales[size_t(g) * j.block_size] = quantise_group(j.value + d, n, value);
    for (uint32_t i = 0; i < n; ++i) keys[size_t(d + i) * j.block_size] = key[i];
    memcpy(values + d, value, n);
  }
}

// --- scores -------------------------------------------------------------------------------------------------------

/// 16 neighbouring positions of a block.
template <typename Kv>
struct KeyUnit {
  const typename Kv::Element* keys;
  const float* scales;
};

/// Scores of P units for H heads. Not Whole: only lanes [low, high) of the one unit are seen.
template <typename Kv, uint32_t H, uint32_t P, bool Whole>
inline void score_units(const AttendJob& j, const float* q, const KeyUnit<Kv>* units, uint32_t low, uint32_t high, float* scores) {
  V sum[H][P];
  for (uint32_t h = 0; h < H; ++h) for (uint32_t p = 0; p < P; ++p) sum[h][p] = zero();
  const uint32_t group = Kv::type == KvType::q8 ? kv_group : j.head_dim;
  for (uint32_t g = 0, from = 0; from < j.head_dim; ++g, from += group) {
    const uint32_t to = from + group < j.head_dim ? from + group : j.head_dim;
    V part[H][P];
    for (uint32_t h = 0; h < H; ++h) for (uint32_t p = 0; p < P; ++p) part[h][p] = zero();
    for (uint32_t d = from; d < to; ++d) {
      V k[P];
      for (uint32_t p = 0; p < P; ++p) {
        const auto* at = units[p].keys + size_t(d) * j.block_size;
        k[p] = Whole ? Kv::full(at) : Kv::part(at, low, high);
      }
      for (uint32_t h = 0; h < H; ++h) {
        const V x = splat(q[h * j.head_dim + d]);
        for (uint32_t p = 0; p < P; ++p) part[h][p] = fma(k[p], x, part[h][p]);
      }
    }
    for (uint32_t p = 0; p < P; ++p) {
      if constexpr (Kv::type == KvType::q8) {
        const float* at = units[p].scales + size_t(g) * j.block_size;
        const V scale = Whole ? load(at) : load_part(at, low, high);
        for (uint32_t h = 0; h < H; ++h) sum[h][p] = fma(part[h][p], scale, sum[h][p]);
      } else {
        for (uint32_t h = 0; h < H; ++h) sum[h][p] = part[h][p];
      }
    }
  }
  for (uint32_t h = 0; h < H; ++h) {
    for (uint32_t p = 0; p < P; ++p) {
      const V s = mul(sum[h][p], splat(j.scale));
      store(scores + size_t(h) * score_stride + 16 * p, Whole ? s : keep_lanes(s, low, high, splat(-infinity)));
    }
  }
}

/// All heads, in tiles of H, then of H / 2, ...
template <typename Kv, uint32_t H, uint32_t P, bool Whole>
inline void score_heads(const AttendJob& j, const float* q, const KeyUnit<Kv>* units, uint32_t low, uint32_t high, uint32_t h, float* scores) {
  for (; h + H <= j.heads; h += H) {
    score_units<Kv, H, P, Whole>(j, q + size_t(h) * j.head_dim, units, low, high, scores + size_t(h) * score_stride);
  }
  if constexpr (H > 1) score_heads<Kv, H / 2, P, Whole>(j, q, units, low, high, h, scores);
}

/// The scores of positions [first, last], which lie in the job's split, at scratch[head][position - split begin].
template <typename Kv>
inline void score(const AttendJob& j, const float* q, uint32_t first, uint32_t last) {
  const uint32_t begin = j.split * kv_split, unit = j.block_size < 16 ? j.block_size : 16;
  // What lies before a window's first unit in the first register of 16.
  for (uint32_t h = 0; h < j.heads; ++h) store(j.scratch + size_t(h) * score_stride + (first - begin) / 16 * 16, splat(-infinity));
  auto at_position = [&](uint32_t p) {
    const Plane<Kv> plane(j.keys[(p - begin) / j.block_size], j.block_size, j.head_dim);
    return KeyUnit<Kv>{plane.elements + p % j.block_size, plane.scales + p % j.block_size};
  };
  for (uint32_t p = first / unit * unit; p <= last;) {
    float* scores = j.scratch + (p - begin);
    const bool whole = unit == 16 && p >= first && p + 16 <= last + 1;
    if (attend_units == 2 && whole && p + 32 <= last + 1) {
      const KeyUnit<Kv> units[2] = {at_position(p), at_position(p + 16)};
      score_heads<Kv, attend_heads, attend_units, true>(j, q, units, 0, 16, 0, scores);
      p += 32;
      continue;
    }
    const KeyUnit<Kv> one = at_position(p);
    const uint32_t low = first > p ? first - p : 0, high = last - p + 1 < unit ? last - p + 1 : unit;
    if (whole) score_heads<Kv, attend_heads, 1, true>(j, q, &one, 0, 16, 0, scores);
    else score_heads<Kv, attend_heads, 1, false>(j, q, &one, low, high, 0, scores);
    p += unit;
  }
}

/// Turns scores [from, to) of one head into weights e^(s - max), in place; writes maximum and sum.
inline void soften(float* scores, uint32_t from, uint32_t to, float* state) {
  V highest = splat(-infinity);
  for (uint32_t i = from; i < to; i += 16) highest = max(highest, load(scores + i));
  const V top = splat(max_lanes(highest));
  V total = zero();
  for (uint32_t i = from; i < to; i += 16) {
    const V weight = exp_lanes(sub(load(scores + i), top));
    store(scores + i, weight);
    total = add(total, weight);
  }
  store_part(state, top, 1);
  state[1] = sum_lanes(total);
}

// --- values -------------------------------------------------------------------------------------------------------

/// H heads' weighted sum of C chunks of 16 dimensions from `d`. Part: the last chunk has fewer.
template <typename Kv, uint32_t H, uint32_t C, bool Part>
inline void weigh_tile(const AttendJob& j, uint32_t first, uint32_t last, uint32_t d, const float* weights, float* states) {
  V sum[H][C];
  for (uint32_t h = 0; h < H; ++h) for (uint32_t c = 0; c < C; ++c) sum[h][c] = zero();
  const uint32_t begin = j.split * kv_split;
  for (uint32_t block = first / j.block_size; block <= last / j.block_size; ++block) {
    const uint32_t at = block * j.block_size, low = first > at ? first - at : 0;
    const uint32_t high = last - at + 1 < j.block_size ? last - at + 1 : j.block_size;
    const Plane<Kv> plane(j.values[block - begin / j.block_size], j.block_size, j.head_dim);
    for (uint32_t slot = low; slot < high; ++slot) {
      const auto* from = plane.elements + size_t(slot) * j.head_dim + d;
      V v[C];
      for (uint32_t c = 0; c < C; ++c) {
        v[c] = Part ? Kv::part(from, 0, j.head_dim - d) : Kv::full(from + 16 * c);
        if constexpr (Kv::type == KvType::q8) v[c] = mul(v[c], splat(plane.scales[size_t((d + 16 * c) / kv_group) * j.block_size + slot]));
      }
      for (uint32_t h = 0; h < H; ++h) {
        const V weight = splat(weights[size_t(h) * score_stride + (at - begin) + slot]);
        for (uint32_t c = 0; c < C; ++c) sum[h][c] = fma(weight, v[c], sum[h][c]);
      }
    }
  }
  for (uint32_t h = 0; h < H; ++h) {
    float* out = states + size_t(h) * state_floats(j.head_dim) + 2 + d;
    for (uint32_t c = 0; c < C; ++c) Part ? store_part(out, sum[h][c], j.head_dim - d) : store(out + 16 * c, sum[h][c]);
  }
}

template <typename Kv, uint32_t H>
inline void weigh_heads(const AttendJob& j, uint32_t first, uint32_t last, uint32_t h, float* states) {
  constexpr uint32_t tile = attend_heads * attend_units;
  constexpr uint32_t wide = tile / H > 4 ? 4 : tile / H;
  for (; h + H <= j.heads; h += H) {
    const float* weights = j.scratch + size_t(h) * score_stride;
    float* to = states + size_t(h) * state_floats(j.head_dim);
    uint32_t d = 0;
    for (; d + 16 * wide <= j.head_dim; d += 16 * wide) weigh_tile<Kv, H, wide, false>(j, first, last, d, weights, to);
    for (; d + 16 <= j.head_dim; d += 16) weigh_tile<Kv, H, 1, false>(j, first, last, d, weights, to);
    if (d < j.head_dim) weigh_tile<Kv, H, 1, true>(j, first, last, d, weights, to);
  }
  if constexpr (H > 1) weigh_heads<Kv, H / 2>(j, first, last, h, states);
}

// --- states -------------------------------------------------------------------------------------------------------

void fold(const float* later, float* state, uint32_t head_dim) {
  if (state[1] == 0.0f) {  // the first keys
    memcpy(state, later, state_floats(head_dim) * sizeof(float));
    return;
  }
  const float top = state[0] > later[0] ? state[0] : later[0];  // NaN of either ends up in the sum
  const V before = exp_lanes(splat(state[0] - top)), after = exp_lanes(splat(later[0] - top));
  state[0] = top;
  for (uint32_t d = 1; d < state_floats(head_dim); d += 16) {
    const uint32_t n = state_floats(head_dim) - d < 16 ? state_floats(head_dim) - d : 16;
    store_part(state + d, fma(load_part(later + d, 0, n), after, mul(load_part(state + d, 0, n), before)), n);
  }
}

void finish(const float* state, const float* sink, uint32_t head_dim, float* out) {
  V weight = splat(1.0f), total = splat(state[1]);
  if (sink) {
    const float top = state[0] > *sink ? state[0] : *sink;
    weight = exp_lanes(splat(state[0] - top));
    total = fma(total, weight, exp_lanes(splat(*sink - top)));
  }
  const V factor = div(weight, total);
  for (uint32_t d = 0; d < head_dim; d += 16) {
    const uint32_t n = head_dim - d < 16 ? head_dim - d : 16;
    store_part(out + d, mul(load_part(state + 2 + d, 0, n), factor), n);
  }
}

template <typename Kv>
void attend(const AttendJob& j) {
  const uint32_t begin = j.split * kv_split, end = begin + kv_split, floats = state_floats(j.head_dim);
  float* later = j.scratch + size_t(j.heads) * score_stride;
  for (uint32_t r = 0; r < j.rows; ++r) {
    const uint32_t position = j.positions[r];
    const uint32_t seen = j.window == 0 || position < j.window ? 0 : position - j.window + 1;
    const uint32_t first = seen > begin ? seen : begin, last = position < end ? position : end - 1;
    if (first > last) continue;
    score<Kv>(j, j.q + r * j.q_stride, first, last);
    for (uint32_t h = 0; h < j.heads; ++h) {
      soften(j.scratch + size_t(h) * score_stride, (first - begin) / 16 * 16, last - begin + 1, later + size_t(h) * floats);
    }
    weigh_heads<Kv, attend_heads>(j, first, last, 0, later);
    for (uint32_t h = 0; h < j.heads; ++h) fold(later + size_t(h) * floats, j.states + (size_t(r) * j.heads + h) * floats, j.head_dim);
  }
}

const AttentionKernels attention{{store_floats<KvF32>, attend<KvF32>}, {store_floats<KvF16>, attend<KvF16>}, {store_q8, attend<KvQ8>},
                                 rotate, fold, finish};
