// The block table of one sequence in one layer group: which block holds which positions, and which are out of reach.
// It takes blocks from the pool and gives them back; it never looks into them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "cache/block_pool.h"

namespace hearth {

/// How a layer group keeps its positions. window 0: all of them.
struct GroupReach {
  uint32_t block_size = 16;
  uint32_t window = 0;

  /// First block that a row at position `next` or later can still see.
  uint32_t first_needed(uint32_t next) const {
    return window == 0 || next < window ? 0 : (next - window + 1) / block_size;
  }
  /// Blocks from 0 that `length` positions reach into.
  uint32_t blocks_over(uint32_t length) const {
    return static_cast<uint32_t>((uint64_t(length) + block_size - 1) / block_size);
  }
  /// Blocks held once `length` positions are committed.
  uint32_t held(uint32_t length) const { return blocks_over(length) - std::min(first_needed(length), blocks_over(length)); }
  /// Most blocks ever held on the way to `length` positions, in steps of at most `rows` rows.
  uint32_t peak(uint32_t length, uint32_t rows) const;
};

class BlockTable {
 public:
  explicit BlockTable(GroupReach reach) : reach_(reach) {}

  /// Makes room for positions [0, length) as far as they are in reach. False: the pool ran out, the table holds what
  /// it got and truncate() gives it back.
  bool extend(BlockPool& pool, uint32_t length);
  /// Gives back every block that no row at position `next` or later can see.
  void drop_unreachable(BlockPool& pool, uint32_t next);
  /// Gives back every block beyond the first `length` positions (a step that did not happen).
  void truncate(BlockPool& pool, uint32_t length);

  /// Begins with blocks that are filled already (null_block where out of reach), each with one reference more.
  void adopt(BlockPool& pool, std::vector<uint32_t> blocks);
  /// Entry `index` becomes another block with the same content.
  void replace(BlockPool& pool, uint32_t index, uint32_t block);

  /// entries()[p / block_size] holds position p; null_block where out of reach.
  const std::vector<uint32_t>& entries() const { return entries_; }
  const GroupReach& reach() const { return reach_; }
  uint32_t held() const { return static_cast<uint32_t>(entries_.size()) - dropped_; }

 private:
  GroupReach reach_;
  std::vector<uint32_t> entries_;
  uint32_t dropped_ = 0;  // leading entries that are null_block
};

}  // namespace hearth
