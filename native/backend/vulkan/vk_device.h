// An opened device: VkDevice, its function table, one compute queue. Everything else of this folder works on one of these.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backend/vulkan/vk_instance.h"
#include "backend/vulkan/vulkan.h"

namespace hearth::vulkan {

class Device {
 public:
  /// `id` as in VulkanOptions::device.
  Device(const std::string& id, const std::vector<std::string>& switched_off);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  const VulkanDevice& info() const { return info_; }
  bool has(std::string_view feature) const;
  /// check() with this device's name in the message.
  void check(VkResult result, const char* what) const { vulkan::check(result, what, info_.name + ", " + info_.driver); }

  VolkDeviceTable vk{};  // a test may replace entries
  VkDevice handle = VK_NULL_HANDLE;
  VkPhysicalDevice physical = VK_NULL_HANDLE;
  VkQueue queue = VK_NULL_HANDLE;
  uint32_t family = 0;

 private:
  std::shared_ptr<Instance> instance_;
  VulkanDevice info_;
};

}  // namespace hearth::vulkan
