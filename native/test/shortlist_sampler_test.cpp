// Failures prevented: another token from the best of a row than from the whole row; whole rows read where the best of them would have done;
// a ban, a mask or a penalty that the best of a row cannot know of; a vocabulary that several ranks share put together in a wrong order.
#include "engine/shortlist_sampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <random>

namespace hearth {
namespace {

/// As the ranks of a mesh leave it; one share: one device.
Shortlist shortlist_of(const std::vector<float>& logits, uint32_t k, std::vector<uint32_t> shares = {}) {
  if (shares.empty()) shares = {static_cast<uint32_t>(logits.size())};
  std::vector<float> row;
  const float* piece = logits.data();
  for (const uint32_t share : shares) {
    const TopLayout layout{share, k};
    row.resize(row.size() + layout.cols());
    top_logits(piece, layout, row.data() + row.size() - layout.cols());
    piece += share;
  }
  return read_shortlist(row.data(), shares, k);
}

/// Logits like a model's: a few likely tokens, a long tail that holds little. `spread`: how much the tail holds.
std::vector<float> peaked(std::mt19937& random, uint32_t vocabulary, float spread) {
  std::normal_distribution<float> normal;
  std::vector<float> logits(vocabulary);
  for (float& each : logits) each = normal(random) * spread;
  for (int i = 0; i < 12; ++i) logits[random() % vocabulary] = 9.0f + 2.5f * normal(random);
  return logits;
}

struct Tally {
  int rows = 0, proven = 0;
  double share() const { return double(proven) / rows; }
};

/// Samples both ways; where the shortlist gives a token it has to be the row's.
void compare(const std::vector<float>& logits, const Shortlist& list, const Sampling& sampling, const std::vector<TokenId>& banned, uint64_t position,
             const std::string& what, Tally& tally) {
  SamplerScratch whole_scratch, list_scratch;
  SampleInput input{logits.data(), static_cast<uint32_t>(logits.size()), &sampling, nullptr, &banned, nullptr, position};
  const Sampled want = sample(input, whole_scratch);
  input.logits = nullptr;
  const auto got = sample_shortlist(list, input, list_scratch);
  ++tally.rows;
  if (!got) return;
  ++tally.proven;
  ASSERT_EQ(got->token, want.token) << what << ", position " << position;
}

struct Setting {
  const char* name;
  std::function<void(Sampling&)> set;
  double least, flat;  // of peaked rows, and of flat ones, so many are proven at least
};

const Setting settings[] = {
    {"greedy", [](Sampling& s) { s.temperature = 0; }, 1.0, 1.0},
    {"plain", [](Sampling&) {}, 0.9, 0.0},
    {"cool", [](Sampling& s) { s.temperature = 0.6f; }, 0.9, 0.0},
    {"warm", [](Sampling& s) { s.temperature = 1.3f; }, 0.4, 0.0},
    {"top-k", [](Sampling& s) { s.top_k = 40; }, 1.0, 1.0},
    {"warm top-k", [](Sampling& s) { s.top_k = 64, s.temperature = 1.5f; }, 1.0, 1.0},
    {"top-k, top-p and min-p", [](Sampling& s) { s.top_k = 20, s.top_p = 0.9f, s.min_p = 0.05f, s.temperature = 0.8f; }, 1.0, 1.0},
    {"top-p", [](Sampling& s) { s.top_p = 0.95f; }, 0.9, 0.0},
    {"cool top-p", [](Sampling& s) { s.top_p = 0.9f, s.temperature = 0.7f; }, 0.9, 0.0},
    {"warm top-p", [](Sampling& s) { s.top_p = 0.8f, s.temperature = 1.2f; }, 0.5, 0.0},
    {"min-p", [](Sampling& s) { s.min_p = 0.05f; }, 1.0, 0.0},
    {"top-p and min-p", [](Sampling& s) { s.top_p = 0.9f, s.min_p = 0.02f; }, 0.9, 0.0},
};

TEST(ShortlistSampler, GivesTheTokenOfTheWholeRow) {
  std::mt19937 random(11);
  for (const Setting& setting : settings) {
    Tally likely, flat;
    for (int i = 0; i < 150; ++i) {
      const uint32_t vocabulary = 3000 + random() % 4000;
      Sampling sampling;
      setting.set(sampling);
      sampling.seed = i;
      const std::vector<float> row = peaked(random, vocabulary, 1.0f), even = peaked(random, vocabulary, 3.5f);
      compare(row, shortlist_of(row, 128), sampling, {}, i, setting.name, likely);
      compare(even, shortlist_of(even, 128), sampling, {}, i, setting.name, flat);
    }
    EXPECT_GE(likely.share(), setting.least) << setting.name;
    EXPECT_GE(flat.share(), setting.flat) << setting.name;
  }
}

/// Equal values across the shortlist's end, and everywhere.
TEST(ShortlistSampler, TiesFallAsInTheWholeRow) {
  std::mt19937 random(12);
  Tally tally;
  for (int i = 0; i < 300; ++i) {
    std::vector<float> row = peaked(random, 2500, 2.0f);
    for (float& each : row) each = std::round(each);
    for (const Setting& setting : settings) {
      Sampling sampling;
      setting.set(sampling);
      sampling.seed = 7;
      compare(row, shortlist_of(row, i % 2 ? 128 : 24), sampling, {}, i, setting.name, tally);
    }
  }
  EXPECT_GT(tally.share(), 0.5);
}

/// Banned tokens may be the best of all, be listed, or lie in the tail.
TEST(ShortlistSampler, BannedTokensAreNeverDrawnAndNeverCounted) {
  std::mt19937 random(13);
  Tally tally;
  for (int i = 0; i < 300; ++i) {
    const std::vector<float> row = peaked(random, 4500, 1.0f);
    std::vector<TokenId> banned{-1, 5'000'000};
    for (int n = 0; n < 400; ++n) banned.push_back(static_cast<TokenId>(random() % row.size()));
    if (i % 3 == 0) banned.push_back(static_cast<TokenId>(std::max_element(row.begin(), row.end()) - row.begin()));
    const Shortlist list = shortlist_of(row, 128);
    for (const Setting& setting : settings) {
      Sampling sampling;
      setting.set(sampling);
      compare(row, list, sampling, banned, i, setting.name, tally);
    }
  }
  EXPECT_GT(tally.share(), 0.75);
}

TEST(ShortlistSampler, AVocabularyThatRanksShareIsOne) {
  std::mt19937 random(14);
  for (int i = 0; i < 60; ++i) {
    std::vector<float> row = peaked(random, 7001, 1.5f);
    if (i % 2) for (float& each : row) each = std::round(each);
    const Shortlist alone = shortlist_of(row, 64), shared = shortlist_of(row, 64, {40, 4100, 2861});
    EXPECT_EQ(shared.tokens, alone.tokens);
    EXPECT_EQ(shared.logits, alone.logits);
    Tally tally;
    for (const Setting& setting : settings) {
      Sampling sampling;
      setting.set(sampling);
      compare(row, shared, sampling, {}, i, setting.name, tally);
    }
    EXPECT_GE(tally.proven, 5);
  }
}

TEST(ShortlistSampler, WhatIsListedWholeProvesEverything) {
  std::mt19937 random(15);
  Tally tally;
  for (int i = 0; i < 200; ++i) {
    std::vector<float> row(90);
    for (float& each : row) each = std::normal_distribution<float>(0, 2)(random);
    for (const Setting& setting : settings) {
      Sampling sampling;
      setting.set(sampling);
      compare(row, shortlist_of(row, 128), sampling, {3, 4}, i, setting.name, tally);
    }
  }
  EXPECT_GT(tally.share(), 0.995);  // a draw within rounding of a line is left to the row
}

TEST(ShortlistSampler, SaysNothingWhereItCannotKnow) {
  std::mt19937 random(16);
  const std::vector<float> row = peaked(random, 3000, 0.5f);
  const Shortlist list = shortlist_of(row, 128);
  std::vector<uint32_t> mask(94, ~0u), none;
  SeenTokens seen;
  const auto proven = [&](const Shortlist& of, const std::function<void(Sampling&)>& set, const std::vector<uint32_t>& allowed) {
    Sampling s;
    s.temperature = 0;
    set(s);
    SamplerScratch scratch;
    return sample_shortlist(of, {nullptr, 3000, &s, &seen, nullptr, &allowed, 0}, scratch).has_value();
  };
  EXPECT_TRUE(proven(list, [](Sampling&) {}, none));
  EXPECT_FALSE(proven(list, [](Sampling&) {}, mask));
  EXPECT_FALSE(proven(list, [](Sampling& s) { s.repetition_penalty = 1.1f; }, none));
  EXPECT_FALSE(proven(list, [](Sampling& s) { s.frequency_penalty = 0.5f; }, none));
  EXPECT_FALSE(proven(list, [](Sampling& s) { s.presence_penalty = 0.5f; }, none));
  EXPECT_FALSE(proven(list, [](Sampling& s) { s.logit_bias = {{7, 100.0f}}; }, none));
  EXPECT_FALSE(proven(list, [](Sampling& s) { s.logprobs = 0; }, none));
  EXPECT_FALSE(proven(list, [](Sampling& s) { s.temperature = 1, s.top_k = 129; }, none));
  EXPECT_FALSE(proven(read_shortlist(std::vector<float>(TopLayout{3000, 128}.cols()).data(), std::vector<uint32_t>{3000}, 128), [](Sampling&) {}, none))
      << "a device that refused its kernel leaves zeros";
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity()}) {
    std::vector<float> broken = row;
    broken[2999] = bad;
    EXPECT_FALSE(proven(shortlist_of(broken, 128), [](Sampling&) {}, none)) << bad;
  }
}

/// Extremes of settings and logits: no crash, no other token.
TEST(ShortlistSampler, ExtremesAreNoOtherTokens) {
  std::mt19937 random(17);
  Tally tally;
  for (const float scale : {0.0f, 1e-30f, 1e3f, 1e30f}) {
    std::vector<float> row = peaked(random, 2600, 1.0f);
    for (float& each : row) each *= scale;
    const Shortlist list = shortlist_of(row, 128);
    for (const float temperature : {1e-6f, 1e-3f, 1.0f, 1e3f, 1e30f}) {
      for (const float top_p : {1e-6f, 0.5f, 0.9999999f, 1.0f}) {
        for (const float min_p : {0.0f, 0.5f, 1.0f}) {
          Sampling sampling;
          sampling.temperature = temperature, sampling.top_p = top_p, sampling.min_p = min_p;
          for (uint64_t position = 0; position < 5; ++position) compare(row, list, sampling, {}, position, std::to_string(scale) + " " + std::to_string(temperature) + " " + std::to_string(top_p) + " " + std::to_string(min_p), tally);
        }
      }
    }
  }
  EXPECT_GT(tally.proven, 200);
}

}  // namespace
}  // namespace hearth
