// The decisions of the Vulkan backend that need no device. Failures prevented: a missing barrier, work lost where a program is
// cut, submissions that grow beyond what a watchdog allows, ranges handed out twice, a damaged cache shown to a driver.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "backend/vulkan/cache_file.h"
#include "backend/vulkan/kernels.h"
#include "backend/vulkan/program.h"
#include "backend/vulkan/quirks.h"
#include "backend/vulkan/range_allocator.h"
#include "backend/vulkan/vulkan.h"
#include "backend/vulkan/weight_layout.h"

namespace hearth::vulkan {
namespace {

const Memory* memory(uintptr_t n) { return reinterpret_cast<const Memory*>(n * 64); }  // never looked into

Dispatch dispatch(std::vector<Use> uses, std::array<uint32_t, 3> groups = {1, 1, 1}, double work = 1) {
  Dispatch d;
  std::copy(uses.begin(), uses.end(), d.uses.begin());
  d.groups = groups, d.work = work;
  return d;
}

TEST(VulkanMemory, WhatADriverMovedToTheMachinesMemoryIsSeen) {
  const auto heap = [](uint64_t budget, uint64_t used, bool local) { return VulkanHeap{1000, budget, used, local}; };
  EXPECT_EQ(over_budget({heap(800, 800, true)}), 0);
  EXPECT_EQ(over_budget({heap(600, 800, true)}), 200);
  EXPECT_EQ(over_budget({heap(600, 500, true), heap(100, 900, false)}), 0) << "the machine's own memory is no card's";
}

TEST(VulkanProgram, BarriersStandWhereSomethingIsTouchedThatWasWritten) {
  const Memory *a = memory(1), *b = memory(2), *c = memory(3);
  const Program program = {
      dispatch({{a, false}, {b, true}}),  // b = f(a)
      dispatch({{a, false}, {c, true}}),  // c = g(a): beside it
      dispatch({{b, false}, {a, true}}),  // reads b
      dispatch({{c, false}}),             // c was seen behind that barrier already
      dispatch({{c, true}}),              // but is written now
      dispatch({{c, true}}),              // and again
  };
  EXPECT_EQ(barriers(program), (std::vector<bool>{false, false, true, false, true, true}));
}

TEST(VulkanProgram, ACutProgramRunsEveryGroupOnceAndInOrder) {
  std::mt19937 random(5);
  const auto below = [&](uint32_t n) { return static_cast<uint32_t>(1 + random() % n); };
  for (int round = 0; round < 200; ++round) {
    Program program;
    for (uint32_t i = 0; i < 1 + random() % 8; ++i) {
      program.push_back(dispatch({{memory(1), true}}, {below(9), below(50), below(3)}, 1 + random() % 100));
    }
    const double budget = 1 + random() % 120;
    Cutter cutter(program);
    std::vector<uint64_t> groups(program.size());
    uint32_t last = 0;
    while (!cutter.done()) {
      double work = 0;
      const std::vector<Piece> pieces = cutter.next(budget, 4, &work);
      ASSERT_FALSE(pieces.empty());
      ASSERT_LE(pieces.size(), 4u);
      // One group is the least that can run: its work may be more than the budget.
      double least = 0;
      for (const Dispatch& d : program) least = std::max(least, d.work / std::max({d.groups[0], d.groups[1], d.groups[2]}));
      EXPECT_LE(work, budget + least + 1e-9);
      for (const Piece& p : pieces) {
        ASSERT_GE(p.dispatch, last);
        last = p.dispatch;
        groups[p.dispatch] += uint64_t(p.count[0]) * p.count[1] * p.count[2];
        for (int side = 0; side < 3; ++side) EXPECT_LE(p.base[side] + p.count[side], program[p.dispatch].groups[side]);
      }
    }
    for (size_t i = 0; i < program.size(); ++i) {
      EXPECT_EQ(groups[i], uint64_t(program[i].groups[0]) * program[i].groups[1] * program[i].groups[2]) << round;
    }
  }
}

TEST(VulkanProgram, PacingFindsTheSpeedAndFollowsASlowerOne) {
  Pacing pacing;
  const auto run = [&](double per_ms) {
    double longest = 0;
    for (int i = 0; i < 30; ++i) {
      const double work = pacing.budget(), ms = work / per_ms;
      pacing.took(work, ms);
      longest = std::max(longest, ms);
    }
    return longest;
  };
  EXPECT_LE(run(1e9), Pacing::longest_ms);  // a fast device is approached from below
  EXPECT_NEAR(pacing.budget() / 1e9, Pacing::target_ms, 1);
  pacing.took(1, 0.05);  // a tiny submission says nothing of the speed
  EXPECT_NEAR(pacing.budget() / 1e9, Pacing::target_ms, 1);
  run(1e8);  // somebody else uses the device: one is too long, the next are not
  EXPECT_NEAR(pacing.budget() / 1e8, Pacing::target_ms, 1);
}

TEST(VulkanMemory, RangesNeverOverlapAndComeTogetherAgain) {
  std::mt19937 random(3);
  RangeAllocator ranges(10000);
  std::vector<std::pair<uint64_t, uint64_t>> taken;
  for (int i = 0; i < 3000; ++i) {
    if (random() % 2 == 0 || taken.empty()) {
      const uint64_t bytes = 1 + random() % 900, alignment = uint64_t(1) << random() % 8;
      const auto offset = ranges.take(bytes, alignment);
      if (!offset) continue;
      EXPECT_EQ(*offset % alignment, 0u);
      EXPECT_LE(*offset + bytes, 10000u);
      for (const auto& [at, size] : taken) EXPECT_TRUE(*offset + bytes <= at || at + size <= *offset);
      taken.emplace_back(*offset, bytes);
    } else {
      const size_t which = random() % taken.size();
      ranges.give_back(taken[which].first, taken[which].second);
      taken.erase(taken.begin() + std::ptrdiff_t(which));
    }
  }
  for (const auto& [at, size] : taken) ranges.give_back(at, size);
  EXPECT_TRUE(ranges.empty());
  EXPECT_EQ(ranges.take(10000, 1), 0u);
}

TEST(VulkanFeatures, ASwitchAQuirkAndAMissingExtensionAreToldApart) {
  VulkanDevice device;
  device.driver_id = 14;  // MoltenVK
  const Features f = choose_features(device, {"direct_write", "pipeline_cache"}, {"direct_write", "warp_drive"});
  EXPECT_TRUE(f.used.empty());
  ASSERT_EQ(f.off.size(), 10u);
  EXPECT_EQ(f.off[0].feature, "memory_budget");
  EXPECT_EQ(f.off[0].reason, "the device or its driver does not have it");
  EXPECT_EQ(f.off[1].reason, "switched off");
  EXPECT_NE(f.off[2].reason.find("MoltenVK"), std::string::npos);
  EXPECT_EQ(f.off.back().reason, "there is no such feature");
  device.driver_id = 13;  // lavapipe
  EXPECT_FALSE(choose_features(device, {"cooperative_matrix"}, {}).has("cooperative_matrix")) << "it compiles them for minutes";
  device.driver_id = 3;
  EXPECT_TRUE(choose_features(device, {"pipeline_cache"}, {}).has("pipeline_cache"));
  EXPECT_TRUE(choose_features(device, {"cooperative_matrix"}, {}).has("cooperative_matrix"));
  EXPECT_FALSE(choose_features(device, {"cooperative_matrix"}, {}, true).has("cooperative_matrix")) << "its bytes depend on company";
  EXPECT_EQ(split_names(" a, b,,c "), (std::vector<std::string>{"a", "b", "c"}));
}

TEST(VulkanCache, ADamagedFileIsNoFile) {
  const auto folder = std::filesystem::temp_directory_path() / "hearth-cache-file-test";
  const std::string path = (folder / "x.bin").string();
  const std::vector<std::byte> data(1000, std::byte{7});
  ASSERT_TRUE(write_cache_file(path, data));
  EXPECT_EQ(read_cache_file(path), data);
  std::filesystem::resize_file(path, 900);
  EXPECT_TRUE(read_cache_file(path).empty());
  ASSERT_TRUE(write_cache_file(path, data));
  std::fstream(path, std::ios::in | std::ios::out | std::ios::binary).seekp(500).put('x');
  EXPECT_TRUE(read_cache_file(path).empty());
  std::filesystem::remove_all(folder);
  EXPECT_TRUE(read_cache_file(path).empty());
}

TEST(VulkanVerdicts, AreKeptAsText) {
  Verdicts verdicts;
  verdicts.set("gemv_subgroup_q8_0", Verdicts::ok);
  verdicts.set("gemm_large_q8_0", "it gave wrong numbers\nand more");
  const Verdicts read = Verdicts::parse(verdicts.text(7), 7);
  EXPECT_EQ(read, verdicts);
  EXPECT_TRUE(read.knows("gemv_subgroup_q8_0"));
  EXPECT_FALSE(read.failed("gemv_subgroup_q8_0"));
  EXPECT_TRUE(read.failed("gemm_large_q8_0"));
  EXPECT_FALSE(read.knows("gemm_large_q4_0"));
  EXPECT_EQ(read.sentences(), (std::vector<std::string>{"Kernel gemm_large_q8_0 is replaced by gemm: it gave wrong numbers and more."}));
  EXPECT_EQ(Verdicts::parse(verdicts.text(7), 8), Verdicts()) << "other shaders were judged";
  for (const char* text : {"", "\n", "shaders", "shaders 0000000000000007", "x\ny\n\n z"}) EXPECT_EQ(Verdicts::parse(text, 7), Verdicts()) << text;
}

TEST(VulkanVerdicts, AKernelThatEndedItsTestersProcessHasFailed) {
  Verdicts verdicts;
  verdicts.under_test("gemm_large_q8_0");
  EXPECT_FALSE(Verdicts::parse(verdicts.text(7), 7).knows("gemm_large_q8_0")) << "this process lives: somebody else is at it";
  std::string text = verdicts.text(7);
  const size_t number = text.find_last_of(' ');
  text = text.substr(0, number) + " 2147480000\n";  // no process has this number
  EXPECT_TRUE(Verdicts::parse(text, 7).failed("gemm_large_q8_0"));
}

/// What a layout costs over the file's own: more would be bandwidth lost at every token.
TEST(VulkanWeights, LayoutsAreHardlyLargerThanTheFile) {
  for (DType type : {DType::f32, DType::f16, DType::q8_0, DType::q4_0, DType::q4_1, DType::q5_0, DType::q5_1, DType::q4_k, DType::q5_k,
                     DType::q6_k, DType::iq4_nl, DType::mxfp4}) {
    const uint32_t cols = info(type).block == 256 ? 2816 : 2880;
    EXPECT_LE(double(row_layout(type, cols).words) * 4, 1.02 * double(row_bytes(type, cols))) << info(type).name;
  }
}

}  // namespace
}  // namespace hearth::vulkan
