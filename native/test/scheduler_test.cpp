// Failures prevented: a stalled stream behind a long prompt, a request that is never served, blocks handed out twice or
// leaked by preemption, a step over its budget, a request that waits for ever for blocks that cannot come.
#include "engine/scheduler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "cache/sequence_kv.h"

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

TEST(Scheduler, AStreamGoesOnWhileALongPromptIsRead) {
  const StepPlan plan = plan_step(limits_of(64), {1000, {running(1, 5000, 128), running(2, 100, 99)}});
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
  const StepPlan plan = plan_step(limits, {1000, {scored}});
  ASSERT_EQ(plan.rows.size(), 1u);
  EXPECT_EQ(plan.rows[0].rows, 16u);
  EXPECT_EQ(plan.rows[0].outputs, 16u);
}

TEST(Scheduler, APausedRowIsLeftOutButItsPromptIsRead) {
  ScheduledRequest paused = waiting(1, 40);
  paused.paused = true;
  StepPlan plan = plan_step(limits_of(64), {1000, {paused}});
  ASSERT_EQ(plan.rows.size(), 1u);
  EXPECT_EQ(plan.rows[0].rows, 39u);
  EXPECT_EQ(plan.rows[0].outputs, 0u);
  paused.committed = 39;
  paused.running = true;
  plan = plan_step(limits_of(64), {1000, {paused, waiting(2, 5)}});
  ASSERT_EQ(plan.rows.size(), 1u);
  EXPECT_EQ(plan.rows[0].id, 2u);
  EXPECT_TRUE(plan.stuck.empty());
}

TEST(Scheduler, HigherPriorityIsServedFirstThenArrival) {
  const StepPlan plan = plan_step(limits_of(30), {1000, {waiting(1, 20), waiting(2, 20), waiting(3, 20, 5)}});
  ASSERT_EQ(plan.rows.size(), 2u);
  EXPECT_EQ(plan.rows[0].id, 3u);
  EXPECT_EQ(plan.rows[1].id, 1u);
  EXPECT_EQ(plan.rows[1].rows, 10u);
}

TEST(Scheduler, OutOfBlocksTheNewestOfTheLowestPriorityGivesWay) {
  // All blocks are held; request 1 needs one more.
  const StepPlan plan =
      plan_step(limits_of(64), {0, {running(1, 17, 16), running(2, 10, 9, 3), running(3, 10, 9), running(4, 10, 9)}});
  EXPECT_EQ(plan.preempted, (std::vector<RequestId>{4}));
  std::vector<RequestId> ids;
  for (const PlannedRows& rows : plan.rows) ids.push_back(rows.id);
  EXPECT_EQ(ids, (std::vector<RequestId>{2, 1, 3}));
}

TEST(Scheduler, AnEarlierRequestIsNotPreemptedForALaterOne) {
  const StepPlan plan = plan_step(limits_of(64), {0, {running(1, 10, 9), running(2, 17, 16)}});
  EXPECT_TRUE(plan.preempted.empty());
  ASSERT_EQ(plan.rows.size(), 1u);
  EXPECT_EQ(plan.rows[0].id, 1u);
}

TEST(Scheduler, NobodyOvertakesARequestThatWaitsForBlocks) {
  const StepPlan plan = plan_step(limits_of(64), {4, {running(1, 100, 99), waiting(2, 200), waiting(3, 5)}});
  ASSERT_EQ(plan.rows.size(), 1u);
  EXPECT_EQ(plan.rows[0].id, 1u);
}

TEST(Scheduler, BackgroundWorkMakesRoomForAPerson) {
  const StepPlan plan = plan_step(limits_of(64, 2), {100, {running(1, 50, 49), running(2, 50, 49), waiting(3, 20, 1)}});
  EXPECT_EQ(plan.preempted, (std::vector<RequestId>{2}));
  ASSERT_EQ(plan.rows.size(), 2u);
  EXPECT_EQ(plan.rows[0].id, 1u);
  EXPECT_EQ(plan.rows[1].id, 3u);
}

TEST(Scheduler, NothingIsPreemptedInVain) {
  const StepPlan plan = plan_step(limits_of(64), {0, {running(1, 50, 49), waiting(2, 2000, 9)}});
  EXPECT_TRUE(plan.preempted.empty());
  ASSERT_EQ(plan.rows.size(), 1u);
}

