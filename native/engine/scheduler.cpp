// Implements the plan of a step over a scratch copy of the counters.
#include "engine/scheduler.h"

#include <algorithm>
#include <numeric>

#include "engine/step_budget.h"

namespace hearth {
namespace {

class Planner {
 public:
  Planner(const SchedulerLimits& limits, const CostModel& cost, const SchedulerState& state)
      : limits_(limits), available_(state.blocks_available), drafts_left_(limits.draft_rows),
        budget_(cost, limits.prefill_rows, limits.output_rows) {
    for (const ScheduledRequest& request : state.requests) entries_.push_back({request});
    promote_oldest();
    std::sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
      return a.r.priority != b.r.priority ? a.r.priority > b.r.priority : a.r.arrival < b.r.arrival;
    });
    running_ = static_cast<uint32_t>(std::count_if(entries_.begin(), entries_.end(), [](const Entry& e) { return e.r.running; }));
  }

  StepPlan plan() {
    for (size_t i = 0; i < entries_.size(); ++i) {
      if (entries_[i].r.running && due(i) == 1) decode(i);
    }
    for (size_t i = 0; i < entries_.size(); ++i) add_drafts(i);
    const bool streams = std::any_of(entries_.begin(), entries_.end(), [](const Entry& e) {
      return e.r.running && e.r.committed + 1 >= e.r.tokens;
    });
    budget_.open(streams ? limits_.stream_gap : limits_.progress);
    prompts();
    return result();
  }

 private:
  struct Entry {
    ScheduledRequest r;
    uint32_t planned = 0;  // rows of this step, drafts aside
    uint32_t drafts = 0;
    uint32_t outputs = 0;
    uint32_t charged = 0;  // rows taken from the prompts' budget
    bool preempted = false;
  };

  /// Of the requests below the highest priority the oldest has a place among the highest once it has waited long
  /// enough, and keeps it until it ends. One at a time: many small ones behind it cannot add up to a wall.
  void promote_oldest() {
    int32_t highest = INT32_MIN;
    for (const Entry& e : entries_) highest = std::max(highest, e.r.priority);
    Entry* oldest = nullptr;
    for (Entry& e : entries_) {
      if (e.r.priority == highest || e.r.age < limits_.patience) continue;
      if (!oldest || e.r.arrival < oldest->r.arrival) oldest = &e;
    }
    if (oldest) oldest->r.priority = highest;
  }

  /// Rows that could be computed now, beyond those planned.
  uint32_t due(size_t i) const {
    const ScheduledRequest& r = entries_[i].r;
    return r.tokens - r.committed - entries_[i].planned - (r.paused && r.tokens > r.committed ? 1 : 0);
  }

  /// Blocks for `rows` more rows than are planned.
  uint32_t blocks_for(size_t i, uint32_t rows) const {
    uint32_t blocks = 0;
    const uint32_t from = entries_[i].r.committed + entries_[i].planned + entries_[i].drafts;
    for (const GroupReach& g : limits_.groups) blocks += g.blocks_over(from + rows) - g.blocks_over(from);
    return blocks;
  }

  /// Blocks for what is committed, without those that others hold too.
  uint32_t own(size_t i) const {
    uint32_t blocks = 0;
    for (const GroupReach& g : limits_.groups) blocks += g.held(entries_[i].r.committed);
    return blocks - std::min(blocks, entries_[i].r.shared);
  }

  /// Blocks that its preemption makes available.
  uint32_t held(size_t i) const {
    uint32_t planned = 0;
    const uint32_t from = entries_[i].r.committed, to = from + entries_[i].planned + entries_[i].drafts;
    for (const GroupReach& g : limits_.groups) planned += g.blocks_over(to) - g.blocks_over(from);
    return planned + own(i);
  }

  /// How many of the first `rows` rows from `committed` on need logits.
  uint32_t outputs_of(size_t i, uint32_t rows) const {
    const ScheduledRequest& r = entries_[i].r;
    const uint32_t end = r.committed + rows, from = std::max(r.committed, r.logits_from);
    return end > from ? end - from : 0;
  }

