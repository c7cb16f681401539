// An opened device: VkDevice, its function table, one compute queue. Everything else of this folder works on one of these.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backend/vulkan/vk_instance.h"
#include "backend/vulkan/vulkan.h"

namespace hearth::vulkan {

/// For tests: sees the table of every device that is opened, before its first use, and may replace entries.
extern std::function<void(VolkDeviceTable&)> on_device_table;

class Device {
 public:
  /// Of the options device, without and deterministic count here.
  explicit Device(const VulkanOptions& options);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  const VulkanDevice& info() const { return info_; }
  bool has(std::string_view feature) const;
  /// For messages: device and driver.
  std::string title() const { return info_.name + ", driver " + info_.driver + " " + info_.driver_info; }
  /// check() with this device as the one that failed.
  void check(VkResult result, const char* what) const {
    if (result != VK_SUCCESS) vulkan::check(result, what, {info_.id, title()});
  }
  /// The error of this device; `sentence` goes without its full stop.
  DeviceError error(ErrorCode code, const std::string& sentence, uint64_t needed = 0, uint64_t available = 0) const {
    return {code, info_.id, sentence + " (" + title() + ").", needed, available};
  }

  /// For a device that does not answer: from now on nothing waits for it and nothing of it is given back, since the driver's calls
  /// might never return. The process is to end soon.
  void abandon();

  VolkDeviceTable vk{};
  VkDevice handle = VK_NULL_HANDLE;
  VkPhysicalDevice physical = VK_NULL_HANDLE;
  VkQueue queue = VK_NULL_HANDLE;
  uint32_t family = 0;
  bool hung = false;

 private:
  std::shared_ptr<Instance> instance_;
  VulkanDevice info_;
};

}  // namespace hearth::vulkan
