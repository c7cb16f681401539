// Kernels compiled for this device, each when it is first needed, and kept on disk between runs. One layout for all: eight
// storage buffers and 128 bytes of constants. What is on disk is read before the first is compiled.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "backend/vulkan/vk_device.h"

namespace hearth::vulkan {

class Pipelines {
 public:
  /// `folder`: where compiled kernels are kept; empty: nowhere.
  Pipelines(Device& device, std::string folder);
  ~Pipelines();
  Pipelines(const Pipelines&) = delete;
  Pipelines& operator=(const Pipelines&) = delete;

  VkPipeline get(const std::string& shader, const std::vector<uint32_t>& constants);
  VkPipelineLayout layout() const { return layout_; }
  VkDescriptorSetLayout set_layout() const { return set_layout_; }
  /// Writes what was compiled since the last call, if anything. Failures are not told: it is only a cache.
  void save();

 private:
  void destroy();
  VkPipelineCache cache();
  VkPipeline compile(const std::string& shader, const std::vector<uint32_t>& constants);

  Device& device_;
  std::string folder_;
  VkDescriptorSetLayout set_layout_ = VK_NULL_HANDLE;
  VkPipelineLayout layout_ = VK_NULL_HANDLE;
  VkPipelineCache cache_ = VK_NULL_HANDLE;
  std::map<std::pair<std::string, std::vector<uint32_t>>, VkPipeline> pipelines_;
  bool fresh_ = false;
};

}  // namespace hearth::vulkan
