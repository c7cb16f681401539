// Implements the choice and the opening of a device.
#include "backend/vulkan/vk_device.h"

#include <algorithm>

#include "backend/vulkan/quirks.h"
#include "backend/vulkan/vk_device_info.h"
#include "backend/vulkan/vk_matrix.h"

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

std::function<void(VolkDeviceTable&)> on_device_table;

Device::Device(const VulkanOptions& options) {
  const std::string& id = options.device;
  std::string reason;
  instance_ = Instance::open(&reason);
  if (!instance_) throw Error(ErrorCode::invalid_request, reason);
  for (VkPhysicalDevice each : instance_->devices()) {
    VkPhysicalDeviceProperties properties;
    vkGetPhysicalDeviceProperties(each, &properties);
    if (properties.apiVersion < VK_API_VERSION_1_2) continue;
    VulkanDevice found = describe(each, options.without, options.deterministic || options.precision == Precision::exact);
    const bool better = id == "vulkan" && rank(found) < 3 && (!physical || rank(found) < rank(info_));
    if (better || (id == found.id && !physical)) physical = each, info_ = std::move(found);
  }
  if (!physical) throw DeviceError(ErrorCode::invalid_request, id, "There is no graphics device '" + id + "'.");

  family = compute_family(physical);
  const float priority = 0.5f;
  VkDeviceQueueCreateInfo queue_info{VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO};
  queue_info.queueFamilyIndex = family, queue_info.queueCount = 1, queue_info.pQueuePriorities = &priority;
  std::vector<const char*> extensions;
  if (has(memory_budget)) extensions.push_back(VK_EXT_MEMORY_BUDGET_EXTENSION_NAME);
  if (has(host_import)) extensions.push_back(VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME);
  if (has_extension(physical, "VK_KHR_portability_subset")) extensions.push_back("VK_KHR_portability_subset");
  VkPhysicalDeviceSubgroupSizeControlFeaturesEXT sizes{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES_EXT};
  sizes.subgroupSizeControl = VK_TRUE, sizes.computeFullSubgroups = VK_TRUE;
  VkDeviceCreateInfo create{VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO};
  MatrixFeatures matrix;
  VkPhysicalDeviceVulkan12Features core{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES};
  if (has(subgroups) || has(cooperative_matrix)) extensions.push_back(VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME), create.pNext = &sizes;
  if (has(cooperative_matrix)) {
    extensions.push_back(matrix_extension);
    matrix.cooperativeMatrix = VK_TRUE, core.shaderFloat16 = VK_TRUE, core.vulkanMemoryModel = VK_TRUE;
    sizes.pNext = &matrix, matrix.pNext = &core;
  }
  create.queueCreateInfoCount = 1, create.pQueueCreateInfos = &queue_info;
  create.enabledExtensionCount = static_cast<uint32_t>(extensions.size()), create.ppEnabledExtensionNames = extensions.data();
  check(vkCreateDevice(physical, &create, nullptr, &handle), "vkCreateDevice");
  volkLoadDeviceTable(&vk, handle);
  if (on_device_table) on_device_table(vk);
  vk.vkGetDeviceQueue(handle, family, 0, &queue);
}

Device::~Device() {
  if (!handle) return;
  vk.vkDeviceWaitIdle(handle);
  vk.vkDestroyDevice(handle, nullptr);
}

void Device::abandon() {
  hung = true;
  new std::shared_ptr<Instance>(instance_);  // never given back either
  vk.vkDeviceWaitIdle = [](VkDevice) { return VK_SUCCESS; };
  vk.vkDestroyDevice = [](VkDevice, const VkAllocationCallbacks*) {};
  vk.vkDestroyBuffer = [](VkDevice, VkBuffer, const VkAllocationCallbacks*) {};
  vk.vkFreeMemory = [](VkDevice, VkDeviceMemory, const VkAllocationCallbacks*) {};
  vk.vkDestroyPipeline = [](VkDevice, VkPipeline, const VkAllocationCallbacks*) {};
  vk.vkDestroyPipelineCache = [](VkDevice, VkPipelineCache, const VkAllocationCallbacks*) {};
  vk.vkDestroyPipelineLayout = [](VkDevice, VkPipelineLayout, const VkAllocationCallbacks*) {};
  vk.vkDestroyDescriptorSetLayout = [](VkDevice, VkDescriptorSetLayout, const VkAllocationCallbacks*) {};
  vk.vkDestroyDescriptorPool = [](VkDevice, VkDescriptorPool, const VkAllocationCallbacks*) {};
  vk.vkDestroyCommandPool = [](VkDevice, VkCommandPool, const VkAllocationCallbacks*) {};
  vk.vkDestroyFence = [](VkDevice, VkFence, const VkAllocationCallbacks*) {};
}

bool Device::has(std::string_view feature) const {
  return std::find(info_.features.begin(), info_.features.end(), feature) != info_.features.end();
}

}  // namespace hearth::vulkan
