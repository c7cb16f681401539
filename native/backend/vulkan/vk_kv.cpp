// Implements the pool of KV blocks. Layout within a block: shaders/kv.glsl.
#include "backend/vulkan/vk_kv.h"

#include <algorithm>

namespace hearth::vulkan {
namespace {

uint64_t position_words(KvType type, uint32_t head_dim) {
  if (type == KvType::q8) return (head_dim + 3) / 4 + (head_dim + 31) / 32;
  return type == KvType::f16 ? (head_dim + 1) / 2 : head_dim;
}

uint64_t plane_bytes(const KvShape& shape, KvType type) {
  return 4 * uint64_t(shape.block_size) * shape.kv_heads * position_words(type, shape.head_dim);
}

uint32_t most_layers(const KvShape& shape) {
  return shape.layers_per_group.empty() ? 0 : *std::max_element(shape.layers_per_group.begin(), shape.layers_per_group.end());
}

bool same(const KvShape& a, const KvShape& b) {
  return a.block_size == b.block_size && a.kv_heads == b.kv_heads && a.head_dim == b.head_dim && a.layers_per_group == b.layers_per_group;
}

}  // namespace

uint64_t KvMemory::block_bytes(const KvShape& shape, KvType type) { return 2 * uint64_t(most_layers(shape)) * plane_bytes(shape, type); }

void KvMemory::set_shape(const KvShape& shape) {
  if (plane_bytes_ > 0) {
    if (same(shape, shape_)) return;
    throw Error(ErrorCode::internal, "The KV shape can be set only once.");
  }
  if (block_bytes(shape, type_) == 0) throw Error(ErrorCode::internal, "The KV shape is empty.");
  shape_ = shape;
  plane_bytes_ = plane_bytes(shape, type_);
  planes_.resize(2 * size_t(most_layers(shape)));
}

/// Layer by layer, so that only one layer is there twice at a time. When one does not fit the others stay larger or smaller
/// than they must be, which harms nobody: blocks_ is the least of them.
void KvMemory::resize(uint32_t blocks) {
  if (plane_bytes_ == 0) throw Error(ErrorCode::internal, "resize_kv came before set_kv_shape.");
  const uint64_t bytes = std::max<uint64_t>(blocks * plane_bytes_, 4), kept = std::min(blocks, blocks_) * plane_bytes_;
  blocks_ = std::min(blocks, blocks_);
  for (std::unique_ptr<Memory>& plane : planes_) {
    if (plane && plane->bytes() == bytes) {
      if (bytes > kept) transfer_.clear(*plane, kept, bytes - kept);
      continue;
    }
    std::unique_ptr<Memory> next = pool_.allocate(bytes, MemoryKind::device);
    if (kept > 0) {
      const CopyRange range{plane.get(), 0, next.get(), 0, kept};
      transfer_.copy({&range, 1});
    }
    if (bytes > kept) transfer_.clear(*next, kept, bytes - kept);
    transfer_.finish();
    plane = std::move(next);
  }
  transfer_.finish();
  blocks_ = blocks;
}

void KvMemory::check(uint32_t block) const {
  if (block >= blocks_) throw Error(ErrorCode::internal, "A KV block beyond the pool was asked for.");
}

void KvMemory::read(uint32_t block, std::byte* out) {
  check(block);
  for (size_t i = 0; i < planes_.size(); ++i) transfer_.read(*planes_[i], block * plane_bytes_, out + i * plane_bytes_, plane_bytes_);
}

void KvMemory::write(uint32_t block, const std::byte* in) {
  check(block);
  for (size_t i = 0; i < planes_.size(); ++i) transfer_.write(*planes_[i], block * plane_bytes_, in + i * plane_bytes_, plane_bytes_);
  transfer_.finish();
}

}  // namespace hearth::vulkan
