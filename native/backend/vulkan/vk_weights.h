// Weights in device memory: repacked row by row (weight_layout.h), cut into slices where a binding could not show the whole.
#pragma once

#include <memory>
#include <vector>

#include "backend/vulkan/vk_transfer.h"
#include "backend/vulkan/weight_layout.h"
#include "backend/weights.h"

namespace hearth::vulkan {

struct WeightSlice {
  std::unique_ptr<Memory> memory;
  uint32_t first = 0, count = 0;  // rows of a matrix; with several experts, experts
};

struct DeviceWeight {
  DType type;  // as it is stored
  uint32_t rows, cols, experts;
  RowLayout layout;
  std::vector<WeightSlice> slices;
};

DeviceWeight upload(const Matrix& matrix, MemoryPool& pool, Transfer& transfer);

/// "q8_0": the ending of the shaders for weights of this type.
std::string_view shader_type(DType type);

}  // namespace hearth::vulkan
