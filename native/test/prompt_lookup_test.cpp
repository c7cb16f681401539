// Failures prevented: a guess from the wrong place, drafts that go on although they are always wrong, drafts that cost
// more than they bring.
#include "engine/prompt_lookup.h"

#include <gtest/gtest.h>

#include "engine/draft_plan.h"

namespace hearth {
namespace {

using Tokens = std::vector<TokenId>;

TEST(PromptLookup, TheLongestMatchWinsAndTheLatestOfEquals) {
  EXPECT_EQ(find_continuation({1, 2, 3, 4, 9, 2, 3, 4, 8, 2, 3, 4}, 3), 8u);         // equal lengths: the latest
  EXPECT_EQ(find_continuation({5, 1, 2, 3, 9, 0, 1, 2, 3, 8, 5, 1, 2, 3}, 3), 4u);   // 5 1 2 3 is longer than 1 2 3
  EXPECT_EQ(find_continuation({1, 2, 3, 4, 2, 3}, 3), 0u);
  EXPECT_EQ(find_continuation({}, 3), 0u);
  EXPECT_EQ(find_continuation({1, 1, 1, 1}, 3), 3u);
  EXPECT_EQ(find_continuation(Tokens(1000, 7), 3), 999u);
}

TEST(PromptLookup, ProposesWhatFollowedBefore) {
  Tokens text{1, 2, 3, 4, 5, 6, 1, 2, 3};
  PromptLookup lookup;
  lookup.observe(text);
  EXPECT_EQ(lookup.propose(text, 2), (Tokens{4, 5}));
  EXPECT_EQ(lookup.propose(text, 8), (Tokens{4, 5, 6, 1, 2, 3, 4, 5}));
  text.push_back(4);
  lookup.observe(text);
  EXPECT_EQ(lookup.propose(text, 1), (Tokens{5}));
  text.push_back(77);
  lookup.observe(text);
  EXPECT_TRUE(lookup.propose(text, 4).empty());
}

TEST(PromptLookup, TrustGrowsWithRightGuessesAndGoesWithWrongOnes) {
  PromptLookup lookup;
  Tokens text;
  for (int i = 0; i < 60; ++i) {
    text.push_back(i % 10);
    lookup.observe(text);
    if (i < 12) EXPECT_LT(lookup.acceptance(), 0.1);
  }
  EXPECT_GT(lookup.acceptance(), 0.8);
  for (int i = 0; i < 200; ++i) {  // a b c x: what follows a b c is always something else
    for (TokenId t : {1, 2, 3, 100 + i}) {
      text.push_back(t);
      lookup.observe(text);
    }
  }
  EXPECT_LT(lookup.acceptance(), 0.2);
}

/// Experts chosen by chance, memory-bound: two rows read nearly twice as much.
CostModel moe() {
  ModelCost m;
  m.dense_bytes = 1.5e9;
  m.expert_bytes = 10e9;
  m.experts = 32;
  m.experts_used = 4;
  CostModel cost(m);
  for (int i = 0; i < 100; ++i) cost.observe({1u + i % 8, 1, 0}, m.weight_bytes(1 + i % 8) / 38e9);
  return cost;
}

CostModel dense() {
  ModelCost m;
  m.dense_bytes = 3e9;
  CostModel cost(m);
  for (int i = 0; i < 100; ++i) cost.observe({1u + i % 8, 1, 0}, 3e9 / 38e9);
  return cost;
}

uint32_t drafts_of(const CostModel& cost, double acceptance) {
  std::vector<DraftCandidate> one{{acceptance, 12, 100, 0}};
  plan_drafts(cost, {1, 1, 0}, 15, one);
  return one[0].drafts;
}

TEST(DraftPlan, DraftsOnlyWhereTheyPay) {
  EXPECT_EQ(drafts_of(moe(), 0.0), 0u);
  EXPECT_EQ(drafts_of(moe(), 0.4), 0u);  // the experts of a wrong guess are read in vain
  EXPECT_GE(drafts_of(moe(), 0.95), 2u);
  EXPECT_GE(drafts_of(dense(), 0.4), 1u);
  EXPECT_GT(drafts_of(dense(), 0.9), drafts_of(dense(), 0.4));
  EXPECT_EQ(drafts_of(CostModel(), 0.9), 0u);
}

TEST(DraftPlan, RowsGoWhereTheyAreLikely) {
  std::vector<DraftCandidate> three{{0.9, 8, 10, 0}, {0.0, 8, 10, 0}, {0.9, 1, 10, 0}};
  plan_drafts(dense(), {3, 3, 0}, 6, three);
  EXPECT_EQ(three[1].drafts, 0u);
  EXPECT_EQ(three[2].drafts, 1u);
  EXPECT_EQ(three[0].drafts, 5u);
}

}  // namespace
}  // namespace hearth