TEST(Scheduler, WhoCanNeverGoOnIsNamed) {
  EXPECT_EQ(plan_step(limits_of(64), {0, {running(1, 17, 16)}}).stuck, (std::vector<RequestId>{1}));
  EXPECT_EQ(plan_step(limits_of(64), {2, {waiting(1, 100)}}).stuck, (std::vector<RequestId>{1}));
  ScheduledRequest paused = running(1, 10, 9);
  paused.paused = true;
  EXPECT_TRUE(plan_step(limits_of(64), {2, {paused, waiting(2, 100)}}).stuck.empty());
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

/// A life of random requests over the real block tables.
class Simulation {
 public:
  explicit Simulation(uint32_t seed) : random_(seed) {
    limits_.groups = {{1 + pick(16), 0}};
    if (pick(2)) limits_.groups.push_back({limits_.groups[0].block_size, 1 + pick(50)});
    limits_.prefill_rows = 1 + pick(100);
    limits_.max_sequences = 1 + pick(6);
    limits_.output_rows = limits_.max_sequences + 1 + pick(20);
    const uint32_t blocks = 10 + pick(200);
    pool_.emplace(blocks, 4, [](uint32_t) { return true; });
    longest_ = std::min(longest_sequence(limits_, 600, blocks), 600u);
  }

  void run(int steps) {
    if (longest_ < 2) return;
    for (int step = 0; step < steps && !testing::Test::HasFatalFailure(); ++step) {
      if (live_.size() < 12 && pick(3) == 0) arrive();
      this->step();
    }
    // No starvation: without arrivals everybody ends, within the rows that are left to compute.
    int steps_left = 200'000;
    while (!live_.empty() && steps_left-- > 0 && !testing::Test::HasFatalFailure()) this->step();
    EXPECT_TRUE(live_.empty()) << live_.size() << " requests never ended";
    EXPECT_EQ(pool_->used(), 0u);
  }

 private:
  struct Live {
    ScheduledRequest r;
    SequenceKv kv;
    uint32_t end;
  };

  uint32_t pick(uint32_t below) { return random_() % below; }

  void arrive() {
    const uint32_t prompt = 1 + pick(longest_ - 1);
    ScheduledRequest r = waiting(++last_id_, prompt, static_cast<int32_t>(pick(3)));
    if (pick(8) == 0) r.logits_from = 0;
    live_.push_back({r, SequenceKv(limits_.groups), std::min(longest_, prompt + 1 + pick(80))});
  }

  void step() {
    SchedulerState state{pool_->available(), {}};
    for (const Live& each : live_) state.requests.push_back(each.r);
    const StepPlan plan = plan_step(limits_, state);
    ASSERT_TRUE(plan.stuck.empty());
    for (RequestId id : plan.preempted) give_up(find(id));
    check_budget(plan);
    const bool abandoned = pick(10) == 0;
    for (const PlannedRows& rows : plan.rows) begin(find(rows.id), rows);
    for (const PlannedRows& rows : plan.rows) end(find(rows.id), rows, abandoned);
    ASSERT_LE(std::count_if(live_.begin(), live_.end(), [](const Live& l) { return l.r.running; }), limits_.max_sequences);
    ASSERT_TRUE(live_.empty() || !plan.rows.empty() || some_paused()) << "a step without work";
    uint32_t held = 0;
    for (const Live& each : live_) held += each.kv.held();
    ASSERT_EQ(held, pool_->used());
    for (Live& each : live_) each.r.paused = pick(6) == 0 && each.r.tokens > 1;
    if (!live_.empty() && pick(30) == 0) finish(pick(static_cast<uint32_t>(live_.size())));
  }

  bool some_paused() const {
    return std::any_of(live_.begin(), live_.end(), [](const Live& l) { return l.r.paused; });
  }

  void check_budget(const StepPlan& plan) {
    uint32_t prompt_rows = 0, outputs = 0;
    for (const PlannedRows& rows : plan.rows) {
      const Live& live = *find(rows.id);
      outputs += rows.outputs;
      const uint32_t due = live.r.tokens - live.r.committed - (live.r.paused ? 1 : 0);
      if (!(live.r.running && due == 1)) prompt_rows += rows.rows;
    }
    ASSERT_LE(prompt_rows, limits_.prefill_rows);
    ASSERT_LE(outputs, limits_.output_rows);
  }

  void begin(std::vector<Live>::iterator live, const PlannedRows& rows) {
    ASSERT_EQ(rows.first, live->r.committed);
    ASSERT_LE(rows.first + rows.rows + (live->r.paused ? 1 : 0), live->r.tokens);
    ASSERT_TRUE(live->kv.begin(*pool_, rows.rows)) << "the plan promised blocks that are not there";
    live->r.running = true;
  }

  void end(std::vector<Live>::iterator live, const PlannedRows& rows, bool abandoned) {
    if (abandoned) return live->kv.roll_back(*pool_);
    live->kv.commit(*pool_);
    live->r.committed += rows.rows;
    if (live->r.committed < live->r.tokens) return;
    ASSERT_GE(rows.outputs, 1u);
    live->r.logits_from = live->r.tokens++;
    if (live->r.tokens > live->end) finish(static_cast<size_t>(live - live_.begin()));
  }

  void give_up(std::vector<Live>::iterator live) {
    ASSERT_TRUE(live->r.running);
    live->kv.release(*pool_);
    live->r.committed = 0;
    live->r.running = false;
  }

  void finish(size_t index) {
    live_[index].kv.release(*pool_);
    live_.erase(live_.begin() + static_cast<std::ptrdiff_t>(index));
  }

  std::vector<Live>::iterator find(RequestId id) {
    return std::find_if(live_.begin(), live_.end(), [&](const Live& l) { return l.r.id == id; });
  }

  std::mt19937 random_;
  SchedulerLimits limits_;
  std::optional<BlockPool> pool_;
  std::vector<Live> live_;
  RequestId last_id_ = 0;
  uint32_t longest_ = 0;
};

TEST(Scheduler, RandomLivesKeepEveryInvariant) {
  for (uint32_t seed = 1; seed <= 300 && !HasFatalFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Simulation(seed).run(400);
  }
}

}  // namespace
}  // namespace hearth
