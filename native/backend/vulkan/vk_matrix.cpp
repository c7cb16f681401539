// Implements the question for matrix sizes.
#include "backend/vulkan/vk_matrix.h"

#include <vector>

#include "backend/vulkan/vk_device_info.h"

namespace hearth::vulkan {
namespace {

struct Properties {  // VkCooperativeMatrixPropertiesKHR
  VkStructureType sType = static_cast<VkStructureType>(1000506001);
  void* pNext = nullptr;
  uint32_t m = 0, n = 0, k = 0;
  int32_t a = 0, b = 0, c = 0, result = 0;  // VkComponentTypeKHR
  VkBool32 saturating = VK_FALSE;
  int32_t scope = 0;  // VkScopeKHR
};
constexpr int32_t half_float = 0, single_float = 1, of_a_subgroup = 3;

using GetProperties = VkResult(VKAPI_PTR*)(VkPhysicalDevice, uint32_t*, Properties*);

bool has_features(VkPhysicalDevice device) {
  MatrixFeatures matrix;
  VkPhysicalDeviceVulkan12Features core{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES};
  core.pNext = &matrix;
  VkPhysicalDeviceFeatures2 all{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2};
  all.pNext = &core;
  vkGetPhysicalDeviceFeatures2(device, &all);
  return matrix.cooperativeMatrix && core.shaderFloat16 && core.vulkanMemoryModel;
}

/// Tiles are 64 by 64 by 32, a subgroup's part of them 16 high.
bool fits(const Properties& p) {
  return p.a == half_float && p.b == half_float && p.c == single_float && p.result == single_float && p.scope == of_a_subgroup && !p.saturating &&
         p.m > 0 && p.n > 0 && p.k > 0 && 16 % p.m == 0 && 64 % p.n == 0 && 32 % p.k == 0;
}

}  // namespace

std::optional<MatrixSize> matrix_size(VkPhysicalDevice device) {
  if (!has_extension(device, matrix_extension) || !has_features(device)) return std::nullopt;
  const auto get = reinterpret_cast<GetProperties>(vkGetInstanceProcAddr(volkGetLoadedInstance(), "vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR"));
  uint32_t count = 0;
  if (!get || get(device, &count, nullptr) != VK_SUCCESS) return std::nullopt;
  std::vector<Properties> sizes(count);
  if (get(device, &count, sizes.data()) != VK_SUCCESS) return std::nullopt;
  std::optional<MatrixSize> best;
  for (const Properties& p : sizes) {
    if (fits(p) && (!best || p.m * p.n * p.k > best->m * best->n * best->k)) best = {p.m, p.n, p.k};
  }
  return best;
}

}  // namespace hearth::vulkan
