// A step's rows in pieces that follow each other through ranks in a row, so that all of them work at once. Pure; it runs nothing.
#pragma once

#include <vector>

#include "backend/step_inputs.h"

namespace hearth {

/// The rows in front of the first output row in about equal pieces, enough to keep `ranks` busy; the last piece has all output rows. One
/// piece, the step itself, where it has too few rows to gain by it.
std::vector<StepInputs> in_pieces(const StepInputs& step, uint32_t ranks);

}  // namespace hearth
