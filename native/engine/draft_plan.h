// How many speculative rows each decoding sequence should get in a step: a pure decision from the cost model and from how
// often each sequence's guesses were right.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/cost_model.h"

namespace hearth {

struct DraftCandidate {
  double acceptance = 0.0;  // probability that a guess is right when those before it were
  uint32_t available = 0;   // most rows
  uint32_t position = 0;    // of the first draft
  uint32_t drafts = 0;      // the answer
};

/// Sets `drafts` so that tokens per second become most, row by row where it pays best; all zero unless it pays.
/// `decodes` is the step without drafts, one row for each sequence.
void plan_drafts(const CostModel& cost, const StepWork& decodes, uint32_t most_rows, std::vector<DraftCandidate>& candidates);

}  // namespace hearth
