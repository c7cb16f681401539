// CPU: QKV with rope and store, and paged attention. Keys of a KV head lie [head_dim][slot] in a block, so that 16
// neighbouring positions fill a register; values lie [slot][head_dim]. KV is float32 in exact, f16 in fast.
#include <algorithm>
#include <cmath>

#include "backend/cpu/matmul.h"
#include "backend/half.h"

namespace hearth::cpu {
namespace {

/// Angles of this step's rows, once per rope table. The angle is a float32 product, as in the published code.
const RopeAngles& angles_of(Step& s, RopeRef ref) {
  RopeAngles& a = s.cpu.angles[ref.id];
  if (a.ready) return a;
  const RopeTable& rope = s.cpu.resources.rope(ref);
  const uint32_t pairs = rope.dims / 2;
  a.cosine.resize(size_t(s.rows.rows) * pairs);
  a.sine.resize(a.cosine.size());
  s.parallel(s.rows.rows, 4, 80.0 * s.rows.rows * pairs, [&](uint32_t, uint32_t r) {
    for (uint32_t i = 0; i < pairs; ++i) {
      const double angle = static_cast<float>(s.inputs.positions[r]) * rope.inverse_frequency[i];
      a.cosine[size_t(r) * pairs + i] = static_cast<float>(std::cos(angle) * rope.concentration);
      a.sine[size_t(r) * pairs + i] = static_cast<float>(std::sin(angle) * rope.concentration);
    }
  });
  a.ready = true;
  return a;
}

void rotate(const RopeTable& rope, const RopeAngles& angles, uint32_t row, float* head) {
  const uint32_t pairs = rope.dims / 2;
  const bool half = rope.layout == RopeLayout::half_split;
  for (uint32_t i = 0; i < pairs; ++i) {
    const float c = angles.cosine[size_t(row) * pairs + i], n = angles.sine[size_t(row) * pairs + i];
    float &a = head[half ? i : 2 * i], &b = head[half ? i + pairs : 2 * i + 1];
    const float x = a, y = b;
    a = x * c - y * n;
    b = y * c + x * n;
  }
}

template <typename Element>
void put(std::byte* plane, size_t at, float value) {
  auto* to = reinterpret_cast<Element*>(plane) + at;
  if constexpr (sizeof(Element) == 2) *to = float_to_half(value);
  else *to = value;
}

/// Stores one row's keys and values of all KV heads at `slot` of a block.
template <typename Element>
void store(std::byte* keys, std::byte* values, const QkvRopeStore& op, uint32_t block_size, uint32_t slot, const float* k, const float* v) {
  for (uint32_t h = 0; h < op.kv_heads; ++h) {
    const size_t head = size_t(h) * op.head_dim * block_size;
    for (uint32_t d = 0; d < op.head_dim; ++d) {
      put<Element>(keys, head + size_t(d) * block_size + slot, k[h * op.head_dim + d]);
      put<Element>(values, head + size_t(slot) * op.head_dim + d, v[h * op.head_dim + d]);
    }
  }
}

/// Merges the splits of one head in order, the sink last to join and without a value; writes head_dim results.
void merge(const float* partial, size_t split_stride, uint32_t splits, uint32_t head_dim, const float* sink, float* out) {
  float top = sink ? *sink : -INFINITY;
  for (uint32_t i = 0; i < splits; ++i) top = std::max(top, partial[i * split_stride]);
  float total = 0.0f;
  std::fill_n(out, head_dim, 0.0f);
  for (uint32_t i = 0; i < splits; ++i) {
    const float* p = partial + i * split_stride;
    const float weight = std::exp(p[0] - top);
    total += weight * p[1];
    for (uint32_t d = 0; d < head_dim; ++d) out[d] += weight * p[2 + d];
  }
  if (sink) total += std::exp(*sink - top);
  for (uint32_t d = 0; d < head_dim; ++d) out[d] /= total;
}

/// Shape of the work of one attention op.
struct Plan {
  const Attention& op;
  const BufferState& q;
  uint32_t block_size, per_kv;
  size_t plane;    // bytes of one KV head's plane in a block
  size_t partial;  // floats of one (row, KV head, split)
};

void attend_split(Step& s, const Plan& p, uint32_t thread, uint32_t row, uint32_t kv_head, uint32_t split, float* out) {
  const uint32_t position = s.inputs.positions[row], begin = first_seen(position, p.op.window);
  const uint32_t first = std::max(begin, split * kv_split), last = std::min(position, split * kv_split + kv_split - 1);
  const uint32_t blocks = last / p.block_size - first / p.block_size + 1;
  const size_t scores = size_t(p.per_kv) * (kv_split + 16);
  auto* memory = s.cpu.scratch[thread].attention.as<std::byte>();
  auto** keys = reinterpret_cast<const std::byte**>(memory + scores * sizeof(float));
  auto** values = keys + kv_split + 1;
  for (uint32_t i = 0; i < blocks; ++i) {
    const uint32_t block = block_of(s.inputs, row, p.op.group, (first / p.block_size + i) * p.block_size, p.block_size);
    keys[i] = s.cpu.kv.keys(block, p.op.layer_in_group) + kv_head * p.plane;
    values[i] = s.cpu.kv.values(block, p.op.layer_in_group) + kv_head * p.plane;
  }
  const AttendJob job{p.q.row(row) + size_t(kv_head) * p.per_kv * p.op.head_dim, p.per_kv, p.op.head_dim, p.block_size,
                      p.op.scale, first, last, keys, values, reinterpret_cast<float*>(memory), out};
  s.cpu.precision == Precision::fast ? s.cpu.kernels.attend_f16(job) : s.cpu.kernels.attend_f32(job);
}

void merge_heads(Step& s, const Plan& p, uint32_t row, uint32_t kv_head, uint32_t splits, const float* partial) {
  const float* sinks = s.cpu.resources.values(p.op.sinks);
  float* out = s.cpu.resources.buffer(p.op.out).row(row);
  for (uint32_t i = 0; i < p.per_kv; ++i) {
    const uint32_t head = kv_head * p.per_kv + i;
    merge(partial + i * size_t(p.op.head_dim + 2), p.partial, splits, p.op.head_dim, sinks ? sinks + head : nullptr,
          out + size_t(head) * p.op.head_dim);
  }
}

}  // namespace

void run(Step& s, const QkvRopeStore& op) {
  const Resources& res = s.cpu.resources;
  BufferState& q = s.cpu.resources.buffer(op.q);
  const uint32_t rows = s.rows.rows, width = op.kv_heads * op.head_dim, size = s.cpu.kv.shape().block_size;
  float* k = s.cpu.temporary.need_as<float>(size_t(rows) * width * 2);
  float* v = k + size_t(rows) * width;
  dense(s, op.x, res.buffer(op.x).row(0), rows,
        {{&res.weight(op.wq), res.values(op.bq), q.row(0), q.cols},
         {&res.weight(op.wk), res.values(op.bk), k, width},
         {&res.weight(op.wv), res.values(op.bv), v, width}});
  const RopeTable* rope = op.rope && res.rope(op.rope).layout != RopeLayout::none ? &res.rope(op.rope) : nullptr;
  const RopeAngles* angles = rope ? &angles_of(s, op.rope) : nullptr;
  const float *q_norm = res.values(op.q_norm), *k_norm = res.values(op.k_norm);
  s.parallel(rows, 4, 8.0 * rows * (q.cols + width), [&](uint32_t, uint32_t r) {
    auto turn = [&](float* head, const float* norm) {
      if (norm) s.cpu.kernels.norm(head, norm, op.norm_eps, op.head_dim, head);
      if (rope) rotate(*rope, *angles, r, head);
    };
    for (uint32_t h = 0; h < op.heads; ++h) turn(q.row(r) + size_t(h) * op.head_dim, q_norm);
    for (uint32_t h = 0; h < op.kv_heads; ++h) turn(k + size_t(r) * width + h * op.head_dim, k_norm);
    const uint32_t position = s.inputs.positions[r], block = block_of(s.inputs, r, op.group, position, size);
    std::byte *keys = s.cpu.kv.keys(block, op.layer_in_group), *values = s.cpu.kv.values(block, op.layer_in_group);
    const float *from_k = k + size_t(r) * width, *from_v = v + size_t(r) * width;
    if (s.cpu.precision == Precision::fast) store<uint16_t>(keys, values, op, size, position % size, from_k, from_v);
    else store<float>(keys, values, op, size, position % size, from_k, from_v);
  });
}

void run(Step& s, const Attention& op) {
  const uint32_t rows = s.rows.rows, size = s.cpu.kv.shape().block_size, per_kv = op.heads / op.kv_heads;
  const size_t element = s.cpu.precision == Precision::fast ? sizeof(uint16_t) : sizeof(float);
  const Plan p{op, s.cpu.resources.buffer(op.q), size, per_kv, size_t(op.head_dim) * size * element, size_t(per_kv) * (op.head_dim + 2)};
  uint32_t most = 1;  // splits of the longest row
  double keys = 0.0;
  for (uint32_t r = 0; r < rows; ++r) {
    const uint32_t position = s.inputs.positions[r], first = first_seen(position, op.window);
    most = std::max(most, position / kv_split - first / kv_split + 1);
    keys += position - first + 1;
  }
  const double work = 4.0 * keys * op.heads * op.head_dim;
  auto first_split = [&](uint32_t r) { return first_seen(s.inputs.positions[r], op.window) / kv_split; };
  auto splits = [&](uint32_t r) { return s.inputs.positions[r] / kv_split - first_split(r) + 1; };

  const size_t scratch = size_t(per_kv) * (kv_split + 16) * sizeof(float) + 2 * size_t(kv_split + 1) * sizeof(void*);
  for (ThreadScratch& t : s.cpu.scratch) t.attention.need(scratch);

  const uint32_t pairs = rows * op.kv_heads;
  if (pairs >= 4 * s.cpu.pool.threads() || most == 1) {
    float* memory = s.cpu.partial.need_as<float>(s.cpu.pool.threads() * most * p.partial);
    s.parallel(pairs, 1 + pairs / (s.cpu.pool.threads() * 32), work, [&](uint32_t thread, uint32_t item) {
      const uint32_t r = item / op.kv_heads, kv_head = item % op.kv_heads;
      float* partial = memory + thread * most * p.partial;
      for (uint32_t i = 0; i < splits(r); ++i) attend_split(s, p, thread, r, kv_head, first_split(r) + i, partial + i * p.partial);
      merge_heads(s, p, r, kv_head, splits(r), partial);
    });
    return;
  }
  // Few rows over long contexts: the splits themselves are shared out. The arithmetic is the same.
  float* memory = s.cpu.partial.need_as<float>(size_t(pairs) * most * p.partial);
  s.parallel(pairs * most, 1, work, [&](uint32_t thread, uint32_t item) {
    const uint32_t pair = item / most, i = item % most, r = pair / op.kv_heads;
    if (i < splits(r)) attend_split(s, p, thread, r, pair % op.kv_heads, first_split(r) + i, memory + size_t(item) * p.partial);
  });
  for (uint32_t pair = 0; pair < pairs; ++pair) {
    const uint32_t r = pair / op.kv_heads;
    merge_heads(s, p, r, pair % op.kv_heads, splits(r), memory + size_t(pair) * most * p.partial);
  }
}

}  // namespace hearth::cpu
