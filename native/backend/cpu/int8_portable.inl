// The int8 strip kernel in plain C++, for processors without a kernel of their own.
// Included inside an anonymous namespace after codes.inl.

template <DType T>
inline void portable_row(const uint8_t* row, const uint8_t* scales, uint32_t cols, uint32_t r, const QuantTile* tiles, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    for (uint32_t t = 0; t < tiles[i].tokens; ++t) tiles[i].out[t * strip_rows + r] = 0.0f;
  }
  int8_t codes[32];
  for (uint32_t b = 0; b < cols / 32; ++b) {
    const BlockFactors f = block_codes<T>(row, scales, b, codes);
    for (uint32_t i = 0; i < count; ++i) {
      const QuantTile& tile = tiles[i];
      for (uint32_t t = 0; t < tile.tokens; ++t) {
        const size_t at = size_t(b) * tile.tokens + t;
        const int8_t* q = tile.q + at * 32;
        int32_t first = 0, second = 0;
        for (int l = 0; l < 16; ++l) first += codes[l] * q[l], second += codes[l + 16] * q[l + 16];
        const int32_t dot = has_sub(T) ? f.sub0 * first + f.sub1 * second : first + second;
        float& out = tile.out[t * strip_rows + r];
        out = static_cast<float>(dot) * (f.scale * tile.scale[at]) + out;
        if (has_minimum(T)) out = f.minimum * tile.sum[at] + out;
      }
    }
  }
}

void strip_q8(const Strip& s, const QuantTile* tiles, uint32_t count, std::byte*) {
  with_type(s.type, [&]<DType T>() {
    for (uint32_t r = 0; r < s.rows; ++r) {
      const auto* scales = s.scales ? reinterpret_cast<const uint8_t*>(s.scales) + r * s.scale_row_stride : nullptr;
      portable_row<T>(reinterpret_cast<const uint8_t*>(s.data) + r * s.row_stride, scales, s.cols, r, tiles, count);
    }
  });
}
