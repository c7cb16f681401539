// A VkInstance: the loader opened, the drivers asked. With it go the validation layer's messages, where that is switched on.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backend/vulkan/vk_api.h"

namespace hearth::vulkan {

class Instance {
 public:
  /// nullptr where there is no loader, no driver, or none that is new enough; `reason` then says it in words.
  static std::shared_ptr<Instance> open(std::string* reason);
  ~Instance();
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;

  std::vector<VkPhysicalDevice> devices() const;

 private:
  Instance() = default;
  VkInstance instance_ = VK_NULL_HANDLE;
  VkDebugUtilsMessengerEXT messenger_ = VK_NULL_HANDLE;
};

}  // namespace hearth::vulkan
