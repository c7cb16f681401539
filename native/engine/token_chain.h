// Names the full blocks of a token sequence: a SHA-256 chain, so that a name stands for all tokens up to the block's end.
// It knows nothing of memory; what else the bytes of a block depend on comes in as the salt.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cache/block_key.h"
#include "hearth/engine.h"

namespace hearth {

class TokenChain {
 public:
  /// `salt`: model, precision and kernels. Sequences of different scopes never have a name in common. Blocks that reach beyond the first
  /// `most` tokens get no name.
  TokenChain(std::string_view salt, std::string_view scope, uint32_t block_size, size_t most = SIZE_MAX);

  /// Names for every full block of `tokens`, of which those named before must not have changed.
  const BlockKeys& extend(const std::vector<TokenId>& tokens);
  const BlockKeys& keys() const { return keys_; }
  /// The scope as a name for a folder, which tells nothing about it.
  const std::string& scope_name() const { return scope_name_; }
  /// The name that the first block has in no scope. Only with a first block.
  BlockKey first_without_scope(const std::vector<TokenId>& tokens) const;

 private:
  BlockKey name(const BlockKey& before, const TokenId* tokens) const;

  uint32_t block_size_;
  size_t most_;
  BlockKey root_, root_without_scope_;
  std::string scope_name_;
  BlockKeys keys_;
};

}  // namespace hearth
