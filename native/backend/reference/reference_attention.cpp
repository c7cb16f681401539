// Reference: QKV with rope and store, and paged causal attention with window and sinks (ENGINE reference 1.3, 1.4).
#include <algorithm>
#include <cmath>

#include "backend/reference/reference_ops.h"

namespace hearth::reference {
namespace {

/// Rotates one head in place. The angle is a float32 product, as in the published code; its cosine is exact.
void rotate(const RopeTable& rope, uint32_t position, float* head) {
  const uint32_t pairs = rope.dims / 2;
  for (uint32_t i = 0; i < pairs && rope.layout != RopeLayout::none; ++i) {
    const float angle = static_cast<float>(position) * rope.inverse_frequency[i];
    const double cosine = std::cos(double(angle)) * rope.concentration, sine = std::sin(double(angle)) * rope.concentration;
    const bool half = rope.layout == RopeLayout::half_split;
    float &a = head[half ? i : 2 * i], &b = head[half ? i + pairs : 2 * i + 1];
    const double x = a, y = b;
    a = static_cast<float>(x * cosine - y * sine);
    b = static_cast<float>(y * cosine + x * sine);
  }
}

/// Element 0 of (kv head, slot) in a plane laid out [kv_heads][block_size][head_dim].
float* slot(std::byte* plane, const KvShape& shape, uint32_t head, uint32_t index) {
  return reinterpret_cast<float*>(plane) + (size_t(head) * shape.block_size + index) * shape.head_dim;
}

}  // namespace

void run(Context& c, const QkvRopeStore& op) {
  const BufferState& x = c.resources.buffer(op.x);
  BufferState& q = c.resources.buffer(op.q);
  const uint32_t rows = c.rows.rows, width = op.kv_heads * op.head_dim, size = c.kv.shape().block_size;
  std::vector<float> k(size_t(rows) * width), v(k.size());
  matmul(c.resources.weight(op.wq), 0, c.resources.values(op.bq), x.row(0), x.cols, rows, q.row(0), q.cols);
  matmul(c.resources.weight(op.wk), 0, c.resources.values(op.bk), x.row(0), x.cols, rows, k.data(), width);
  matmul(c.resources.weight(op.wv), 0, c.resources.values(op.bv), x.row(0), x.cols, rows, v.data(), width);
  for (uint32_t r = 0; r < rows; ++r) {
    const uint32_t position = c.inputs.positions[r], block = block_of(c.inputs, r, op.group, position, size);
    const float *q_norm = c.resources.values(op.q_norm), *k_norm = c.resources.values(op.k_norm);
    for (uint32_t h = 0; q_norm && h < op.heads; ++h) {
      norm(q.row(r) + h * op.head_dim, q_norm, op.norm_eps, op.head_dim, q.row(r) + h * op.head_dim);
    }
    for (uint32_t h = 0; k_norm && h < op.kv_heads; ++h) {
      float* head = &k[size_t(r) * width + h * op.head_dim];
      norm(head, k_norm, op.norm_eps, op.head_dim, head);
    }
    if (op.rope) {
      const RopeTable& rope = c.resources.rope(op.rope);
      for (uint32_t h = 0; h < op.heads; ++h) rotate(rope, position, q.row(r) + h * op.head_dim);
      for (uint32_t h = 0; h < op.kv_heads; ++h) rotate(rope, position, &k[size_t(r) * width + h * op.head_dim]);
    }
    for (uint32_t h = 0; h < op.kv_heads; ++h) {
      const size_t from = size_t(r) * width + h * op.head_dim;
      std::copy_n(&k[from], op.head_dim, slot(c.kv.keys(block, op.layer_in_group), c.kv.shape(), h, position % size));
      std::copy_n(&v[from], op.head_dim, slot(c.kv.values(block, op.layer_in_group), c.kv.shape(), h, position % size));
    }
  }
}

void run(Context& c, const Attention& op) {
  const BufferState& q = c.resources.buffer(op.q);
  BufferState& out = c.resources.buffer(op.out);
  const float* sinks = c.resources.values(op.sinks);
  const uint32_t size = c.kv.shape().block_size, per_kv = op.heads / op.kv_heads;
  std::vector<double> scores, sum(op.head_dim);
  for (uint32_t r = 0; r < c.rows.rows; ++r) {
    const uint32_t position = c.inputs.positions[r], first = first_seen(position, op.window);
    for (uint32_t h = 0; h < op.heads; ++h) {
      const float* query = q.row(r) + h * op.head_dim;
      auto plane_slot = [&](bool values, uint32_t j) {
        const uint32_t block = block_of(c.inputs, r, op.group, j, size);
        std::byte* plane = values ? c.kv.values(block, op.layer_in_group) : c.kv.keys(block, op.layer_in_group);
        return slot(plane, c.kv.shape(), h / per_kv, j % size);
      };
      scores.clear();
      double highest = sinks ? double(sinks[h]) : -INFINITY;
      for (uint32_t j = first; j <= position; ++j) {
        const float* key = plane_slot(false, j);
        double dot = 0.0;
        for (uint32_t d = 0; d < op.head_dim; ++d) dot += double(query[d]) * key[d];
        scores.push_back(dot * op.scale);
        highest = std::max(highest, scores.back());
      }
      double total = sinks ? std::exp(sinks[h] - highest) : 0.0;
      std::fill(sum.begin(), sum.end(), 0.0);
      for (uint32_t j = first; j <= position; ++j) {
        const double weight = std::exp(scores[j - first] - highest);
        const float* value = plane_slot(true, j);
        total += weight;
        for (uint32_t d = 0; d < op.head_dim; ++d) sum[d] += weight * value[d];
      }
      for (uint32_t d = 0; d < op.head_dim; ++d) out.row(r)[h * op.head_dim + d] = static_cast<float>(sum[d] / total);
    }
  }
}

}  // namespace hearth::reference
