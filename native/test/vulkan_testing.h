// Which graphics devices the tests run on: every one that Vulkan offers. Software (lavapipe, SwiftShader) compiles kernels for
// minutes, so it is among them only where VK_DRIVER_FILES names its driver, or HEARTH_VULKAN_SOFTWARE is set. Where there is no device the
// tests skip with the reason.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "backend/vulkan/vulkan.h"
#include "test/backend_testing.h"

namespace hearth::testing {

inline constexpr const char* kernel_features[] = {"subgroups", "large_tiles", "tiled_attention", "cooperative_matrix"};

inline VulkanDevices wanted_devices() {
  VulkanDevices found = vulkan_devices();
  const bool named = std::getenv("VK_DRIVER_FILES") || std::getenv("HEARTH_VULKAN_SOFTWARE");
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

/// A device with the baseline's kernels alone, or with all that it can run.
struct KernelSet {
  std::string device;
  bool faster = false;
};

inline std::string test_name(const KernelSet& set) { return test_name(set.device) + (set.faster ? "_faster" : "_baseline"); }
/// For gtest's messages.
inline void PrintTo(const KernelSet& set, std::ostream* out) { *out << test_name(set); }

/// On a card, or where HEARTH_VULKAN_THOROUGH is set. Software compiles a second for each kernel: elsewhere some stand for all.
inline bool thorough() {
  const auto& devices = found_devices().devices;
  return std::getenv("HEARTH_VULKAN_THOROUGH") || std::any_of(devices.begin(), devices.end(), [](const VulkanDevice& d) { return d.type != "cpu"; });
}
inline std::vector<DType> tested_types() {
  if (thorough()) return {std::begin(all_types), std::end(all_types)};
  return {DType::q8_0, DType::mxfp4};
}
/// In a fixture's SetUp(): of tests on software only those go on that stand for the others.
inline void skip_unless_thorough(std::initializer_list<std::string_view> stand_for_all) {
  const std::string name = ::testing::UnitTest::GetInstance()->current_test_info()->name();
  const std::string_view test = std::string_view(name).substr(0, name.find('/'));
  if (thorough() || std::find(stand_for_all.begin(), stand_for_all.end(), test) != stand_for_all.end()) return;
  GTEST_SKIP() << "on software only where HEARTH_VULKAN_THOROUGH is set";
}

/// Both where it is thorough; else the faster ones, whose bytes a test compares with the baseline's.
inline std::vector<KernelSet> kernel_sets() {
  std::vector<KernelSet> sets;
  for (const VulkanDevice& each : found_devices().devices) {
    const bool faster = std::any_of(each.features.begin(), each.features.end(), [](const std::string& feature) {
      return std::find(std::begin(kernel_features), std::end(kernel_features), feature) != std::end(kernel_features);
    });
    if (thorough() || !faster) sets.push_back({each.id, false});
    if (faster) sets.push_back({each.id, true});
  }
  return sets;
}

inline VulkanOptions vulkan_options(const KernelSet& set, std::vector<std::string> without = {}) {
  VulkanOptions options;
  options.device = set.device, options.precision = Precision::exact, options.without = std::move(without);
  if (!set.faster) options.without.insert(options.without.end(), std::begin(kernel_features), std::end(kernel_features));
  options.self_test_seconds = 0;  // the tests judge kernels themselves
  options.cache_folder = (std::filesystem::temp_directory_path() / "hearth-test-pipelines").string();
  return options;
}

inline std::unique_ptr<Backend> vulkan_backend(const KernelSet& set, Precision precision = Precision::exact, KvType kv = KvType::automatic,
                                               std::vector<std::string> without = {}) {
  VulkanOptions options = vulkan_options(set, std::move(without));
  options.precision = precision, options.kv_type = kv;
  return make_vulkan_backend(options);
}

/// Why a feature is not used, as the list of devices says.
inline std::string why_off(const std::string& id, std::string_view feature) {
  for (const VulkanDevice& device : found_devices().devices) {
    for (const VulkanOff& off : device.off) {
      if (device.id == id && off.feature == feature) return off.reason;
    }
  }
  return "it is switched off here";
}

/// Fails when the validation layer had something to say, or was asked for and is not there.
class ValidationIsSilent : public ::testing::Environment {
 public:
  void SetUp() override {
    const char* wanted = std::getenv("HEARTH_VULKAN_VALIDATION");
    if (!wanted || !*wanted || found_devices().devices.empty()) return;
    EXPECT_TRUE(vulkan_validation_on()) << "HEARTH_VULKAN_VALIDATION is set, and the Khronos layer is not installed.";
  }
  void TearDown() override { EXPECT_EQ(vulkan_validation_messages(), 0u); }
};

inline void skip_without_devices() {
  if (!found_devices().devices.empty()) return;
  std::string reason;
  for (const std::string& note : found_devices().notes) reason += note + " ";
  GTEST_SKIP() << reason;
}

}  // namespace hearth::testing
