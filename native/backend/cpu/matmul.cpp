// Preparation of activation rows and the call of the strip kernels.
#include "backend/cpu/matmul.h"

namespace hearth::cpu {
namespace {

/// int8 forms of rows are dense records: codes, then scale, correction, half and sum per block.
size_t record_bytes(uint32_t cols) { return (size_t(cols) + size_t(cols) / 32 * 16 + 63) / 64 * 64; }

QuantRow record(std::byte* p, uint32_t cols) {
  auto* scale = reinterpret_cast<float*>(p + cols);
  const uint32_t blocks = cols / 32;
  auto* correction = reinterpret_cast<int32_t*>(scale + blocks);
  return {reinterpret_cast<int8_t*>(p), scale, correction, correction + blocks, reinterpret_cast<float*>(correction + 2 * blocks)};
}

void quantise_rows(Step& s, QuantisedRows& to, const float* x, uint32_t rows, uint32_t cols, uint32_t planes) {
  if (to.rows == rows && to.cols == cols && to.planes == planes) return;
  to.rows = 0;
  to.memory.need(record_bytes(cols) * rows * planes);
  to.cols = cols, to.planes = planes;
  s.reserve(cols, 0);
  s.parallel(rows, 4, 10.0 * rows * cols * planes, [&](uint32_t thread, uint32_t r) {
    const float* row = x + size_t(r) * cols;
    const QuantRow first = to.row(r * planes);
    s.cpu.kernels.quantise(row, cols, first);
    if (planes == 1) return;
    float* rest = s.cpu.scratch[thread].strip.as<float>();
    for (uint32_t c = 0; c < cols; ++c) rest[c] = row[c] - first.scale[c / 32] * static_cast<float>(first.q[c]);
    s.cpu.kernels.quantise(rest, cols, to.row(r * planes + 1));
  });
  to.rows = rows;
}

/// Interleaves the rows of one tile block by block.
void pack_tile(const QuantTile& tile, const uint32_t* index, QuantisedRows& from) {
  auto* q = const_cast<int8_t*>(tile.q);
  for (uint32_t t = 0; t < tile.tokens; ++t) {
    const QuantRow row = from.row(index[t]);
    for (uint32_t b = 0; b < from.cols / 32; ++b) {
      const size_t at = size_t(b) * tile.tokens + t;
      std::memcpy(q + at * 32, row.q + size_t(b) * 32, 32);
      const_cast<float*>(tile.scale)[at] = row.scale[b];
      const_cast<int32_t*>(tile.correction)[at] = row.correction[b];
      const_cast<int32_t*>(tile.half)[at] = row.half[b];
      const_cast<float*>(tile.sum)[at] = row.sum[b];
    }
  }
}

/// A tile's arrays at `p`, laid out as record() with `tokens` rows side by side.
QuantTile tile_at(std::byte* p, uint32_t cols, uint32_t tokens) {
  const QuantRow r = record(p, cols * tokens);
  return {r.q, r.scale, r.correction, r.half, r.sum, tokens, nullptr};
}

}  // namespace

QuantRow QuantisedRows::row(uint32_t r) { return record(memory.as<std::byte>() + record_bytes(cols) * r, cols); }

bool uses_int8(const CpuState& cpu, const Matrix& w) {
  return cpu.precision == Precision::fast && w.type != DType::f32 && w.type != DType::f16 && w.type != DType::bf16;
}

namespace {

void set_groups(const CpuState& cpu, uint32_t planes, bool int8, PreparedRows& out) {
  out.groups.clear(), out.rows.clear(), out.tiles.clear(), out.tile_rows.clear();
  out.planes = planes;
  uint32_t begin = 0;
  for (uint32_t count : cpu.counts) {
    out.groups.push_back({begin, count * planes, 0, int8 ? (count * planes + tile_tokens - 1) / tile_tokens : 0});
    begin += count * planes;
  }
}

void prepare_float(Step& s, const float* x, uint32_t cols) {
  PreparedRows& out = s.cpu.float_rows;
  set_groups(s.cpu, 1, false, out);
  for (uint32_t row : s.cpu.order) out.rows.push_back(x + size_t(row) * cols);
}

void prepare_int8(Step& s, Buffer buffer, const float* x, uint32_t rows, uint32_t cols, uint32_t planes) {
  PreparedRows& out = s.cpu.int8_rows;
  set_groups(s.cpu, planes, true, out);
  QuantisedRows& source = s.cpu.quantised[buffer.id];
  quantise_rows(s, source, x, rows, cols, planes);
  std::vector<uint32_t>& records = s.cpu.records;
  records.clear();
  for (uint32_t row : s.cpu.order) {
    for (uint32_t p = 0; p < planes; ++p) records.push_back(row * planes + p);
  }
  std::byte* memory = s.cpu.tiles.need(record_bytes(cols) * records.size());
  for (PreparedRows::Group& g : out.groups) {
    g.tile_begin = static_cast<uint32_t>(out.tiles.size());
    for (uint32_t i = 0, done = 0; i < g.tile_count; ++i) {  // equal tiles rather than full ones and a rest
      const uint32_t left = g.tile_count - i, tokens = (g.count - done + left - 1) / left, begin = g.begin + done;
      out.tiles.push_back(tile_at(memory + record_bytes(cols) * begin, cols, tokens));
      out.tile_rows.push_back(begin);
      done += tokens;
    }
  }
  s.parallel(static_cast<uint32_t>(out.tiles.size()), 1, 2.0 * records.size() * cols,
             [&](uint32_t, uint32_t i) { pack_tile(out.tiles[i], &records[out.tile_rows[i]], source); });
}

/// Adds the results of the two planes: out[2i] + out[2i + 1] becomes out[i].
void fold(float* out, uint32_t rows) {
  for (uint32_t i = 0; i < rows; ++i) {
    for (uint32_t r = 0; r < strip_rows; ++r) out[i * strip_rows + r] = out[2 * i * strip_rows + r] + out[(2 * i + 1) * strip_rows + r];
  }
}

}  // namespace

void prepare_grouped(Step& s, std::initializer_list<const Matrix*> weights, Buffer buffer, const float* x, uint32_t rows, bool fine) {
  bool floats = false, ints = false;
  for (const Matrix* w : weights) (uses_int8(s.cpu, *w) ? ints : floats) = true;
  const Matrix& first = **weights.begin();
  if (floats) prepare_float(s, x, first.cols);
  if (ints) prepare_int8(s, buffer, x, rows, first.cols, two_planes(first, fine) ? 2 : 1);
}

void prepare(Step& s, std::initializer_list<const Matrix*> weights, Buffer buffer, const float* x, uint32_t rows, bool fine) {
  s.cpu.counts.assign(1, rows);
  s.cpu.order.resize(rows);
  for (uint32_t r = 0; r < rows; ++r) s.cpu.order[r] = r;
  prepare_grouped(s, weights, buffer, x, rows, fine);
}

void compute_strip(Step& s, uint32_t thread, const Matrix& w, uint32_t expert, uint32_t strip, uint32_t group, float* out) {
  const uint64_t row = uint64_t(strip) * strip_rows;
  const Strip span{w.type,
                   w.begin(expert) + row * w.row_stride,
                   w.row_stride,
                   w.scales ? w.scales + expert * w.scale_expert_stride + row * w.scale_row_stride : nullptr,
                   w.scale_row_stride,
                   rows_in_strip(w, strip),
                   w.cols};
  std::byte* scratch = s.cpu.scratch[thread].strip.as<std::byte>();
  if (!uses_int8(s.cpu, w)) {
    const PreparedRows::Group& g = s.cpu.float_rows.groups[group];
    return s.cpu.kernels.strip_f32(span, &s.cpu.float_rows.rows[g.begin], g.count, out, scratch);
  }
  // Tiles are shared between threads, results are not: each thread writes through its own copy of the descriptors.
  constexpr uint32_t most = 64;
  QuantTile local[most];
  const PreparedRows::Group& g = s.cpu.int8_rows.groups[group];
  float* results = out;
  for (uint32_t done = 0, n = 0; done < g.tile_count; done += n) {
    for (n = 0; n < most && done + n < g.tile_count; ++n) {
      local[n] = s.cpu.int8_rows.tiles[g.tile_begin + done + n];
      local[n].out = out;
      out += size_t(local[n].tokens) * strip_rows;
    }
    s.cpu.kernels.strip_q8(span, local, n, scratch);
  }
  if (s.cpu.int8_rows.planes == 2) fold(results, g.count / 2);
}

namespace {

void deliver(const Target& t, uint32_t strip, uint32_t rows, const float* from) {
  const uint32_t first = strip * strip_rows, count = rows_in_strip(*t.w, strip);
  for (uint32_t r = 0; r < rows; ++r) {
    float* to = t.out + r * t.stride + first;
    for (uint32_t n = 0; n < count; ++n) {
      const float value = from[size_t(r) * strip_rows + n] + (t.bias ? t.bias[first + n] : 0.0f);
      to[n] = t.add ? to[n] + value : value;
    }
  }
}

}  // namespace

void dense(Step& s, Buffer buffer, const float* x, uint32_t rows, std::initializer_list<Target> targets, bool fine) {
  const Target* all = targets.begin();
  const size_t n = targets.size();
  prepare(s, {all[0].w, all[n > 1 ? 1 : 0].w, all[n > 2 ? 2 : 0].w}, buffer, x, rows, fine);  // at most q, k and v
  uint32_t strips = 0;
  double work = 0.0;
  for (const Target& t : targets) {
    strips += strips_of(*t.w);
    work += 2.0 * t.w->rows * t.w->cols * rows;
  }
  s.reserve(all[0].w->cols, size_t(rows) * strip_rows);
  s.parallel(strips, strip_grain, work, [&](uint32_t thread, uint32_t item) {
    const Target* t = targets.begin();
    for (; item >= strips_of(*t->w); ++t) item -= strips_of(*t->w);
    float* out = s.cpu.scratch[thread].out.as<float>();
    compute_strip(s, thread, *t->w, 0, item, 0, out);
    deliver(*t, item, rows, out);
  });
}

}  // namespace hearth::cpu
