// The pool of KV blocks of one rank as numbers: which ids are free, how often each is referenced, when to grow.
// It owns no memory: growing is asked of the caller, and what a block holds is the block tables' business.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace hearth {

class BlockPool {
 public:
  /// Makes the memory behind the pool hold `blocks` blocks; false: refused, the pool stays as it is.
  using Grow = std::function<bool(uint32_t blocks)>;

  /// `limit`: most blocks ever; `slab`: blocks added at a time, at least 1.
  BlockPool(uint32_t limit, uint32_t slab, Grow grow);

  /// A block with one reference; nothing when the limit is reached or growing was refused (the limit then drops to
  /// what there is, so that `available()` tells the truth from then on).
  std::optional<uint32_t> take();
  void retain(uint32_t block);
  /// Drops one reference; the block is free at zero. Releasing a free block or null_block is a bug and throws.
  void release(uint32_t block);

  uint32_t limit() const { return limit_; }
  /// Blocks that memory exists for.
  uint32_t size() const { return static_cast<uint32_t>(references_.size()); }
  uint32_t used() const { return used_; }
  /// Blocks that take() can still hand out, those of slabs not yet grown included.
  uint32_t available() const { return limit_ - used_; }
  uint32_t references(uint32_t block) const { return references_.at(block); }

 private:
  bool grow();

  uint32_t limit_, slab_, used_ = 0;
  Grow grow_;
  std::vector<uint32_t> references_;  // [size]; 0: free
  std::vector<uint32_t> free_;        // a stack: the lowest ids of a slab are handed out first
};

}  // namespace hearth
