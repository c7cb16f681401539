// Sums over ranks that are graphics devices. Failures prevented: ranks whose sums differ in a byte, because one adds in another order or flushes
// what is tiny; a copy or submission for each sum that the host's memory makes needless; a driver that refuses that memory and takes the model with
// it; a rank that waits for one whose device is lost.
#include <gtest/gtest.h>

#ifndef HEARTH_HAS_VULKAN
TEST(VulkanSums, AreTestedWhereVulkanIsBuilt) { GTEST_SKIP() << "This build of Hearth has no Vulkan."; }
#else

#include <atomic>
#include <limits>

#include "backend/vulkan/vk_device.h"
#include "hearth/error.h"
#include "mesh/mesh.h"
#include "test/vulkan_testing.h"

namespace hearth::testing {
namespace {

[[maybe_unused]] const auto* const silent = ::testing::AddGlobalTestEnvironment(new ValidationIsSilent);

constexpr uint32_t cols = 200, most_rows = 9, sums = 3;
const std::string host = "host";  // a rank on the reference backend

/// What the devices were asked for since the last look; and which call is to fail.
struct Driver {
  static inline std::atomic<int> submissions, waits, copies, imports;
  static inline std::atomic<int> submissions_until = -1;  // the n-th from now on is lost; -1: none
  static inline bool refuses_address = false, refuses_memory = false;
  static inline VolkDeviceTable table;

  static void install() {
    submissions_until = -1, refuses_address = refuses_memory = false;
    vulkan::on_device_table = [](VolkDeviceTable& t) {
      table = t;
      t.vkQueueSubmit = [](VkQueue q, uint32_t n, const VkSubmitInfo* s, VkFence f) {
        ++submissions;
        return submissions_until >= 0 && submissions_until-- == 0 ? VK_ERROR_DEVICE_LOST : table.vkQueueSubmit(q, n, s, f);
      };
      t.vkWaitForFences = [](VkDevice d, uint32_t n, const VkFence* f, VkBool32 all, uint64_t t) { return ++waits, table.vkWaitForFences(d, n, f, all, t); };
      t.vkCmdCopyBuffer = [](VkCommandBuffer b, VkBuffer from, VkBuffer to, uint32_t n, const VkBufferCopy* r) { ++copies, table.vkCmdCopyBuffer(b, from, to, n, r); };
      t.vkAllocateMemory = [](VkDevice d, const VkMemoryAllocateInfo* i, const VkAllocationCallbacks* a, VkDeviceMemory* m) {
        const bool import = i->pNext != nullptr;
        imports += import;
        return import && refuses_memory ? VK_ERROR_INVALID_EXTERNAL_HANDLE : table.vkAllocateMemory(d, i, a, m);
      };
      t.vkGetMemoryHostPointerPropertiesEXT = [](VkDevice d, VkExternalMemoryHandleTypeFlagBits h, const void* p, VkMemoryHostPointerPropertiesEXT* o) {
        return refuses_address ? VK_ERROR_INVALID_EXTERNAL_HANDLE : table.vkGetMemoryHostPointerPropertiesEXT(d, h, p, o);
      };
    };
  }
  static void look_anew() { submissions = waits = copies = imports = 0; }
};

/// Parts that show the order of additions, and numbers at and below the edge of what is normal.
Floats part_of(uint32_t rank) {
  Random random(7 + rank);
  Floats x = random_floats(random, cols * most_rows, rank == 1 ? 1e8f : 1.0f);
  const float least = std::numeric_limits<float>::min();
  const float edge[] = {least, -least, least / 2, -0.0f, 0.0f, least * 1.5f, -least * 1.25f, least / 1024, 1e30f, -1e30f};
  for (size_t i = 0; i < x.size(); i += 2) {
    if (i % 6 != 0) x[i] = edge[random() % std::size(edge)];
  }
  return x;
}

float normal(float x) { return std::fabs(x) < std::numeric_limits<float>::min() ? 0.0f : x; }

/// x of every rank after `sums` sums of it.
Floats wanted(uint32_t ranks, uint32_t rows) {
  std::vector<Floats> parts;
  for (uint32_t r = 0; r < ranks; ++r) parts.push_back(part_of(r));
  Floats x(size_t(rows) * cols);
  for (uint32_t round = 0; round < sums; ++round) {
    for (size_t i = 0; i < x.size(); ++i) {
      const float before = x[i];
      for (uint32_t r = 0; r < ranks; ++r) {
        const float part = normal(round == 0 ? parts[r][i] : before);
        x[i] = r == 0 ? part : normal(x[i] + part);
      }
    }
  }
  return x;
}

/// Ranks that each have an x of their own, which becomes the sum of all, `sums` times.
class Ranks {
 public:
  explicit Ranks(const std::vector<std::string>& devices, const std::vector<std::string>& without = {}) {
    std::vector<MeshRank> ranks;
    for (uint32_t r = 0; r < devices.size(); ++r) {
      ranks.push_back({devices[r] == host ? make_reference_backend() : vulkan_backend({devices[r]}, Precision::exact, KvType::automatic, without), {}});
      Backend& backend = *ranks.back().backend;
      tables_.push_back(f32_matrix(part_of(r), most_rows, cols));
      const Buffer x = backend.add_buffer("x", cols, most_rows);
      const Buffer aside = backend.add_buffer("aside", cols, most_rows);
      ops_.insert(ops_.end(), {OnRank{r}, Embed{backend.add_weight(tables_.back()->view), 1.0f, x}});
      for (uint32_t i = 0; i < sums; ++i) ops_.insert(ops_.end(), {Op{AllReduce{x}}, Op{Clear{aside}}});  // a program before and behind each
      parts_.push_back({r, x, cols});
    }
    mesh_ = make_mesh(std::move(ranks));
    mesh_->plan_sums(sizeof(float) * cols * most_rows);
    for (const JoinedPart& part : parts_) results_.push_back(mesh_->join({part}));
  }

