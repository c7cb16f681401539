// Implements the block pool: a heap of free ids, an ordered set of parked ones and a count per id.
#include "cache/block_pool.h"

#include <algorithm>
#include <utility>

#include "backend/step_inputs.h"
#include "hearth/error.h"

namespace hearth {

BlockPool::BlockPool(uint32_t limit, uint32_t slab, Resize resize)
    : most_(std::min(limit, null_block - 1)), limit_(most_), slab_(std::max(slab, 1u)), resize_(std::move(resize)) {}

std::optional<uint32_t> BlockPool::take() {
  if (used_ >= limit_) return std::nullopt;
  if (free_.empty() && !grow()) {
    if (parked_.empty()) return std::nullopt;
    evict(std::get<3>(*parked_.begin()));
  }
  std::pop_heap(free_.begin(), free_.end(), std::greater<>());
  const uint32_t block = free_.back();
  free_.pop_back();
  states_[block] = {};
  states_[block].references = 1;
  ++used_;
  return block;
}

void BlockPool::retain(uint32_t block) {
  if (block >= size() || (states_[block].references == 0 && !states_[block].addressed)) {
    throw Error(ErrorCode::internal, "a free KV block was retained");
  }
  if (states_[block].references == 0) {
    parked_.erase(rank(block));
    ++used_;
  }
  ++states_[block].references;
}

void BlockPool::release(uint32_t block) {
  if (block >= size() || states_[block].references == 0) throw Error(ErrorCode::internal, "a free KV block was released");
  State& state = states_[block];
  if (--state.references > 0) return;
  --used_;
  if (!state.addressed) return add_free(block);
  state.last_use = now_;
  parked_.insert(rank(block));
}

void BlockPool::address(uint32_t block, uint32_t depth, bool kept) {
  State& state = states_.at(block);
  if (state.references == 0) throw Error(ErrorCode::internal, "a free KV block was addressed");
  state.addressed = true;
  state.depth = depth;
  state.kept = kept;
}

void BlockPool::forget(uint32_t block) {
  State& state = states_.at(block);
  if (!state.addressed) return;
  const bool parked = state.references == 0;
  if (parked) parked_.erase(rank(block));
  state.addressed = false;
  if (parked) add_free(block);
}

void BlockPool::keep(uint32_t block) {
  reorder(block, [](State& state) { state.kept = true; });
}

void BlockPool::touch(uint32_t block) {
  reorder(block, [this](State& state) { state.last_use = now_; });
}

void BlockPool::set_limit(uint32_t blocks) {
  limit_ = std::min(blocks, most_);
  trim();
}

void BlockPool::trim() {
  if (size() <= limit_) return;
  uint32_t needed = size();
  while (needed > limit_ && states_[needed - 1].references == 0) --needed;
  if (needed > limit_ && size() - needed < slab_) return;  // not worth a resize
  for (uint32_t block = size(); block > needed; --block) {
    if (states_[block - 1].addressed) evict(block - 1);
  }
  std::erase_if(free_, [needed](uint32_t block) { return block >= needed; });
  std::make_heap(free_.begin(), free_.end(), std::greater<>());
  states_.resize(needed);
  resize_(needed);
}

BlockPool::Rank BlockPool::rank(uint32_t block) const {
  const State& state = states_[block];
  return {state.kept, state.last_use, ~state.depth, block};
}

void BlockPool::reorder(uint32_t block, const std::function<void(State&)>& change) {
  State& state = states_.at(block);
  const bool parked = state.references == 0 && state.addressed;
  if (parked) parked_.erase(rank(block));
  change(state);
  if (parked) parked_.insert(rank(block));
}

void BlockPool::evict(uint32_t block) {
  if (evicted_) evicted_(block);
  forget(block);
}

bool BlockPool::grow() {
  const uint32_t from = size();
  if (from >= limit_) return false;
  const auto to = static_cast<uint32_t>(std::min<uint64_t>(limit_, uint64_t(from) + slab_));
  if (!resize_(to)) {
    limit_ = from;
    return false;
  }
  states_.resize(to);
  for (uint32_t block = from; block < to; ++block) add_free(block);
  return true;
}

void BlockPool::add_free(uint32_t block) {
  free_.push_back(block);
  std::push_heap(free_.begin(), free_.end(), std::greater<>());
}

}  // namespace hearth
