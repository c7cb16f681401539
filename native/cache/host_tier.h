// Blocks that had to leave the pool, kept in plain memory: worth it where the pool is a device's memory.
// Bounded in bytes; what was used longest ago goes first. One thread.
#pragma once

#include <cstdint>
#include <list>
#include <span>
#include <unordered_map>
#include <vector>

#include "cache/block_key.h"

namespace hearth {

class HostTier {
 public:
  explicit HostTier(uint64_t most_bytes) : most_bytes_(most_bytes) {}

  bool has(const BlockName& name) const { return index_.count(name) > 0; }
  /// Copies the block out; false: it is not here.
  bool read(const BlockName& name, std::span<std::byte> out);
  void put(const BlockName& name, std::span<const std::byte> bytes);
  bool enabled() const { return most_bytes_ > 0; }
  uint64_t bytes() const { return bytes_; }

 private:
  struct Entry {
    BlockName name;
    std::vector<std::byte> bytes;
  };

  const uint64_t most_bytes_;
  uint64_t bytes_ = 0;
  std::list<Entry> entries_;  // the first was used last
  std::unordered_map<BlockName, std::list<Entry>::iterator, BlockNameHash> index_;
};

}  // namespace hearth
