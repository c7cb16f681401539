// Implements weights out of a seed: random codes under scales that keep values where a model's are.
#include "backend/synthetic_weights.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "backend/half.h"

namespace hearth {
namespace {

/// xorshift64*, begun from a mixed seed: fast enough to fill a card.
class Random {
 public:
  explicit Random(uint64_t seed) : state_((seed + 1) * 0x9e3779b97f4a7c15u | 1u) { next(), next(); }
  uint64_t next() {
    state_ ^= state_ >> 12, state_ ^= state_ << 25, state_ ^= state_ >> 27;
    return state_ * 0x2545f4914f6cdd1du;
  }
  float between(float low, float high) { return low + (high - low) * static_cast<float>(next() >> 40) * 0x1p-24f; }

 private:
  uint64_t state_;
};

void put(std::byte* at, uint16_t value) { std::memcpy(at, &value, 2); }
void put_half(std::byte* at, float value) { put(at, float_to_half(value)); }

/// How far the codes of a type scatter under a scale of 1.
float spread(DType type) {
  switch (type) {
    case DType::q8_0: case DType::iq4_nl: return 72.0f;
    case DType::q5_0: case DType::q5_1: return 9.2f;
    case DType::q4_k: return 4.6f * 32;
    case DType::q5_k: return 9.2f * 32;
    case DType::q6_k: return 18.5f * 73;
    case DType::mxfp4: case DType::mxfp4_planes: return 2.9f;
    default: return 4.6f;
  }
}

void scale_block(DType type, float size, Random& random, std::byte* block, std::byte* plane) {
  const float scale = size / spread(type) * random.between(0.7f, 1.3f);
  switch (type) {
    case DType::f32: { const float value = random.between(-1.7f, 1.7f) * size; std::memcpy(block, &value, 4); break; }
    case DType::f16: put_half(block, random.between(-1.7f, 1.7f) * size); break;
    case DType::bf16: put(block, float_to_bf16(random.between(-1.7f, 1.7f) * size)); break;
    case DType::q8_0: case DType::q4_0: case DType::q5_0: case DType::iq4_nl: put_half(block, scale); break;
    case DType::q4_1: put_half(block, scale), put_half(block + 2, -7.5f * scale); break;
    case DType::q5_1: put_half(block, scale), put_half(block + 2, -15.5f * scale); break;
    case DType::q4_k: put_half(block, scale), put_half(block + 2, 7.5f * scale); break;
    case DType::q5_k: put_half(block, scale), put_half(block + 2, 15.5f * scale); break;
    case DType::q6_k: put_half(block + 208, scale); break;
    case DType::mxfp4: case DType::mxfp4_planes:
      *(type == DType::mxfp4 ? block : plane) = static_cast<std::byte>(127 + std::lround(std::log2(scale)));
      break;
  }
}

}  // namespace

void synthetic_row(DType type, uint32_t cols, float size, uint64_t seed, std::byte* row, std::byte* scales) {
  Random random(seed);
  const DTypeInfo shape = info(type);
  const size_t bytes = static_cast<size_t>(row_bytes(type, cols));
  for (size_t i = 0; i < bytes; i += 8) {
    const uint64_t word = random.next();
    std::memcpy(row + i, &word, std::min<size_t>(8, bytes - i));
  }
  for (uint32_t b = 0; b < cols / shape.block; ++b) scale_block(type, size, random, row + size_t(b) * shape.bytes, scales ? scales + b : nullptr);
}

SyntheticMatrix::SyntheticMatrix(const std::string& name, DType type, uint32_t rows, uint32_t cols, uint32_t experts, uint64_t seed) {
  const uint64_t stride = row_bytes(type, cols), all = uint64_t(rows) * experts, groups = cols / 32;
  bytes.reset(new std::byte[stride * all]);
  if (type == DType::mxfp4_planes) scales.reset(new std::byte[groups * all]);
  const float size = 1.0f / std::sqrt(static_cast<float>(cols));
  for (uint64_t r = 0; r < all; ++r) {
    synthetic_row(type, cols, size, seed * 1000003 + r, bytes.get() + r * stride, scales ? scales.get() + r * groups : nullptr);
  }
  matrix = {name, type, rows, cols, experts, bytes.get(), stride, stride * rows, nullptr, 0, 0, nullptr};
  if (scales) matrix.scales = scales.get(), matrix.scale_row_stride = groups, matrix.scale_expert_stride = groups * rows;
}

}  // namespace hearth
