// The self-test of faster kernels. Failures prevented: a kernel that a driver compiles wrongly writes the answers; a kernel is
// tried again at every start; nobody is told.
#include <gtest/gtest.h>

#ifndef HEARTH_HAS_VULKAN
TEST(Vulkan, IsTestedWhereItIsBuilt) { GTEST_SKIP() << "This build of Hearth has no Vulkan."; }
#else

#include <array>
#include <filesystem>
#include <random>

#include "backend/top_logits.h"
#include "backend/vulkan/embedded_shaders.h"
#include "backend/vulkan/vk_device.h"
#include "test/mini_model.h"
#include "test/vulkan_testing.h"

namespace hearth::testing {
namespace {

[[maybe_unused]] const auto* const silent = ::testing::AddGlobalTestEnvironment(new ValidationIsSilent);

/// A driver that compiles another kernel than it was given, and counts what it compiles.
struct Miscompiling {
  static inline std::string given, compiled;
  static inline int modules = 0;
  static inline PFN_vkCreateShaderModule driver = nullptr;
  static VkResult VKAPI_CALL call(VkDevice device, const VkShaderModuleCreateInfo* info, const VkAllocationCallbacks* callbacks, VkShaderModule* module) {
    ++modules;
    VkShaderModuleCreateInfo other = *info;
    const vulkan::EmbeddedShader *wanted = vulkan::find_shader(given), *wrong = vulkan::find_shader(compiled);
    if (wanted && wrong && info->pCode == wanted->code) other.pCode = wrong->code, other.codeSize = wrong->words * 4;
    return driver(device, &other, callbacks, module);
  }
};

/// Every device whose kernels a driver could get wrong.
std::vector<KernelSet> faster_sets() {
  std::vector<KernelSet> sets = kernel_sets();
  std::erase_if(sets, [](const KernelSet& set) { return !set.faster; });
  return sets;
}

class VulkanSelfTest : public ::testing::TestWithParam<KernelSet> {
 protected:
  void SetUp() override {
    std::filesystem::remove_all(folder);
    vulkan::on_device_table = [](VolkDeviceTable& table) {
      Miscompiling::driver = table.vkCreateShaderModule, table.vkCreateShaderModule = Miscompiling::call;
    };
  }
  void TearDown() override {
    vulkan::on_device_table = {};
    Miscompiling::given.clear();
    std::filesystem::remove_all(folder);
  }
  MiniModel model(double seconds = 600, std::vector<std::string> without = {"cooperative_matrix"}) const {
    VulkanOptions options = vulkan_options(GetParam(), std::move(without));
    options.cache_folder = folder, options.self_test_seconds = seconds;
    return {weights, make_vulkan_backend(options)};
  }
  static MiniConfig config() {
    MiniConfig c;
    c.dense = DType::mxfp4;
    return c;
  }
  std::vector<std::string> refused() const {
    for (const VulkanDevice& each : vulkan_devices(folder).devices) {
      if (each.id == GetParam().device) return each.refused;
    }
    return {"no device"};
  }
  const std::string folder = (std::filesystem::temp_directory_path() / ("hearth-self-test-" + std::to_string(std::random_device{}()))).string();
  const MiniWeights weights{config()};
  const std::vector<int32_t> tokens = some_tokens(90, 50);
};

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(VulkanSelfTest);
INSTANTIATE_TEST_SUITE_P(Devices, VulkanSelfTest, ::testing::ValuesIn(faster_sets()), [](const auto& p) { return test_name(p.param); });

TEST(Vulkan, KernelsAreTriedWhereThereIsADevice) { skip_without_devices(); }

TEST_P(VulkanSelfTest, AKernelThatIsCompiledWronglyIsReplacedAndTold) {
  const Floats want = MiniModel(weights, vulkan_backend({GetParam().device, false})).prompt(tokens, 90);
  // Another of a kernel's own form: it runs, and its numbers are wrong.
  const std::array<const char*, 3> wrong[] = {{"large_tiles", "gemm_large_mxfp4", "gemm_large_q4_0"},
                                              {"subgroups", "gemv_subgroup_mxfp4", "gemv_subgroup_q4_0"},
                                              {"tiled_attention", "attention_tiled", "attention"}};
  for (const auto& [feature, given, compiled] : wrong) {
    if (feature == std::string("subgroups") && !thorough()) continue;
    std::filesystem::remove_all(folder);
    Miscompiling::given = given, Miscompiling::compiled = compiled;
    std::vector<std::string> others(std::begin(kernel_features), std::end(kernel_features));
    std::erase(others, feature);
    MiniModel m = model(600, others);
    if (m.backend->name().find(feature) == std::string::npos) continue;  // this device goes without
    const Floats got = m.prompt(tokens, 90);
    ASSERT_EQ(m.backend->notes().size(), 1u) << given;
    EXPECT_EQ(m.backend->notes()[0].rfind("Kernel " + std::string(given), 0), 0u) << m.backend->notes()[0];
    EXPECT_NE(m.backend->notes()[0].find("numbers"), std::string::npos) << m.backend->notes()[0];
    EXPECT_EQ(got, want) << given << " was used all the same";
    EXPECT_EQ(refused(), m.backend->notes()) << "and whoever lists the devices sees it";
  }
}

/// Then nothing is said of a row, and whole rows are read.
TEST_P(VulkanSelfTest, WithoutTheBestLogitsWholeRowsAreRead) {
  Miscompiling::given = "top_logits", Miscompiling::compiled = "clear";
  VulkanOptions options = vulkan_options({GetParam().device, false});
  options.cache_folder = folder, options.self_test_seconds = 600;
  Rig rig(make_vulkan_backend(options));
  const TopLayout layout{3000, 20};
  Random random(4);
  const Buffer logits = rig.input("logits", random_floats(random, layout.vocabulary), layout.vocabulary, 1);
  const Buffer out = rig.backend->add_buffer("best", layout.cols(), 1);
  rig.ops.push_back(TopLogits{logits, layout.k, out});
  rig.rows(1);
  if (!rig.backend->far_logits()) GTEST_SKIP() << why_off(GetParam().device, "top_logits");
  rig.run();
  EXPECT_FALSE(rig.backend->far_logits());
  EXPECT_EQ(rig.read(out, 1, layout.cols()), Floats(layout.cols(), 0.0f));
  ASSERT_EQ(rig.backend->notes().size(), 1u);
  EXPECT_EQ(rig.backend->notes()[0].rfind("Kernel top_logits is replaced by whole rows of logits: it gave wrong numbers", 0), 0u) << rig.backend->notes()[0];
}

TEST_P(VulkanSelfTest, WhatWasFoundIsKeptForTheNextStart) {
  const std::vector<std::string> others = {"subgroups", "large_tiles", "cooperative_matrix"};
  MiniModel first = model(600, others);
  const Floats want = first.prompt(tokens, 90);
  EXPECT_TRUE(first.backend->notes().empty()) << first.backend->notes()[0];
  MiniModel untried = model(0, others);
  Miscompiling::modules = 0;
  untried.prompt(tokens, 90);
  const int needed = Miscompiling::modules;
  MiniModel again = model(600, others);
  Miscompiling::modules = 0;
  EXPECT_EQ(again.prompt(tokens, 90), want);
  EXPECT_EQ(Miscompiling::modules, needed) << "kernels were compiled for a test that had been made";
}

TEST_P(VulkanSelfTest, WhatTimeDoesNotSufficeForIsNotUsed) {
  MiniModel m = model(1e-9);
  m.prompt(tokens, 90);
  EXPECT_FALSE(m.backend->notes().empty());
  EXPECT_TRUE(refused().empty()) << "it is tried the next time";
}

}  // namespace
}  // namespace hearth::testing
#endif
