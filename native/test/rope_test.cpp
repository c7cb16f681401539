// Rope tables against the published figures of gpt-oss.
#include "backend/rope.h"

#include <gtest/gtest.h>

#include <cmath>

namespace hearth {
namespace {

RopeSpec gpt_oss() {
  RopeSpec s;
  s.dims = 64, s.theta = 150000.0, s.yarn = true, s.yarn_factor = 32.0, s.yarn_original_context = 4096;
  return s;
}

// Computed from gpt-oss's published config by the formula of the gpt-oss reference, correction range not rounded.
constexpr double published[32] = {
    1,             0.689044306,   0.474782055,   0.327145872,    0.225418,       0.155322989,    0.107024421,    0.0737445682,
    0.0508132748,  0.0317056962,  0.0193350011,  0.0115920493,   0.00679495949,  0.00386035932,  0.00209379238,  0.0010526021,
    0.000456483919, 0.000129318701, 3.83088124e-05, 2.6396469e-05, 1.81883367e-05, 1.25325698e-05, 8.63549588e-06, 5.95023926e-06,
    4.09997848e-06, 2.82506683e-06, 1.94659621e-06, 1.34129104e-06, 9.2420895e-07, 6.36820915e-07, 4.38797825e-07, 3.02351143e-07};

TEST(Rope, YarnMatchesThePublishedTable) {
  const RopeTable t = make_rope_table(gpt_oss());
  ASSERT_EQ(t.inverse_frequency.size(), 32u);
  for (int i = 0; i < 32; ++i) EXPECT_NEAR(t.inverse_frequency[i], published[i], 1e-7 * published[i]) << "pair " << i;
  EXPECT_NEAR(t.concentration, 1.3465735902799727, 1e-7);
}

TEST(Rope, TruncationIsASwitchAndNotTheDefault) {
  RopeSpec s = gpt_oss();
  const RopeTable exact = make_rope_table(s);
  s.yarn_truncate = true;
  const RopeTable rounded = make_rope_table(s);
  const double change[32] = {0, 0, 0, 0, 0, 0, 0, 0, 0, -0.0027, 0.006, 0.017, 0.033, 0.054, 0.088, 0.146, 0.27, 0.76};
  for (int i = 0; i < 32; ++i) {
    EXPECT_NEAR(rounded.inverse_frequency[i] / exact.inverse_frequency[i] - 1.0, change[i], 0.006) << "pair " << i;
  }
}

TEST(Rope, PlainLinearAndDividedFrequencies) {
  RopeSpec s;
  s.dims = 8, s.theta = 10000.0, s.linear_factor = 4.0, s.frequency_divisors = {1, 2, 1, 8};
  const RopeTable t = make_rope_table(s);
  const double want[4] = {1 / 4.0, 0.1 / 4 / 2, 0.01 / 4, 0.001 / 4 / 8};
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(t.inverse_frequency[i], want[i], 1e-7 * want[i]);
  EXPECT_EQ(t.concentration, 1.0f);
}

TEST(Rope, TheContextChoosesTheDivisorsOfLongRope) {
  RopeSpec s;
  s.dims = 4, s.frequency_divisors = {1, 2}, s.long_divisors = {4, 8}, s.short_context = 4096, s.attention_factor = 1.19;
  for (uint64_t context : {0, 4096, 4097}) {
    const RopeTable t = make_rope_table(s, context);
    const float scale = context > 4096 ? 4.0f : 1.0f;
    EXPECT_FLOAT_EQ(t.inverse_frequency[0], 1.0f / scale) << context;
    EXPECT_FLOAT_EQ(t.inverse_frequency[1], 0.01f / 2 / scale) << context;
    EXPECT_FLOAT_EQ(t.concentration, 1.19f);
  }
}

TEST(Rope, NoneHasNoPairs) {
  RopeSpec s;
  s.layout = RopeLayout::none, s.dims = 64;
  EXPECT_TRUE(make_rope_table(s).inverse_frequency.empty());
}

}  // namespace
}  // namespace hearth
