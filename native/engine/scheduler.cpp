// Implements the plan of a step over a scratch copy of the counters.
#include "engine/scheduler.h"

#include <algorithm>
#include <numeric>

namespace hearth {
namespace {

class Planner {
 public:
  Planner(const SchedulerLimits& limits, const SchedulerState& state)
      : limits_(limits), available_(state.blocks_available), rows_left_(limits.prefill_rows),
        outputs_left_(limits.output_rows) {
    for (const ScheduledRequest& request : state.requests) entries_.push_back({request});
    std::sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
      return a.r.priority != b.r.priority ? a.r.priority > b.r.priority : a.r.arrival < b.r.arrival;
    });
    running_ = static_cast<uint32_t>(std::count_if(entries_.begin(), entries_.end(), [](const Entry& e) { return e.r.running; }));
  }

  StepPlan plan() {
    for (size_t i = 0; i < entries_.size(); ++i) {
      if (entries_[i].r.running && due(i) == 1) decode(i);
    }
    for (size_t i = 0; i < entries_.size(); ++i) {
      if (entries_[i].r.running && due(i) > 1) chunk(i);
    }
    for (size_t i = 0; i < entries_.size() && rows_left_ > 0; ++i) {
      if (entries_[i].preempted) break;  // nobody behind it may take what it gave up
      if (!entries_[i].r.running && due(i) > 0 && !admit(i)) break;
    }
    return result();
  }

 private:
  struct Entry {
    ScheduledRequest r;
    uint32_t planned = 0;  // rows of this step
    uint32_t outputs = 0;
    uint32_t charged = 0;  // rows taken from the prefill budget
    bool preempted = false;
  };

  /// Rows that could be computed now.
  uint32_t due(size_t i) const {
    const ScheduledRequest& r = entries_[i].r;
    return r.tokens - r.committed - (r.paused && r.tokens > r.committed ? 1 : 0);
  }

  uint32_t blocks_for(size_t i, uint32_t rows) const {
    uint32_t blocks = 0;
    const uint32_t from = entries_[i].r.committed;
    for (const GroupReach& g : limits_.groups) blocks += g.blocks_over(from + rows) - g.blocks_over(from);
    return blocks;
  }

  uint32_t held(size_t i) const {
    uint32_t blocks = blocks_for(i, entries_[i].planned);
    for (const GroupReach& g : limits_.groups) blocks += g.held(entries_[i].r.committed);
    return blocks;
  }

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
    rows_left_ += e.charged;
    outputs_left_ += e.outputs;
    e.planned = e.outputs = e.charged = 0;
    e.r.committed = 0;
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

  void take(size_t i, uint32_t rows) {
    Entry& e = entries_[i];
    available_ -= blocks_for(i, rows);
    e.planned = rows;
    e.outputs = outputs_of(i, rows);
    outputs_left_ -= e.outputs;
  }

  void decode(size_t i) {
    if (outputs_of(i, 1) <= outputs_left_ && make_room(i, blocks_for(i, 1))) take(i, 1);
  }

  void chunk(size_t i) {
    uint32_t rows = std::min(due(i), rows_left_);
    if (outputs_of(i, rows) > outputs_left_) rows -= outputs_of(i, rows) - outputs_left_;
    if (rows == 0) return;
    if (!make_room(i, blocks_for(i, rows))) {
      while (rows > 0 && blocks_for(i, rows) > available_) --rows;
    }
    if (rows == 0) return;
    take(i, rows);
    entries_[i].charged = rows;
    rows_left_ -= rows;
  }

  bool admit(size_t i) {
    const uint64_t blocks = peak_blocks(limits_, entries_[i].r.tokens) + reserved();
    if (!could_make_room(i, blocks)) return false;
    if (running_ >= limits_.max_sequences && !displace_one(i)) return false;
    make_room(i, blocks);
    entries_[i].r.running = true;
    ++running_;
    chunk(i);
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
        plan.rows.push_back({e.r.id, e.r.committed, e.planned, e.outputs});
      }
    }
    if (plan.rows.empty()) add_stuck(plan);
    return plan;
  }

  /// Nobody runs: the first that has work is stuck if no other's end could free blocks for it.
  void add_stuck(StepPlan& plan) const {
    for (size_t i = 0; i < entries_.size(); ++i) {
      if (due(i) == 0 || entries_[i].preempted) continue;
      if (running_ == (entries_[i].r.running ? 1u : 0u)) plan.stuck.push_back(entries_[i].r.id);
      return;
    }
  }

  const SchedulerLimits& limits_;
  std::vector<Entry> entries_;  // by (priority, arrival)
  uint64_t available_;
  uint32_t rows_left_, outputs_left_, running_ = 0;
};

}  // namespace

StepPlan plan_step(const SchedulerLimits& limits, const SchedulerState& state) { return Planner(limits, state).plan(); }

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
