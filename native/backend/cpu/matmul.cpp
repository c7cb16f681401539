// Preparation of activation rows and the call of the strip kernels.
#include "backend/cpu/matmul.h"

namespace hearth::cpu {
namespace {

/// int8 forms of rows are dense records: codes, then scale, correction, half, sum, words and half_words per block.
size_t record_bytes(uint32_t cols) { return (size_t(cols) + size_t(cols) / 32 * 24 + 63) / 64 * 64; }

QuantRow record(std::byte* p, uint32_t cols) {
  auto* scale = reinterpret_cast<float*>(p + cols);
  const uint32_t blocks = cols / 32;
  auto* correction = reinterpret_cast<int32_t*>(scale + blocks);
  return {reinterpret_cast<int8_t*>(p), scale, correction, correction + blocks, reinterpret_cast<float*>(correction + 2 * blocks),
          correction + 3 * blocks, correction + 4 * blocks};
}

void quantise_rows(Step& s, QuantisedRows& to, const float* x, uint32_t rows, uint32_t cols, uint32_t planes, const int32_t* experts) {
  if (to.rows == rows && to.cols == cols && to.planes == planes) return;
  to.rows = 0;
  to.memory.need(record_bytes(cols) * rows * planes);
  to.cols = cols, to.planes = planes;
  s.reserve(cols, 0);
  s.parallel(rows, 4, 10.0 * rows * cols * planes, [&](uint32_t thread, uint32_t r) {
    if (experts && experts[r] < 0) return;
    const float* row = x + size_t(r) * cols;
    const QuantRow first = to.row(r * planes);
    s.cpu.kernels.quantise(row, cols, first);
    if (planes == 1) return;
    float* rest = s.cpu.scratch[thread].strip.as<float>();
    for (uint32_t c = 0; c < cols; ++c) rest[c] = row[c] - first.scale[c / 32] * static_cast<float>(first.q[c]);
    s.cpu.kernels.quantise(rest, cols, to.row(r * planes + 1));
  });
  if (!experts) to.rows = rows;
}

/// Interleaves the rows of one tile block by block.
void pack_tile(const QuantTile& tile, const uint32_t* index, QuantisedRows& from, bool with_words) {
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
      if (!with_words) continue;
      const_cast<int32_t*>(tile.words)[at] = row.words[b];
      const_cast<int32_t*>(tile.half_words)[at] = row.half_words[b];
    }
  }
}

/// A tile's arrays at `p`, laid out as record() with `tokens` rows side by side.
QuantTile tile_at(std::byte* p, uint32_t cols, uint32_t tokens) {
  const QuantRow r = record(p, cols * tokens);
  return {r.q, r.scale, r.correction, r.half, r.sum, r.words, r.half_words, tokens, nullptr};
}

}  // namespace

QuantRow QuantisedRows::row(uint32_t r) { return record(memory.as<std::byte>() + record_bytes(cols) * r, cols); }

bool uses_int8(const CpuState& cpu, const Matrix& w) {
  return cpu.precision == Precision::fast && w.type != DType::f32 && w.type != DType::f16 && w.type != DType::bf16;
}

namespace {

void set_groups(const CpuState& cpu, uint32_t planes, bool int8, PreparedRows& out) {
  const uint32_t tile_tokens = cpu.kernels.tile_tokens;
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

void prepare_int8(Step& s, Buffer buffer, const float* x, uint32_t rows, uint32_t cols, uint32_t planes, const int32_t* experts) {
  PreparedRows& out = s.cpu.int8_rows;
  set_groups(s.cpu, planes, true, out);
  QuantisedRows& source = s.cpu.quantised[buffer.id];
  quantise_rows(s, source, x, rows, cols, planes, experts);
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
             [&](uint32_t, uint32_t i) { pack_tile(out.tiles[i], &records[out.tile_rows[i]], source, s.cpu.kernels.with_words); });
}

}  // namespace

void prepare_grouped(Step& s, std::initializer_list<const Matrix*> weights, Buffer buffer, const float* x, uint32_t rows, bool fine,
                     const int32_t* experts) {
  bool floats = false, ints = false;
  for (const Matrix* w : weights) (uses_int8(s.cpu, *w) ? ints : floats) = true;
  const Matrix& first = **weights.begin();
  if (floats) prepare_float(s, x, first.cols);
  if (ints) prepare_int8(s, buffer, x, rows, first.cols, two_planes(first, fine) ? 2 : 1, experts);
}

void prepare(Step& s, std::initializer_list<const Matrix*> weights, Buffer buffer, const float* x, uint32_t rows, bool fine) {
  s.cpu.counts.assign(1, rows);
  s.cpu.order.resize(rows);
  for (uint32_t r = 0; r < rows; ++r) s.cpu.order[r] = r;
  prepare_grouped(s, weights, buffer, x, rows, fine);
}

