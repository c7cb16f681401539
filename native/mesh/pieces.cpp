// Implements the cutting of a step.
#include "mesh/pieces.h"

#include <algorithm>

namespace hearth {
namespace {

constexpr uint32_t least_rows = 64;         // fewer do not fill a device
constexpr uint32_t most_pieces_a_rank = 4;  // the first and the last ranks idle for one piece of them each

/// Those in front of their own sequence's first output row, of which only keys and values are wanted. A sequence's rows are consecutive.
std::vector<uint32_t> quiet_rows(const StepInputs& step) {
  std::vector<uint32_t> quiet;
  auto output = step.output_rows.begin();
  bool heard = false;
  for (uint32_t row = 0; row < step.rows(); ++row) {
    if (row > 0 && step.sequence[row] != step.sequence[row - 1]) heard = false;
    if (output != step.output_rows.end() && *output == row) heard = true, ++output;
    if (!heard) quiet.push_back(row);
  }
  return quiet;
}

/// These rows of a step, in ascending order.
StepInputs rows_of(const StepInputs& step, const std::vector<uint32_t>& rows) {
  StepInputs piece;
  for (uint32_t row : rows) {
    if (std::ranges::binary_search(step.output_rows, row)) piece.output_rows.push_back(piece.rows());
    piece.tokens.push_back(step.tokens[row]), piece.positions.push_back(step.positions[row]), piece.sequence.push_back(step.sequence[row]);
  }
  piece.sequences = step.sequences, piece.groups = step.groups;
  piece.blocks = step.blocks, piece.table_begin = step.table_begin, piece.prompt_ends = step.prompt_ends;
  return piece;
}

}  // namespace

std::vector<StepInputs> in_pieces(const StepInputs& step, uint32_t ranks) {
  const uint32_t rows = step.rows();
  const uint32_t count = std::min(rows / least_rows, ranks * most_pieces_a_rank);
  if (ranks < 2 || count < 2 || !step.forced.experts.empty()) return {step};
  const std::vector<uint32_t> quiet = quiet_rows(step);
  std::vector<StepInputs> pieces;
  std::vector<bool> taken(rows);
  uint32_t first = 0;
  for (uint32_t i = 1; i < count; ++i) {
    const uint32_t last = rows * i / count;
    if (last > quiet.size()) break;
    pieces.push_back(rows_of(step, {quiet.begin() + first, quiet.begin() + last}));
    for (; first < last; ++first) taken[quiet[first]] = true;
  }
  std::vector<uint32_t> rest;
  for (uint32_t row = 0; row < rows; ++row) {
    if (!taken[row]) rest.push_back(row);
  }
  pieces.push_back(rows_of(step, rest));
  return pieces;
}

}  // namespace hearth
