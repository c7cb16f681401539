// The self-test: the first time that a device and driver meet a faster kernel, small work out of a seed is done by it and by the
// processor's reference, and compared. Drivers that compile a kernel wrongly give wrong words, not errors.
#pragma once

#include <vector>

#include "backend/vulkan/kernels.h"
#include "backend/vulkan/vk_device.h"

namespace hearth::vulkan {

/// Which kernels a model needs.
struct Needs {
  std::vector<DType> types;  // of its weights, as stored
  uint32_t heads = 0, kv_heads = 0, head_dim = 0;  // of its attention; 0: none
  bool top_logits = false;
  bool operator==(const Needs&) const = default;
};

/// "attention_tiled/f16/64/8": shapes are compiled in, so each is judged by itself.
std::string attention_kernel(KvType kv, uint32_t head_dim, uint32_t heads_each);

/// What is known of the kernels that `needs` names; what nothing is known of is tried now, on an opening of the device of its own,
/// for a few seconds at most: what time does not suffice for counts as failed this time and is tried again the next.
Verdicts self_test(const VulkanOptions& options, const Device& device, KvType kv, const Needs& needs);

/// What is kept in `folder` of a device.
Verdicts kept_verdicts(const std::string& folder, const VulkanDevice& device);

}  // namespace hearth::vulkan