  /// Blocks that running prompts still need beyond what they hold.
  uint64_t reserved() const {
    uint64_t blocks = 0;
    for (const Entry& e : entries_) {
      if (!e.r.running) continue;
      const uint32_t reached = e.r.committed + e.planned;
      for (const GroupReach& g : limits_.groups) {
        const uint32_t growth = g.blocks_over(e.r.tokens) - g.blocks_over(reached);
        const uint32_t peak = g.peak(e.r.tokens, limits_.prefill_rows), has = g.held(reached);
        blocks += std::min(growth, peak - std::min(peak, has));
      }
    }
    return blocks;
  }

  void preempt(size_t i) {
    Entry& e = entries_[i];
    available_ += held(i);
    drafts_left_ += e.drafts;
    budget_.give_back(e.r.committed, e.planned + e.drafts, e.outputs, e.charged);
    e.planned = e.drafts = e.outputs = e.charged = 0;
    e.r.committed = e.r.shared = 0;
    e.r.running = false;
    e.preempted = true;
    --running_;
  }

  /// May `i` take from `victim`? An admission displaces only lower priorities.
  bool may_displace(size_t i, size_t victim) const {
    if (victim <= i || !entries_[victim].r.running) return false;
    return entries_[i].r.running || entries_[victim].r.priority < entries_[i].r.priority;
  }

  bool could_make_room(size_t i, uint64_t blocks) const {
    uint64_t possible = available_;
    for (size_t v = 0; v < entries_.size(); ++v) possible += may_displace(i, v) ? held(v) : 0;
    return possible >= blocks;
  }

  /// Preempts from the end of the order until `blocks` are available. Nothing is preempted in vain.
  bool make_room(size_t i, uint64_t blocks) {
    if (!could_make_room(i, blocks)) return false;
    for (size_t v = entries_.size(); v-- > 0 && available_ < blocks;) {
      if (may_displace(i, v)) preempt(v);
    }
    return true;
  }

  void take(size_t i, uint32_t rows, bool of_prompt) {
    Entry& e = entries_[i];
    available_ -= blocks_for(i, rows);
    const uint32_t outputs = outputs_of(i, e.planned + rows) - e.outputs;
    budget_.take(e.r.committed + e.planned, rows, outputs, of_prompt ? rows : 0);
    e.planned += rows;
    e.outputs += outputs;
    if (of_prompt) e.charged += rows;
  }

  void decode(size_t i) {
    if (outputs_of(i, 1) <= budget_.outputs() && make_room(i, blocks_for(i, 1))) take(i, 1, false);
  }

  /// Drafts take what is free, and nothing from anybody.
  void add_drafts(size_t i) {
    Entry& e = entries_[i];
    if (!e.r.running || e.planned != 1 || due(i) != 0) return;
    uint32_t drafts = std::min({e.r.drafts, drafts_left_, budget_.outputs()});
    while (drafts > 0 && blocks_for(i, drafts) > available_) --drafts;
    if (drafts == 0) return;
    available_ -= blocks_for(i, drafts);
    budget_.take(e.r.committed + 1, drafts, drafts, 0);
    e.drafts = drafts;
    e.outputs += drafts;
    drafts_left_ -= drafts;
  }

  void prompts() {
    const auto reads = [&](size_t i) { return entries_[i].r.running ? due(i) > 1 : !entries_[i].preempted && due(i) > 0; };
    std::vector<size_t> readers;
    for (size_t i = 0; i < entries_.size(); ++i) {
      if (reads(i)) readers.push_back(i);
    }
    const bool others = readers.size() > 1;
    // The first of the running ones leads; where none is running, the first that is admitted.
    size_t leader = entries_.size();
    for (size_t i : readers) {
      if (leader == entries_.size() && entries_[i].r.running) chunk(leader = i, others);
    }
    for (size_t i = 0; i < entries_.size(); ++i) {
      if (entries_[i].preempted) break;  // nobody behind it may take what it gave up
      if (entries_[i].r.running || due(i) == 0) continue;
      if (!admit(i)) break;
      if (leader == entries_.size()) chunk(leader = i, others);
    }
    std::stable_sort(readers.begin(), readers.end(), [&](size_t a, size_t b) {
      const auto &x = entries_[a].r, &y = entries_[b].r;
      return x.priority != y.priority ? x.priority > y.priority : x.tokens - x.committed < y.tokens - y.committed;
    });
    for (size_t i : readers) {
      if (i != leader && entries_[i].r.running && due(i) > 0) chunk(i, false);
    }
    if (others && leader < entries_.size() && entries_[leader].r.running && due(leader) > 0) chunk(leader, false);
  }

