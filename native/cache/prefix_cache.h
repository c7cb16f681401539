// Finds blocks again by what they hold: the index from keys to blocks, over all layer groups (see design.md).
// It knows neither tokens nor requests, and it holds no block: what nobody uses may be taken by the pool at any time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "cache/block_key.h"
#include "cache/block_pool.h"
#include "cache/block_table.h"
#include "cache/sequence_kv.h"
#include "hearth/engine.h"

namespace hearth {

/// How much of a sequence is there, and why not more.
struct CacheHit {
  uint32_t blocks = 0;   // full blocks from the start
  uint32_t parked = 0;   // blocks to hold for it that nobody uses now
  uint32_t matched = 0;  // full blocks that would be a hit were no window gone
  CacheMiss miss = CacheMiss::none;
};

class PrefixCache {
 public:
  using Present = std::function<bool(const BlockName& name)>;
  using Evicted = std::function<void(uint32_t block, const BlockName& name)>;

  PrefixCache(BlockPool& pool, std::vector<GroupReach> groups);
  /// Told before a block that could be found is used for something else.
  void on_evicted(Evicted evicted) { evicted_ = std::move(evicted); }

  /// The longest hit of at most `most` blocks. A hit of n blocks needs every block of the groups without a window, and
  /// of a group with one those that the row after n blocks can see.
  CacheHit find(const BlockKeys& keys, uint32_t most) const;
  const std::vector<GroupReach>& groups() const { return groups_; }
  /// The first block of a group that the row after `blocks` blocks can see.
  uint32_t first_needed(uint32_t group, uint32_t blocks) const { return groups_[group].first_needed(blocks * block_size()); }
  /// Full blocks of a sequence that have a name.
  uint32_t full_blocks(const SequenceKv& kv, const BlockKeys& keys) const {
    return std::min(kv.committed() / block_size(), static_cast<uint32_t>(keys.size()));
  }
  /// Whether block `index` of the group should outlive others, so that hits at these cuts stay possible.
  bool kept_for(uint32_t group, uint32_t index, const std::vector<uint32_t>& cuts) const;

  // For those that move blocks.
  bool has(const BlockName& name) const { return index_[name.group].count(name.key) > 0; }
  std::optional<uint32_t> block_of(const BlockName& name) const;
  /// Counts the block as just used. True: nobody holds it.
  bool touch(const BlockName& name);
  /// A used block has been filled from elsewhere.
  void insert(uint32_t block, const BlockName& name, uint32_t depth);
  /// As long as it stays the same, find() gives the same.
  uint64_t version() const { return version_; }
  /// The blocks of the longest hit if exactly those blocks were there that `present` says.
  uint32_t longest(const BlockKeys& keys, uint32_t most, const Present& present) const;
  /// Lets a sequence without KV begin with `blocks` blocks found by find().
  void adopt(SequenceKv& kv, const BlockKeys& keys, uint32_t blocks);

  /// The rows of kv.begin() were computed. Full blocks become addressable; one whose content is known already gives way
  /// to the known one. `cuts`, ascending: hits of so many blocks should stay possible.
  void commit(SequenceKv& kv, const BlockKeys& keys, const std::vector<uint32_t>& cuts);
  /// The sequence ends or is preempted: its blocks are parked, with what a continuation needs counted as just used.
  void release(SequenceKv& kv, const BlockKeys& keys);

  /// Keys of first blocks under another name that all scopes share, to tell whether a miss is another scope's hit.
  void note_first(const BlockKey& shared_name, const BlockKey& key);
  bool other_scope_has(const BlockKey& shared_name, const BlockKey& key) const;

 private:
  struct Reached {
    uint32_t blocks = 0, matched = 0;
  };
  using Index = std::unordered_map<BlockKey, uint32_t, BlockKeyHash>;

  uint32_t block_size() const { return groups_[0].block_size; }
  template <typename Test>
  Reached reach(const BlockKeys& keys, uint32_t most, const Test& present) const;
  void address(SequenceKv& kv, uint32_t group, uint32_t index, const BlockKey& key, bool kept);
  void renew(const BlockKeys& keys, uint32_t blocks);
  CacheMiss why(const BlockKeys& keys, const CacheHit& hit, uint32_t most) const;
  void forget(uint32_t block);

  BlockPool& pool_;
  const std::vector<GroupReach> groups_;
  std::vector<Index> index_;                       // [group]
  const bool has_full_;                            // some group keeps every position
  uint64_t version_ = 1;
  std::unordered_map<uint32_t, BlockName> places_;   // by block
  Evicted evicted_;
  std::unordered_set<BlockKey, BlockKeyHash> gone_;  // evicted not long ago
  std::deque<BlockKey> gone_order_;
  std::unordered_map<BlockKey, std::unordered_set<BlockKey, BlockKeyHash>, BlockKeyHash> first_;
};

}  // namespace hearth
