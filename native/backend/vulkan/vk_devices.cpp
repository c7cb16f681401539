// The list of devices, for the probe: what every driver offers, and why something is not in it.
#include <algorithm>

#include "backend/vulkan/vk_device_info.h"
#include "backend/vulkan/vk_instance.h"
#include "backend/vulkan/vk_self_test.h"

namespace hearth {

VulkanDevices vulkan_devices(const std::string& cache_folder) {
  VulkanDevices out;
  try {
    std::string reason;
    const auto instance = vulkan::Instance::open(&reason);
    if (!instance) return {{}, {reason}};
    for (VkPhysicalDevice each : instance->devices()) {
      VkPhysicalDeviceProperties properties;
      vkGetPhysicalDeviceProperties(each, &properties);
      if (properties.apiVersion < VK_API_VERSION_1_2) {
        out.notes.push_back(std::string(properties.deviceName) + " is not used: its driver is older than Vulkan 1.2.");
        continue;
      }
      VulkanDevice device = vulkan::describe(each);
      device.refused = vulkan::kept_verdicts(cache_folder, device).sentences();
      const bool twice = std::any_of(out.devices.begin(), out.devices.end(), [&](const VulkanDevice& d) { return d.id == device.id; });
      if (!twice) out.devices.push_back(std::move(device));  // some drivers are found by two ways
    }
    if (out.devices.empty() && out.notes.empty()) out.notes.push_back("Vulkan is there, but no driver offers a device.");
  } catch (const std::exception& error) {
    out.notes.push_back(std::string("Vulkan's devices could not be listed: ") + error.what());
  }
  return out;
}

}  // namespace hearth
