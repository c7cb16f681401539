// Implements the block pool: a stack of free ids and a count per id.
#include "cache/block_pool.h"

#include <algorithm>
#include <utility>

#include "backend/step_inputs.h"
#include "hearth/error.h"

namespace hearth {

BlockPool::BlockPool(uint32_t limit, uint32_t slab, Grow grow)
    : limit_(std::min(limit, null_block - 1)), slab_(std::max(slab, 1u)), grow_(std::move(grow)) {}

std::optional<uint32_t> BlockPool::take() {
  if (free_.empty() && !grow()) return std::nullopt;
  const uint32_t block = free_.back();
  free_.pop_back();
  references_[block] = 1;
  ++used_;
  return block;
}

void BlockPool::retain(uint32_t block) {
  if (block >= size() || references_[block] == 0) throw Error(ErrorCode::internal, "a free KV block was retained");
  ++references_[block];
}

void BlockPool::release(uint32_t block) {
  if (block >= size() || references_[block] == 0) throw Error(ErrorCode::internal, "a free KV block was released");
  if (--references_[block] > 0) return;
  --used_;
  free_.push_back(block);
}

bool BlockPool::grow() {
  const uint32_t from = size();
  const uint32_t to = static_cast<uint32_t>(std::min<uint64_t>(limit_, uint64_t(from) + slab_));
  if (to == from) return false;
  if (!grow_(to)) {
    limit_ = from;
    return false;
  }
  references_.resize(to, 0);
  for (uint32_t block = to; block > from; --block) free_.push_back(block - 1);
  return true;
}

}  // namespace hearth
