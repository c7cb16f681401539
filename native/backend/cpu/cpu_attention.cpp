// CPU: paged attention. It cuts an op's work into tiles of rows, KV heads and splits of positions, and shares them out;
// the arithmetic is the kernels'. Which way the work is cut changes no bytes.
#include <algorithm>

#include "backend/cpu/matmul.h"

namespace hearth::cpu {
namespace {

// Rows that share each split of keys and values while it is in the second-level cache.
constexpr uint32_t tile_rows = 16;

/// What the parts of one attention op have in common.
struct Plan {
  const Attention& op;
  const BufferState& q;
  const AttentionKernels& kernels;
  const AttentionKernels::Kv& kv;
  uint32_t block_size, per_kv;
  size_t state, scratch;  // floats: of one row's states in one KV head; of attend's scratch
};

/// Up to tile_rows rows of one sequence each; returns the positions that all rows see, and those of the longest tile.
struct Work { uint64_t all = 0, longest = 0; };
Work cut(const StepInputs& in, uint32_t rows, uint32_t window, std::vector<AttentionTile>& tiles) {
  Work work;
  tiles.clear();
  for (uint32_t r = 0; r < rows;) {
    AttentionTile tile{r, 0, first_seen(in.positions[r], window) / kv_split, 0};
    uint64_t seen = 0;
    for (; r < rows && tile.rows < tile_rows && in.sequence[r] == in.sequence[tile.row]; ++r, ++tile.rows) {
      seen += in.positions[r] - first_seen(in.positions[r], window) + 1;
    }
    tile.splits = in.positions[r - 1] / kv_split - tile.first_split + 1;
    tiles.push_back(tile);
    work.all += seen;
    work.longest = std::max(work.longest, seen);
  }
  return work;
}

/// Folds one split of a tile into the states of its rows.
void attend_split(Step& s, const Plan& p, uint32_t thread, const AttentionTile& tile, uint32_t kv_head, uint32_t split, float* states) {
  const uint32_t* positions = &s.inputs.positions[tile.row];
  auto* memory = s.cpu.scratch[thread].attention.as<float>();
  auto** keys = reinterpret_cast<const std::byte**>(memory + (p.scratch + 1) / 2 * 2);
  auto** values = keys + kv_split / p.block_size;
  // Only blocks that a row of the tile sees exist; the others are not even looked up.
  const uint32_t begin = split * kv_split, first = std::max(begin, first_seen(positions[0], p.op.window));
  const uint32_t last = std::min(begin + kv_split - 1, positions[tile.rows - 1]);
  for (uint32_t b = first / p.block_size; b <= last / p.block_size; ++b) {
    const uint32_t block = block_of(s.inputs, tile.row, p.op.group, b * p.block_size, p.block_size);
    keys[b - begin / p.block_size] = s.cpu.kv.keys(block, p.op.layer_in_group, kv_head);
    values[b - begin / p.block_size] = s.cpu.kv.values(block, p.op.layer_in_group, kv_head);
  }
  p.kv.attend({p.q.row(tile.row) + size_t(kv_head) * p.per_kv * p.op.head_dim, p.q.cols, positions, tile.rows, p.per_kv,
               p.op.head_dim, p.block_size, p.op.window, split, p.op.scale, keys, values, memory, states});
}

void clear(const Plan& p, float* states, uint32_t rows) {
  for (uint32_t i = 0; i < rows * p.per_kv; ++i) states[size_t(i) * state_floats(p.op.head_dim) + 1] = 0.0f;
}

void finish(Step& s, const Plan& p, const AttentionTile& tile, uint32_t kv_head, const float* states) {
  const float* sinks = s.cpu.resources.values(p.op.sinks);
  for (uint32_t r = 0; r < tile.rows; ++r) {
    float* out = s.cpu.resources.buffer(p.op.out).row(tile.row + r);
    for (uint32_t i = 0; i < p.per_kv; ++i, states += state_floats(p.op.head_dim)) {
      const uint32_t head = kv_head * p.per_kv + i;
      p.kernels.finish(states, sinks ? sinks + head : nullptr, p.op.head_dim, out + size_t(head) * p.op.head_dim);
    }
  }
}

/// A tile and a KV head are one item: each split is folded as it comes.
void by_tiles(Step& s, const Plan& p, double work) {
  const std::vector<AttentionTile>& tiles = s.cpu.attention_tiles;
  float* memory = s.cpu.partial.need_as<float>(s.cpu.pool.threads() * tile_rows * p.state);
  s.parallel(static_cast<uint32_t>(tiles.size()) * p.op.kv_heads, 1, work, [&](uint32_t thread, uint32_t item) {
    const AttentionTile& tile = tiles[item / p.op.kv_heads];
    const uint32_t kv_head = item % p.op.kv_heads;
    float* states = memory + thread * tile_rows * p.state;
    clear(p, states, tile.rows);
    for (uint32_t i = 0; i < tile.splits; ++i) attend_split(s, p, thread, tile, kv_head, tile.first_split + i, states);
    finish(s, p, tile, kv_head, states);
  });
}

/// Few rows over long contexts: the splits themselves are shared out, and folded in order afterwards.
void by_splits(Step& s, const Plan& p, double work) {
  const std::vector<AttentionTile>& tiles = s.cpu.attention_tiles;
  uint32_t most = 0, rows = 0;
  for (const AttentionTile& t : tiles) most = std::max(most, t.splits), rows = std::max(rows, t.rows);
  const auto pairs = static_cast<uint32_t>(tiles.size()) * p.op.kv_heads;
  const size_t stride = rows * p.state;
  float* memory = s.cpu.partial.need_as<float>(size_t(pairs) * most * stride);
  s.parallel(pairs * most, 1, work, [&](uint32_t thread, uint32_t item) {
    const AttentionTile& tile = tiles[item / most / p.op.kv_heads];
    if (item % most >= tile.splits) return;
    float* states = memory + item * stride;
    clear(p, states, tile.rows);
    attend_split(s, p, thread, tile, item / most % p.op.kv_heads, tile.first_split + item % most, states);
  });
  s.parallel(pairs, 1, 2.0 * pairs * most * stride, [&](uint32_t, uint32_t pair) {
    const AttentionTile& tile = tiles[pair / p.op.kv_heads];
    float* states = memory + size_t(pair) * most * stride;
    const uint32_t count = tile.rows * p.per_kv, floats = state_floats(p.op.head_dim);
    for (uint32_t i = 1; i < tile.splits; ++i) {
      for (uint32_t n = 0; n < count; ++n) {
        const float* later = states + i * stride + size_t(n) * floats;
        if (later[1] != 0.0f) p.kernels.fold(later, states + size_t(n) * floats, p.op.head_dim);  // 0: the row saw nothing there
      }
    }
    finish(s, p, tile, pair % p.op.kv_heads, states);
  });
}

}  // namespace

void run(Step& s, const Attention& op) {
  const uint32_t size = s.cpu.kv.shape().block_size, per_kv = op.heads / op.kv_heads;
  const Plan p{op, s.cpu.resources.buffer(op.q), s.cpu.kernels.attention, kv_kernels(s.cpu), size, per_kv,
               size_t(per_kv) * state_floats(op.head_dim), attend_scratch(per_kv, op.head_dim)};
  const size_t bytes = (p.scratch + 2) * sizeof(float) + 2 * size_t(kv_split / size) * sizeof(void*);
  for (ThreadScratch& t : s.cpu.scratch) t.attention.need(bytes);
  const Work seen = cut(s.inputs, s.rows.rows, op.window, s.cpu.attention_tiles);
  const double work = 4.0 * double(seen.all) * op.heads * op.head_dim;
  // A tile that is a large part of the whole would keep one thread busy after the others are done.
  const bool uneven = seen.longest * 8 * s.cpu.pool.threads() > seen.all * op.kv_heads;
  uneven && seen.longest > 4 * kv_split && s.cpu.pool.threads() > 1 ? by_splits(s, p, work) : by_tiles(s, p, work);
}

}  // namespace hearth::cpu
