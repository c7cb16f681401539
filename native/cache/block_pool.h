// The pool of KV blocks of one rank as numbers: which ids are free, referenced or parked, when to grow and to shrink.
// It owns no memory: resizing is asked of the caller, and what a block holds is known to whoever addresses it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

namespace hearth {

/// A block is *used* while it has references. Without any it is *free*, or *parked* where somebody has addressed it:
/// its content can be found again until the block is taken for something else.
class BlockPool {
 public:
  /// Makes the memory behind the pool hold `blocks` blocks; false: refused, the pool stays as it is.
  using Resize = std::function<bool(uint32_t blocks)>;
  /// The parked block is about to be used for something else; its bytes are still there.
  using Evicted = std::function<void(uint32_t block)>;

  /// `limit`: most blocks ever; `slab`: blocks added at a time, at least 1.
  BlockPool(uint32_t limit, uint32_t slab, Resize resize);
  void on_evicted(Evicted evicted) { evicted_ = std::move(evicted); }

  /// A block with one reference: a free one, a new one, or the parked one that is missed least. Nothing when the limit
  /// is reached or growing was refused (the limit then drops to what there is, so that `available()` tells the truth).
  std::optional<uint32_t> take();
  /// One reference more; a parked block is used again.
  void retain(uint32_t block);
  /// Drops one reference. Releasing a free block or null_block is a bug and throws.
  void release(uint32_t block);

  /// From now on the block is parked instead of freed. Of parked blocks those that are not `kept` go first, then those
  /// used longest ago, then those deepest in their sequence.
  void address(uint32_t block, uint32_t depth, bool kept);
  void forget(uint32_t block);
  /// Parked or used, the block counts as kept from now on.
  void keep(uint32_t block);
  /// A parked block counts as used just now.
  void touch(uint32_t block);
  /// What is parked from now on was used later than what was parked before.
  void tick() { ++now_; }

  /// A new limit, at most the first one. Takes parked blocks at once; used ones stay where they are until released.
  void set_limit(uint32_t blocks);
  /// Gives memory above the limit back as far as nothing is used there. Cheap where there is none.
  void trim();

  uint32_t limit() const { return limit_; }
  /// Blocks that memory exists for.
  uint32_t size() const { return static_cast<uint32_t>(states_.size()); }
  uint32_t used() const { return used_; }
  uint32_t parked() const { return static_cast<uint32_t>(parked_.size()); }
  /// Blocks that take() can still hand out: free, parked, and of slabs not yet grown.
  uint32_t available() const { return limit_ > used_ ? limit_ - used_ : 0; }
  uint32_t references(uint32_t block) const { return states_.at(block).references; }

 private:
  struct State {
    uint32_t references = 0, depth = 0;
    uint64_t last_use = 0;
    bool addressed = false, kept = false;
  };
  using Rank = std::tuple<bool, uint64_t, uint32_t, uint32_t>;

  Rank rank(uint32_t block) const;
  void reorder(uint32_t block, const std::function<void(State&)>& change);
  void evict(uint32_t block);
  bool grow();
  void add_free(uint32_t block);

  const uint32_t most_;
  uint32_t limit_, slab_, used_ = 0;
  uint64_t now_ = 1;
  Resize resize_;
  Evicted evicted_;
  std::vector<State> states_;   // [size]
  std::vector<uint32_t> free_;  // a heap: the lowest id is handed out first, so that the top can be given back
  std::set<Rank> parked_;       // the first is taken first
};

}  // namespace hearth
