// Memory of the paged KV: zeroed slabs of fixed-size blocks. It knows sizes and offsets, not what a key is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "backend/backend.h"
#include "backend/kv_layout.h"

namespace hearth {

/// A block holds, for each layer of its group, the keys of all KV heads, then their values: planes as kv_layout.h has them.
class KvPool {
 public:
  static uint64_t block_bytes(const KvShape& shape, KvType type);

  /// Once; a second, different shape is Error{internal}.
  void set_shape(const KvShape& shape, KvType type);
  /// New blocks are zero, also those whose memory was used before. Throws Error{out_of_ram} and leaves the pool as it was.
  void resize(uint32_t blocks);
  /// The bytes of a whole block. An id beyond the pool is Error{internal}.
  void read(uint32_t block, std::byte* out) const;
  void write(uint32_t block, const std::byte* in);

  bool has_shape() const { return !shape_.layers_per_group.empty(); }
  const KvShape& shape() const { return shape_; }
  KvType type() const { return type_; }
  uint32_t blocks() const { return blocks_; }
  std::byte* keys(uint32_t block, uint32_t layer, uint32_t head = 0) const { return plane(block, layer * 2, head); }
  std::byte* values(uint32_t block, uint32_t layer, uint32_t head = 0) const { return plane(block, layer * 2 + 1, head); }

 private:
  /// Begins at a cache line, so that where planes are multiples of one a register's load never straddles two.
  struct Slab {
    struct Free { void operator()(std::byte* memory) const; };
    std::unique_ptr<std::byte, Free> memory;
    std::byte* begin;
  };
  std::byte* checked(uint32_t block) const;
  std::byte* at(uint32_t block) const { return slabs_[block / per_slab_].begin + block % per_slab_ * block_bytes_; }
  std::byte* plane(uint32_t block, uint32_t half, uint32_t head) const {
    return at(block) + (uint64_t(half) * shape_.kv_heads + head) * plane_bytes_;
  }

  KvShape shape_;
  KvType type_ = KvType::f32;
  uint64_t block_bytes_ = 0, plane_bytes_ = 0;
  uint32_t per_slab_ = 1, blocks_ = 0;
  std::vector<Slab> slabs_;
};

}  // namespace hearth
