// The name of what a block holds: a cryptographic hash of all tokens up to its end and of everything else that its
// bytes depend on. Who makes it is not this folder's business; equal names mean equal bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace hearth {

using BlockKey = std::array<std::byte, 32>;
/// The names of a sequence's full blocks, in order.
using BlockKeys = std::vector<BlockKey>;

struct BlockKeyHash {
  size_t operator()(const BlockKey& key) const {
    size_t first;
    std::memcpy(&first, key.data(), sizeof first);
    return first;
  }
};

/// A block wherever its bytes are: layer groups have blocks of their own under one key.
struct BlockName {
  BlockKey key{};
  uint32_t group = 0;
  bool operator==(const BlockName&) const = default;
};

struct BlockNameHash {
  size_t operator()(const BlockName& name) const { return BlockKeyHash()(name.key) + name.group; }
};

}  // namespace hearth
