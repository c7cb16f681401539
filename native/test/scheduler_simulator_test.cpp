// Failures prevented, over random lives: a block used twice or leaked, a step over its budget, a decode that waits behind
// a prompt, a request that is never served, a plan that promises blocks which are not there.
// The blocks and tables are the real ones; only the model is missing. HEARTH_SIMULATOR_SEEDS=n runs n seeds.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <list>
#include <optional>
#include <random>
#include <set>

#include "backend/step_inputs.h"
#include "cache/sequence_kv.h"
#include "engine/scheduler.h"

namespace hearth {
namespace {

constexpr int steps_per_seed = 2000;

class Simulation {
 public:
  explicit Simulation(uint32_t seed) : random_(seed) {
    limits_.groups = {{1 + pick(16), 0}};
    if (pick(2)) limits_.groups.push_back({limits_.groups[0].block_size, 1 + pick(50)});
    limits_.prefill_rows = 1 + pick(pick(2) ? 100 : 400);
    limits_.max_sequences = 1 + pick(6);
    limits_.output_rows = limits_.max_sequences + 1 + pick(20);
    limits_.draft_rows = pick(2) ? pick(8) : 0;
    limits_.stream_gap = 0.05 + 0.1 * pick(10);
    limits_.progress = limits_.stream_gap * (1 + pick(5));
    limits_.patience = 1.0 + pick(20);
    const uint32_t blocks = 10 + pick(200);
    pool_.emplace(blocks, 4, [](uint32_t) { return true; });
    longest_ = std::min(longest_sequence(limits_, 600, blocks), 600u);
    ModelCost model;
    model.dense_bytes = 1e8 * (1 + pick(10));
    model.expert_bytes = 1e8 * pick(20);
    model.experts = 32;
    model.experts_used = 4;
    model.row_operations = 1e8 * (1 + pick(10));
    model.position_operations = 1e3 * pick(100);
    model.full_layers = 1;
    cost_ = CostModel(model);
  }

  void run(int steps) {
    if (longest_ < 2) return;
    for (int step = 0; step < steps && !testing::Test::HasFatalFailure(); ++step) {
      if (live_.size() < 12 && pick(3) == 0) arrive();
      this->step();
    }
    // Without arrivals everybody ends, within the rows that are left to compute.
    int steps_left = 100'000;
    while (!live_.empty() && steps_left-- > 0 && !testing::Test::HasFatalFailure()) this->step();
    EXPECT_TRUE(live_.empty()) << live_.size() << " requests never ended";
    EXPECT_EQ(pool_->used(), 0u);
  }

 private:
  struct Live {
    ScheduledRequest r;
    SequenceKv kv;
    uint32_t end;
    double since;
  };
  using Entry = std::list<Live>::iterator;

  uint32_t pick(uint32_t below) { return random_() % below; }

  void arrive() {
    const uint32_t prompt = 1 + pick(longest_ - 1);
    ScheduledRequest r;
    r.id = r.arrival = ++last_id_;
    r.priority = static_cast<int32_t>(pick(3));
    r.tokens = prompt;
    r.logits_from = pick(8) == 0 ? 0 : prompt - 1;
    live_.push_back({r, SequenceKv(limits_.groups), std::min(longest_, prompt + 1 + pick(80)), now_});
  }

  void step() {
    SchedulerState state{pool_->available(), {}};
    for (Live& each : live_) {
      each.r.age = now_ - each.since;
      each.r.drafts = std::min(pick(5), longest_ - std::min(longest_, each.r.tokens));
      state.requests.push_back(each.r);
    }
    const StepPlan plan = plan_step(limits_, cost_, state);
    ASSERT_TRUE(plan.stuck.empty());
    check_budget(plan);
    check_decodes_come_first(plan);
    for (RequestId id : plan.preempted) give_up(find(id));
    const bool abandoned = pick(10) == 0;
    for (const PlannedRows& rows : plan.rows) begin(find(rows.id), rows);
    check_blocks();
    for (const PlannedRows& rows : plan.rows) end(find(rows.id), rows, abandoned);
    ASSERT_LE(std::count_if(live_.begin(), live_.end(), [](const Live& l) { return l.r.running; }), limits_.max_sequences);
    ASSERT_TRUE(live_.empty() || !plan.rows.empty() || some_wait_for_the_host()) << "a step without work";
    check_blocks();
    now_ += std::max(cost_.predict(work_of(plan, true)), 1e-3);
    for (Live& each : live_) {
      if (each.r.committed == each.r.tokens && pick(3) > 0) grow(each);  // the host's word came
      each.r.paused = pick(6) == 0 && each.r.tokens > 1 && each.r.committed < each.r.tokens;
    }
    if (!live_.empty() && pick(30) == 0) finish(std::next(live_.begin(), pick(static_cast<uint32_t>(live_.size()))));
    live_.remove_if([](const Live& each) { return each.r.tokens > each.end; });
  }

