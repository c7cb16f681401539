// Decides what the next step computes: a pure function from plain state to a plain plan, testable without a model.
// It counts blocks, rows and predicted seconds; it holds none of them and knows neither tokens nor clocks.
#pragma once

#include <cstdint>
#include <vector>

#include "cache/block_table.h"
#include "engine/cost_model.h"
#include "hearth/engine.h"

namespace hearth {

struct SchedulerLimits {
  std::vector<GroupReach> groups;  // of the model's layer groups
  uint32_t prefill_rows = 512;     // most rows of a step besides decodes
  uint32_t output_rows = 64;       // most rows whose logits a step can hold; at least max_sequences
  uint32_t max_sequences = 8;      // most sequences that hold blocks
  uint32_t draft_rows = 0;         // most speculative rows of a step, besides the others
  double stream_gap = 1.0;         // seconds that a step may take beyond its decodes while streams are running
  double progress = 5.0;           // and while none is
  double patience = 30.0;          // seconds after which the oldest request of a lower priority is served as the highest
};

/// An unfinished request. `tokens` are known (prompt and output so far), `committed` of them have their KV.
struct ScheduledRequest {
  RequestId id = 0;
  int32_t priority = 0;       // higher first
  uint64_t arrival = 0;       // lower first among equals; distinct
  double age = 0.0;           // seconds since it was submitted
  uint32_t tokens = 0, committed = 0;
  uint32_t logits_from = 0;   // rows at this position and later need logits; at most tokens - 1
  uint32_t shared = 0;        // of the blocks for `committed`, those that others hold too
  uint32_t drafts = 0;        // rows that it would like to try behind its last token
  bool running = false;       // holds a place, and blocks for `committed`; a waiting one finds these in the cache
  bool paused = false;        // the last token's row may not be computed yet
};

struct SchedulerState {
  uint32_t blocks_available = 0;  // free, growable, or cached
  std::vector<ScheduledRequest> requests;
};

/// Rows [first, first + rows) of a request; the last `outputs` of them need logits, the last `drafts` are speculative.
struct PlannedRows {
  RequestId id = 0;
  uint32_t first = 0, rows = 0, outputs = 0, drafts = 0;
};

struct StepPlan {
  std::vector<RequestId> preempted;  // give their blocks back and are computed again later; before the rows are run
  std::vector<PlannedRows> rows;     // decodes first
  std::vector<RequestId> stuck;      // alone, and still without enough blocks: will never run
};

/// Running decodes, then running prompts, then admissions, each by (priority, arrival). Who is short of blocks takes
/// them from the newest request of the lowest priority behind it. A waiting request is admitted when the blocks of
/// all that it has to read are there, beside those that running prompts still need; to do so it may displace only
/// requests of lower priority, and nobody overtakes it.
///
/// Prompts get what the decodes leave of the step's time: the first of them three quarters while others have
/// something to read, so that a short question is not held up by a long text before it; then the shortest.
StepPlan plan_step(const SchedulerLimits& limits, const CostModel& cost, const SchedulerState& state);

/// Blocks that a sequence of `tokens` may hold at once on its way.
uint64_t peak_blocks(const SchedulerLimits& limits, uint32_t tokens);
/// The longest sequence, at most `wanted` tokens, whose peak fits into `blocks`; 0: none.
uint32_t longest_sequence(const SchedulerLimits& limits, uint32_t wanted, uint32_t blocks);

}  // namespace hearth
