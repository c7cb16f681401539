// Which features of a device are used: what it has, minus what is known to go wrong there, minus what was switched off.
// A pure decision over plain data; it asks no driver.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "backend/vulkan/vulkan.h"

namespace hearth::vulkan {

/// Names of features, as switches and diagnostics spell them. The baseline kernels need none of them.
inline constexpr std::string_view memory_budget = "memory_budget";    // VK_EXT_memory_budget: free memory as the driver sees it
inline constexpr std::string_view direct_write = "direct_write";      // device memory that the processor may write
inline constexpr std::string_view pipeline_cache = "pipeline_cache";  // compiled kernels are kept on disk
inline constexpr std::string_view host_import = "host_import";        // VK_EXT_external_memory_host: parts of sums go straight to the host's memory
// Faster kernels beside the baseline's; the self-test judges them (kernels.h).
inline constexpr std::string_view subgroups = "subgroups";              // of a size that can be asked for, at least 8, with shuffles
inline constexpr std::string_view large_tiles = "large_tiles";          // 256 threads, 24 KiB that they share
inline constexpr std::string_view tiled_attention = "tiled_attention";  // 128 threads, 26 KiB that they share
inline constexpr std::string_view cooperative_matrix = "cooperative_matrix";  // VK_KHR_cooperative_matrix: adds in an order of its own
// In the place of whole rows of logits; judged likewise.
inline constexpr std::string_view best_logits = "top_logits";  // 64 threads, 17 KiB that they share

struct Features {
  std::vector<std::string> used;
  std::vector<VulkanOff> off;
  bool has(std::string_view feature) const;
};

/// `present`: what device and driver offer. `switched_off`: by options or environment. Unknown names there are kept in
/// `off` with a reason, so that a misspelt switch shows. `deterministic`: without what changes the order of additions.
Features choose_features(const VulkanDevice& device, const std::vector<std::string>& present, const std::vector<std::string>& switched_off,
                         bool deterministic = false);

/// The names in a list like "direct_write,pipeline_cache"; spaces around them do not count.
std::vector<std::string> split_names(std::string_view list);

}  // namespace hearth::vulkan
