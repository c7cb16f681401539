// Implements the division of a step by phase.
#include "mesh/phases.h"

#include <algorithm>

namespace hearth {
namespace {

void add_row(StepInputs& to, const StepInputs& step, uint32_t row) {
  to.tokens.push_back(step.tokens[row]);
  to.positions.push_back(step.positions[row]);
  to.sequence.push_back(step.sequence[row]);
}

void add_tables(StepInputs& to, const StepInputs& step) {
  if (to.tokens.empty()) return;
  to.sequences = step.sequences, to.groups = step.groups;
  to.blocks = step.blocks, to.table_begin = step.table_begin, to.prompt_ends = step.prompt_ends;
}

}  // namespace

Phases in_phases(const StepInputs& step) {
  Phases phases;
  auto output = step.output_rows.begin();
  std::vector<bool> reads(step.sequences, false);
  for (uint32_t row = 0; row < step.rows(); ++row) {
    const uint32_t sequence = step.sequence[row];
    const bool writes = !step.prompt_ends.empty() && step.positions[row] >= step.prompt_ends.at(sequence);
    StepInputs& to = writes ? phases.writing : phases.reading;
    if (output != step.output_rows.end() && *output == row) {
      phases.outputs.push_back({writes, static_cast<uint32_t>(to.output_rows.size())});
      to.output_rows.push_back(to.rows());
      ++output;
    }
    add_row(to, step, row);
    if (writes) phases.in_turn = phases.in_turn || reads[sequence];
    else reads[sequence] = true;
  }
  add_tables(phases.reading, step);
  add_tables(phases.writing, step);
  return phases;
}

std::vector<uint32_t> blocks_written(const StepInputs& step, uint32_t block_size) {
  std::vector<uint32_t> blocks;
  for (uint32_t row = 0; row < step.rows(); ++row) {
    for (uint32_t group = 0; group < step.groups; ++group) {
      const uint32_t table = step.table_begin.at(size_t(step.sequence[row]) * step.groups + group);
      blocks.push_back(step.blocks.at(table + step.positions[row] / block_size));
    }
  }
  std::sort(blocks.begin(), blocks.end());
  blocks.erase(std::unique(blocks.begin(), blocks.end()), blocks.end());
  return blocks;
}

}  // namespace hearth
