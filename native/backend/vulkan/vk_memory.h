// Device memory: blocks of at most 1 GiB, each one buffer, shared out in ranges. It decides where memory comes from and how
// much of the device is left alone; it moves no data.
#pragma once

#include <cstddef>
#include <list>
#include <memory>

#include "backend/vulkan/range_allocator.h"
#include "backend/vulkan/vk_device.h"

namespace hearth::vulkan {

enum class MemoryKind {
  device,  // for kernels; mapped as well where the device has direct_write
  host,    // for staging: mapped, read by the device over the bus
  foreign,  // of the process, imported
};

struct Block;
class MemoryPool;

/// A range of a block's buffer. Given back when it is destroyed; the pool must outlive it, and the device be done with it.
class Memory {
 public:
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  VkBuffer buffer() const;
  uint64_t offset() const { return offset_; }
  uint64_t bytes() const { return bytes_; }
  /// Where the processor sees it; nullptr where it does not.
  std::byte* mapped() const;

 private:
  friend class MemoryPool;
  Memory(MemoryPool& pool, Block& block, uint64_t offset, uint64_t bytes, uint64_t taken)
      : pool_(pool), block_(block), offset_(offset), bytes_(bytes), taken_(taken) {}
  MemoryPool& pool_;
  Block& block_;
  const uint64_t offset_, bytes_, taken_;
};

struct Block {
  MemoryKind kind;
  VkDeviceMemory memory = VK_NULL_HANDLE;
  VkBuffer buffer = VK_NULL_HANDLE;
  std::byte* mapped = nullptr;
  RangeAllocator ranges;
  std::shared_ptr<void> owner = {};  // of imported memory
};

class MemoryPool {
 public:
  explicit MemoryPool(Device& device);
  ~MemoryPool();

  /// `bytes` > 0, at most most_bytes(). Throws Error{out_of_vram} with what was needed and what there was.
  std::unique_ptr<Memory> allocate(uint64_t bytes, MemoryKind kind);
  /// Memory of this process, [memory, memory + bytes), which `owner` keeps; both are multiples of SumSlots::page. nullptr where the driver
  /// refuses it. For devices that have host_import.
  std::unique_ptr<Memory> import(std::shared_ptr<void> owner, std::byte* memory, uint64_t bytes);
  /// Most bytes of one allocation: what a binding may show and a block hold.
  uint64_t most_bytes() const { return most_bytes_; }
  /// 0 where the driver does not tell (VK_EXT_memory_budget), and on software, which has no other memory to go to. From any thread.
  uint64_t over_budget() const;
  uint64_t device_bytes() const { return device_bytes_; }
  /// What may still be taken of the device's memory, as it is now.
  uint64_t free() const;

 private:
  friend class Memory;
  Block& add_block(uint64_t bytes, MemoryKind kind);
  void remove(Block& block);
  void check_room(uint64_t bytes) const;
  bool import_memory(Block& block, uint64_t bytes);
  bool bind_memory(Block& block, VkMemoryPropertyFlags wanted, uint64_t heap_bytes);

  Device& device_;
  std::list<Block> blocks_;  // a list: Memory keeps references
  uint64_t most_bytes_, block_bytes_, alignment_, device_bytes_ = 0;
};

}  // namespace hearth::vulkan
