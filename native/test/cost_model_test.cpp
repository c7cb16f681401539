// Failures prevented: a step that takes far longer than it was planned for, rates that one kind of steps spoils for the
// other, a model that never recovers from one slow step.
#include "engine/cost_model.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace hearth {
namespace {

ModelCost shape_of_20b() {
  ModelCost m;
  m.dense_bytes = 1.2e9;
  m.expert_bytes = 10.1e9;
  m.output_bytes = 0.6e9;
  m.experts = 32;
  m.experts_used = 4;
  m.row_operations = 6e9;
  m.output_operations = 1.2e9;
  m.position_operations = 4.0 * 64 * 64;
  m.full_layers = m.window_layers = 12;
  m.window = 128;
  return m;
}

/// A machine that overlaps memory and arithmetic, unlike the model of it.
double machine(const ModelCost& m, const StepWork& w, double noise) {
  const double memory = (m.weight_bytes(w.rows) + (w.outputs ? m.output_bytes : 0)) / 38e9;
  const double compute = (m.row_operations * w.rows + m.output_operations * w.outputs) / 800e9;
  return (std::max(memory, compute) + 0.2 * std::min(memory, compute) + w.attended * m.position_operations / 300e9 + 1e-3) * noise;
}

TEST(CostModel, CountsWhatIsAttendedTo) {
  ModelCost m;
  m.full_layers = 2;
  EXPECT_EQ(m.attended(0, 3), 2 * (1 + 2 + 3));
  EXPECT_EQ(m.attended(9, 1), 2 * 10);
  m.window_layers = 1;
  m.window = 4;
  EXPECT_EQ(m.attended(2, 4), 2 * (3 + 4 + 5 + 6) + (3 + 4 + 4 + 4));
  EXPECT_EQ(m.attended(10, 2), 2 * (11 + 12) + 8);
}

TEST(CostModel, ManyRowsTouchAllExpertsAndOneRowItsOwn) {
  const ModelCost m = shape_of_20b();
  EXPECT_NEAR(m.weight_bytes(1), 1.2e9 + 10.1e9 / 8, 1e6);
  EXPECT_NEAR(m.weight_bytes(500), 11.3e9, 1e6);
}

TEST(CostModel, LearnsAMachineFromItsSteps) {
  const ModelCost m = shape_of_20b();
  CostModel cost(m);
  std::mt19937 random(1);
  std::uniform_real_distribution<double> noise(0.95, 1.05);
  EXPECT_FALSE(cost.knows({512, 1, 0}));
  // A long prompt beside a stream: each step is planned for one second by what was learned so far.
  uint32_t first = 0;
  for (int step = 0; step < 60; ++step) {
    uint32_t rows = 16;
    StepWork work{rows + 1, 1, m.attended(first, rows)};
    while (rows < 2048 && cost.predict({rows + 17, 1, m.attended(first, rows + 16)}) < 1.0) rows += 16;
    work = {rows + 1, 1, m.attended(first, rows)};
    const double seconds = machine(m, work, noise(random));
    if (step > 2) {
      EXPECT_NEAR(cost.predict(work) / seconds, 1.0, 0.15) << "step " << step << ", " << rows << " rows";
      EXPECT_GT(seconds, 0.7) << "the time is not used";
    }
    cost.observe(work, seconds);
    first += rows;
  }
  EXPECT_TRUE(cost.knows({512, 1, 0}));
}

TEST(CostModel, TheFirstGuessIsOnTheSlowSide) {
  const ModelCost m = shape_of_20b();
  const StepWork work{600, 1, m.attended(0, 600)};
  EXPECT_GT(CostModel(m).predict(work), machine(m, work, 1.0));
}

TEST(CostModel, DecodesDoNotSpoilWhatIsKnownOfPrompts) {
  const ModelCost m = shape_of_20b();
  CostModel cost(m);
  for (uint32_t i = 0; i < 20; ++i) {
    const StepWork prompt{256 + 32 * (i % 5), 1, m.attended(i * 300, 256)};
    cost.observe(prompt, machine(m, prompt, 1.0));
  }
  const StepWork prompt{300, 1, m.attended(2000, 300)};
  const double before = cost.predict(prompt);
  for (uint32_t i = 0; i < 2000; ++i) {
    const StepWork decode{1 + i % 8, 1 + i % 8, m.attended(2000 + i, 1)};
    cost.observe(decode, machine(m, decode, 1.0));
  }
  EXPECT_EQ(cost.predict(prompt), before);
  for (uint32_t rows : {1u, 2u, 4u, 8u}) {
    const StepWork decode{rows, rows, m.attended(4000, 1)};
    EXPECT_NEAR(cost.predict(decode) / machine(m, decode, 1.0), 1.0, 0.1);
  }
}

TEST(CostModel, OneSlowStepIsForgotten) {
  const ModelCost m = shape_of_20b();
  CostModel cost(m);
  const StepWork work{400, 1, m.attended(0, 400)};
  for (int i = 0; i < 30; ++i) cost.observe(work, 3.0);
  cost.observe(work, 1000.0);
  for (int i = 0; i < 10; ++i) cost.observe(work, 3.0);
  EXPECT_NEAR(cost.predict(work), 3.0, 0.3);
  cost.observe(work, 0.0);
  cost.observe(work, std::nan(""));
  EXPECT_TRUE(std::isfinite(cost.predict(work)));
}

}  // namespace
}  // namespace hearth
