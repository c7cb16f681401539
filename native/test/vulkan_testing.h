// Which graphics devices the tests run on: every one that Vulkan offers. Software (lavapipe, SwiftShader) compiles kernels for
// minutes, so it is among them only where VK_DRIVER_FILES names its driver. Where there is no device the tests skip with the reason.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "backend/vulkan/vulkan.h"

namespace hearth::testing {

inline VulkanDevices wanted_devices() {
  VulkanDevices found = vulkan_devices();
  const bool named = std::getenv("VK_DRIVER_FILES") != nullptr;
  const auto unwanted = std::erase_if(found.devices, [&](const VulkanDevice& d) { return d.type == "cpu" && !named; });
  if (unwanted > 0) found.notes.push_back("There is software for Vulkan only; name its driver in VK_DRIVER_FILES to test on it.");
  return found;
}

inline const VulkanDevices& found_devices() {
  static const VulkanDevices found = wanted_devices();
  return found;
}

inline std::vector<std::string> device_ids() {
  std::vector<std::string> ids;
  for (const VulkanDevice& each : found_devices().devices) ids.push_back(each.id);
  return ids;
}

/// The name of a device as letters and digits, for the names of tests.
inline std::string test_name(const std::string& id) {
  std::string name;
  for (const VulkanDevice& each : found_devices().devices) {
    if (each.id == id) name = each.name;
  }
  std::erase_if(name, [](unsigned char c) { return !std::isalnum(c); });
  return name + "_" + id.substr(id.size() - 4);
}

inline std::unique_ptr<Backend> vulkan_backend(const std::string& id, Precision precision = Precision::exact, KvType kv = KvType::automatic,
                                               std::vector<std::string> without = {}) {
  VulkanOptions options;
  options.device = id, options.precision = precision, options.kv_type = kv, options.without = std::move(without);
  options.cache_folder = (std::filesystem::temp_directory_path() / "hearth-test-pipelines").string();
  return make_vulkan_backend(options);
}

/// Fails when the validation layer had something to say.
class ValidationIsSilent : public ::testing::Environment {
 public:
  void TearDown() override { EXPECT_EQ(vulkan_validation_messages(), 0u); }
};

inline void skip_without_devices() {
  if (!found_devices().devices.empty()) return;
  std::string reason;
  for (const std::string& note : found_devices().notes) reason += note + " ";
  GTEST_SKIP() << reason;
}

}  // namespace hearth::testing
