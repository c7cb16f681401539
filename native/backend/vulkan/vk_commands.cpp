// Implements submissions.
#include "backend/vulkan/vk_commands.h"

#include "backend/vulkan/program.h"

namespace hearth::vulkan {
namespace {

constexpr uint64_t one_look = 1'000'000'000;  // nanoseconds
constexpr int most_looks = 60;                // a submission is planned to take a tenth of a second

}  // namespace

void wait_for(Device& device, VkFence fence) {
  VkResult result = VK_TIMEOUT;
  for (int i = 0; i < most_looks && !device.hung && result == VK_TIMEOUT; ++i) {
    result = device.vk.vkWaitForFences(device.handle, 1, &fence, VK_TRUE, one_look);
  }
  if (result == VK_TIMEOUT) {
    device.abandon();
    throw device.error(ErrorCode::device_lost, "The graphics device does not answer any more");
  }
  device.check(result, "vkWaitForFences");
}

void full_barrier(Device& device, VkCommandBuffer buffer) {
  constexpr VkPipelineStageFlags stages = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT | VK_PIPELINE_STAGE_HOST_BIT;
  constexpr VkAccessFlags writes = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT | VK_ACCESS_HOST_WRITE_BIT;
  constexpr VkAccessFlags reads = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_HOST_READ_BIT;
  VkMemoryBarrier barrier{VK_STRUCTURE_TYPE_MEMORY_BARRIER};
  barrier.srcAccessMask = writes, barrier.dstAccessMask = reads | writes;
  device.vk.vkCmdPipelineBarrier(buffer, stages, stages, 0, 1, &barrier, 0, nullptr, 0, nullptr);
}

Commands::Commands(Device& device, uint32_t descriptor_sets) : device_(device) {
  try {
    VkCommandPoolCreateInfo pool{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
    pool.flags = VK_COMMAND_POOL_CREATE_TRANSIENT_BIT, pool.queueFamilyIndex = device.family;
    device.check(device.vk.vkCreateCommandPool(device.handle, &pool, nullptr, &pool_), "vkCreateCommandPool");
    VkCommandBufferAllocateInfo buffer{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
    buffer.commandPool = pool_, buffer.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY, buffer.commandBufferCount = 1;
    device.check(device.vk.vkAllocateCommandBuffers(device.handle, &buffer, &buffer_), "vkAllocateCommandBuffers");
    VkFenceCreateInfo fence{VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    device.check(device.vk.vkCreateFence(device.handle, &fence, nullptr, &fence_), "vkCreateFence");
    if (descriptor_sets == 0) return;
    const VkDescriptorPoolSize size{VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, descriptor_sets * uint32_t(most_uses)};
    VkDescriptorPoolCreateInfo descriptors{VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO};
    descriptors.maxSets = descriptor_sets, descriptors.poolSizeCount = 1, descriptors.pPoolSizes = &size;
    device.check(device.vk.vkCreateDescriptorPool(device.handle, &descriptors, nullptr, &descriptors_), "vkCreateDescriptorPool");
  } catch (...) {
    destroy();
    throw;
  }
}

Commands::~Commands() {
  if (pending_ && !device_.hung) device_.vk.vkWaitForFences(device_.handle, 1, &fence_, VK_TRUE, one_look * 10);
  destroy();
}

void Commands::destroy() {
  if (descriptors_) device_.vk.vkDestroyDescriptorPool(device_.handle, descriptors_, nullptr);
  if (fence_) device_.vk.vkDestroyFence(device_.handle, fence_, nullptr);
  if (pool_) device_.vk.vkDestroyCommandPool(device_.handle, pool_, nullptr);
}

VkCommandBuffer Commands::begin() {
  wait();
  device_.check(device_.vk.vkResetCommandPool(device_.handle, pool_, 0), "vkResetCommandPool");
  if (descriptors_) device_.check(device_.vk.vkResetDescriptorPool(device_.handle, descriptors_, 0), "vkResetDescriptorPool");
  VkCommandBufferBeginInfo info{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
  info.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
  device_.check(device_.vk.vkBeginCommandBuffer(buffer_, &info), "vkBeginCommandBuffer");
  full_barrier(device_, buffer_);
  return buffer_;
}

void Commands::submit() {
  full_barrier(device_, buffer_);  // for the host, which reads mapped memory without a copy
  device_.check(device_.vk.vkEndCommandBuffer(buffer_), "vkEndCommandBuffer");
  VkSubmitInfo info{VK_STRUCTURE_TYPE_SUBMIT_INFO};
  info.commandBufferCount = 1, info.pCommandBuffers = &buffer_;
  device_.check(device_.vk.vkQueueSubmit(device_.queue, 1, &info, fence_), "vkQueueSubmit");
  pending_ = true;
}

void Commands::wait() {
  if (!pending_) return;
  wait_for(device_, fence_);
  pending_ = false;
  device_.check(device_.vk.vkResetFences(device_.handle, 1, &fence_), "vkResetFences");
}

VkDescriptorSet Commands::descriptor_set(VkDescriptorSetLayout layout) {
  VkDescriptorSetAllocateInfo info{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO};
  info.descriptorPool = descriptors_, info.descriptorSetCount = 1, info.pSetLayouts = &layout;
  VkDescriptorSet set = VK_NULL_HANDLE;
  device_.check(device_.vk.vkAllocateDescriptorSets(device_.handle, &info, &set), "vkAllocateDescriptorSets");
  return set;
}

}  // namespace hearth::vulkan
