// Faults of device and driver, put in by replacing entries of the device's function table. Failures prevented: a lost device, a
// lack of memory or a hang that is no typed error, that ends the process, hangs it, leaks, or spoils what is opened afterwards.
#include <gtest/gtest.h>

#ifndef HEARTH_HAS_VULKAN
TEST(Vulkan, IsTestedWhereItIsBuilt) { GTEST_SKIP() << "This build of Hearth has no Vulkan."; }
#else

#include <chrono>

#include "backend/vulkan/vk_device.h"
#include "test/mini_model.h"
#include "test/vulkan_testing.h"

namespace hearth::testing {
namespace {

[[maybe_unused]] const auto* const silent = ::testing::AddGlobalTestEnvironment(new ValidationIsSilent);

/// The n-th call from now on of the entry for which it stands gives `result`; later ones, too, where it `stays`.
struct Fault {
  int calls_until = -1;  // -1: never
  VkResult result = VK_SUCCESS;
  bool stays = false;
  bool happens() {
    if (calls_until < 0) return false;
    if (calls_until > 0) return --calls_until, false;
    if (!stays) calls_until = -1;
    return true;
  }
};

/// `entry` of the table calls through to the driver unless its fault happens.
#define REPLACEABLE(entry, parameters, arguments)                                                    \
  struct entry##_ {                                                                                  \
    static inline Fault fault;                                                                       \
    static inline PFN_##entry driver = nullptr;                                                      \
    static VkResult VKAPI_CALL call parameters { return fault.happens() ? fault.result : driver arguments; } \
    static void replace(VolkDeviceTable& table) { driver = table.entry, table.entry = call; }        \
  }
REPLACEABLE(vkQueueSubmit, (VkQueue q, uint32_t n, const VkSubmitInfo* s, VkFence f), (q, n, s, f));
REPLACEABLE(vkAllocateMemory, (VkDevice d, const VkMemoryAllocateInfo* i, const VkAllocationCallbacks* a, VkDeviceMemory* m), (d, i, a, m));
REPLACEABLE(vkCreateBuffer, (VkDevice d, const VkBufferCreateInfo* i, const VkAllocationCallbacks* a, VkBuffer* b), (d, i, a, b));
REPLACEABLE(vkBindBufferMemory, (VkDevice d, VkBuffer b, VkDeviceMemory m, VkDeviceSize o), (d, b, m, o));
REPLACEABLE(vkMapMemory, (VkDevice d, VkDeviceMemory m, VkDeviceSize o, VkDeviceSize s, VkMemoryMapFlags f, void** p), (d, m, o, s, f, p));
REPLACEABLE(vkCreateFence, (VkDevice d, const VkFenceCreateInfo* i, const VkAllocationCallbacks* a, VkFence* f), (d, i, a, f));
REPLACEABLE(vkCreateCommandPool, (VkDevice d, const VkCommandPoolCreateInfo* i, const VkAllocationCallbacks* a, VkCommandPool* p), (d, i, a, p));
REPLACEABLE(vkCreateDescriptorPool, (VkDevice d, const VkDescriptorPoolCreateInfo* i, const VkAllocationCallbacks* a, VkDescriptorPool* p), (d, i, a, p));
REPLACEABLE(vkAllocateDescriptorSets, (VkDevice d, const VkDescriptorSetAllocateInfo* i, VkDescriptorSet* s), (d, i, s));
REPLACEABLE(vkCreateShaderModule, (VkDevice d, const VkShaderModuleCreateInfo* i, const VkAllocationCallbacks* a, VkShaderModule* m), (d, i, a, m));
REPLACEABLE(vkCreatePipelineCache, (VkDevice d, const VkPipelineCacheCreateInfo* i, const VkAllocationCallbacks* a, VkPipelineCache* c), (d, i, a, c));
REPLACEABLE(vkCreateComputePipelines,
            (VkDevice d, VkPipelineCache c, uint32_t n, const VkComputePipelineCreateInfo* i, const VkAllocationCallbacks* a, VkPipeline* p), (d, c, n, i, a, p));
REPLACEABLE(vkBeginCommandBuffer, (VkCommandBuffer b, const VkCommandBufferBeginInfo* i), (b, i));
REPLACEABLE(vkEndCommandBuffer, (VkCommandBuffer b), (b));

/// Waiting is special: what was submitted does run here, so it is waited for in any case.
struct Waiting {
  static inline Fault fault;
  static inline PFN_vkWaitForFences driver = nullptr;
  static VkResult VKAPI_CALL call(VkDevice d, uint32_t n, const VkFence* f, VkBool32 all, uint64_t) {
    const VkResult result = driver(d, n, f, all, UINT64_MAX);
    return fault.happens() ? fault.result : result;
  }
  static void replace(VolkDeviceTable& table) { driver = table.vkWaitForFences, table.vkWaitForFences = call; }
};

class VulkanFaults : public ::testing::TestWithParam<KernelSet> {
 protected:
  void SetUp() override {
    vulkan::on_device_table = [](VolkDeviceTable& table) {
      vkQueueSubmit_::replace(table), vkAllocateMemory_::replace(table), vkCreateBuffer_::replace(table), vkBindBufferMemory_::replace(table);
      vkMapMemory_::replace(table), vkCreateFence_::replace(table), vkCreateCommandPool_::replace(table), vkCreateDescriptorPool_::replace(table);
      vkAllocateDescriptorSets_::replace(table), vkCreateShaderModule_::replace(table), vkCreatePipelineCache_::replace(table);
      vkCreateComputePipelines_::replace(table), vkBeginCommandBuffer_::replace(table), vkEndCommandBuffer_::replace(table), Waiting::replace(table);
    };
  }
  void TearDown() override {
    vulkan::on_device_table = {};
    for (Fault* each : faults()) *each = {};
  }
  static std::vector<Fault*> faults() {
    return {&vkQueueSubmit_::fault, &vkAllocateMemory_::fault, &vkCreateBuffer_::fault, &vkBindBufferMemory_::fault, &vkMapMemory_::fault,
            &vkCreateFence_::fault, &vkCreateCommandPool_::fault, &vkCreateDescriptorPool_::fault, &vkAllocateDescriptorSets_::fault,
            &vkCreateShaderModule_::fault, &vkCreatePipelineCache_::fault, &vkCreateComputePipelines_::fault, &vkBeginCommandBuffer_::fault,
            &vkEndCommandBuffer_::fault, &Waiting::fault};
  }
  /// `staged`: data goes in and out by copies on the device, as with cards whose memory the processor does not see.
  MiniModel model(bool staged = false) const {
    VulkanOptions options = vulkan_options(GetParam(), staged ? std::vector<std::string>{"direct_write"} : std::vector<std::string>{});
    options.most_work = 20000;  // many submissions
    return {weights, make_vulkan_backend(options)};
  }
  static std::string device_name() {
    for (const VulkanDevice& each : found_devices().devices) {
      if (each.id == GetParam().device) return each.name;
    }
    return "?";
  }
  /// Runs `body`, which must end in an Error of `code` that tells the device by its id, and device and driver in words.
  template <typename Body>
  static void expect_error(ErrorCode code, const std::string& what, Body&& body) {
    try {
      body();
      ADD_FAILURE() << what << ": nothing was thrown";
    } catch (const Error& error) {
      EXPECT_EQ(to_string(error.code), to_string(code)) << what << ": " << error.what();
      EXPECT_NE(std::string(error.what()).find(device_name() + ", driver "), std::string::npos) << what << ": " << error.what();
      EXPECT_EQ(failed_device(error), GetParam().device) << what;
    }
  }
  const MiniWeights weights{MiniConfig{}};
  const std::vector<int32_t> tokens = some_tokens(60, 50);
};

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(VulkanFaults);
INSTANTIATE_TEST_SUITE_P(Devices, VulkanFaults, ::testing::ValuesIn([] {
                           std::vector<KernelSet> sets;
                           for (const std::string& id : device_ids()) sets.push_back({id, false});
                           return sets;
                         }()),
                         [](const auto& p) { return test_name(p.param); });

TEST(Vulkan, FaultsAreTriedWhereThereIsADevice) { skip_without_devices(); }

TEST_P(VulkanFaults, ALostDeviceIsATypedErrorAndANewOpeningWorks) {
  const Floats want = model().prompt(tokens, 60);
  for (int round = 0; round < 10; ++round) {
    MiniModel m = model(round % 4 > 1);
    ASSERT_EQ(m.prompt(tokens, 60), want);
    Fault& fault = round % 2 ? Waiting::fault : vkQueueSubmit_::fault;
    fault = {round, VK_ERROR_DEVICE_LOST, true};
    expect_error(ErrorCode::device_lost, "round " + std::to_string(round), [&] { m.prompt(tokens, 60); });
    expect_error(ErrorCode::device_lost, "the next step", [&] { m.prompt(tokens, 60); });
    fault = {};
  }
  EXPECT_EQ(model().prompt(tokens, 60), want);
}

TEST_P(VulkanFaults, AHangIsATypedErrorAndNobodyWaitsForItAgain) {
  const Floats want = model().prompt(tokens, 60);
  for (int round = 0; round < 10; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    {
      MiniModel m = model();
      Waiting::fault = {round, VK_TIMEOUT, true};
      expect_error(ErrorCode::device_lost, "round " + std::to_string(round), [&] { m.prompt(tokens, 60); });
      Waiting::fault = {};  // it answers again; it is left alone all the same
      expect_error(ErrorCode::device_lost, "the next step", [&] { m.prompt(tokens, 60); });
    }
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(60));
  }
  EXPECT_EQ(model().prompt(tokens, 60), want);
}

