// Failures prevented: a rank that has too much or nothing, a weight that two ranks have or none has, a cut through a block, a division that
// cannot work and is not refused in words.
#include "model/division.h"

#include <gtest/gtest.h>

#include "backend/cpu/matmul.h"
#include "backend/quant.h"
#include "hearth/error.h"
#include "test/random_model.h"

namespace hearth {
namespace {

using testing::RandomModel;
using testing::RandomShape;

std::vector<uint32_t> counts(const std::vector<Range>& ranges) {
  std::vector<uint32_t> out;
  uint32_t at = 0;
  for (Range range : ranges) {
    EXPECT_EQ(range.first, std::exchange(at, range.last));
    out.push_back(range.count());
  }
  return out;
}

TEST(Division, SharesFollowTheWeightsAsFarAsUnitsAreWhole) {
  struct Case {
    uint32_t units;
    std::vector<double> weights;
    std::vector<uint32_t> want;
  };
  const Case cases[] = {
      {90, {1, 1, 1, 1}, {23, 23, 22, 22}}, {90, {1, 1}, {45, 45}},      {8, {1, 1, 1}, {3, 3, 2}},  {4, {1, 1, 1, 1}, {1, 1, 1, 1}},
      {90, {2, 1}, {60, 30}},               {90, {1000, 400}, {64, 26}}, {4, {99, 1}, {3, 1}},       {3, {1, 1000, 1}, {1, 1, 1}},
      {201088, {1, 1, 1}, {67030, 67029, 67029}},                        {36, {3, 2, 1}, {18, 12, 6}},
  };
  for (const Case& each : cases) EXPECT_EQ(counts(share_out(each.units, each.weights)), each.want) << each.units;
  EXPECT_THROW(share_out(3, {1, 1, 1, 1}), Error);
}

std::vector<float> values(const Matrix& m) {
  std::vector<float> out(size_t(m.experts) * m.rows * m.cols);
  for (uint32_t e = 0; e < m.experts; ++e) {
    for (uint32_t r = 0; r < m.rows; ++r) decode_row(m, e, r, &out[(size_t(e) * m.rows + r) * m.cols]);
  }
  return out;
}

/// Also of a cut of a cut, and where experts are tensors of their own.
TEST(Division, SomeExpertsAreTheSameValuesInEveryType) {
  testing::Random random(6);
  for (DType type : testing::all_types) {
    const auto whole = testing::make_matrix(random, type, 3, 256, 5);
    Matrix scattered = whole->view;
    scattered.scattered = std::make_shared<const std::vector<const std::byte*>>(
        std::vector{whole->view.begin(0), whole->view.begin(1), whole->view.begin(2), whole->view.begin(3), whole->view.begin(4)});
    for (const Matrix& matrix : {whole->view, scattered}) {
      const Matrix cut = cut_rows(cut_experts(cut_experts(matrix, {0, 2, 4}), {1, 2}), {1, 3});
      const std::vector<float> some = values(cut);
      ASSERT_EQ(some.size(), size_t(2) * 2 * 256);
      for (size_t i = 0; i < some.size(); ++i) {
        const size_t expert = i / (2 * 256), rest = i % (2 * 256);
        ASSERT_EQ(some[i], whole->values[((expert + 1) * 2 * 3 + 1) * 256 + rest]) << testing::type_name(type);
      }
      EXPECT_THROW(cut_experts(matrix, {5}), Error);
      EXPECT_THROW(cut_experts(cut, {2}), Error);
    }
  }
  EXPECT_EQ(cut_experts(Vector{0, 1, 2, 3, 4, 5}, 2, {0, 2}), (Vector{0, 1, 4, 5}));
  EXPECT_THROW(cut_experts(Vector{0, 1, 2, 3}, 2, {2}), Error);
}

TEST(Division, CutsShowTheSameValuesInEveryType) {
  testing::Random random(5);
  for (DType type : testing::all_types) {
    const auto whole = testing::make_matrix(random, type, 6, 768, 3);
    Matrix scattered = whole->view;
    if (type != DType::mxfp4_planes) {
      scattered.scattered = std::make_shared<const std::vector<const std::byte*>>(
          std::vector{whole->view.begin(2), whole->view.begin(1), whole->view.begin(0)});
    }
    for (const Matrix& matrix : {whole->view, scattered}) {
      const std::vector<float> all = values(matrix);
      const Matrix cut = cut_columns(cut_rows(matrix, {2, 5}), {256, 512});
      const std::vector<float> some = values(cut);
      for (uint32_t e = 0; e < 3; ++e) {
        for (uint32_t r = 0; r < 3; ++r) {
          for (uint32_t c = 0; c < 256; ++c) {
            ASSERT_EQ(some[(e * 3 + r) * 256 + c], all[(e * 6 + r + 2) * 768 + c + 256]) << testing::type_name(type);
          }
        }
      }
    }
    if (info(type).block > 1) {
      EXPECT_THROW(cut_columns(whole->view, {16, 256}), Error) << testing::type_name(type);
    }
    EXPECT_THROW(cut_rows(whole->view, {2, 7}), Error);
  }
}

/// The second int8 plane of narrow matrices is there for small models; a large one's shares are narrow, too, and shall not pay for it.
TEST(Division, ASharedOutWideMatrixIsComputedAsTheWideOneItIs) {
  testing::Random random(5);
  const auto wide = testing::make_matrix(random, DType::q8_0, 2, 2880), narrow = testing::make_matrix(random, DType::q8_0, 2, 2048);
  EXPECT_FALSE(cpu::two_planes(wide->view, false));
  EXPECT_FALSE(cpu::two_planes(cut_columns(wide->view, {0, 1440}), false));
  EXPECT_FALSE(cpu::two_planes(cut_columns(cut_columns(wide->view, {0, 1440}), {0, 32}), false));
  EXPECT_FALSE(cpu::two_planes(cut_rows(cut_columns(wide->view, {0, 1440}), {0, 1}), false));
  EXPECT_TRUE(cpu::two_planes(cut_columns(narrow->view, {0, 1024}), false));
  EXPECT_TRUE(cpu::two_planes(cut_columns(wide->view, {0, 1440}), true)) << "logits";
}

TEST(Division, EveryValueOfADividedModelIsOnOneRank) {
  const RandomModel model;
  const ModelSpec& spec = model.file.spec;
  const std::vector<ModelPart> parts = divide(spec, model.file.weights, {1, 1, 1, 1});
  ASSERT_EQ(parts.size(), 4u);
  uint32_t heads = 0, rows = 0, columns = 0;
  for (size_t r = 0; r < 4; ++r) {
    const ModelPart& part = parts[r];
    EXPECT_EQ(part.kv_heads.first, std::exchange(heads, part.kv_heads.last));
    EXPECT_EQ(part.vocabulary.first, std::exchange(rows, part.vocabulary.last));
    EXPECT_EQ(part.layers[1].inner.first, std::exchange(columns, part.layers[1].inner.last));
    EXPECT_EQ(part.layers[1].inner.count(), r < 2 ? 736u : 704u);  // 23 and 22 groups of 32
    const LayerWeights w = cut_layer(spec, model.file.weights, part, 1);
    EXPECT_EQ(w.o_bias.empty(), r > 0) << "a bias of a sum is added once";
    EXPECT_EQ(w.down_bias.empty(), r > 0);
    EXPECT_EQ(w.gate_bias.size(), size_t(4) * part.layers[1].inner.count());
    EXPECT_EQ(w.sinks, (Vector{model.file.weights.layers[1].sinks.begin() + std::ptrdiff_t(2 * r), model.file.weights.layers[1].sinks.begin() + std::ptrdiff_t(2 * r) + 2}));
    const ModelSpec mine = cut_spec(spec, part);
    EXPECT_EQ(mine.heads, 2u);
    EXPECT_EQ(w.q.rows, mine.heads * mine.head_dim);
  }
  EXPECT_EQ(heads, spec.kv_heads);
  EXPECT_EQ(rows, spec.vocabulary);
  EXPECT_EQ(columns, 2880u);
}

TEST(Division, HeadsStayTogetherWhereABlockSpansThem) {
  RandomShape shape;
  shape.heads = shape.kv_heads = 8, shape.head_dim = 64, shape.dense = DType::q4_k, shape.hidden = 256;
  const RandomModel model(shape);
  for (const ModelPart& part : divide(model.file.spec, model.file.weights, {1, 1})) EXPECT_EQ(part.kv_heads.count(), 4u);
  EXPECT_EQ(why_not_divided(model.file.spec, model.file.weights, 3), "The attention heads of this model cannot be shared out over 3 devices.");
}

/// What is said before the weights are seen is no more than what works.
TEST(Division, IntoAsManySharesAsWereSaidItWorks) {
  RandomShape shape;
  shape.dense = DType::q4_k, shape.hidden = 256, shape.head_dim = 64;
  for (uint32_t kv_heads : {1u, 2u, 4u, 8u}) {
    shape.heads = 8, shape.kv_heads = kv_heads;
    const RandomModel model(shape);
    const uint32_t most = most_shares(model.file.spec, 256);
    EXPECT_EQ(most, std::min(kv_heads, 2u));
    EXPECT_EQ(why_not_divided(model.file.spec, model.file.weights, std::max(1u, most)), "");
  }
  shape.post_norms = true;
  EXPECT_EQ(most_shares(RandomModel(shape).file.spec, 32), 0u);
}

TEST(Division, WhatCannotBeDividedSaysWhy) {
  RandomShape shape;
  shape.inner = 96;
  EXPECT_EQ(why_not_divided(RandomModel().file.spec, RandomModel().file.weights, 4), "");
  const RandomModel narrow(shape);
  EXPECT_EQ(why_not_divided(narrow.file.spec, narrow.file.weights, 3), "");
  EXPECT_EQ(why_not_divided(narrow.file.spec, narrow.file.weights, 4), "The layers of this model are too narrow to be shared out over 4 devices.");
  shape.post_norms = true;
  const RandomModel normed(shape);
  EXPECT_EQ(why_not_divided(normed.file.spec, normed.file.weights, 2), "This model norms what its layers add, so a layer cannot be shared out over 2 devices.");
  EXPECT_THROW(divide(normed.file.spec, normed.file.weights, {1, 1}), Error);
}

TEST(Division, ARowOfDevicesHasEveryLayerOnce) {
  const ModelSpec& spec = RandomModel().file.spec;
  const std::vector<ModelPart> parts = in_a_row(spec, {1, 2});
  EXPECT_TRUE(parts[0].embeds && parts[0].ends && !parts[1].embeds && !parts[1].ends);
  EXPECT_EQ(parts[0].after, 1u);
  EXPECT_EQ(parts[1].before, 0u);
  EXPECT_EQ(parts[0].output_from, 1u);
  EXPECT_EQ(parts[1].output_to, 0u);
  EXPECT_EQ(parts[1].layers[0].layer, 1u);
  const ModelSpec second = cut_spec(spec, parts[1]);  // a full layer, then a window layer: each the first of its group there
  EXPECT_EQ(second.groups[0].layers, 1u);
  EXPECT_EQ(second.groups[1].layers, 1u);
  EXPECT_EQ(second.layers[1].attention.layer_in_group, 0u);
  for (const std::vector<uint32_t>& wrong : {std::vector<uint32_t>{1, 1}, {3, 0}, {2, 2}}) EXPECT_THROW(in_a_row(spec, wrong), Error);
}

TEST(Division, ServedExpertsAreNoLongerWhereTheAttentionIs) {
  const RandomModel model;
  std::vector<ModelPart> parts = in_a_row(model.file.spec, {2, 1});
  serve_experts(model.file.spec, {{0}, {2}}, parts);
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_FALSE(parts[0].layers[0].mlp);
  EXPECT_TRUE(parts[0].layers[1].mlp);
  EXPECT_FALSE(parts[1].layers[0].mlp);
  EXPECT_EQ(parts[2].layers[0].partner, 0u);
  EXPECT_EQ(parts[2].layers[1].partner, 1u);
  const LayerWeights here = cut_layer(model.file.spec, model.file.weights, parts[0], 0), there = cut_layer(model.file.spec, model.file.weights, parts[2], 0);
  EXPECT_TRUE(here.q && !here.gate && !here.router && !there.q && there.gate && there.router);
  std::vector<ModelPart> again = in_a_row(model.file.spec, {3});
  using Served = std::vector<ServedExperts>;
  for (const Served& wrong : {Served{{3}}, Served{{1}, {1}}, Served{{0, {{4}}}}, Served{{0, {{1, 1}}}}, Served{{0, std::vector<uint32_t>{}}}}) {
    EXPECT_THROW(serve_experts(model.file.spec, wrong, again), Error);
  }
}

TEST(Division, EveryExpertOfALayerInTwoPlacesIsInOneOfThem) {
  const RandomModel model;
  const ModelWeights& weights = model.file.weights;
  std::vector<ModelPart> parts = in_a_row(model.file.spec, {2, 1});
  serve_experts(model.file.spec, {{1, {{3, 0}}}, {2, {{0, 1, 2, 3}}}}, parts);
  const LayerPart &here = parts[0].layers[1], &there = parts[2].layers[0];
  EXPECT_TRUE(here.attention && here.mlp && !there.attention && there.mlp);
  EXPECT_EQ(here.partner, 2u);
  EXPECT_EQ(there.partner, 0u);
  EXPECT_EQ(here.experts, (std::vector<uint32_t>{1, 2}));
  EXPECT_EQ(there.experts, (std::vector<uint32_t>{0, 3}));
  EXPECT_FALSE(parts[0].layers[0].experts || parts[1].layers[0].mlp || parts[2].layers[1].experts) << "all of them are a layer as ever";
  const LayerWeights kept = cut_layer(model.file.spec, weights, parts[0], 1), served = cut_layer(model.file.spec, weights, parts[2], 0);
  EXPECT_TRUE(kept.router && !served.router && served.router_bias.empty()) << "who serves does not choose";
  EXPECT_EQ(kept.down.begin(0), weights.layers[1].down.begin(1));
  EXPECT_EQ(served.gate.begin(1), weights.layers[1].gate.begin(3));
  EXPECT_EQ(served.up_bias[2880], weights.layers[1].up_bias[3 * 2880]);
  EXPECT_EQ(kept.gate.bytes() + served.gate.bytes(), weights.layers[1].gate.bytes());
}

}  // namespace
}  // namespace hearth
