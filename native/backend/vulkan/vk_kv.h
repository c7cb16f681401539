// Memory of the paged KV on a device. A layer's keys of all blocks are one buffer, its values another, so that an attention
// kernel sees every block of its layer through two bindings; the pool grows and shrinks layer by layer, by copying.
#pragma once

#include <memory>
#include <vector>

#include "backend/backend.h"
#include "backend/vulkan/vk_transfer.h"

namespace hearth::vulkan {

class KvMemory {
 public:
  KvMemory(MemoryPool& pool, Transfer& transfer, KvType type) : pool_(pool), transfer_(transfer), type_(type) {}

  static uint64_t block_bytes(const KvShape& shape, KvType type);
  void set_shape(const KvShape& shape);
  void resize(uint32_t blocks);
  void read(uint32_t block, std::byte* out);
  void write(uint32_t block, const std::byte* in);

  KvType type() const { return type_; }
  const KvShape& shape() const { return shape_; }
  uint32_t blocks() const { return blocks_; }
  const Memory* keys(uint32_t layer) const { return planes_.at(2 * layer).get(); }
  const Memory* values(uint32_t layer) const { return planes_.at(2 * layer + 1).get(); }

 private:
  void check(uint32_t block) const;
  MemoryPool& pool_;
  Transfer& transfer_;
  const KvType type_;
  KvShape shape_;
  uint64_t plane_bytes_ = 0;  // of a block's keys, or values, of one layer
  uint32_t blocks_ = 0;
  std::vector<std::unique_ptr<Memory>> planes_;  // keys and values of each layer
};

}  // namespace hearth::vulkan
