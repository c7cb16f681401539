// A step's rows by what they are for: those that read prompts, and those that write. Pure; it runs nothing.
#pragma once

#include <vector>

#include "backend/step_inputs.h"

namespace hearth {

struct Phases {
  StepInputs reading, writing;
  /// Of each output row of the step: which phase has it, and the how many-th it is there.
  struct Output {
    bool writes = false;
    uint32_t index = 0;
  };
  std::vector<Output> outputs;
  /// A sequence has rows in both: what it writes looks at what is read in the same step.
  bool in_turn = false;
};

/// By a row's position alone, so that its company never decides where it is computed.
Phases in_phases(const StepInputs& step);

/// The blocks that these rows write, each once.
std::vector<uint32_t> blocks_written(const StepInputs& step, uint32_t block_size);

}  // namespace hearth