  bool some_wait_for_the_host() const {
    return std::any_of(live_.begin(), live_.end(), [](const Live& l) { return l.r.paused || l.r.committed == l.r.tokens; });
  }

  StepWork work_of(const StepPlan& plan, bool prompts_too) {
    StepWork work;
    for (const PlannedRows& rows : plan.rows) {
      if (!prompts_too && is_chunk(rows)) continue;
      work.rows += rows.rows;
      work.outputs += rows.outputs;
      work.attended += cost_.model().attended(rows.first, rows.rows);
    }
    return work;
  }

  bool is_chunk(const PlannedRows& rows) { return rows.rows - rows.drafts > 1; }

  void check_budget(const StepPlan& plan) {
    uint32_t chunk_rows = 0, chunks = 0, outputs = 0, drafts = 0;
    for (const PlannedRows& rows : plan.rows) {
      outputs += rows.outputs;
      drafts += rows.drafts;
      if (is_chunk(rows)) chunk_rows += rows.rows, ++chunks;
    }
    ASSERT_LE(chunk_rows, limits_.prefill_rows);
    ASSERT_LE(outputs, limits_.output_rows);
    ASSERT_LE(drafts, limits_.draft_rows);
    const bool streams = std::any_of(live_.begin(), live_.end(), [](const Live& l) { return l.r.running && l.r.committed + 1 >= l.r.tokens; });
    // The first prompt's least rows aside, a step ends in time. (Decodes that were given back leave the bound where it was.)
    if (chunk_rows > 16 && plan.preempted.empty()) {
      const double decodes = work_of(plan, false).rows > 0 ? cost_.predict(work_of(plan, false)) : 0.0;
      StepWork work = work_of(plan, true);
      work.outputs = work_of(plan, false).outputs;
      ASSERT_LE(cost_.predict(work), decodes + (streams ? limits_.stream_gap : limits_.progress));
    }
  }

  void check_decodes_come_first(const StepPlan& plan) {
    bool chunk_seen = false;
    std::set<RequestId> planned(plan.preempted.begin(), plan.preempted.end());
    for (const PlannedRows& rows : plan.rows) {
      ASSERT_FALSE(chunk_seen && !is_chunk(rows)) << "a decode behind a prompt";
      chunk_seen = chunk_seen || is_chunk(rows);
      ASSERT_TRUE(planned.insert(rows.id).second) << "a request twice in one step";
    }
    if (!plan.preempted.empty() || pool_->available() < 2 * limits_.max_sequences) return;  // blocks are short
    for (const Live& each : live_) {
      const bool decodes = each.r.running && !each.r.paused && each.r.committed + 1 == each.r.tokens;
      ASSERT_TRUE(!decodes || planned.count(each.r.id)) << "a stream was left out";
    }
  }

  /// Every block has one owner, and the pool knows of no others.
  void check_blocks() {
    seen_.assign(pool_->size(), false);
    uint32_t held = 0;
    for (const Live& each : live_) {
      for (const BlockTable& table : each.kv.tables()) {
        for (uint32_t block : table.entries()) {
          if (block == null_block) continue;
          ASSERT_FALSE(seen_[block]) << "a block of two sequences";
          seen_[block] = true;
          ++held;
        }
      }
    }
    ASSERT_EQ(held, pool_->used());
  }

  void begin(Entry live, const PlannedRows& rows) {
    ASSERT_EQ(rows.first, live->r.committed);
    ASSERT_LE(rows.first + rows.rows - rows.drafts + (live->r.paused ? 1 : 0), live->r.tokens);
    ASSERT_TRUE(live->kv.begin(*pool_, rows.rows)) << "the plan promised blocks that are not there";
    live->r.running = true;
  }

