// Implements compiling and keeping.
#include "backend/vulkan/vk_pipelines.h"

#include "backend/vulkan/cache_file.h"
#include "backend/vulkan/embedded_shaders.h"
#include "backend/vulkan/kernels.h"
#include "backend/vulkan/program.h"
#include "backend/vulkan/quirks.h"

namespace hearth::vulkan {

Pipelines::Pipelines(Device& device, std::string folder) : device_(device), folder_(std::move(folder)) {
  if (!device.has(pipeline_cache)) folder_.clear();
  try {
    VkDescriptorSetLayoutBinding bindings[most_uses] = {};
    for (uint32_t i = 0; i < most_uses; ++i) bindings[i] = {i, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, nullptr};
    VkDescriptorSetLayoutCreateInfo set{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO};
    set.bindingCount = most_uses, set.pBindings = bindings;
    device.check(device.vk.vkCreateDescriptorSetLayout(device.handle, &set, nullptr, &set_layout_), "vkCreateDescriptorSetLayout");
    const VkPushConstantRange push{VK_SHADER_STAGE_COMPUTE_BIT, 0, push_words * 4};
    VkPipelineLayoutCreateInfo layout{VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
    layout.setLayoutCount = 1, layout.pSetLayouts = &set_layout_, layout.pushConstantRangeCount = 1, layout.pPushConstantRanges = &push;
    device.check(device.vk.vkCreatePipelineLayout(device.handle, &layout, nullptr, &layout_), "vkCreatePipelineLayout");
  } catch (...) {
    destroy();
    throw;
  }
}

Pipelines::~Pipelines() {
  save();
  destroy();
}

void Pipelines::destroy() {
  for (const auto& [key, pipeline] : pipelines_) device_.vk.vkDestroyPipeline(device_.handle, pipeline, nullptr);
  if (cache_) device_.vk.vkDestroyPipelineCache(device_.handle, cache_, nullptr);
  if (layout_) device_.vk.vkDestroyPipelineLayout(device_.handle, layout_, nullptr);
  if (set_layout_) device_.vk.vkDestroyDescriptorSetLayout(device_.handle, set_layout_, nullptr);
}

VkPipelineCache Pipelines::cache() {
  if (cache_) return cache_;
  const std::vector<std::byte> kept = folder_.empty() ? std::vector<std::byte>{} : read_cache_file(device_file(folder_, device_.info(), ".bin"));
  VkPipelineCacheCreateInfo info{VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO};
  info.initialDataSize = kept.size(), info.pInitialData = kept.data();
  device_.check(device_.vk.vkCreatePipelineCache(device_.handle, &info, nullptr, &cache_), "vkCreatePipelineCache");
  return cache_;
}

void Pipelines::save() {
  if (folder_.empty() || !fresh_) return;
  size_t bytes = 0;
  if (device_.vk.vkGetPipelineCacheData(device_.handle, cache_, &bytes, nullptr) != VK_SUCCESS) return;
  std::vector<std::byte> data(bytes);
  if (device_.vk.vkGetPipelineCacheData(device_.handle, cache_, &bytes, data.data()) != VK_SUCCESS) return;
  data.resize(bytes);
  fresh_ = !write_cache_file(device_file(folder_, device_.info(), ".bin"), data);
}

VkPipeline Pipelines::get(const std::string& shader, const std::vector<uint32_t>& constants) {
  const auto [entry, added] = pipelines_.try_emplace({shader, constants}, VkPipeline(VK_NULL_HANDLE));
  if (!entry->second) entry->second = compile(shader, constants);
  return entry->second;
}

VkPipeline Pipelines::compile(const std::string& shader, const std::vector<uint32_t>& constants) {
  const EmbeddedShader* code = find_shader(shader);
  if (!code) throw Error(ErrorCode::internal, "There is no kernel '" + shader + "'.");
  const VkPipelineCache known = cache();  // may throw: before there is anything to give back
  VkShaderModuleCreateInfo module_info{VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO};
  module_info.codeSize = code->words * 4, module_info.pCode = code->code;
  VkShaderModule module = VK_NULL_HANDLE;
  device_.check(device_.vk.vkCreateShaderModule(device_.handle, &module_info, nullptr, &module), "vkCreateShaderModule");

  std::vector<VkSpecializationMapEntry> entries;
  for (uint32_t i = 0; i < constants.size(); ++i) entries.push_back({i, i * 4, 4});
  VkSpecializationInfo specialization{static_cast<uint32_t>(entries.size()), entries.data(), constants.size() * 4, constants.data()};
  VkComputePipelineCreateInfo info{VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO};
  info.flags = VK_PIPELINE_CREATE_DISPATCH_BASE_BIT;  // long dispatches are cut (program.h)
  info.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
  info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT, info.stage.module = module, info.stage.pName = "main";
  info.stage.pSpecializationInfo = &specialization;
  VkPipelineShaderStageRequiredSubgroupSizeCreateInfoEXT size{VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO_EXT};
  size.requiredSubgroupSize = device_.info().limits.subgroup;
  if (asks_for_subgroups(shader)) {
    info.stage.flags = VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT_EXT;
    info.stage.pNext = &size;
  }
  info.layout = layout_;
  VkPipeline pipeline = VK_NULL_HANDLE;
  const VkResult result = device_.vk.vkCreateComputePipelines(device_.handle, known, 1, &info, nullptr, &pipeline);
  device_.vk.vkDestroyShaderModule(device_.handle, module, nullptr);
  device_.check(result, "vkCreateComputePipelines");
  fresh_ = true;
  return pipeline;
}

}  // namespace hearth::vulkan
