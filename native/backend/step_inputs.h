// Everything of a step that changes from step to step: the one small upload before a recorded op list runs.
// Plain data; the engine fills it, backends only read it.
#pragma once

#include <cstdint>
#include <vector>

namespace hearth {

/// Block id that no sequence owns; reads of it are never needed, writes to it are a bug.
inline constexpr uint32_t null_block = 0xffffffffu;

/// Routing of one row and layer: the k chosen experts and their weights. Used by tests to force the router's choice.
struct ForcedRoutes {
  std::vector<int32_t> experts;  // [layers][rows][k]; empty: route freely
};

/// One step: `rows` tokens of one or more sequences. Rows of a sequence are consecutive and in position order.
struct StepInputs {
  std::vector<int32_t> tokens;      // [rows]
  std::vector<uint32_t> positions;  // [rows], of the token in its sequence
  std::vector<uint32_t> sequence;   // [rows], index into the tables below

  uint32_t sequences = 0;
  uint32_t groups = 0;
  /// Block tables: blocks[table_begin[s * groups + g] + p / block_size] holds position p of sequence s in group g.
  /// Entries that the window no longer reaches are null_block.
  std::vector<uint32_t> blocks;
  std::vector<uint32_t> table_begin;  // [sequences * groups]

  /// Of each sequence the positions below are its prompt's, those from there on what was written since; empty: all are prompts.
  std::vector<uint32_t> prompt_ends;  // [sequences]

  std::vector<uint32_t> output_rows;  // rows whose logits are wanted, ascending
  ForcedRoutes forced;

  uint32_t rows() const { return static_cast<uint32_t>(tokens.size()); }
};

}  // namespace hearth
