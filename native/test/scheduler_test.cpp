// Failures prevented: a stalled stream behind a long prompt, a short question behind a long text, work in the background
// that is never done, a step over its budget, a request that waits for ever for blocks that cannot come.
// Random lives are in scheduler_simulator_test.
#include "engine/scheduler.h"

#include <gtest/gtest.h>

namespace hearth {
namespace {

SchedulerLimits limits_of(uint32_t prefill_rows, uint32_t max_sequences = 8) {
  SchedulerLimits limits;
  limits.groups = {{16, 0}};
  limits.prefill_rows = prefill_rows;
  limits.max_sequences = max_sequences;
  return limits;
}

ScheduledRequest waiting(RequestId id, uint32_t tokens, int32_t priority = 0) {
  ScheduledRequest r;
  r.id = id;
  r.arrival = id;
  r.priority = priority;
  r.tokens = tokens;
  r.logits_from = tokens - 1;
  return r;
}

ScheduledRequest running(RequestId id, uint32_t tokens, uint32_t committed, int32_t priority = 0) {
  ScheduledRequest r = waiting(id, tokens, priority);
  r.committed = committed;
  r.running = true;
  return r;
}

/// A plan bounded by rows alone.
StepPlan plan_of(const SchedulerLimits& limits, const SchedulerState& state) { return plan_step(limits, CostModel(), state); }

/// 10 ms for the weights, then 1 ms a row.
CostModel simple_cost() {
  ModelCost model;
  model.dense_bytes = 1e6;
  model.row_operations = 1e6;
  CostModel cost(model);
  for (int i = 0; i < 60; ++i) {
    for (uint32_t rows : {1u, 4u, 16u, 17u, 100u, 400u}) cost.observe({rows, 0, 0}, 0.010 + 0.001 * rows);
  }
  return cost;
}

double seconds_of(const CostModel& cost, const StepPlan& plan) {
  StepWork work;
  for (const PlannedRows& rows : plan.rows) {
    work.rows += rows.rows;
    work.outputs += rows.outputs;
  }
  return cost.predict(work);
}

TEST(Scheduler, AStreamGoesOnWhileALongPromptIsRead) {
  const StepPlan plan = plan_of(limits_of(64), {1000, {running(1, 5000, 128), running(2, 100, 99)}});
  ASSERT_EQ(plan.rows.size(), 2u);
  EXPECT_EQ(plan.rows[0].id, 2u);
  EXPECT_EQ(plan.rows[0].first, 99u);
  EXPECT_EQ(plan.rows[0].outputs, 1u);
  EXPECT_EQ(plan.rows[1].rows, 64u);
  EXPECT_EQ(plan.rows[1].outputs, 0u);
}

TEST(Scheduler, LogitsAreAskedForOnlyWhereTheyAreUsed) {
  ScheduledRequest scored = waiting(1, 40);
  scored.logits_from = 0;
  SchedulerLimits limits = limits_of(64);
  limits.output_rows = 16;
  const StepPlan plan = plan_of(limits, {1000, {scored}});
  ASSERT_EQ(plan.rows.size(), 1u);
  EXPECT_EQ(plan.rows[0].rows, 16u);
  EXPECT_EQ(plan.rows[0].outputs, 16u);
}

TEST(Scheduler, APausedRowIsLeftOutButItsPromptIsRead) {
  ScheduledRequest paused = waiting(1, 40);
  paused.paused = true;
  StepPlan plan = plan_of(limits_of(64), {1000, {paused}});
  ASSERT_EQ(plan.rows.size(), 1u);
  EXPECT_EQ(plan.rows[0].rows, 39u);
  EXPECT_EQ(plan.rows[0].outputs, 0u);
  paused.committed = 39;
  paused.running = true;
  plan = plan_of(limits_of(64), {1000, {paused, waiting(2, 5)}});
  ASSERT_EQ(plan.rows.size(), 1u);
  EXPECT_EQ(plan.rows[0].id, 2u);
  EXPECT_TRUE(plan.stuck.empty());
}

TEST(Scheduler, HigherPriorityIsServedFirstThenArrival) {
  const StepPlan plan = plan_of(limits_of(30), {1000, {waiting(1, 20), waiting(2, 20), waiting(3, 20, 5)}});
  ASSERT_EQ(plan.rows.size(), 2u);
  EXPECT_EQ(plan.rows[0].id, 3u);
  EXPECT_EQ(plan.rows[1].id, 1u);
  EXPECT_EQ(plan.rows[1].rows, 10u);
}

TEST(Scheduler, OutOfBlocksTheNewestOfTheLowestPriorityGivesWay) {
  // All blocks are held; request 1 needs one more.
  const StepPlan plan =
      plan_of(limits_of(64), {0, {running(1, 17, 16), running(2, 10, 9, 3), running(3, 10, 9), running(4, 10, 9)}});
  EXPECT_EQ(plan.preempted, (std::vector<RequestId>{4}));
  std::vector<RequestId> ids;
  for (const PlannedRows& rows : plan.rows) ids.push_back(rows.id);
  EXPECT_EQ(ids, (std::vector<RequestId>{2, 1, 3}));
}

TEST(Scheduler, AnEarlierRequestIsNotPreemptedForALaterOne) {
  const StepPlan plan = plan_of(limits_of(64), {0, {running(1, 10, 9), running(2, 17, 16)}});
  EXPECT_TRUE(plan.preempted.empty());
  ASSERT_EQ(plan.rows.size(), 1u);
  EXPECT_EQ(plan.rows[0].id, 1u);
}

TEST(Scheduler, NobodyOvertakesARequestThatWaitsForBlocks) {
  const StepPlan plan = plan_of(limits_of(64), {4, {running(1, 100, 99), waiting(2, 200), waiting(3, 5)}});
  ASSERT_EQ(plan.rows.size(), 1u);
  EXPECT_EQ(plan.rows[0].id, 1u);
}

TEST(Scheduler, BackgroundWorkMakesRoomForAPerson) {
  const StepPlan plan = plan_of(limits_of(64, 2), {100, {running(1, 50, 49), running(2, 50, 49), waiting(3, 20, 1)}});
  EXPECT_EQ(plan.preempted, (std::vector<RequestId>{2}));
  ASSERT_EQ(plan.rows.size(), 2u);
  EXPECT_EQ(plan.rows[0].id, 1u);
  EXPECT_EQ(plan.rows[1].id, 3u);
}

TEST(Scheduler, NothingIsPreemptedInVain) {
  const StepPlan plan = plan_of(limits_of(64), {0, {running(1, 50, 49), waiting(2, 2000, 9)}});
  EXPECT_TRUE(plan.preempted.empty());
  ASSERT_EQ(plan.rows.size(), 1u);
}

TEST(Scheduler, WhoCanNeverGoOnIsNamed) {
  EXPECT_EQ(plan_of(limits_of(64), {0, {running(1, 17, 16)}}).stuck, (std::vector<RequestId>{1}));
  EXPECT_EQ(plan_of(limits_of(64), {2, {waiting(1, 100)}}).stuck, (std::vector<RequestId>{1}));
  ScheduledRequest paused = running(1, 10, 9);
  paused.paused = true;
  EXPECT_TRUE(plan_of(limits_of(64), {2, {paused, waiting(2, 100)}}).stuck.empty());
}

TEST(Scheduler, TheLongestSequenceIsTheLongestThatFits) {
  SchedulerLimits limits = limits_of(32);
  limits.groups = {{16, 0}, {16, 20}};
  for (uint32_t blocks : {1u, 2u, 5u, 6u, 7u, 50u, 1000u}) {
    const uint32_t longest = longest_sequence(limits, 100'000, blocks);
    EXPECT_LE(peak_blocks(limits, longest), blocks);
    EXPECT_GT(peak_blocks(limits, longest + 1), blocks);
  }
}

TEST(Scheduler, APromptMayHoldAStreamUpForItsTimeAndNoLonger) {
  const CostModel cost = simple_cost();
  SchedulerLimits limits = limits_of(4096);
  limits.stream_gap = 0.1;
  limits.progress = 0.5;
  const StepPlan beside = plan_step(limits, cost, {1000, {running(1, 5000, 128), running(2, 100, 99)}});
  ASSERT_EQ(beside.rows.size(), 2u);
  EXPECT_LE(seconds_of(cost, beside), 0.1 + 0.011);
  EXPECT_GE(beside.rows[1].rows, 64u);  // and uses it: 90 ms less the weights, which the step reads only once
  const StepPlan alone = plan_step(limits, cost, {1000, {running(1, 5000, 128)}});
  EXPECT_LE(seconds_of(cost, alone), 0.5);
  EXPECT_GE(alone.rows[0].rows, 352u);  // and uses it, but for the margin of a machine that is not known yet
  // A stream that waits for its mask is a stream.
  const StepPlan held = plan_step(limits, cost, {1000, {running(1, 5000, 128), running(2, 100, 100)}});
  ASSERT_EQ(held.rows.size(), 1u);
  EXPECT_LE(seconds_of(cost, held), 0.1);
}

TEST(Scheduler, APromptGoesOnHoweverSlowTheMachineIs) {
  SchedulerLimits limits = limits_of(4096);
  limits.stream_gap = 1e-9;
  const StepPlan plan = plan_step(limits, simple_cost(), {1000, {running(1, 5000, 128), running(2, 100, 99)}});
  ASSERT_EQ(plan.rows.size(), 2u);
  EXPECT_EQ(plan.rows[1].rows, 16u);
}

TEST(Scheduler, AShortQuestionDoesNotWaitForALongText) {
  SchedulerLimits limits = limits_of(4096);
  limits.stream_gap = 0.2;
  const StepPlan plan = plan_step(limits, simple_cost(), {5000, {running(1, 30'000, 128), running(2, 100, 99), waiting(3, 2000), waiting(4, 20)}});
  std::vector<uint32_t> rows(5, 0);
  for (const PlannedRows& each : plan.rows) rows[each.id] = each.rows;
  EXPECT_EQ(rows[4], 20u);
  EXPECT_GT(rows[1], 2 * (rows[3] + rows[4]));
}

TEST(Scheduler, AChunkIsNotFollowedByACrumb) {
  const StepPlan plan = plan_of(limits_of(512), {1000, {waiting(1, 520)}});
  ASSERT_EQ(plan.rows.size(), 1u);
  EXPECT_EQ(plan.rows[0].rows, 272u);
}

TEST(Scheduler, TheOldestInTheBackgroundHasAPlaceAfterAWhile) {
  SchedulerLimits limits = limits_of(64, 2);
  std::vector<ScheduledRequest> requests{waiting(1, 20), waiting(2, 20), running(3, 50, 49, 1), running(4, 50, 49, 1), waiting(5, 20, 1)};
  requests[0].age = requests[1].age = 29.0;
  for (const PlannedRows& rows : plan_of(limits, {100, requests}).rows) EXPECT_GE(rows.id, 3u);
  requests[0].age = requests[1].age = 31.0;
  requests.erase(requests.begin() + 2);  // a place is free: it is its own, and not the newer interactive one's
  const StepPlan plan = plan_of(limits, {100, requests});
  EXPECT_TRUE(plan.preempted.empty());
  ASSERT_EQ(plan.rows.size(), 2u);
  EXPECT_EQ(plan.rows[0].id, 4u);
  EXPECT_EQ(plan.rows[1].id, 1u);
  // Once there, it is not sent away by those above; the one behind it still is.
  requests[0] = running(1, 20, 19), requests[1] = running(2, 20, 19);
  requests[0].age = requests[1].age = 31.0;
  EXPECT_EQ(plan_of(limits_of(64, 3), {100, requests}).preempted, (std::vector<RequestId>{2}));
}

TEST(Scheduler, DraftsTakeOnlyWhatIsFree) {
  SchedulerLimits limits = limits_of(64);
  limits.draft_rows = 5;
  ScheduledRequest one = running(1, 15, 14), two = running(2, 16, 15), three = running(3, 30, 29);
  one.drafts = two.drafts = 4;
  three.drafts = 0;
  const StepPlan plan = plan_of(limits, {0, {one, two, three}});
  EXPECT_TRUE(plan.preempted.empty());
  ASSERT_EQ(plan.rows.size(), 3u);
  EXPECT_EQ(plan.rows[0].drafts, 1u);  // position 15 is the last of its block
  EXPECT_EQ(plan.rows[0].rows, 2u);
  EXPECT_EQ(plan.rows[0].outputs, 2u);
  EXPECT_EQ(plan.rows[1].drafts, 0u);
  const StepPlan roomy = plan_of(limits, {10, {one, two, three}});
  EXPECT_EQ(roomy.rows[0].drafts, 4u);
  EXPECT_EQ(roomy.rows[1].drafts, 1u);
}

}  // namespace
}  // namespace hearth
