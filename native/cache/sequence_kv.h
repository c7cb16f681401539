// The KV of one sequence over all layer groups, as a transaction: begin a step, then commit it or take it back.
// The prefix cache may hand in blocks that are filled already: `committed` then starts above zero.
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
  /// The rows of begin() were computed: advance() and drop_unreachable().
  void commit(BlockPool& pool);
  /// The first half of commit(): the blocks that the next row cannot see are still there.
  void advance();
  void drop_unreachable(BlockPool& pool);
  /// The rows of begin() were not computed: gives their blocks back.
  void roll_back(BlockPool& pool);
  /// Forgets everything (preemption, end of the request).
  void release(BlockPool& pool);

  /// Begins with filled blocks, `blocks[g]` of group g, that hold `positions` positions. Only while nothing is committed.
  void adopt(BlockPool& pool, std::vector<std::vector<uint32_t>> blocks, uint32_t positions);
  /// Entry `index` of group `group` becomes another block with the same content.
  void replace(BlockPool& pool, uint32_t group, uint32_t index, uint32_t block) { tables_[group].replace(pool, index, block); }

  const std::vector<BlockTable>& tables() const { return tables_; }
  uint32_t held() const;
  /// Of the blocks held, those that somebody else holds too.
  uint32_t shared(const BlockPool& pool) const;

 private:
  std::vector<BlockTable> tables_;
  uint32_t committed_ = 0, pending_ = 0;
};

}  // namespace hearth
