// Implements the reading of a device's properties.
#include "backend/vulkan/vk_device_info.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "backend/sum_slots.h"
#include "backend/vulkan/embedded_shaders.h"
#include "backend/vulkan/quirks.h"
#include "backend/vulkan/vk_matrix.h"

namespace hearth::vulkan {
namespace {

std::string hex(const uint8_t* bytes, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) {
    char two[3];
    std::snprintf(two, sizeof two, "%02x", bytes[i]);
    text += two;
  }
  return text;
}

std::string type_name(VkPhysicalDeviceType type) {
  switch (type) {
    case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU: return "discrete";
    case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU: return "integrated";
    case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU: return "virtual";
    case VK_PHYSICAL_DEVICE_TYPE_CPU: return "cpu";
    default: return "other";
  }
}

uint64_t largest_local(const std::vector<VulkanHeap>& heaps) {
  uint64_t bytes = 0;
  for (const VulkanHeap& heap : heaps) bytes = std::max(bytes, heap.device_local ? heap.bytes : 0);
  return bytes;
}

/// Small device-local heaps beside a large one are windows into it (a BAR of 256 MB), not more memory.
bool counts(const VulkanHeap& heap, const std::vector<VulkanHeap>& heaps) { return heap.device_local && heap.bytes * 4 >= largest_local(heaps); }

void read_identity(VkPhysicalDevice device, bool knows_pci, VulkanDevice* out) {
  VkPhysicalDevicePCIBusInfoPropertiesEXT pci{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PCI_BUS_INFO_PROPERTIES_EXT};
  VkPhysicalDeviceSubgroupProperties subgroup{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES};
  VkPhysicalDeviceMaintenance3Properties sizes{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES};
  VkPhysicalDeviceDriverProperties driver{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES};
  VkPhysicalDeviceIDProperties id{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES};
  VkPhysicalDeviceProperties2 all{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2};
  all.pNext = &id, id.pNext = &driver, driver.pNext = &sizes, sizes.pNext = &subgroup;
  if (knows_pci) subgroup.pNext = &pci;
  vkGetPhysicalDeviceProperties2(device, &all);
  const VkPhysicalDeviceProperties& p = all.properties;
  out->uuid = hex(id.deviceUUID, VK_UUID_SIZE);
  out->id = "vulkan:" + out->uuid;
  out->name = p.deviceName, out->type = type_name(p.deviceType);
  out->driver = driver.driverName, out->driver_info = driver.driverInfo;
  out->api_version = p.apiVersion, out->driver_version = p.driverVersion, out->driver_id = driver.driverID;
  out->vendor = p.vendorID, out->device = p.deviceID;
  if (knows_pci) {
    char text[32];
    std::snprintf(text, sizeof text, "%04x:%02x:%02x.%x", pci.pciDomain, pci.pciBus, pci.pciDevice, pci.pciFunction);
    out->pci = text;
  }
  const VkPhysicalDeviceLimits& l = p.limits;
  const uint64_t alignment = std::max<uint64_t>(l.minStorageBufferOffsetAlignment, 16);
  out->limits = {l.maxStorageBufferRange, sizes.maxMemoryAllocationSize, static_cast<uint32_t>(alignment), l.maxComputeSharedMemorySize,
                 std::min(l.maxComputeWorkGroupInvocations, l.maxComputeWorkGroupSize[0]),
                 std::min({l.maxComputeWorkGroupCount[0], l.maxComputeWorkGroupCount[1], l.maxComputeWorkGroupCount[2]}),
                 subgroup.subgroupSize};
}

/// The size of a subgroup can be asked for, all its lanes run, and they may look at each other's values.
bool has_subgroups(VkPhysicalDevice device, const VulkanLimits& limits) {
  if (!has_extension(device, VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME)) return false;
  VkPhysicalDeviceSubgroupSizeControlFeaturesEXT control{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES_EXT};
  VkPhysicalDeviceFeatures2 features{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2};
  features.pNext = &control;
  vkGetPhysicalDeviceFeatures2(device, &features);
  VkPhysicalDeviceSubgroupSizeControlPropertiesEXT sizes{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES_EXT};
  VkPhysicalDeviceSubgroupProperties subgroup{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES};
  VkPhysicalDeviceProperties2 all{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2};
  all.pNext = &subgroup, subgroup.pNext = &sizes;
  vkGetPhysicalDeviceProperties2(device, &all);
  constexpr VkSubgroupFeatureFlags operations = VK_SUBGROUP_FEATURE_BASIC_BIT | VK_SUBGROUP_FEATURE_SHUFFLE_BIT;
  const uint32_t size = limits.subgroup;
  return control.subgroupSizeControl && control.computeFullSubgroups && (sizes.requiredSubgroupSizeStages & VK_SHADER_STAGE_COMPUTE_BIT) &&
         (subgroup.supportedStages & VK_SHADER_STAGE_COMPUTE_BIT) && (subgroup.supportedOperations & operations) == operations &&
         size >= std::max(8u, sizes.minSubgroupSize) && size <= std::min(128u, sizes.maxSubgroupSize) && (size & (size - 1)) == 0;
}

void add_kernel_features(VkPhysicalDevice device, VulkanLimits& limits, std::vector<std::string>* present) {
  if (limits.group_threads >= 64 && limits.shared_bytes >= (17u << 10)) present->emplace_back(best_logits);
  const bool sized = has_subgroups(device, limits);
  if (sized) present->emplace_back(subgroups);
  if (limits.group_threads >= 256 && limits.shared_bytes >= (24u << 10)) present->emplace_back(large_tiles);
  if (limits.group_threads >= 128 && limits.shared_bytes >= (26u << 10)) present->emplace_back(tiled_attention);
  const auto matrix = matrix_size(device);
  if (!sized || !matrix || limits.group_threads < 4 * limits.subgroup || !find_shader("gemm_matrix_q8_0")) return;
  limits.matrix_m = matrix->m, limits.matrix_n = matrix->n, limits.matrix_k = matrix->k;
  present->emplace_back(cooperative_matrix);
}

/// Plain memory of this process can lie behind a buffer.
bool can_import(VkPhysicalDevice device) {
  if (!has_extension(device, VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME)) return false;
  VkPhysicalDeviceExternalMemoryHostPropertiesEXT host{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_MEMORY_HOST_PROPERTIES_EXT};
  VkPhysicalDeviceProperties2 all{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2};
  all.pNext = &host;
  vkGetPhysicalDeviceProperties2(device, &all);
  VkPhysicalDeviceExternalBufferInfo buffer{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_BUFFER_INFO};
  buffer.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT, buffer.handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT;
  VkExternalBufferProperties can{VK_STRUCTURE_TYPE_EXTERNAL_BUFFER_PROPERTIES};
  vkGetPhysicalDeviceExternalBufferProperties(device, &buffer, &can);
  constexpr VkExternalMemoryFeatureFlags wanted = VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT, not_wanted = VK_EXTERNAL_MEMORY_FEATURE_DEDICATED_ONLY_BIT;
  return host.minImportedHostPointerAlignment <= SumSlots::page && (can.externalMemoryProperties.externalMemoryFeatures & (wanted | not_wanted)) == wanted;
}

}  // namespace