namespace {

Strip strip_at(const Matrix& w, uint32_t expert, uint32_t row, uint32_t rows) {
  return {w.type,
          w.begin(expert) + uint64_t(row) * w.row_stride,
          w.row_stride,
          w.scales ? w.scales_begin(expert) + uint64_t(row) * w.scale_row_stride : nullptr,
          w.scale_row_stride,
          rows,
          w.cols};
}

/// One strip for all of a group's records (rows, or two planes of each): out[i * strip_rows + r].
void compute_strip(Step& s, uint32_t thread, const Strip& strip, const PreparedRows::Group& g, bool int8, float* out) {
  std::byte* scratch = s.cpu.scratch[thread].strip.as<std::byte>();
  if (!int8) return s.cpu.kernels.strip_f32(strip, &s.cpu.float_rows.rows[g.begin], g.count, out, scratch);
  // Tiles are shared between threads, results are not: each thread writes through its own copy of the descriptors.
  constexpr uint32_t most = 64;
  QuantTile local[most];
  for (uint32_t done = 0, n = 0; done < g.tile_count; done += n) {
    for (n = 0; n < most && done + n < g.tile_count; ++n) {
      local[n] = s.cpu.int8_rows.tiles[g.tile_begin + done + n];
      local[n].out = out;
      out += size_t(local[n].tokens) * strip_rows;
    }
    s.cpu.kernels.strip_q8(strip, local, n, scratch);
  }
}

/// Two strips side by side where the kernels have no panel or the matrix ends within the panel's first strip.
void compute_by_strips(Step& s, uint32_t thread, const Matrix& w, uint32_t expert, uint32_t row, uint32_t rows,
                       const PreparedRows::Group& g, bool int8, float* out) {
  float* part = s.cpu.scratch[thread].part.as<float>();
  for (uint32_t half = 0; half * strip_rows < rows; ++half) {
    const uint32_t left = rows - half * strip_rows;
    compute_strip(s, thread, strip_at(w, expert, row + half * strip_rows, left < strip_rows ? left : strip_rows), g, int8, part);
    for (uint32_t i = 0; i < g.count; ++i) std::memcpy(out + i * panel_rows + half * strip_rows, part + i * strip_rows, strip_rows * sizeof(float));
  }
}

/// Adds the results of the two planes: out[2i] + out[2i + 1] becomes out[i].
void fold(float* out, uint32_t rows, uint32_t width) {
  for (uint32_t i = 0; i < rows; ++i) {
    for (uint32_t r = 0; r < width; ++r) out[i * width + r] = out[2 * i * width + r] + out[(2 * i + 1) * width + r];
  }
}

}  // namespace

void compute_unit(Step& s, uint32_t thread, const Matrix& w, uint32_t expert, Cut cut, uint32_t unit, uint32_t group, float* out,
                  const Ahead& ahead) {
  const bool int8 = uses_int8(s.cpu, w);
  const PreparedRows& prepared = int8 ? s.cpu.int8_rows : s.cpu.float_rows;
  const PreparedRows::Group& g = prepared.groups[group];
  const uint32_t row = unit * cut.width, rows = cut.rows_in(w, unit);
  if (cut.width == strip_rows) {
    compute_strip(s, thread, strip_at(w, expert, row, rows), g, int8, out);
  } else if (int8 && s.cpu.kernels.panel_q8 && rows > strip_rows) {
    std::byte* scratch = s.cpu.scratch[thread].strip.as<std::byte>();
    s.cpu.kernels.panel_q8(strip_at(w, expert, row, rows), &prepared.tiles[g.tile_begin], g.tile_count, out, scratch, ahead);
  } else {
    compute_by_strips(s, thread, w, expert, row, rows, g, int8, out);
  }
  if (int8 && prepared.planes == 2) fold(out, g.count / 2, cut.width);
}

Ahead unit_bytes(const Matrix& w, uint32_t expert, Cut cut, uint32_t unit) {
  if (expert >= w.experts || unit >= cut.units(w)) return {};
  return {w.begin(expert) + size_t(unit) * cut.width * w.row_stride, cut.rows_in(w, unit) * w.row_stride};
}

namespace {

void deliver(const Target& t, Cut cut, uint32_t unit, uint32_t rows, const float* from) {
  const uint32_t first = unit * cut.width, count = cut.rows_in(*t.w, unit);
  for (uint32_t r = 0; r < rows; ++r, from += cut.width) {
    float* to = t.out + r * t.stride + first;
    for (uint32_t n = 0; n < count; ++n) {
      const float value = from[n] + (t.bias ? t.bias[first + n] : 0.0f);
      to[n] = t.add ? to[n] + value : value;
    }
  }
}

}  // namespace

void dense(Step& s, Buffer buffer, const float* x, uint32_t rows, std::initializer_list<Target> targets, bool fine) {
  const Target* all = targets.begin();
  const size_t n = targets.size();
  prepare(s, {all[0].w, all[n > 1 ? 1 : 0].w, all[n > 2 ? 2 : 0].w}, buffer, x, rows, fine);  // at most q, k and v
  const Cut cut = cut_for(s.cpu, *all[0].w, rows);
  uint32_t units = 0;
  double work = 0.0;
  for (const Target& t : targets) {
    units += cut.units(*t.w);
    work += 2.0 * t.w->rows * t.w->cols * rows;
  }
  s.reserve(all[0].w->cols, size_t(rows) * cut.width);
  s.parallel(units, unit_grain, work, [&](uint32_t thread, uint32_t item) {
    const Target* t = targets.begin();
    for (; item >= cut.units(*t->w); ++t) item -= cut.units(*t->w);
    float* out = s.cpu.scratch[thread].out.as<float>();
    compute_unit(s, thread, *t->w, 0, cut, item, 0, out, unit_bytes(*t->w, 0, cut, item + 1));
    deliver(*t, cut, item, rows, out);
  });
}

}  // namespace hearth::cpu
