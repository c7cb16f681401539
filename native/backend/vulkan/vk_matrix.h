// VK_KHR_cooperative_matrix as far as Hearth needs it, declared here because distributions' headers are older; and the choice of a
// device's matrix size for gemm_matrix.comp.
#pragma once

#include <optional>

#include "backend/vulkan/vk_api.h"

namespace hearth::vulkan {

inline constexpr const char* matrix_extension = "VK_KHR_cooperative_matrix";

/// What is chained into VkDeviceCreateInfo to use it, besides shaderFloat16 and vulkanMemoryModel.
struct MatrixFeatures {  // VkPhysicalDeviceCooperativeMatrixFeaturesKHR
  VkStructureType sType = static_cast<VkStructureType>(1000506000);
  void* pNext = nullptr;
  VkBool32 cooperativeMatrix = VK_FALSE, cooperativeMatrixRobustBufferAccess = VK_FALSE;
};

struct MatrixSize { uint32_t m = 0, n = 0, k = 0; };

/// A size of 16-bit inputs and float32 sums of a subgroup that gemm_matrix.comp can work with; none: the device has nothing such.
std::optional<MatrixSize> matrix_size(VkPhysicalDevice device);

}  // namespace hearth::vulkan
