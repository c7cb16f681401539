// Implements the index from keys to blocks.
#include "cache/prefix_cache.h"

#include <algorithm>
#include <new>
#include <utility>

#include "backend/step_inputs.h"

namespace hearth {
namespace {

constexpr size_t remembered_evictions = 16384;
constexpr size_t remembered_firsts = 1024;

}  // namespace

PrefixCache::PrefixCache(BlockPool& pool, std::vector<GroupReach> groups)
    : pool_(pool), groups_(std::move(groups)), index_(groups_.size()),
      has_full_(std::any_of(groups_.begin(), groups_.end(), [](const GroupReach& g) { return g.window == 0; })) {
  pool_.on_evicted([this](uint32_t block) { forget(block); });
}

template <typename Test>
PrefixCache::Reached PrefixCache::reach(const BlockKeys& keys, uint32_t most, const Test& present) const {
  Reached reached;
  std::vector<uint32_t> run(groups_.size(), 0);  // blocks in a row that are there, up to the one looked at
  for (uint32_t i = 0; i < most; ++i) {
    bool reachable = true, whole = true, any = true;
    for (uint32_t g = 0; g < groups_.size(); ++g) {
      run[g] = present(BlockName{keys[i], g}) ? run[g] + 1 : 0;
      any = any && (has_full_ || run[g] > 0);
      if (groups_[g].window == 0) whole = whole && run[g] == i + 1;
      reachable = reachable && run[g] >= i + 1 - std::min(first_needed(g, i + 1), i + 1);
    }
    if (!whole) break;
    if (any) reached.matched = i + 1;
    if (reachable) reached.blocks = i + 1;
  }
  return reached;
}

CacheHit PrefixCache::find(const BlockKeys& keys, uint32_t most) const {
  most = std::min(most, static_cast<uint32_t>(keys.size()));
  const Reached reached = reach(keys, most, [this](const BlockName& name) { return has(name); });
  CacheHit hit;
  hit.blocks = reached.blocks;
  hit.matched = reached.matched;
  for (uint32_t g = 0; g < groups_.size(); ++g) {
    for (uint32_t i = first_needed(g, hit.blocks); i < hit.blocks; ++i) {
      hit.parked += pool_.references(index_[g].at(keys[i])) == 0 ? 1 : 0;
    }
  }
  hit.miss = why(keys, hit, most);
  return hit;
}

uint32_t PrefixCache::longest(const BlockKeys& keys, uint32_t most, const Present& present) const {
  return reach(keys, std::min(most, static_cast<uint32_t>(keys.size())), present).blocks;
}

std::optional<uint32_t> PrefixCache::block_of(const BlockName& name) const {
  const auto found = index_[name.group].find(name.key);
  return found == index_[name.group].end() ? std::nullopt : std::optional(found->second);
}

bool PrefixCache::touch(const BlockName& name) {
  const uint32_t block = index_[name.group].at(name.key);
  pool_.touch(block);
  return pool_.references(block) == 0;
}

void PrefixCache::insert(uint32_t block, const BlockName& name, uint32_t depth) {
  index_[name.group][name.key] = block;
  places_[block] = name;
  pool_.address(block, depth, true);
  ++version_;
}

CacheMiss PrefixCache::why(const BlockKeys& keys, const CacheHit& hit, uint32_t most) const {
  if (most == 0) return CacheMiss::too_short;
  if (hit.blocks == most) return CacheMiss::none;
  if (hit.matched > hit.blocks) return CacheMiss::window_gone;
  return gone_.count(keys[hit.blocks]) ? CacheMiss::evicted : CacheMiss::no_entry;
}

void PrefixCache::adopt(SequenceKv& kv, const BlockKeys& keys, uint32_t blocks) {
  std::vector<std::vector<uint32_t>> tables;
  for (uint32_t g = 0; g < groups_.size(); ++g) {
    std::vector<uint32_t>& table = tables.emplace_back(blocks, null_block);
    for (uint32_t i = first_needed(g, blocks); i < blocks; ++i) table[i] = index_[g].at(keys[i]);
  }
  kv.adopt(pool_, std::move(tables), blocks * block_size());
  pool_.tick();
  renew(keys, blocks);
  ++version_;
}

void PrefixCache::commit(SequenceKv& kv, const BlockKeys& keys, const std::vector<uint32_t>& cuts) {
  const uint32_t from = kv.committed() / block_size();
  kv.advance();
  const uint32_t to = full_blocks(kv, keys);
  for (uint32_t g = 0; g < groups_.size(); ++g) {
    for (uint32_t i = from; i < to; ++i) address(kv, g, i, keys[i], kept_for(g, i, cuts));
  }
  pool_.tick();
  kv.drop_unreachable(pool_);
}

/// A window's block is kept when a hit at a cut needs it, or one a block before the cut: of a prompt that is asked again
/// the last token is computed again.
bool PrefixCache::kept_for(uint32_t group, uint32_t index, const std::vector<uint32_t>& cuts) const {
  if (groups_[group].window == 0) return true;
  const auto cut = std::upper_bound(cuts.begin(), cuts.end(), index);
  return cut != cuts.end() && first_needed(group, *cut - 1) <= index;
}

void PrefixCache::address(SequenceKv& kv, uint32_t group, uint32_t index, const BlockKey& key, bool kept) {
  const uint32_t block = kv.tables()[group].entries()[index];
  if (block == null_block) return;
  const auto [entry, added] = index_[group].try_emplace(key, block);
  ++version_;
  if (added) {
    pool_.address(block, index, kept);
    places_[block] = {key, group};
  } else if (entry->second != block) {
    kv.replace(pool_, group, index, entry->second);
  }
  if (!added && kept) pool_.keep(entry->second);
}

void PrefixCache::release(SequenceKv& kv, const BlockKeys& keys) {
  pool_.tick();
  const uint32_t full = full_blocks(kv, keys);
  renew(keys, full);
  for (uint32_t g = 0; g < groups_.size(); ++g) {
    for (uint32_t i = full > 0 ? first_needed(g, full - 1) : 0; i < full; ++i) {
      if (const auto block = block_of({keys[i], g})) pool_.keep(*block);
    }
  }
  kv.release(pool_);
  ++version_;
}

/// Windows that a sequence has left behind are used as long as it is; the other groups' blocks are in its table.
void PrefixCache::renew(const BlockKeys& keys, uint32_t blocks) {
  for (uint32_t g = 0; g < groups_.size(); ++g) {
    for (uint32_t i = 0; i < blocks && groups_[g].window > 0; ++i) {
      if (const auto block = block_of({keys[i], g})) pool_.touch(*block);
    }
  }
}

void PrefixCache::forget(uint32_t block) {
  const auto place = places_.find(block);
  if (place == places_.end()) return;
  const BlockName name = place->second;
  try {
    if (evicted_) evicted_(block, name);
  } catch (const std::bad_alloc&) {
    // No memory for a copy below: it will be a miss.
  }
  index_[name.group].erase(name.key);
  places_.erase(block);
  ++version_;
  if (groups_[name.group].window > 0 || !gone_.insert(name.key).second) return;
  gone_order_.push_back(name.key);
  if (gone_order_.size() <= remembered_evictions) return;
  gone_.erase(gone_order_.front());
  gone_order_.pop_front();
}

void PrefixCache::note_first(const BlockKey& shared_name, const BlockKey& key) {
  if (first_.size() > remembered_firsts) first_.clear();
  first_[shared_name].insert(key);
}

bool PrefixCache::other_scope_has(const BlockKey& shared_name, const BlockKey& key) const {
  const auto found = first_.find(shared_name);
  if (found == first_.end()) return false;
  return std::any_of(found->second.begin(), found->second.end(), [&](const BlockKey& each) {
    return each != key && std::any_of(index_.begin(), index_.end(), [&](const Index& index) { return index.count(each) > 0; });
  });
}

}  // namespace hearth
