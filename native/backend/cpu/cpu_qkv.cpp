// CPU: queries, keys and values of a step's rows: projected, rotated, and keys and values stored in the paged KV.
#include <cmath>

#include "backend/cpu/matmul.h"

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
  const AttentionKernels& kernels = s.cpu.kernels.attention;
  const AttentionKernels::Kv& kv = kv_kernels(s.cpu);
  auto turn = [&](uint32_t row, float* head, uint32_t count, const float* norm) {
    const uint32_t pairs = rope ? rope->dims / 2 : 0;
    const size_t at = size_t(row) * pairs;
    for (uint32_t h = 0; h < count; ++h, head += op.head_dim) {
      if (norm) s.cpu.kernels.norm(head, norm, op.norm_eps, op.head_dim, head);
      if (rope) kernels.rotate(head, &angles->cosine[at], &angles->sine[at], pairs, rope->layout == RopeLayout::half_split);
    }
  };
  s.parallel(rows, 8, 8.0 * rows * (q.cols + width), [&](uint32_t, uint32_t r) {
    float *key = k + size_t(r) * width, *value = v + size_t(r) * width;
    turn(r, q.row(r), op.heads, res.values(op.q_norm));
    turn(r, key, op.kv_heads, res.values(op.k_norm));
    const uint32_t position = s.inputs.positions[r], block = block_of(s.inputs, r, op.group, position, size);
    for (uint32_t h = 0; h < op.kv_heads; ++h, key += op.head_dim, value += op.head_dim) {
      kv.store({key, value, op.head_dim, size, position % size, s.cpu.kv.keys(block, op.layer_in_group, h),
                s.cpu.kv.values(block, op.layer_in_group, h)});
    }
  });
}

}  // namespace hearth::cpu
