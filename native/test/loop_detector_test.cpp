// Failures prevented: a model that says the same thing until the context is full; a legitimate table that is cut off.
#include "engine/loop_detector.h"

#include <gtest/gtest.h>

#include <random>

namespace hearth {
namespace {

TEST(LoopDetector, EndsEveryPeriodAtTwoHundredTokens) {
  for (uint32_t period = 1; period <= 64; ++period) {
    LoopDetector detector;
    // A start that is not part of the pattern must not delay or hasten the end.
    for (int i = 0; i < 37; ++i) ASSERT_FALSE(detector.add(10'000 + i));
    uint32_t given = 0;
    bool ended = false;
    while (!ended && given < 1000) ended = detector.add(static_cast<int32_t>(given++ % period));
    EXPECT_EQ(given, 200u) << "period " << period;
  }
}

TEST(LoopDetector, LeavesShortTablesAlone) {
  LoopDetector detector;
  for (int row = 0; row < 19; ++row) {
    for (int cell = 0; cell < 10; ++cell) ASSERT_FALSE(detector.add(cell));  // 190 equal-looking tokens
  }
  for (int i = 0; i < 50; ++i) ASSERT_FALSE(detector.add(500 + i));
}

TEST(LoopDetector, LeavesRowsThatDifferAlone) {
  LoopDetector detector;
  for (int row = 0; row < 500; ++row) {
    for (int cell = 0; cell < 7; ++cell) ASSERT_FALSE(detector.add(cell));
    ASSERT_FALSE(detector.add(1000 + row));
  }
}

TEST(LoopDetector, LeavesRandomTextAlone) {
  LoopDetector detector;
  std::mt19937 random(1);
  for (int i = 0; i < 100'000; ++i) ASSERT_FALSE(detector.add(static_cast<int32_t>(random() % 4)));
}

}  // namespace
}  // namespace hearth
