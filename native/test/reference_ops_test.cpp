// The reference backend against oracles in double. It judges the other backends, so nothing else judges it but these.
#include <gtest/gtest.h>

#include "test/op_cases.h"

namespace hearth::testing {
namespace {

const OpCases cases{[] { return make_reference_backend(); }};

TEST(ReferenceOps, NormMatchesTheFormula) { cases.norm(); }
TEST(ReferenceOps, EmbeddingOfEveryTypeLandsInTheRightRow) {
  for (DType t : all_types) cases.embed_and_select(t);
}
TEST(ReferenceOps, MatmulOfEveryTypeAddsBiasAndResidual) {
  for (DType t : all_types) cases.linear(t, 33, 256, 3);
  cases.linear(DType::mxfp4, 7, 2880, 2);
  cases.linear(DType::f32, 5, 33, 2);
}
TEST(ReferenceOps, EveryActivationIsItsFormula) {
  for (Activation a : {Activation::silu, Activation::gelu_tanh, Activation::swiglu_oai}) cases.gate_up(DType::q8_0, a, 33, 96, 2);
}
TEST(ReferenceOps, SwigluClampsWhereTheModelDoes) { cases.swiglu_corners(); }
TEST(ReferenceOps, RouterTiesGoToTheLowestIndex) { cases.router_ties(); }
TEST(ReferenceOps, TheBestLogitsAreTheBestOfTheWholeRow) { cases.all_top_logits(); }
TEST(ReferenceOps, ASumIsNormedBeforeItIsAdded) {
  cases.linear_normed(DType::f32, 33, 64, 3);
  cases.linear_normed(DType::q8_0, 64, 96, 2);
}
TEST(ReferenceOps, RouterWeightsMayBePartsOfASoftmaxOverAll) { cases.router_softmax_over_all(); }
TEST(ReferenceOps, RouterBiasTakesPartInTheRanking) { cases.router_bias(); }
TEST(ReferenceOps, ExpertsWithNoneOneAndManyTokens) {
  cases.experts(DType::mxfp4, 6, 2, 32, 64, {0, 1, 1, 0, 0, 3, 3, 0, 0, 1});
  cases.experts(DType::mxfp4_planes, 4, 1, 64, 32, {2});
  cases.experts(DType::mxfp4, 6, 2, 32, 64, {0, 1, 1, 0, 0, 3, 3, 0, 0, 1}, {1, 3, 5});
  cases.experts(DType::mxfp4_planes, 4, 1, 64, 32, {2}, {0, 3});
}
TEST(ReferenceOps, AttentionIsRightInChunksAndWindows) {
  cases.attention({.length = 40, .chunk = 40});
  cases.attention({.length = 40, .chunk = 7});
  cases.attention({.block_size = 4, .window = 8, .length = 40, .chunk = 7});
  cases.attention({.block_size = 16, .window = 128, .length = 150, .chunk = 64});
  cases.attention({.length = 20, .chunk = 20, .sinks = false, .layout = RopeLayout::interleaved});
}
TEST(ReferenceOps, HeadsAreNormedBeforeTheyAreRotated) {
  cases.attention({.length = 20, .chunk = 7, .sinks = false, .norms = true});
  cases.attention({.length = 20, .chunk = 20, .layout = RopeLayout::interleaved, .norms = true});
}
TEST(ReferenceOps, TheRestOfAHeadIsNotRotated) {
  cases.attention({.length = 20, .chunk = 7, .rope_dims = 12});
  cases.attention({.length = 20, .chunk = 20, .layout = RopeLayout::interleaved, .rope_dims = 8});
}
TEST(ReferenceOps, KeysAndValuesOfEveryTypeComeBack) {
  for (KvType kv : {KvType::f16, KvType::q8}) {
    OpCases typed{[=] { return make_reference_backend(kv); }};
    typed.kv_type = kv;
    typed.attention({.head_dim = 40, .length = 40, .chunk = 7});
    typed.attention({.block_size = 4, .window = 8, .length = 40, .chunk = 7});
  }
}
TEST(ReferenceOps, TheSinkTakesItsShare) {
  cases.sink_share(20, 0, 20);
  cases.sink_share(140, 128, 3);
}

}  // namespace
}  // namespace hearth::testing
