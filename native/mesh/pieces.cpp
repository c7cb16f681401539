// Implements the cutting of a step.
#include "mesh/pieces.h"

#include <algorithm>

namespace hearth {
namespace {

constexpr uint32_t least_rows = 64;         // fewer do not fill a device
constexpr uint32_t most_pieces_a_rank = 4;  // the first and the last ranks idle for one piece of them each

StepInputs rows_of(const StepInputs& step, uint32_t first, uint32_t last) {
  const auto part = [&](const auto& all) { return std::decay_t<decltype(all)>(all.begin() + first, all.begin() + last); };
  StepInputs piece;
  piece.tokens = part(step.tokens), piece.positions = part(step.positions), piece.sequence = part(step.sequence);
  piece.sequences = step.sequences, piece.groups = step.groups;
  piece.blocks = step.blocks, piece.table_begin = step.table_begin, piece.prompt_ends = step.prompt_ends;
  for (uint32_t row : step.output_rows) {
    if (row >= first && row < last) piece.output_rows.push_back(row - first);
  }
  return piece;
}

}  // namespace

std::vector<StepInputs> in_pieces(const StepInputs& step, uint32_t ranks) {
  const uint32_t rows = step.rows();
  const uint32_t count = std::min(rows / least_rows, ranks * most_pieces_a_rank);
  if (ranks < 2 || count < 2 || !step.forced.experts.empty()) return {step};
  const uint32_t quiet = step.output_rows.empty() ? rows : step.output_rows.front();
  std::vector<StepInputs> pieces;
  uint32_t first = 0;
  for (uint32_t i = 1; i < count; ++i) {
    const uint32_t last = rows * i / count;
    if (last > quiet) break;
    pieces.push_back(rows_of(step, first, last));
    first = last;
  }
  pieces.push_back(rows_of(step, first, rows));
  return pieces;
}

}  // namespace hearth
