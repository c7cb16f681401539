// Reference: QKV with rope and store, and paged causal attention with window and sinks (ENGINE reference 1.3, 1.4).
#include <algorithm>
#include <cmath>

#include "backend/half.h"
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

/// One position of a head's plane, whose elements lie [block_size][head_dim] and whose scales [block_size][groups].
struct Slot {
  KvType type;
  uint32_t head_dim;
  std::byte* elements;
  float* scales;  // q8 only
};

Slot slot(std::byte* plane, const KvPool& kv, uint32_t index) {
  const uint32_t dim = kv.shape().head_dim, size = kv.shape().block_size;
  const size_t element = kv.type() == KvType::q8 ? 1 : kv.type() == KvType::f16 ? 2 : 4;
  auto* scales = reinterpret_cast<float*>(plane + kv_elements_bytes(kv.type(), size, dim));
  return {kv.type(), dim, plane + size_t(index) * dim * element, scales + size_t(index) * kv_groups(dim)};
}

/// int8 with the scale max / 127 for every 32 values.
void write_q8(const Slot& to, const float* x) {
  auto* q = reinterpret_cast<int8_t*>(to.elements);
  for (uint32_t g = 0; g < kv_groups(to.head_dim); ++g) {
    const uint32_t first = g * kv_group, last = std::min(first + kv_group, to.head_dim);
    float highest = 0.0f;
    for (uint32_t d = first; d < last; ++d) highest = std::fabs(x[d]) <= highest ? highest : std::fabs(x[d]);
    if (std::any_of(x + first, x + last, [](float v) { return std::isnan(v); })) highest = NAN;
    to.scales[g] = highest / 127.0f;
    for (uint32_t d = first; d < last; ++d) {
      q[d] = std::isfinite(highest) && highest > 0.0f ? static_cast<int8_t>(std::nearbyint(x[d] * (127.0f / highest))) : int8_t(0);
    }
  }
}

void write(const Slot& to, const float* x) {
  if (to.type == KvType::q8) return write_q8(to, x);
  for (uint32_t d = 0; d < to.head_dim; ++d) {
    if (to.type == KvType::f16) reinterpret_cast<uint16_t*>(to.elements)[d] = float_to_half(x[d]);
    else reinterpret_cast<float*>(to.elements)[d] = x[d];
  }
}

float read(const Slot& from, uint32_t d) {
  if (from.type == KvType::q8) return float(reinterpret_cast<const int8_t*>(from.elements)[d]) * from.scales[d / kv_group];
  if (from.type == KvType::f16) return half_to_float(reinterpret_cast<const uint16_t*>(from.elements)[d]);
  return reinterpret_cast<const float*>(from.elements)[d];
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
      write(slot(c.kv.keys(block, op.layer_in_group, h), c.kv, position % size), &k[from]);
      write(slot(c.kv.values(block, op.layer_in_group, h), c.kv, position % size), &v[from]);
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
        const uint32_t layer = op.layer_in_group, head = h / per_kv;
        return slot(values ? c.kv.values(block, layer, head) : c.kv.keys(block, layer, head), c.kv, j % size);
      };
      scores.clear();
      double highest = sinks ? double(sinks[h]) : -INFINITY;
      for (uint32_t j = first; j <= position; ++j) {
        const Slot key = plane_slot(false, j);
        double dot = 0.0;
        for (uint32_t d = 0; d < op.head_dim; ++d) dot += double(query[d]) * read(key, d);
        scores.push_back(dot * op.scale);
        highest = std::max(highest, scores.back());
      }
      double total = sinks ? std::exp(sinks[h] - highest) : 0.0;
      std::fill(sum.begin(), sum.end(), 0.0);
      for (uint32_t j = first; j <= position; ++j) {
        const double weight = std::exp(scores[j - first] - highest);
        const Slot value = plane_slot(true, j);
        total += weight;
        for (uint32_t d = 0; d < op.head_dim; ++d) sum[d] += weight * read(value, d);
      }
      for (uint32_t d = 0; d < op.head_dim; ++d) out.row(r)[h * op.head_dim + d] = static_cast<float>(sum[d] / total);
    }
  }
}

}  // namespace hearth::reference