  void chunk(size_t i, bool keep_quarter) {
    const Entry& e = entries_[i];
    uint32_t rows = budget_.chunk(e.r.committed + e.planned, due(i), keep_quarter);
    const uint32_t outputs = outputs_of(i, e.planned + rows) - e.outputs;
    if (outputs > budget_.outputs()) rows -= outputs - budget_.outputs();
    if (rows == 0) return;
    if (!make_room(i, blocks_for(i, rows))) {
      while (rows > 0 && blocks_for(i, rows) > available_) --rows;
    }
    if (rows > 0) take(i, rows, true);
  }

  /// Gives a waiting request a place, if there is something left of the step for it.
  bool admit(size_t i) {
    if (budget_.chunk(entries_[i].r.committed, due(i), false) == 0) return false;
    const uint64_t peak = peak_blocks(limits_, entries_[i].r.tokens);
    const uint64_t blocks = peak - std::min<uint64_t>(peak, entries_[i].r.shared) + reserved();
    if (!could_make_room(i, blocks)) return false;
    if (running_ >= limits_.max_sequences && !displace_one(i)) return false;
    make_room(i, blocks);
    available_ -= std::min<uint64_t>(available_, own(i));
    entries_[i].r.running = true;
    ++running_;
    return true;
  }

  bool displace_one(size_t i) {
    for (size_t v = entries_.size(); v-- > 0;) {
      if (!may_displace(i, v)) continue;
      preempt(v);
      return true;
    }
    return false;
  }

  StepPlan result() const {
    StepPlan plan;
    for (const Entry& e : entries_) {
      if (e.preempted) plan.preempted.push_back(e.r.id);
    }
    for (bool decodes : {true, false}) {
      for (const Entry& e : entries_) {
        if (e.planned == 0 || (e.planned == 1) != decodes) continue;
        plan.rows.push_back({e.r.id, e.r.committed, e.planned + e.drafts, e.outputs, e.drafts});
      }
    }
    if (plan.rows.empty()) add_stuck(plan);
    return plan;
  }

  /// Nobody runs: the first that has work is stuck if no other's end could free blocks for it. Where those behind it
  /// share their blocks, so that none of them could make room alone, the last one gives way.
  void add_stuck(StepPlan& plan) const {
    for (size_t i = 0; i < entries_.size(); ++i) {
      if (due(i) == 0 || entries_[i].preempted) continue;
      if (running_ == (entries_[i].r.running ? 1u : 0u)) plan.stuck.push_back(entries_[i].r.id);
      for (size_t v = entries_.size(); v-- > i + 1 && plan.stuck.empty() && plan.preempted.empty();) {
        if (may_displace(i, v) && entries_[v].r.shared > 0) plan.preempted.push_back(entries_[v].r.id);
      }
      return;
    }
  }

  const SchedulerLimits& limits_;
  std::vector<Entry> entries_;  // by (priority, arrival)
  uint64_t available_;
  uint32_t drafts_left_, running_ = 0;
  StepBudget budget_;
};

}  // namespace

StepPlan plan_step(const SchedulerLimits& limits, const CostModel& cost, const SchedulerState& state) {
  return Planner(limits, cost, state).plan();
}

uint64_t peak_blocks(const SchedulerLimits& limits, uint32_t tokens) {
  uint64_t blocks = 0;
  for (const GroupReach& g : limits.groups) blocks += g.peak(tokens, limits.prefill_rows);
  return blocks;
}

uint32_t longest_sequence(const SchedulerLimits& limits, uint32_t wanted, uint32_t blocks) {
  uint32_t fits = 0, too_long = wanted;
  if (peak_blocks(limits, wanted) <= blocks) return wanted;
  while (too_long - fits > 1) {
    const uint32_t middle = fits + (too_long - fits) / 2;
    (peak_blocks(limits, middle) <= blocks ? fits : too_long) = middle;
  }
  return fits;
}

}  // namespace hearth