bool has_extension(VkPhysicalDevice device, const char* name) {
  uint32_t count = 0;
  if (vkEnumerateDeviceExtensionProperties(device, nullptr, &count, nullptr) != VK_SUCCESS) return false;
  std::vector<VkExtensionProperties> extensions(count);
  vkEnumerateDeviceExtensionProperties(device, nullptr, &count, extensions.data());
  return std::any_of(extensions.begin(), extensions.end(), [&](const auto& e) { return std::strcmp(e.extensionName, name) == 0; });
}

std::vector<VulkanHeap> heaps_of(VkPhysicalDevice device, bool ask_budget) {
  VkPhysicalDeviceMemoryBudgetPropertiesEXT budget{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT};
  VkPhysicalDeviceMemoryProperties2 memory{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2};
  if (ask_budget) memory.pNext = &budget;
  vkGetPhysicalDeviceMemoryProperties2(device, &memory);
  std::vector<VulkanHeap> heaps;
  for (uint32_t i = 0; i < memory.memoryProperties.memoryHeapCount; ++i) {
    const VkMemoryHeap& heap = memory.memoryProperties.memoryHeaps[i];
    // Drivers have reported budgets above the heap, and use above the budget.
    const uint64_t bytes = ask_budget ? std::min<uint64_t>(budget.heapBudget[i], heap.size) : heap.size / 10 * 9;
    heaps.push_back({heap.size, bytes, ask_budget ? budget.heapUsage[i] : 0, (heap.flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) != 0});
  }
  return heaps;
}

uint64_t free_bytes(const std::vector<VulkanHeap>& heaps) {
  uint64_t free = 0;
  for (const VulkanHeap& heap : heaps) {
    if (counts(heap, heaps)) free += heap.budget - std::min(heap.budget, heap.used);
  }
  return free;
}

int memory_type(VkPhysicalDevice device, uint32_t allowed, VkMemoryPropertyFlags wanted, uint64_t heap_bytes) {
  VkPhysicalDeviceMemoryProperties memory;
  vkGetPhysicalDeviceMemoryProperties(device, &memory);
  for (uint32_t i = 0; i < memory.memoryTypeCount; ++i) {
    const VkMemoryType& type = memory.memoryTypes[i];
    if ((allowed >> i & 1) && (type.propertyFlags & wanted) == wanted && memory.memoryHeaps[type.heapIndex].size >= heap_bytes) return int(i);
  }
  return -1;
}

VulkanDevice describe(VkPhysicalDevice device, const std::vector<std::string>& switched_off, bool deterministic) {
  VulkanDevice out;
  read_identity(device, has_extension(device, VK_EXT_PCI_BUS_INFO_EXTENSION_NAME), &out);
  const std::vector<VulkanHeap> plain = heaps_of(device, false);
  std::vector<std::string> present{std::string(pipeline_cache)};
  if (has_extension(device, VK_EXT_MEMORY_BUDGET_EXTENSION_NAME)) present.emplace_back(memory_budget);
  constexpr VkMemoryPropertyFlags both = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT | VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  if (memory_type(device, ~0u, both, largest_local(plain)) >= 0) present.emplace_back(direct_write);
  if (can_import(device)) present.emplace_back(host_import);
  add_kernel_features(device, out.limits, &present);
  std::vector<std::string> off = switched_off;
  if (const char* list = std::getenv("HEARTH_VULKAN_WITHOUT")) {
    for (std::string& name : split_names(list)) off.push_back(std::move(name));
  }
  Features features = choose_features(out, present, off, deterministic);
  out.heaps = heaps_of(device, features.has(memory_budget));
  out.features = std::move(features.used), out.off = std::move(features.off);
  out.unified = out.type == "integrated" || out.type == "cpu";
  for (const VulkanHeap& heap : out.heaps) out.memory_total += counts(heap, out.heaps) ? heap.bytes : 0;
  out.memory_free = free_bytes(out.heaps);
  return out;
}

}  // namespace hearth::vulkan
