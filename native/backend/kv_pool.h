// Memory of the paged KV: zeroed slabs of fixed-size blocks. It knows sizes and offsets, not what a key is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "backend/backend.h"

namespace hearth {

/// A block holds, for each layer of its group, keys then values: kv_heads * block_size * head_dim elements each.
class KvPool {
 public:
  static uint64_t block_bytes(const KvShape& shape, uint32_t element_bytes);

  /// Once; a second, different shape is Error{internal}.
  void set_shape(const KvShape& shape, uint32_t element_bytes);
  /// New blocks are zero, also those whose memory was used before. Throws Error{out_of_ram} and leaves the pool as it was.
  void resize(uint32_t blocks);

  /// The bytes of a whole block. An id beyond the pool is Error{internal}.
  void read(uint32_t block, std::byte* out) const;
  void write(uint32_t block, const std::byte* in);

  bool has_shape() const { return !shape_.layers_per_group.empty(); }
  const KvShape& shape() const { return shape_; }
  uint32_t blocks() const { return blocks_; }
  std::byte* keys(uint32_t block, uint32_t layer) const { return at(block) + layer * 2 * plane_bytes_; }
  std::byte* values(uint32_t block, uint32_t layer) const { return at(block) + (layer * 2 + 1) * plane_bytes_; }

 private:
  struct Free { void operator()(std::byte* memory) const; };
  std::byte* checked(uint32_t block) const;
  std::byte* at(uint32_t block) const { return slabs_[block / per_slab_].get() + block % per_slab_ * block_bytes_; }

  KvShape shape_;
  uint64_t block_bytes_ = 0, plane_bytes_ = 0;
  uint32_t per_slab_ = 1, blocks_ = 0;
  std::vector<std::unique_ptr<std::byte, Free>> slabs_;
};

}  // namespace hearth
