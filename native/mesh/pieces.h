// A step's rows in pieces that follow each other through ranks in a row, so that all of them work at once. Pure; it runs nothing.
#pragma once

#include <vector>

#include "backend/step_inputs.h"

namespace hearth {

/// Rows in front of their sequence's first output row in about equal pieces, enough to keep `ranks` busy; the last piece has all other rows, in
/// the step's order, so that outputs keep theirs. One piece, the step itself, where there are too few rows to gain by it.
std::vector<StepInputs> in_pieces(const StepInputs& step, uint32_t ranks);

}  // namespace hearth
