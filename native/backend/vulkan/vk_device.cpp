// Implements the choice and the opening of a device.
#include "backend/vulkan/vk_device.h"

#include <algorithm>

#include "backend/vulkan/quirks.h"
#include "backend/vulkan/vk_device_info.h"

namespace hearth::vulkan {
namespace {

/// Cards before what shares the processor's memory; software is never chosen by itself.
int rank(const VulkanDevice& device) {
  if (device.type == "discrete") return 0;
  if (device.type == "integrated") return 1;
  return device.type == "cpu" ? 3 : 2;
}

uint32_t compute_family(VkPhysicalDevice device) {
  uint32_t count = 0;
  vkGetPhysicalDeviceQueueFamilyProperties(device, &count, nullptr);
  std::vector<VkQueueFamilyProperties> families(count);
  vkGetPhysicalDeviceQueueFamilyProperties(device, &count, families.data());
  for (uint32_t i = 0; i < count; ++i) {
    if (families[i].queueFlags & VK_QUEUE_COMPUTE_BIT) return i;
  }
  throw Error(ErrorCode::invalid_request, "This graphics device cannot compute.");
}

}  // namespace

Device::Device(const std::string& id, const std::vector<std::string>& switched_off) {
  std::string reason;
  instance_ = Instance::open(&reason);
  if (!instance_) throw Error(ErrorCode::invalid_request, reason);
  for (VkPhysicalDevice each : instance_->devices()) {
    VkPhysicalDeviceProperties properties;
    vkGetPhysicalDeviceProperties(each, &properties);
    if (properties.apiVersion < VK_API_VERSION_1_2) continue;
    VulkanDevice found = describe(each, switched_off);
    const bool better = id == "vulkan" && rank(found) < 3 && (!physical || rank(found) < rank(info_));
    if (better || (id == found.id && !physical)) physical = each, info_ = std::move(found);
  }
  if (!physical) throw Error(ErrorCode::invalid_request, "There is no graphics device '" + id + "'.");

  family = compute_family(physical);
  const float priority = 0.5f;
  VkDeviceQueueCreateInfo queue_info{VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO};
  queue_info.queueFamilyIndex = family, queue_info.queueCount = 1, queue_info.pQueuePriorities = &priority;
  std::vector<const char*> extensions;
  if (has(memory_budget)) extensions.push_back(VK_EXT_MEMORY_BUDGET_EXTENSION_NAME);
  if (has_extension(physical, "VK_KHR_portability_subset")) extensions.push_back("VK_KHR_portability_subset");
  VkDeviceCreateInfo create{VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO};
  create.queueCreateInfoCount = 1, create.pQueueCreateInfos = &queue_info;
  create.enabledExtensionCount = static_cast<uint32_t>(extensions.size()), create.ppEnabledExtensionNames = extensions.data();
  check(vkCreateDevice(physical, &create, nullptr, &handle), "vkCreateDevice");
  volkLoadDeviceTable(&vk, handle);
  vk.vkGetDeviceQueue(handle, family, 0, &queue);
}

Device::~Device() {
  if (!handle) return;
  vk.vkDeviceWaitIdle(handle);
  vk.vkDestroyDevice(handle, nullptr);
}

bool Device::has(std::string_view feature) const {
  return std::find(info_.features.begin(), info_.features.end(), feature) != info_.features.end();
}

}  // namespace hearth::vulkan
