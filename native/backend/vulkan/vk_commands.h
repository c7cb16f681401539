// A command buffer with its pool, descriptors and fence: what one submission needs, used again and again.
#pragma once

#include <functional>

#include "backend/vulkan/vk_device.h"

namespace hearth::vulkan {

/// Waits in steps, so that a device that hangs becomes an error and not a hang of ours.
void wait_for(Device& device, VkFence fence);

class Commands {
 public:
  /// `descriptor_sets`: how many sets of eight storage buffers one submission may use.
  Commands(Device& device, uint32_t descriptor_sets);
  ~Commands();
  Commands(const Commands&) = delete;
  Commands& operator=(const Commands&) = delete;

  /// Begins anew; waits for the last submission first. The buffer starts with a barrier behind all that was submitted.
  VkCommandBuffer begin();
  void submit();
  /// Returns at once where nothing is under way.
  void wait();
  bool pending() const { return pending_; }
  VkDescriptorSet descriptor_set(VkDescriptorSetLayout layout);

 private:
  void destroy();
  Device& device_;
  VkCommandPool pool_ = VK_NULL_HANDLE;
  VkCommandBuffer buffer_ = VK_NULL_HANDLE;
  VkDescriptorPool descriptors_ = VK_NULL_HANDLE;
  VkFence fence_ = VK_NULL_HANDLE;
  bool pending_ = false;
};

/// Everything before it is done and seen by everything after it.
void full_barrier(Device& device, VkCommandBuffer buffer);

}  // namespace hearth::vulkan
