// Decides what the next step computes: a pure function from plain state to a plain plan, testable without a model.
// It counts blocks and rows; it holds none of them and knows neither tokens nor time.
#pragma once

#include <cstdint>
#include <vector>

#include "cache/block_table.h"
#include "hearth/engine.h"

namespace hearth {

struct SchedulerLimits {
  std::vector<GroupReach> groups;  // of the model's layer groups
  uint32_t prefill_rows = 512;     // most rows of a step besides decodes
  uint32_t output_rows = 64;       // most rows whose logits a step can hold; at least max_sequences
  uint32_t max_sequences = 8;      // most sequences that hold blocks
};

/// An unfinished request. `tokens` are known (prompt and output so far), `committed` of them have their KV.
struct ScheduledRequest {
  RequestId id = 0;
  int32_t priority = 0;       // higher first
  uint64_t arrival = 0;       // lower first among equals; distinct
  uint32_t tokens = 0, committed = 0;
  uint32_t logits_from = 0;   // rows at this position and later need logits; at most tokens - 1
  bool running = false;       // holds a place, and blocks for `committed`
  bool paused = false;        // the last token's row waits for the host's word
};

struct SchedulerState {
  uint32_t blocks_available = 0;  // free, or growable
  std::vector<ScheduledRequest> requests;
};

/// Rows [first, first + rows) of a request; the last `outputs` of them need logits.
struct PlannedRows {
  RequestId id = 0;
  uint32_t first = 0, rows = 0, outputs = 0;
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
StepPlan plan_step(const SchedulerLimits& limits, const SchedulerState& state);

/// Blocks that a sequence of `tokens` may hold at once on its way.
uint64_t peak_blocks(const SchedulerLimits& limits, uint32_t tokens);
/// The longest sequence, at most `wanted` tokens, whose peak fits into `blocks`; 0: none.
uint32_t longest_sequence(const SchedulerLimits& limits, uint32_t wanted, uint32_t blocks);

}  // namespace hearth
