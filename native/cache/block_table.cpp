// Implements the block table of a sequence in one layer group.
#include "cache/block_table.h"

#include <utility>

#include "backend/step_inputs.h"

namespace hearth {

uint32_t GroupReach::peak(uint32_t length, uint32_t rows) const {
  const uint32_t all = blocks_over(length);
  if (window == 0) return all;
  // Before a step at `next` the window's older positions are held (window - 1 of them), then `rows` more are added;
  // the reach may begin and end inside a block.
  const uint64_t reach = uint64_t(window) - 1 + rows;
  return static_cast<uint32_t>(std::min<uint64_t>(all, (reach + block_size - 1) / block_size + 1));
}

bool BlockTable::extend(BlockPool& pool, uint32_t length) {
  const uint32_t wanted = reach_.blocks_over(length);
  while (entries_.size() < wanted) {
    const auto block = pool.take();
    if (!block) return false;
    entries_.push_back(*block);
  }
  return true;
}

void BlockTable::adopt(BlockPool& pool, std::vector<uint32_t> blocks) {
  truncate(pool, 0);
  for (uint32_t block : blocks) {
    if (block == null_block) ++dropped_;
    else pool.retain(block);
  }
  entries_ = std::move(blocks);
}

void BlockTable::replace(BlockPool& pool, uint32_t index, uint32_t block) {
  pool.retain(block);
  pool.release(entries_.at(index));
  entries_[index] = block;
}

void BlockTable::drop_unreachable(BlockPool& pool, uint32_t next) {
  const uint32_t first = std::min(reach_.first_needed(next), static_cast<uint32_t>(entries_.size()));
  for (; dropped_ < first; ++dropped_) {
    pool.release(entries_[dropped_]);
    entries_[dropped_] = null_block;
  }
}

void BlockTable::truncate(BlockPool& pool, uint32_t length) {
  const uint32_t wanted = reach_.blocks_over(length);
  while (entries_.size() > wanted) {
    if (entries_.back() != null_block) pool.release(entries_.back());
    entries_.pop_back();
  }
  dropped_ = std::min(dropped_, static_cast<uint32_t>(entries_.size()));
}

}  // namespace hearth