  bool run(uint32_t rows, const std::atomic<bool>* abandon = nullptr) {
    StepInputs step;
    for (uint32_t r = 0; r < rows; ++r) step.tokens.push_back(int32_t(r)), step.positions.push_back(r);
    step.sequence.assign(rows, 0), step.sequences = 1;
    return mesh_->submit(ops_, step, abandon)->wait();
  }
  void expect_sums(uint32_t rows) {
    ASSERT_TRUE(run(rows));
    const Floats want = wanted(static_cast<uint32_t>(parts_.size()), rows);
    for (size_t r = 0; r < parts_.size(); ++r) {
      Floats got(want.size());
      mesh_->read(results_[r], 0, rows, got.data());
      EXPECT_EQ(std::memcmp(got.data(), want.data(), got.size() * sizeof(float)), 0) << "rank " << r << " of " << mesh_->name();
    }
  }
  std::vector<std::string> notes() const { return mesh_->notes(); }

 private:
  std::vector<std::unique_ptr<TestMatrix>> tables_;
  OpList ops_;
  std::vector<JoinedPart> parts_;
  std::vector<Buffer> results_;
  std::unique_ptr<Mesh> mesh_;
};

bool imports(const std::string& id) {
  for (const VulkanDevice& each : found_devices().devices) {
    if (each.id == id) return std::ranges::find(each.features, "host_import") != each.features.end();
  }
  return false;
}

class VulkanSums : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { Driver::install(); }
  void TearDown() override { vulkan::on_device_table = {}; }
  const std::string device = GetParam();
};

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(VulkanSums);
INSTANTIATE_TEST_SUITE_P(Devices, VulkanSums, ::testing::ValuesIn(device_ids()), [](const auto& p) { return test_name(p.param); });

TEST(Vulkan, SumsAreTriedWhereThereIsADevice) { skip_without_devices(); }

TEST_P(VulkanSums, EveryRankHasTheHostsBytesHoweverItTakesPart) {
  const std::vector<std::vector<std::string>> ways = {{}, {"host_import"}, {"direct_write"}, {"host_import", "direct_write"}};
  for (const std::vector<std::string>& without : ways) {
    for (const std::vector<std::string>& devices : {std::vector{device, device}, {host, device, device, host}}) {
      Ranks ranks(devices, without);
      for (uint32_t rows : {most_rows, 1u, 4u}) ranks.expect_sums(rows);
    }
  }
}

TEST(VulkanSums, DevicesOfSeveralKindsHaveTheSameBytes) {
  std::vector<std::string> all = device_ids();
  if (all.size() < 2) GTEST_SKIP() << "There are not two graphics devices here.";
  all.push_back(host);
  Ranks(all).expect_sums(most_rows);
}

/// Of one device beside the host's rank: counts of a step of `sums` sums, less those of what it does besides.
TEST_P(VulkanSums, ASumCostsNoSubmissionAndNoCopyWhereTheDeviceSeesTheSlots) {
  const auto costs = [&](const std::vector<std::string>& without) {
    Ranks ranks({device, host}, without);
    EXPECT_TRUE(ranks.run(most_rows));
    Driver::look_anew();
    EXPECT_TRUE(ranks.run(most_rows));
    const std::vector<int> counts = {Driver::submissions, Driver::copies};
    std::printf("[   costs  ] %d submissions, %d copies, %d waits for %u sums\n", counts[0], counts[1], int(Driver::waits), sums);
    return counts;
  };
  const std::vector<int> staged = costs({"host_import", "direct_write"}), direct = costs({"direct_write"});
  if (!imports(device)) GTEST_SKIP() << why_off(device, "host_import");
  EXPECT_EQ(staged[0] - direct[0], int(2 * sums)) << "its part out, the sum in";
  EXPECT_EQ(staged[1] - direct[1], int(2 * sums));
}

TEST_P(VulkanSums, ADriverThatRefusesTheSlotsIsANoteAndNoFailure) {
  if (!imports(device)) GTEST_SKIP() << why_off(device, "host_import");
  for (bool* refusal : {&Driver::refuses_address, &Driver::refuses_memory}) {
    *refusal = true;
    Ranks ranks({device, device});
    ranks.expect_sums(most_rows);
    ASSERT_EQ(ranks.notes().size(), 1u);
    EXPECT_NE(ranks.notes()[0].find("did not take the memory between devices"), std::string::npos) << ranks.notes()[0];
    *refusal = false;
  }
  Ranks ranks({device, device});
  Driver::look_anew();
  ranks.expect_sums(most_rows);
  EXPECT_EQ(Driver::imports, 2);
  EXPECT_TRUE(ranks.notes().empty());
}

/// Wherever in a step one of three devices is lost, the others stop, the error is its, and nothing is waited for.
TEST_P(VulkanSums, ALostRankLeavesNobodyWaiting) {
  for (const std::vector<std::string>& without : {std::vector<std::string>{}, {"host_import"}}) {
    for (int at = 0; at < 10; ++at) {
      Ranks ranks({device, host, device}, without);
      ASSERT_TRUE(ranks.run(1));
      Driver::submissions_until = at;
      try {
        ranks.run(most_rows);
        EXPECT_GE(Driver::submissions_until, 0) << "nobody noticed";
      } catch (const Error& error) {
        EXPECT_EQ(error.code, ErrorCode::device_lost) << error.what();
      }
      Driver::submissions_until = -1;
      ranks.expect_sums(2);  // here the device was not really lost
    }
  }
}

TEST_P(VulkanSums, AGivenUpStepIsNoneAndTheNextIsAsEver) {
  Ranks ranks({device, device});
  const std::atomic<bool> abandon{true};
  EXPECT_FALSE(ranks.run(most_rows, &abandon));
  ranks.expect_sums(most_rows);
}

}  // namespace
}  // namespace hearth::testing
#endif
