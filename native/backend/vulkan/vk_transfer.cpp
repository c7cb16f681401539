// Implements the staging ring: two halves, one is filled while the device copies from the other.
#include "backend/vulkan/vk_transfer.h"

#include <algorithm>
#include <cstring>

namespace hearth::vulkan {

Transfer::Transfer(Device& device, MemoryPool& pool) : device_(device), pool_(pool) {
  for (Half& half : halves_) half.commands = std::make_unique<Commands>(device, 0);
}

VkCommandBuffer Transfer::recording(Half& half) {
  if (!half.recording) half.recording = half.commands->begin(), half.used = 0;
  return half.recording;
}

void Transfer::submit(Half& half) {
  if (!half.recording) return;
  half.recording = VK_NULL_HANDLE;
  half.commands->submit();
}

Transfer::Half& Transfer::half_with(uint64_t bytes) {
  if (halves_[current_].recording && halves_[current_].used + bytes > window) {
    submit(halves_[current_]);
    current_ ^= 1;
  }
  Half& half = halves_[current_];
  if (!half.memory) half.memory = pool_.allocate(window, MemoryKind::host);
  recording(half);
  return half;
}

void Transfer::flush() { submit(halves_[current_]); }

void Transfer::finish() {
  flush();
  for (Half& half : halves_) half.commands->wait();
}

void Transfer::write(Memory& to, uint64_t offset, uint64_t bytes, const std::function<void(std::byte*)>& fill) {
  if (to.mapped()) return fill(to.mapped() + offset);
  Half& half = half_with(bytes);
  fill(half.memory->mapped() + half.used);
  const VkBufferCopy region{half.memory->offset() + half.used, to.offset() + offset, bytes};
  device_.vk.vkCmdCopyBuffer(half.recording, half.memory->buffer(), to.buffer(), 1, &region);
  half.used += bytes;
}

void Transfer::write(Memory& to, uint64_t offset, const void* data, uint64_t bytes) {
  const auto* from = static_cast<const std::byte*>(data);
  for (uint64_t at = 0; at < bytes; at += window) {
    const uint64_t n = std::min(window, bytes - at);
    write(to, offset + at, n, [&](std::byte* out) { std::memcpy(out, from + at, n); });
  }
}

void Transfer::clear(Memory& to, uint64_t offset, uint64_t bytes) {
  if (to.mapped()) return void(std::memset(to.mapped() + offset, 0, bytes));
  Half& half = half_with(0);
  device_.vk.vkCmdFillBuffer(half.recording, to.buffer(), to.offset() + offset, bytes, 0);
}

void Transfer::read(const Memory& from, uint64_t offset, void* out, uint64_t bytes) {
  finish();
  if (from.mapped()) return void(std::memcpy(out, from.mapped() + offset, bytes));
  auto* to = static_cast<std::byte*>(out);
  for (uint64_t at = 0; at < bytes; at += window) {
    const uint64_t n = std::min(window, bytes - at);
    Half& half = half_with(n);
    const VkBufferCopy region{from.offset() + offset + at, half.memory->offset(), n};
    device_.vk.vkCmdCopyBuffer(half.recording, from.buffer(), half.memory->buffer(), 1, &region);
    submit(half);
    half.commands->wait();
    std::memcpy(to + at, half.memory->mapped(), n);
  }
}

void Transfer::copy(std::span<const CopyRange> ranges) {
  Half& half = half_with(0);
  full_barrier(device_, half.recording);
  for (const CopyRange& each : ranges) {
    const VkBufferCopy region{each.from->offset() + each.from_offset, each.to->offset() + each.to_offset, each.bytes};
    device_.vk.vkCmdCopyBuffer(half.recording, each.from->buffer(), each.to->buffer(), 1, &region);
  }
  finish();
}

}  // namespace hearth::vulkan
