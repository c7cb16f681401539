// Data in and out of device memory: straight where the processor sees it, else through a ring of staging memory.
// Writes may still be under way when a call returns; what is submitted later sees them. Reads wait.
#pragma once

#include <array>
#include <functional>
#include <span>

#include "backend/vulkan/vk_commands.h"
#include "backend/vulkan/vk_memory.h"

namespace hearth::vulkan {

struct CopyRange { const Memory* from; uint64_t from_offset; const Memory* to; uint64_t to_offset, bytes; };

class Transfer {
 public:
  Transfer(Device& device, MemoryPool& pool);

  /// Most bytes of one write().
  static constexpr uint64_t window = uint64_t(8) << 20;
  /// `fill` writes `bytes` (<= window, a multiple of 4) to the place it is given. `to` must not be in use by a submission.
  void write(Memory& to, uint64_t offset, uint64_t bytes, const std::function<void(std::byte*)>& fill);
  /// Any size.
  void write(Memory& to, uint64_t offset, const void* data, uint64_t bytes);
  void read(const Memory& from, uint64_t offset, void* out, uint64_t bytes);
  /// Zeros; offset and bytes are multiples of 4.
  void clear(Memory& to, uint64_t offset, uint64_t bytes);
  /// From device memory to device memory; waits.
  void copy(std::span<const CopyRange> ranges);
  /// Hands what was written to the device.
  void flush();
  /// Also waits until it is there.
  void finish();

 private:
  struct Half {
    std::unique_ptr<Memory> memory;
    std::unique_ptr<Commands> commands;
    VkCommandBuffer recording = VK_NULL_HANDLE;
    uint64_t used = 0;
  };
  Half& half_with(uint64_t bytes);
  VkCommandBuffer recording(Half& half);
  void submit(Half& half);

  Device& device_;
  MemoryPool& pool_;
  std::array<Half, 2> halves_;
  size_t current_ = 0;
};

}  // namespace hearth::vulkan
