// The Vulkan backend's kernels on every device there is, software included, against oracles in double. Failures prevented:
// wrong numbers for a weight type, a shape or a device; bytes that depend on company or chunks; a cut submission that loses work.
// HEARTH_VULKAN_VALIDATION=core or sync lets the validation layer look on; then any message of it is a failure.
#include <gtest/gtest.h>

#include <thread>

#include "test/mini_model.h"
#include "test/op_cases.h"
#include "test/vulkan_testing.h"

namespace hearth::testing {
namespace {

[[maybe_unused]] const auto* const silent = ::testing::AddGlobalTestEnvironment(new ValidationIsSilent);

class VulkanOps : public ::testing::TestWithParam<KernelSet> {
 protected:
  void SetUp() override {
    skip_unless_thorough({"NormMatchesTheFormula", "EmbeddingOfEveryTypeLandsInTheRightRow", "FewRowsOfEveryTypeAddBiasAndResidual",
                          "ManyRowsOfEveryTypeAddBiasAndResidual", "SwigluClampsWhereTheModelDoes", "RouterTiesGoToTheLowestIndex", "TheBestLogitsAreTheBestOfTheWholeRow",
                          "AttentionIsRightInChunksAndWindows", "MatrixUnitsAreAsNearAsTheirInputs"});
  }
  const OpCases cases{[] { return vulkan_backend(GetParam()); }};
};

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(VulkanOps);
INSTANTIATE_TEST_SUITE_P(Devices, VulkanOps, ::testing::ValuesIn(kernel_sets()), [](const auto& p) { return test_name(p.param); });

TEST(Vulkan, IsTestedWhereThereIsADevice) { skip_without_devices(); }

TEST_P(VulkanOps, NormMatchesTheFormula) { cases.norm(); }
TEST_P(VulkanOps, EmbeddingOfEveryTypeLandsInTheRightRow) {
  for (DType t : tested_types()) cases.embed_and_select(t);
}
TEST_P(VulkanOps, FewRowsOfEveryTypeAddBiasAndResidual) {
  for (DType t : tested_types()) cases.linear(t, 33, info(t).block == 256 ? 512 : 288, 3);
}
TEST_P(VulkanOps, ManyRowsOfEveryTypeAddBiasAndResidual) {
  for (DType t : tested_types()) cases.linear(t, 33, info(t).block == 256 ? 512 : 288, 35);
}
TEST_P(VulkanOps, OddShapes) {
  for (uint32_t rows : thorough() ? std::vector<uint32_t>{1, 2, 4, 8, 9} : std::vector<uint32_t>{1, 9}) {
    for (uint32_t n : {1u, 3u, 65u}) cases.linear(DType::f32, n, 33, rows), cases.linear(DType::f16, n, 1, rows), cases.linear(DType::mxfp4, n, 32, rows);
  }
}
TEST_P(VulkanOps, TheModelsWidth) {
  for (uint32_t rows : {1u, 13u}) cases.linear(DType::mxfp4, 50, 2880, rows), cases.linear(DType::q4_k, 20, 2816, rows);
}
TEST_P(VulkanOps, ValuesBeyondSixteenBitFloats) {
  for (uint32_t rows : {2u, 20u}) cases.beyond_half(DType::q8_0, rows);
}
TEST_P(VulkanOps, ASumIsNormedBeforeItIsAdded) {
  cases.linear_normed(DType::f32, 33, 64, 3);
  cases.linear_normed(DType::q8_0, 64, 96, 20);
}
TEST_P(VulkanOps, EveryActivationIsItsFormula) {
  for (Activation a : {Activation::silu, Activation::gelu_tanh, Activation::swiglu_oai}) {
    for (uint32_t rows : {2u, 33u}) cases.gate_up(DType::q8_0, a, 33, 96, rows);
  }
}
TEST_P(VulkanOps, SwigluClampsWhereTheModelDoes) { cases.swiglu_corners(); }
TEST_P(VulkanOps, RouterTiesGoToTheLowestIndex) { cases.router_ties(); }
TEST_P(VulkanOps, TheBestLogitsAreTheBestOfTheWholeRow) {
  if (!vulkan_backend(GetParam())->far_logits()) GTEST_SKIP() << why_off(GetParam().device, "top_logits");
  cases.all_top_logits();
}
TEST_P(VulkanOps, RouterWeightsMayBePartsOfASoftmaxOverAll) { cases.router_softmax_over_all(); }
TEST_P(VulkanOps, RouterBiasTakesPartInTheRanking) { cases.router_bias(); }
TEST_P(VulkanOps, ExpertsWithNoneOneAndManyTokens) {
  cases.experts(DType::mxfp4, 6, 2, 32, 64, {0, 1, 1, 0, 0, 3, 3, 0, 0, 1});
  cases.experts(DType::mxfp4_planes, 4, 1, 64, 32, {2});
  cases.experts(DType::mxfp4, 6, 2, 32, 64, {0, 1, 1, 0, 0, 3, 3, 0, 0, 1}, {1, 3, 5});
  cases.experts(DType::mxfp4_planes, 4, 2, 64, 32, {2, 1, 0, 2}, {1});
  cases.experts(DType::mxfp4, 4, 2, 32, 64, {0, 1, 1, 0}, {2, 3});
  Random random(1);
  std::vector<int32_t> choice;
  for (uint32_t r = 0; r < 70; ++r) {
    const int32_t e = static_cast<int32_t>(random() % 5);
    choice.push_back(e), choice.push_back(e == 4 ? 0 : e + 1);
  }
  for (DType t : {DType::mxfp4, DType::q8_0, DType::f16}) cases.experts(t, 6, 2, 96, 64, choice);
  cases.experts(DType::mxfp4, 6, 2, 96, 64, choice, {0, 2, 5});
  cases.experts(DType::q8_0, 6, 2, 96, 64, choice, {4});
}
TEST_P(VulkanOps, AttentionIsRightInChunksAndWindows) {
  const std::vector<OpCases::AttentionShape> all = {
      {.block_size = 4, .window = 8, .length = 40, .chunk = 7},
      {.heads = 2, .kv_heads = 1, .length = 600, .chunk = 300},                  // several splits
      {.heads = 2, .kv_heads = 1, .window = 300, .length = 600, .chunk = 597},   // a window across a split's border, and splits apart
      {.heads = 16, .kv_heads = 2, .head_dim = 64, .length = 70, .chunk = 70},
      {.heads = 9, .kv_heads = 3, .head_dim = 40, .length = 50, .chunk = 50},
      {.length = 40, .chunk = 40},
      {.length = 40, .chunk = 7},
      {.block_size = 1, .length = 20, .chunk = 3},
      {.block_size = 16, .window = 128, .length = 150, .chunk = 64},
      {.heads = 14, .kv_heads = 1, .head_dim = 128, .length = 20, .chunk = 20},
      {.length = 20, .chunk = 20, .sinks = false, .layout = RopeLayout::interleaved},
  };
  for (size_t i = 0; i < (thorough() ? all.size() : 5); ++i) cases.attention(all[i]);
}
TEST_P(VulkanOps, HeadsAreNormedBeforeTheyAreRotated) {
  cases.attention({.length = 20, .chunk = 7, .sinks = false, .norms = true});
  cases.attention({.head_dim = 256, .length = 20, .chunk = 20, .layout = RopeLayout::interleaved, .norms = true});
}
TEST_P(VulkanOps, TheRestOfAHeadIsNotRotated) {
  cases.attention({.length = 20, .chunk = 7, .rope_dims = 12});
  cases.attention({.length = 20, .chunk = 20, .layout = RopeLayout::interleaved, .rope_dims = 8});
}
TEST_P(VulkanOps, KeysAndValuesOfEveryTypeComeBack) {
  for (KvType kv : {KvType::f16, KvType::q8}) {
    OpCases typed{[kv] { return vulkan_backend(GetParam(), Precision::fast, kv); }};
    typed.kv_type = kv;
    typed.attention({.head_dim = 40, .length = 40, .chunk = 7});
    typed.attention({.block_size = 4, .window = 8, .length = 40, .chunk = 7});
  }
}
/// Inputs of 16 bits, sums of 32: as near as rounded inputs can be, also where they are larger than 16 bits hold.
TEST_P(VulkanOps, MatrixUnitsAreAsNearAsTheirInputs) {
  const auto backend = vulkan_backend(GetParam(), Precision::fast);
  if (backend->name().find("cooperative_matrix") == std::string::npos) GTEST_SKIP() << "no matrix units here: " << why_off(GetParam().device, "cooperative_matrix");
  OpCases rounded{[] { return vulkan_backend(GetParam(), Precision::fast); }};
  rounded.tolerance = 1e-2;
  for (DType t : tested_types()) rounded.linear(t, 130, 768, 70);
  rounded.beyond_half(DType::q8_0, 20);
  rounded.gate_up(DType::q8_0, Activation::swiglu_oai, 70, 96, 80);
  Random random(1);
  std::vector<int32_t> choice;
  for (uint32_t r = 0; r < 70; ++r) choice.push_back(static_cast<int32_t>(random() % 5)), choice.push_back(5);
  rounded.experts(DType::mxfp4, 6, 2, 96, 64, choice);
}
TEST_P(VulkanOps, TheSinkTakesItsShare) {
  cases.sink_share(20, 0, 20);
  cases.sink_share(140, 128, 3);
  cases.sink_share(700, 0, 1);
  cases.sink_share(700, 600, 700);
}

/// The kernels for few and for many rows add in one order, and so do splits that are shared out.
TEST_P(VulkanOps, EveryNumberOfRowsGivesTheBytesOfOneRow) {
  for (DType t : tested_types()) {
    Random random(7);
    const uint32_t n = 37, cols = info(t).block == 256 ? 768 : 2880, most = 40;
    auto w = make_matrix(random, t, n, cols);
    Rig rig(vulkan_backend(GetParam()));
    const Buffer in = rig.input("x", random_floats(random, size_t(most) * cols), cols, most), out = rig.backend->add_buffer("out", n, most);
    rig.ops.push_back(Logits{in, rig.backend->add_weight(w->view), out});
    rig.rows(1);
    rig.run();
    const Floats want = rig.read(out, 1, n);
    for (uint32_t rows : {2u, 3u, 8u, 9u, 40u}) {
      rig.rows(rows);
      rig.run();
      const Floats got = rig.read(out, 1, n);
      EXPECT_EQ(std::memcmp(got.data(), want.data(), n * 4), 0) << type_name(t) << " with " << rows << " rows";
    }
  }
}

class VulkanStep : public ::testing::TestWithParam<KernelSet> {
 protected:
  void SetUp() override {
    skip_unless_thorough({"AgreesWithTheReference", "FasterKernelsGiveTheBytesOfTheBaseline", "ChunksDoNotChangeBytes", "GivingUpLeavesCommittedKvIntact",
                          "WrongListsAreErrorsAndNotCrashes"});
  }
  const MiniWeights weights{MiniConfig{}};
  const std::vector<int32_t> tokens = some_tokens(90, 50);
  MiniModel model(KvType kv = KvType::f32, std::vector<std::string> without = {}) const {
    return {weights, vulkan_backend(GetParam(), kv == KvType::f32 ? Precision::exact : Precision::fast, kv, std::move(without))};
  }
  static void expect_same(const Floats& got, const float* want, const std::string& what) {
    EXPECT_EQ(std::memcmp(got.data(), want, got.size() * 4), 0) << what;
  }
};

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(VulkanStep);
INSTANTIATE_TEST_SUITE_P(Devices, VulkanStep, ::testing::ValuesIn(kernel_sets()), [](const auto& p) { return test_name(p.param); });

TEST_P(VulkanStep, AgreesWithTheReference) {
  ForcedRoutes forced;  // rounding must not flip a router's choice here
  for (uint32_t i = 0; i < 2 * 90; ++i) forced.experts.push_back(i % 6), forced.experts.push_back((i + 1 + i / 6 % 5) % 6);
  MiniModel reference(weights, make_reference_backend());
  reference.forced = forced;
  const Floats want = reference.prompt(tokens, 90);
  for (KvType kv : {KvType::f32, KvType::f16, KvType::q8}) {
    MiniModel m = model(kv);
    m.forced = forced;
    const Floats got = m.prompt(tokens, 90);
    if (kv == KvType::f32) EXPECT_LE(worst(got, want), 1e-4);
    else EXPECT_LE(nmse(got, {want.begin(), want.end()}), 5e-3);
  }
}

/// With each feature switched off the numbers are the same to the bit: features change how, never what.
TEST_P(VulkanStep, FeaturesThatAreSwitchedOffChangeNothing) {
  const Floats want = model().prompt(tokens, 90);
  for (const char* feature : {"direct_write", "memory_budget", "pipeline_cache", "host_import", "subgroups", "large_tiles", "tiled_attention"}) {
    expect_same(model(KvType::f32, {feature}).prompt(tokens, 90), want.data(), feature);
  }
}

/// Submissions so short that most dispatches are cut across them: every group of a grid must still run, and once.
TEST_P(VulkanStep, CutSubmissionsChangeNothing) {
  const Floats want = model().prompt(tokens, 90);
  for (double work : {1.0, 3000.0, 200000.0}) {
    VulkanOptions options = vulkan_options(GetParam());
    options.most_work = work;
    MiniModel m(weights, make_vulkan_backend(options));
    const uint32_t rows = work == 1.0 ? 1 : 90;  // one group a submission takes its time
    const Floats got = m.prompt({tokens.begin(), tokens.begin() + rows}, rows);
    expect_same(got, want.data(), "work of " + std::to_string(work));
  }
}

TEST_P(VulkanStep, FasterKernelsGiveTheBytesOfTheBaseline) {
  if (!GetParam().faster) GTEST_SKIP() << "this is the baseline";
  for (KvType kv : {KvType::f32, KvType::f16, KvType::q8}) {
    MiniModel baseline(weights, vulkan_backend({GetParam().device, false}, kv == KvType::f32 ? Precision::exact : Precision::fast, kv));
    expect_same(model(kv, {"cooperative_matrix"}).prompt(tokens, 90), baseline.prompt(tokens, 90).data(), "KV " + std::to_string(int(kv)));
  }
}

TEST_P(VulkanStep, ChunksDoNotChangeBytes) {
  MiniModel m = model();
  const Floats want = m.prompt(tokens, 90);
  for (uint32_t chunk : {1u, 7u, 64u}) expect_same(m.prompt(tokens, chunk), want.data(), "chunks of " + std::to_string(chunk));
}

TEST_P(VulkanStep, NeighboursDoNotChangeBytes) {
  MiniModel m = model();
  const Floats want = m.prompt(tokens, 90);
  const std::vector<int32_t> other = some_tokens(90, 50, 99);
  for (uint32_t first = 0; first < 80; first += 20) {
    const uint32_t n = 1 + first / 2;
    ASSERT_TRUE(m.step({m.part(other, 0, n, 40), m.part(tokens, first, 20, 0)}));
    const Floats got = m.logits();
    expect_same({got.begin() + n * 50, got.end()}, want.data() + first * 50, "beside " + std::to_string(n) + " rows");
  }
}

TEST_P(VulkanStep, APoisonedTokenIsANumericErrorAndItsBlocksAreNeverRead) {
  MiniConfig c;
  c.poisoned_token = 13;
  const MiniWeights poisoned(c);
  const std::vector<int32_t> clean = some_tokens(60, 13), poison(90, 13);
  for (KvType kv : {KvType::f32, KvType::q8}) {
    MiniModel m(poisoned, vulkan_backend(GetParam(), Precision::fast, kv));
    const Floats want = m.prompt(clean, 60);
    try {
      m.prompt(poison, 90);
      ADD_FAILURE() << "NaN was not told";
    } catch (const Error& e) {
      EXPECT_EQ(e.code, ErrorCode::numeric_error);
    }
    for (uint32_t chunk : {60u, 7u}) expect_same(m.prompt(clean, chunk), want.data(), "chunk " + std::to_string(chunk));
  }
}

TEST_P(VulkanStep, BlocksThatLeaveAndComeBackElsewhereChangeNothing) {
  for (const char* without : {"", "direct_write"}) {
    MiniModel m = model(KvType::f16, {without});
    const Floats want = m.prompt(tokens, 90);
    const uint64_t bytes = m.backend->kv_block_bytes({16, 2, 16, {1, 1}});
    ASSERT_TRUE(m.step({m.part(tokens, 0, 80, 0)}));
    std::vector<std::vector<std::byte>> kept(10, std::vector<std::byte>(bytes));
    for (uint32_t b = 0; b < 10; ++b) m.backend->read_kv_block(b, kept[b].data());
    m.backend->resize_kv(0);
    m.backend->resize_kv(64);
    for (uint32_t b = 0; b < 10; ++b) m.backend->write_kv_block(31 + b, kept[b].data());
    m.backend->resize_kv(80);  // growing keeps what is there
    ASSERT_TRUE(m.step({m.part(tokens, 80, 10, 31)}));
    expect_same(m.logits(), want.data() + 80 * 50, without);
    EXPECT_THROW(m.backend->read_kv_block(80, kept[0].data()), Error);
    EXPECT_THROW(m.backend->write_kv_block(null_block, kept[0].data()), Error);
  }
}

TEST_P(VulkanStep, GivingUpLeavesCommittedKvIntact) {
  MiniModel m = model();
  const Floats want = m.prompt(tokens, 45);
  std::atomic<bool> stop{true};
  ASSERT_TRUE(m.step({m.part(tokens, 0, 45, 0)}));
  EXPECT_FALSE(m.step({m.part(tokens, 45, 45, 0)}, &stop));
  for (int delay : {0, 200, 1000, 3000}) {  // microseconds: some fall amid the submissions
    stop = false;
    std::thread killer([&] {
      std::this_thread::sleep_for(std::chrono::microseconds(delay));
      stop = true;
    });
    m.step({m.part(tokens, 45, 45, 0)}, &stop);
    killer.join();
  }
  ASSERT_TRUE(m.step({m.part(tokens, 45, 45, 0)}));
  expect_same(m.logits(), want.data() + 45 * 50, "after it was given up");
}

TEST_P(VulkanStep, WrongListsAreErrorsAndNotCrashes) {
  MiniModel m(weights, vulkan_backend(GetParam()), 8);
  EXPECT_THROW(m.prompt({0, 50}, 2), Error) << "a token outside the vocabulary";
  MiniModel::Part p = m.part(tokens, 0, 40, 0);
  p.blocks[0][1] = null_block;
  EXPECT_THROW(m.step({p}), Error) << "a null block within reach";
  p = m.part(tokens, 0, 40, 0);
  p.blocks[1][2] = 8;
  EXPECT_THROW(m.step({p}), Error) << "a block beyond the pool";
  EXPECT_TRUE(m.step({m.part(tokens, 0, 40, 0)})) << "and still alive";
}

TEST(Vulkan, ADeviceThatIsNotThereIsAnError) {
  try {
    vulkan_backend({"vulkan:00"});
    ADD_FAILURE();
  } catch (const Error& e) {
    EXPECT_EQ(e.code, ErrorCode::invalid_request);
  }
}

TEST(Vulkan, DevicesHaveSensibleFacts) {
  if (found_devices().devices.empty()) return skip_without_devices();
  for (const VulkanDevice& d : found_devices().devices) {
    EXPECT_EQ(d.uuid.size(), 32u) << d.name;
    EXPECT_FALSE(d.name.empty());
    EXPECT_GT(d.memory_total, 0u) << d.name;
    EXPECT_LE(d.memory_free, d.memory_total) << d.name;
    EXPECT_GE(d.limits.binding_bytes, 128u << 20) << d.name;
    EXPECT_GE(d.limits.group_threads, 128u) << d.name;
    EXPECT_EQ(d.features.size() + d.off.size(), 9u) << d.name;
  }
}

}  // namespace
}  // namespace hearth::testing
