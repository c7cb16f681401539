// The KV of one sequence over all layer groups, as a transaction: begin a step, then commit it or take it back.
// The place where a prefix cache will hand in blocks that are already filled: see `committed`.
#pragma once

#include <cstdint>
#include <vector>

#include "cache/block_table.h"

namespace hearth {

class SequenceKv {
 public:
  explicit SequenceKv(const std::vector<GroupReach>& groups);

  /// Positions whose KV is written and kept.
  uint32_t committed() const { return committed_; }
  /// Makes room for `rows` more positions. False: out of blocks; everything is as before.
  bool begin(BlockPool& pool, uint32_t rows);
  /// Of the rows of begin() only the first `rows` are wanted (drafts that were not accepted): gives the rest back.
  void keep(BlockPool& pool, uint32_t rows);
  /// The rows of begin() were computed.
  void commit(BlockPool& pool);
  /// The rows of begin() were not computed: gives their blocks back.
  void roll_back(BlockPool& pool);
  /// Forgets everything (preemption, end of the request).
  void release(BlockPool& pool);

  const std::vector<BlockTable>& tables() const { return tables_; }
  uint32_t held() const;

 private:
  std::vector<BlockTable> tables_;
  uint32_t committed_ = 0, pending_ = 0;
};

}  // namespace hearth
