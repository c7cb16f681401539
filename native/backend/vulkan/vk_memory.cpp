// Implements the pool of blocks.
#include "backend/vulkan/vk_memory.h"

#include <algorithm>

#include "backend/vulkan/quirks.h"
#include "backend/vulkan/vk_device_info.h"

namespace hearth::vulkan {
namespace {

constexpr uint64_t mebi = uint64_t(1) << 20;
constexpr uint64_t most_of_a_block = 1024 * mebi;  // larger ones fragment, and some drivers put them into system memory
constexpr uint64_t left_alone = 512 * mebi;        // of a device's memory, for the desktop and for everybody else

constexpr VkMemoryPropertyFlags local = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
constexpr VkMemoryPropertyFlags visible = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;

}  // namespace

Memory::~Memory() {
  block_.ranges.give_back(offset_, taken_);
  if (block_.ranges.empty()) pool_.remove(block_);
}
VkBuffer Memory::buffer() const { return block_.buffer; }
std::byte* Memory::mapped() const { return block_.mapped ? block_.mapped + offset_ : nullptr; }

MemoryPool::MemoryPool(Device& device) : device_(device) {
  const VulkanLimits& limits = device.info().limits;
  most_bytes_ = std::min({most_of_a_block, limits.binding_bytes, limits.allocation_bytes}) / 256 * 256;
  block_bytes_ = std::min(std::clamp(device.info().memory_total / 64, 16 * mebi, 256 * mebi), most_bytes_);
  alignment_ = std::max<uint64_t>(256, limits.offset_alignment);
}

MemoryPool::~MemoryPool() {
  while (!blocks_.empty()) remove(blocks_.front());
}

std::unique_ptr<Memory> MemoryPool::allocate(uint64_t bytes, MemoryKind kind) {
  if (bytes == 0 || bytes > most_bytes_) {
    throw device_.error(ErrorCode::out_of_vram, "A single piece of memory is larger than this graphics device allows", bytes, most_bytes_);
  }
  const uint64_t taken = (bytes + alignment_ - 1) / alignment_ * alignment_;  // so that neighbours never share a line
  const auto take = [&](Block& block) -> std::unique_ptr<Memory> {
    const auto offset = block.ranges.take(taken, alignment_);
    return offset ? std::unique_ptr<Memory>(new Memory(*this, block, *offset, bytes, taken)) : nullptr;
  };
  for (Block& block : blocks_) {
    if (block.kind != kind) continue;
    if (auto memory = take(block)) return memory;
  }
  return take(add_block(std::max(taken, kind == MemoryKind::device ? block_bytes_ : taken), kind));
}

uint64_t MemoryPool::free() const {
  const uint64_t budget = free_bytes(heaps_of(device_.physical, device_.has(memory_budget)));
  const bool software = device_.info().type == "cpu";
  // Without a budget the driver does not say what we hold: count it ourselves.
  const uint64_t held = device_.has(memory_budget) ? 0 : device_bytes_;
  const uint64_t kept = held + (software ? 0 : left_alone);
  return budget - std::min(budget, kept);
}

uint64_t MemoryPool::over_budget() const {
  if (!device_.has(memory_budget) || device_.info().type == "cpu") return 0;
  return hearth::over_budget(heaps_of(device_.physical, true));
}

/// Drivers do not fail in time: they move memory to the system's, or lose the device. So the budget is asked first.
void MemoryPool::check_room(uint64_t bytes) const {
  const uint64_t there = free();
  if (bytes > there) {
    throw device_.error(ErrorCode::out_of_vram, "The graphics device has not enough memory", bytes, there);
  }
}

bool MemoryPool::bind_memory(Block& block, VkMemoryPropertyFlags wanted, uint64_t heap_bytes) {
  VkMemoryRequirements needs;
  device_.vk.vkGetBufferMemoryRequirements(device_.handle, block.buffer, &needs);
  const int type = memory_type(device_.physical, needs.memoryTypeBits, wanted, heap_bytes);
  if (type < 0) return false;
  VkMemoryAllocateInfo info{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
  info.allocationSize = needs.size, info.memoryTypeIndex = static_cast<uint32_t>(type);
  const VkResult result = device_.vk.vkAllocateMemory(device_.handle, &info, nullptr, &block.memory);
  if (result == VK_ERROR_OUT_OF_DEVICE_MEMORY) return false;
  device_.check(result, "vkAllocateMemory");
  device_.check(device_.vk.vkBindBufferMemory(device_.handle, block.buffer, block.memory, 0), "vkBindBufferMemory");
  if ((wanted & visible) != visible) return true;
  void* mapped = nullptr;
  device_.check(device_.vk.vkMapMemory(device_.handle, block.memory, 0, VK_WHOLE_SIZE, 0, &mapped), "vkMapMemory");
  block.mapped = static_cast<std::byte*>(mapped);
  return true;
}

Block& MemoryPool::add_block(uint64_t bytes, MemoryKind kind) {
  if (kind == MemoryKind::device) check_room(bytes);
  blocks_.push_back({kind, VK_NULL_HANDLE, VK_NULL_HANDLE, nullptr, RangeAllocator(bytes)});
  Block& block = blocks_.back();
  try {
    VkBufferCreateInfo info{VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
    info.size = bytes;
    info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;
    device_.check(device_.vk.vkCreateBuffer(device_.handle, &info, nullptr, &block.buffer), "vkCreateBuffer");
    const uint64_t whole_heap = device_.info().memory_total / 2;  // not the small window into a card's memory
    const bool bound = kind == MemoryKind::host
                           ? bind_memory(block, visible | VK_MEMORY_PROPERTY_HOST_CACHED_BIT, 0) || bind_memory(block, visible, 0)
                           : (device_.has(direct_write) && bind_memory(block, local | visible, whole_heap)) || bind_memory(block, local, 0);
    if (!bound) throw device_.error(ErrorCode::out_of_vram, "The graphics device has no memory left", bytes);
  } catch (...) {
    remove(block);
    throw;
  }
  if (kind == MemoryKind::device) device_bytes_ += bytes;
  return block;
}

/// false: the driver does not want to. Drivers have all kinds of results for that.
bool MemoryPool::import_memory(Block& block, uint64_t bytes) {
  constexpr VkExternalMemoryHandleTypeFlagBits plain = VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT;
  VkExternalMemoryBufferCreateInfo external{VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO};
  external.handleTypes = plain;
  VkBufferCreateInfo info{VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
  info.pNext = &external, info.size = bytes, info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT;
  if (device_.vk.vkCreateBuffer(device_.handle, &info, nullptr, &block.buffer) != VK_SUCCESS) return false;
  VkMemoryRequirements needs;
  device_.vk.vkGetBufferMemoryRequirements(device_.handle, block.buffer, &needs);
  VkMemoryHostPointerPropertiesEXT types{VK_STRUCTURE_TYPE_MEMORY_HOST_POINTER_PROPERTIES_EXT};
  if (needs.size > bytes || device_.vk.vkGetMemoryHostPointerPropertiesEXT(device_.handle, plain, block.mapped, &types) != VK_SUCCESS) return false;
  const int type = memory_type(device_.physical, needs.memoryTypeBits & types.memoryTypeBits, visible);
  if (type < 0) return false;
  VkImportMemoryHostPointerInfoEXT from{VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT};
  from.handleType = plain, from.pHostPointer = block.mapped;
  VkMemoryAllocateInfo allocate{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
  allocate.pNext = &from, allocate.allocationSize = bytes, allocate.memoryTypeIndex = static_cast<uint32_t>(type);
  return device_.vk.vkAllocateMemory(device_.handle, &allocate, nullptr, &block.memory) == VK_SUCCESS &&
         device_.vk.vkBindBufferMemory(device_.handle, block.buffer, block.memory, 0) == VK_SUCCESS;
}

std::unique_ptr<Memory> MemoryPool::import(std::shared_ptr<void> owner, std::byte* memory, uint64_t bytes) {
  if (bytes > most_bytes_) return nullptr;
  blocks_.push_back({MemoryKind::foreign, VK_NULL_HANDLE, VK_NULL_HANDLE, memory, RangeAllocator(bytes), std::move(owner)});
  Block& block = blocks_.back();
  if (!import_memory(block, bytes)) {
    remove(block);
    return nullptr;
  }
  return std::unique_ptr<Memory>(new Memory(*this, block, *block.ranges.take(bytes, alignment_), bytes, bytes));
}

void MemoryPool::remove(Block& block) {
  if (block.owner && device_.hung) new std::shared_ptr<void>(block.owner);  // the device might still write there
  if (block.memory && block.kind == MemoryKind::device) device_bytes_ -= std::min(device_bytes_, block.ranges.bytes());
  if (block.buffer) device_.vk.vkDestroyBuffer(device_.handle, block.buffer, nullptr);
  if (block.memory) device_.vk.vkFreeMemory(device_.handle, block.memory, nullptr);
  blocks_.remove_if([&](const Block& each) { return &each == &block; });
}

}  // namespace hearth::vulkan
