// What a physical device is, read once into plain data (vulkan.h). It opens nothing and decides nothing but names.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backend/vulkan/vk_api.h"
#include "backend/vulkan/vulkan.h"

namespace hearth::vulkan {

/// `switched_off`: features that are not to be used; those of HEARTH_VULKAN_WITHOUT are added. `deterministic` as in quirks.h.
VulkanDevice describe(VkPhysicalDevice device, const std::vector<std::string>& switched_off = {}, bool deterministic = false);

/// Heaps with their budgets as they are now.
std::vector<VulkanHeap> heaps_of(VkPhysicalDevice device, bool ask_budget);

/// Bytes that may still be taken of the device's own memory: budgets minus use, never more than there is, never below 0.
uint64_t free_bytes(const std::vector<VulkanHeap>& heaps);

bool has_extension(VkPhysicalDevice device, const char* name);

/// An index of a memory type that has all of `wanted` among `allowed`, on a heap of at least `heap_bytes`; -1: none.
int memory_type(VkPhysicalDevice device, uint32_t allowed, VkMemoryPropertyFlags wanted, uint64_t heap_bytes = 0);

}  // namespace hearth::vulkan