  void end(Entry live, const PlannedRows& rows, bool abandoned) {
    if (abandoned) return live->kv.roll_back(*pool_);
    const uint32_t accepted = rows.drafts > 0 ? pick(rows.drafts + 1) : 0, kept = rows.rows - rows.drafts + accepted;
    live->kv.keep(*pool_, kept);
    live->kv.commit(*pool_);
    live->r.committed += kept;
    ASSERT_EQ(live->r.committed, live->kv.committed());
    live->r.tokens += accepted;
    if (live->r.committed < live->r.tokens) return;
    ASSERT_GE(rows.outputs, 1 + rows.drafts);
    if (pick(4) > 0) grow(*live);  // else its logits are kept until the host says what may follow
    if (live->r.tokens > live->end) live->kv.release(*pool_);
  }

  void grow(Live& live) {
    live.r.logits_from = live.r.tokens++;
    if (live.r.tokens > live.end) live.kv.release(*pool_);
  }

  void give_up(Entry live) {
    if (!live->r.running) return;  // given a place and displaced in the same plan
    live->kv.release(*pool_);
    live->r.committed = 0;
    live->r.running = false;
  }

  void finish(Entry live) {
    live->kv.release(*pool_);
    live_.erase(live);
  }

  Entry find(RequestId id) {
    return std::find_if(live_.begin(), live_.end(), [&](const Live& l) { return l.r.id == id; });
  }

  std::mt19937 random_;
  SchedulerLimits limits_;
  CostModel cost_;
  std::optional<BlockPool> pool_;
  std::list<Live> live_;
  std::vector<bool> seen_;
  RequestId last_id_ = 0;
  uint32_t longest_ = 0;
  double now_ = 0.0;
};

TEST(SchedulerSimulator, RandomLivesKeepEveryInvariant) {
  const char* more = std::getenv("HEARTH_SIMULATOR_SEEDS");
  const auto seeds = static_cast<uint32_t>(more ? std::max(1, std::atoi(more)) : 50);
  for (uint32_t seed = 1; seed <= seeds && !HasFatalFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Simulation(seed).run(steps_per_seed);
  }
}

/// Requests of high priority never stop coming and fill every place; those of low priority all end nevertheless.
TEST(SchedulerSimulator, TheBackgroundIsServedUnderEndlessInteractiveLoad) {
  SchedulerLimits limits;
  limits.groups = {{16, 0}, {16, 32}};
  limits.max_sequences = 3;
  limits.patience = 10.0;
  BlockPool pool(60, 8, [](uint32_t) { return true; });
  struct Live {
    ScheduledRequest r;
    SequenceKv kv;
    uint32_t end;
    double since;
  };
  std::list<Live> live;
  RequestId last = 0;
  double now = 0;
  const auto arrive = [&](int32_t priority, uint32_t prompt, uint32_t outputs) {
    ScheduledRequest r;
    r.id = r.arrival = ++last;
    r.priority = priority;
    r.tokens = prompt;
    r.logits_from = prompt - 1;
    live.push_back({r, SequenceKv(limits.groups), prompt + outputs, now});
  };
  for (int i = 0; i < 10; ++i) arrive(0, 200, 40);
  double last_end = 0;
  int background = 10;
  for (int step = 0; step < 20'000 && background > 0; ++step, now += 0.1) {
    while (std::count_if(live.begin(), live.end(), [](const Live& l) { return l.r.priority == 1; }) < 5) arrive(1, 60, 30);
    SchedulerState state{pool.available(), {}};
    for (Live& each : live) {
      each.r.age = now - each.since;
      state.requests.push_back(each.r);
    }
    const StepPlan plan = plan_step(limits, CostModel(), state);
    const auto find = [&](RequestId id) { return std::find_if(live.begin(), live.end(), [&](const Live& l) { return l.r.id == id; }); };
    for (RequestId id : plan.preempted) {
      const auto each = find(id);
      each->kv.release(pool);
      each->r.committed = 0;
      each->r.running = false;
    }
    for (const PlannedRows& rows : plan.rows) {
      const auto each = find(rows.id);
      ASSERT_TRUE(each->kv.begin(pool, rows.rows));
      each->kv.commit(pool);
      each->r.running = true;
      each->r.committed += rows.rows;
      if (each->r.committed == each->r.tokens) each->r.logits_from = each->r.tokens++;
      if (each->r.tokens <= each->end) continue;
      if (each->r.priority == 0) last_end = now, --background;
      each->kv.release(pool);
      live.erase(each);
    }
  }
  EXPECT_EQ(background, 0) << "starved";
  // Ten of them, one after another, each within the time that a place takes to become free and its own rows take.
  EXPECT_LT(last_end, 10.0 + 10 * 12.0);
}

}  // namespace
}  // namespace hearth
