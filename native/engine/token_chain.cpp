// Implements the chain of block names.
#include "engine/token_chain.h"

#include <algorithm>
#include <span>

#include "model/sha256.h"

namespace hearth {
namespace {

BlockKey root(std::string_view salt, std::string_view scope, bool scoped) {
  Sha256 hash;
  const auto add = [&](std::string_view text) {
    const uint64_t length = text.size();  // so that no two pairs of texts run together to the same bytes
    hash.update(std::as_bytes(std::span(&length, 1)));
    hash.update(std::as_bytes(std::span(text)));
  };
  add(salt);
  add(scoped ? "scope" : "");
  add(scope);
  return hash.digest();
}

std::string folder_name(std::string_view scope) {
  Sha256 hash;
  hash.update(std::as_bytes(std::span(scope)));
  return hash.hex().substr(0, 16);
}

}  // namespace

TokenChain::TokenChain(std::string_view salt, std::string_view scope, uint32_t block_size, size_t most)
    : block_size_(block_size), most_(most), root_(root(salt, scope, true)), root_without_scope_(root(salt, "", false)),
      scope_name_(folder_name(scope)) {}

const BlockKeys& TokenChain::extend(const std::vector<TokenId>& tokens) {
  while ((keys_.size() + 1) * block_size_ <= std::min(tokens.size(), most_)) {
    keys_.push_back(name(keys_.empty() ? root_ : keys_.back(), tokens.data() + keys_.size() * block_size_));
  }
  return keys_;
}

BlockKey TokenChain::first_without_scope(const std::vector<TokenId>& tokens) const {
  return name(root_without_scope_, tokens.data());
}

BlockKey TokenChain::name(const BlockKey& before, const TokenId* tokens) const {
  Sha256 hash;
  hash.update(before);
  hash.update(std::as_bytes(std::span(tokens, block_size_)));
  return hash.digest();
}

}  // namespace hearth