TEST_P(VulkanFaults, AMemoryThatIsFullIsATypedErrorAndTheModelGoesOn) {
  MiniModel m = model();
  const Floats want = m.prompt(tokens, 60);
  vkAllocateMemory_::fault = {0, VK_ERROR_OUT_OF_DEVICE_MEMORY, true};
  expect_error(ErrorCode::out_of_vram, "a larger pool", [&] { m.backend->resize_kv(20'000); });
  EXPECT_EQ(m.prompt(tokens, 60), want) << "with the pool as it was";
  vkAllocateMemory_::fault = {0, VK_ERROR_OUT_OF_HOST_MEMORY, true};
  expect_error(ErrorCode::out_of_ram, "memory of the machine", [&] { m.backend->resize_kv(20'000); });
  vkAllocateMemory_::fault = {};
  EXPECT_EQ(m.prompt(tokens, 60), want);
}

/// Every entry that may fail does so at each of its first calls, from the opening to the end of a step.
TEST_P(VulkanFaults, WhereverADriverFailsItIsATypedErrorAndNothingIsLeftBehind) {
  const auto tried = faults();
  for (size_t i = 0; i + 1 < tried.size(); ++i) {
    for (int call : {0, 1, 2}) {
      *tried[i] = {call, VK_ERROR_OUT_OF_HOST_MEMORY, false};
      try {
        MiniModel m = model(call == 2);
        m.prompt(tokens, 60);
        EXPECT_GE(tried[i]->calls_until, 0) << "entry " << i << " failed at call " << call << ", and nobody noticed";
      } catch (const Error& error) {
        EXPECT_EQ(to_string(error.code), to_string(ErrorCode::out_of_ram)) << "entry " << i << ", call " << call << ": " << error.what();
      }
      *tried[i] = {};
    }
  }
}

}  // namespace
}  // namespace hearth::testing
#endif
