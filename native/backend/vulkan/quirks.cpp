// Implements the choice of features, with the table of what is known to go wrong.
#include "backend/vulkan/quirks.h"

#include <algorithm>

namespace hearth::vulkan {
namespace {

/// One known fault. 0 stands for any; versions are the driver's own numbers, `last` inclusive (0: still there).
struct Quirk {
  uint32_t driver_id, vendor, device, last;
  std::string_view feature, reason;
};

// VkDriverId: 13 is lavapipe, 14 is MoltenVK.
constexpr Quirk table[] = {
    {13, 0, 0, 0, cooperative_matrix, "lavapipe compiles each such kernel for more than a minute, as if it hung"},
    {14, 0, 0, 0, subgroups, "shuffles gave wrong numbers through MoltenVK on AMD's devices"},
    {14, 0, 0, 0, pipeline_cache, "MoltenVK keeps compiled kernels itself, and its own data is not portable between its versions"},
};

constexpr std::string_view known[] = {memory_budget, direct_write,    pipeline_cache,     host_import, subgroups,
                                      large_tiles,   tiled_attention, cooperative_matrix, best_logits};

bool contains(const std::vector<std::string>& list, std::string_view name) { return std::find(list.begin(), list.end(), name) != list.end(); }

bool concerns(const Quirk& quirk, const VulkanDevice& device, std::string_view feature) {
  return quirk.feature == feature && (quirk.driver_id == 0 || quirk.driver_id == device.driver_id) &&
         (quirk.vendor == 0 || quirk.vendor == device.vendor) && (quirk.device == 0 || quirk.device == device.device) &&
         (quirk.last == 0 || device.driver_version <= quirk.last);
}

}  // namespace

bool Features::has(std::string_view feature) const { return contains(used, feature); }

Features choose_features(const VulkanDevice& device, const std::vector<std::string>& present, const std::vector<std::string>& switched_off,
                         bool deterministic) {
  Features features;
  for (std::string_view feature : known) {
    const auto* quirk = std::find_if(std::begin(table), std::end(table), [&](const Quirk& q) { return concerns(q, device, feature); });
    if (!contains(present, feature)) features.off.push_back({std::string(feature), "the device or its driver does not have it"});
    else if (deterministic && feature == cooperative_matrix) features.off.push_back({std::string(feature), "bytes shall not depend on company"});
    else if (contains(switched_off, feature)) features.off.push_back({std::string(feature), "switched off"});
    else if (quirk != std::end(table)) features.off.push_back({std::string(feature), std::string(quirk->reason)});
    else features.used.emplace_back(feature);
  }
  for (const std::string& name : switched_off) {
    if (std::find(std::begin(known), std::end(known), name) == std::end(known)) features.off.push_back({name, "there is no such feature"});
  }
  return features;
}

std::vector<std::string> split_names(std::string_view list) {
  std::vector<std::string> names;
  while (!list.empty()) {
    const size_t end = std::min(list.find(','), list.size());
    std::string_view name = list.substr(0, end);
    while (!name.empty() && name.front() == ' ') name.remove_prefix(1);
    while (!name.empty() && name.back() == ' ') name.remove_suffix(1);
    if (!name.empty()) names.emplace_back(name);
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return names;
}

}  // namespace hearth::vulkan
