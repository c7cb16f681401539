// Slabs of KV blocks: about 16 MiB each, zeroed by the system when they are new and by hand when they are used again.
#include "backend/kv_pool.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace hearth {
namespace {

constexpr uint64_t slab_bytes = 16u << 20;
constexpr uintptr_t line = 64;

bool same(const KvShape& a, const KvShape& b) {
  return a.block_size == b.block_size && a.kv_heads == b.kv_heads && a.head_dim == b.head_dim &&
         a.layers_per_group == b.layers_per_group;
}

}  // namespace

void KvPool::Slab::Free::operator()(std::byte* memory) const { std::free(memory); }

uint64_t KvPool::block_bytes(const KvShape& shape, KvType type) {
  uint64_t layers = 0;
  for (uint32_t n : shape.layers_per_group) layers = std::max<uint64_t>(layers, n);
  return 2 * layers * shape.kv_heads * kv_plane_bytes(type, shape.block_size, shape.head_dim);
}

void KvPool::set_shape(const KvShape& shape, KvType type) {
  if (has_shape()) {
    if (same(shape, shape_) && type == type_) return;
    throw Error(ErrorCode::internal, "The KV shape can be set only once.");
  }
  if (block_bytes(shape, type) == 0) throw Error(ErrorCode::internal, "The KV shape is empty.");
  shape_ = shape;
  type_ = type;
  block_bytes_ = block_bytes(shape, type);
  plane_bytes_ = kv_plane_bytes(type, shape.block_size, shape.head_dim);
  per_slab_ = static_cast<uint32_t>(std::max<uint64_t>(1, slab_bytes / block_bytes_));
}

void KvPool::resize(uint32_t blocks) {
  if (!has_shape()) throw Error(ErrorCode::internal, "resize_kv came before set_kv_shape.");
  const size_t slabs = (size_t(blocks) + per_slab_ - 1) / per_slab_, had = slabs_.size();
  while (slabs_.size() < slabs) {
    auto* memory = static_cast<std::byte*>(std::calloc(per_slab_ * block_bytes_ + line, 1));
    if (!memory) {
      while (slabs_.size() > had) slabs_.pop_back();
      throw Error(ErrorCode::out_of_ram, "There is not enough memory for the KV cache.", blocks * block_bytes_,
                  blocks_ * block_bytes_);
    }
    auto* begin = memory + (line - reinterpret_cast<uintptr_t>(memory) % line) % line;
    slabs_.push_back({std::unique_ptr<std::byte, Slab::Free>(memory), begin});
  }
  // The tail of the last old slab may hold what its earlier users left.
  const uint64_t reused_end = std::min<uint64_t>(blocks, uint64_t(had) * per_slab_);
  for (uint64_t b = blocks_; b < reused_end; ++b) std::memset(at(static_cast<uint32_t>(b)), 0, block_bytes_);
  while (slabs_.size() > slabs) slabs_.pop_back();
  blocks_ = blocks;
}

std::byte* KvPool::checked(uint32_t block) const {
  if (block >= blocks_) throw Error(ErrorCode::internal, "A KV block beyond the pool was asked for.");
  return at(block);
}

void KvPool::read(uint32_t block, std::byte* out) const { std::memcpy(out, checked(block), block_bytes_); }
void KvPool::write(uint32_t block, const std::byte* in) { std::memcpy(checked(block), in, block_bytes_); }

}  // namespace hearth
