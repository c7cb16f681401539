// Failures prevented: a hit on bytes that are no longer there or belong to other tokens, another scope or another layer
// group; a hit whose window is gone; a block used twice, leaked or lost; memory that a smaller grant does not give back.
#include "cache/prefix_cache.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "backend/step_inputs.h"
#include "engine/token_chain.h"

namespace hearth {
namespace {

constexpr uint32_t block_size = 4;

/// A cache over a pool that can always grow.
struct Fixture {
  explicit Fixture(std::vector<GroupReach> reach, uint32_t limit = 1000)
      : groups(std::move(reach)), pool(limit, 8, [this](uint32_t blocks) { return memory = blocks, true; }), cache(pool, groups) {}

  /// A sequence that has read `tokens` in steps of `rows`.
  SequenceKv read(const std::vector<TokenId>& tokens, TokenChain& chain, std::vector<uint32_t> cuts = {}, uint32_t rows = 4) {
    SequenceKv kv(groups);
    while (kv.committed() < tokens.size()) {
      EXPECT_TRUE(kv.begin(pool, std::min<uint32_t>(rows, uint32_t(tokens.size()) - kv.committed())));
      cache.commit(kv, chain.extend(tokens), cuts);
    }
    return kv;
  }
  CacheHit find(const std::vector<TokenId>& tokens, const std::string& scope = "", uint32_t most = 1000) {
    return cache.find(TokenChain("salt", scope, block_size).extend(tokens), most);
  }

  std::vector<GroupReach> groups;
  uint32_t memory = 0;
  BlockPool pool;
  PrefixCache cache;
};

std::vector<TokenId> count(uint32_t n, TokenId from = 0) {
  std::vector<TokenId> tokens;
  for (uint32_t i = 0; i < n; ++i) tokens.push_back(from + TokenId(i));
  return tokens;
}

TEST(TokenChain, NamesDifferByTokenPositionScopeAndSalt) {
  std::set<BlockKey> names;
  for (const char* salt : {"a", "b"}) {
    for (const char* scope : {"", "x"}) {
      for (TokenId from : {0, 4}) {
        TokenChain chain(salt, scope, block_size);  // outlives the loop over its keys
        for (const BlockKey& key : chain.extend(count(12, from))) names.insert(key);
      }
      names.insert(TokenChain(salt, scope, block_size).first_without_scope(count(4)));
    }
  }
  EXPECT_EQ(names.size(), 2u * 2 * 2 * 3 + 2);
  TokenChain grown("a", "", block_size);
  grown.extend(count(5));
  EXPECT_EQ(grown.extend(count(12)), TokenChain("a", "", block_size).extend(count(12)));
}

TEST(PrefixCache, WhatASequenceLeftIsFoundAndUsedAgain) {
  Fixture f({{block_size, 0}});
  TokenChain chain("salt", "", block_size);
  SequenceKv kv = f.read(count(18), chain);
  const auto table = kv.tables()[0].entries();
  f.cache.release(kv, chain.keys());
  EXPECT_EQ(f.pool.used(), 0u);
  EXPECT_EQ(f.pool.parked(), 4u);
  EXPECT_EQ(f.find(count(18)).blocks, 4u);
  EXPECT_EQ(f.find(count(18), "", 3).blocks, 3u);
  EXPECT_EQ(f.find(count(18), "other").blocks, 0u);
  std::vector<TokenId> edited = count(18);
  edited[9] = 99;
  EXPECT_EQ(f.find(edited).blocks, 2u);
  EXPECT_EQ(f.find(edited).miss, CacheMiss::no_entry);
  f.cache.adopt(kv, chain.keys(), 3);
  EXPECT_EQ(kv.committed(), 12u);
  EXPECT_EQ(kv.tables()[0].entries(), std::vector<uint32_t>(table.begin(), table.begin() + 3));
  EXPECT_EQ(f.pool.used(), 3u);
  kv.release(f.pool);
}

TEST(PrefixCache, TwoThatReadTheSameShareItsBlocks) {
  Fixture f({{block_size, 0}, {block_size, 6}});
  TokenChain a("salt", "", block_size), b = a;
  SequenceKv first = f.read(count(20), a), second = f.read(count(20), b);
  EXPECT_EQ(first.tables()[0].entries(), second.tables()[0].entries());
  EXPECT_EQ(f.pool.used(), 5u + 2u);
  EXPECT_EQ(first.shared(f.pool), 7u);
  f.cache.release(first, a.keys());
  EXPECT_EQ(f.pool.used(), 7u);
  f.cache.release(second, b.keys());
  EXPECT_EQ(f.pool.used(), 0u);
}

TEST(PrefixCache, AHitNeedsTheWindowBeforeIt) {
  Fixture f({{block_size, 0}, {block_size, 9}}, 16);
  TokenChain chain("salt", "", block_size);
  SequenceKv kv = f.read(count(48), chain);  // 12 full blocks; the window lets go of all but the last two
  f.cache.release(kv, chain.keys());
  ASSERT_EQ(f.find(count(48)).blocks, 12u);
  std::vector<TokenId> edited = count(48);
  edited[33] = 99;
  EXPECT_EQ(f.find(edited).blocks, 0u);  // 16 blocks did not hold the windows in between
  EXPECT_EQ(f.find(edited).miss, CacheMiss::window_gone);
  EXPECT_EQ(f.find(edited).matched, 8u);
}

TEST(PrefixCache, AWindowBeforeACutOutlivesOthers) {
  Fixture f({{block_size, 0}, {block_size, 9}}, 18);
  TokenChain chain("salt", "", block_size);
  SequenceKv kv = f.read(count(48), chain, {7});
  f.cache.release(kv, chain.keys());
  std::vector<TokenId> edited = count(48);
  edited[33] = 99;
  EXPECT_EQ(f.find(edited).blocks, 7u);
  edited[25] = 99;  // in block 6: one block before the cut is possible too
  EXPECT_EQ(f.find(edited).blocks, 6u);
}

TEST(PrefixCache, TheTailGoesBeforeTheHeadAndTheOldBeforeTheNew) {
  Fixture f({{block_size, 0}}, 8);
  TokenChain old_chain("salt", "", block_size), new_chain = old_chain, other = old_chain;
  SequenceKv kv = f.read(count(16), old_chain);
  f.cache.release(kv, old_chain.keys());
  kv = f.read(count(16, 100), new_chain);
  f.cache.release(kv, new_chain.keys());
  kv = f.read(count(12, 200), other);
  EXPECT_EQ(f.find(count(16)).blocks, 1u);
  EXPECT_EQ(f.find(count(16)).miss, CacheMiss::evicted);
  EXPECT_EQ(f.find(count(16, 100)).blocks, 4u);
  kv.release(f.pool);
}

TEST(PrefixCache, ASmallerGrantGivesMemoryBackAndNoBlockInUse) {
  Fixture f({{block_size, 0}});
  TokenChain a("salt", "", block_size), b = a;
  SequenceKv kept = f.read(count(40), a), gone = f.read(count(160, 1000), b);
  const auto table = kept.tables()[0].entries();
  f.cache.release(gone, b.keys());
  ASSERT_GE(f.memory, 50u);
  f.pool.set_limit(16);
  EXPECT_EQ(f.memory, 16u);
  EXPECT_EQ(f.find(count(160, 1000)).blocks, f.pool.parked());
  EXPECT_EQ(kept.tables()[0].entries(), table);
  f.pool.set_limit(4);  // ten are in use: they stay until they are released
  EXPECT_EQ(f.pool.available(), 0u);
  EXPECT_FALSE(f.pool.take());
  EXPECT_GE(f.memory, 10u);
  f.cache.release(kept, a.keys());
  f.pool.trim();
  EXPECT_EQ(f.memory, 4u);
  EXPECT_EQ(f.find(count(40)).blocks, f.pool.parked());
  f.pool.set_limit(1000);
  EXPECT_EQ(f.pool.available(), 1000u);
}

/// Random lives against a plain model: a map from block to all tokens that its bytes stand for.
class Simulation {
 public:
  explicit Simulation(uint32_t seed)
      : random_(seed), window_(1 + random_() % 20), groups_({{block_size, 0}, {block_size, window_}}),
        pool_(30 + random_() % 120, 1 + random_() % 16, [this](uint32_t blocks) { return resize(blocks); }), cache_(pool_, groups_) {}

  void run(int steps) {
    for (int i = 0; i < steps && !testing::Test::HasFatalFailure(); ++i) {
      if (lives_.size() < 5 && random_() % 3 == 0) start();
      if (!lives_.empty()) step(lives_[random_() % lives_.size()]);
      if (!lives_.empty() && random_() % 12 == 0) end(random_() % lives_.size());
      if (random_() % 60 == 0) pool_.set_limit(10 + random_() % 140);
      pool_.trim();
      check();
    }
    while (!lives_.empty()) end(0);
    EXPECT_EQ(pool_.used(), 0u);
  }
  uint64_t hits() const { return hits_; }

 private:
  struct Content {
    uint32_t group;
    std::string scope;
    std::vector<TokenId> tokens;  // all up to the block's end
    auto operator<=>(const Content&) const = default;
  };
  struct Life {
    std::string scope;
    std::vector<TokenId> tokens;
    TokenChain chain;
    SequenceKv kv;
    std::vector<uint32_t> cuts;
  };

  bool resize(uint32_t blocks) {
    for (auto each = content_.lower_bound(blocks); each != content_.end();) each = erase(each);
    return blocks < 100 || random_() % 8 > 0;
  }

  std::map<uint32_t, Content>::iterator erase(std::map<uint32_t, Content>::iterator each) {
    block_of_.erase(each->second);
    return content_.erase(each);
  }

  /// Tokens that begin as those of somebody before, or not.
  std::vector<TokenId> some_tokens() {
    std::vector<TokenId> tokens;
    if (!history_.empty() && random_() % 4 > 0) {
      const auto& before = history_[random_() % history_.size()];
      tokens.assign(before.begin(), before.begin() + random_() % (before.size() + 1));
    }
    for (uint32_t n = 1 + random_() % 40; n > 0; --n) tokens.push_back(TokenId(random_() % 50));
    return tokens;
  }

  Content content(const Life& life, uint32_t group, uint32_t index) const {
    return {group, life.scope, {life.tokens.begin(), life.tokens.begin() + (index + 1) * block_size}};
  }

  void start() {
    const std::string scope = random_() % 3 == 0 ? "other" : "";
    std::vector<TokenId> tokens = some_tokens();
    history_.push_back(tokens);
    Life life{scope, tokens, TokenChain("salt", scope, block_size), SequenceKv(groups_), {}};
    for (uint32_t at = 0; at < tokens.size(); at += 1 + random_() % 30) life.cuts.push_back(at / block_size);
    std::erase(life.cuts, 0u);
    const auto most = uint32_t(tokens.size() - 1) / block_size;
    const CacheHit hit = cache_.find(life.chain.extend(tokens), most);
    ASSERT_EQ(hit.blocks, expected_hit(life, most));
    hits_ += hit.blocks;
    const uint32_t before = pool_.available();
    cache_.adopt(life.kv, life.chain.keys(), hit.blocks);
    ASSERT_EQ(before - pool_.available(), std::min(before, hit.parked));
    for (uint32_t g = 0; g < 2; ++g) {
      for (uint32_t i = 0; i < hit.blocks; ++i) {
        const uint32_t block = life.kv.tables()[g].entries()[i];
        if (block == null_block) ASSERT_LT(i, groups_[g].first_needed(hit.blocks * block_size));
        else ASSERT_EQ(content_.at(block), content(life, g, i)) << "a hit on other bytes";
      }
    }
    lives_.push_back(std::move(life));
  }

  uint32_t expected_hit(const Life& life, uint32_t most) const {
    for (uint32_t n = most; n > 0; --n) {
      bool whole = true;
      for (uint32_t g = 0; g < 2; ++g) {
        for (uint32_t i = groups_[g].first_needed(n * block_size); i < n; ++i) whole = whole && block_of_.count(content(life, g, i));
      }
      if (whole) return n;
    }
    return 0;
  }

  void step(Life& life) {
    if (life.kv.committed() == life.tokens.size()) life.tokens.push_back(TokenId(random_() % 50));
    const uint32_t rows = 1 + random_() % (uint32_t(life.tokens.size()) - life.kv.committed());
    const uint32_t before = life.kv.committed();
    const bool began = life.kv.begin(pool_, rows);
    if (!began) return forget_evicted();
    for (const BlockTable& table : life.kv.tables()) {
      for (uint32_t i = (before + block_size - 1) / block_size; i < table.entries().size(); ++i) {
        if (const auto found = content_.find(table.entries()[i]); found != content_.end()) erase(found);
      }
    }
    if (random_() % 5 == 0) {
      life.kv.roll_back(pool_);
      return;
    }
    std::vector<std::pair<uint32_t, Content>> written;
    for (uint32_t g = 0; g < 2; ++g) {
      for (uint32_t i = before / block_size; (i + 1) * block_size <= before + rows; ++i) {
        written.emplace_back(life.kv.tables()[g].entries()[i], content(life, g, i));
      }
    }
    cache_.commit(life.kv, life.chain.extend(life.tokens), life.cuts);
    for (const auto& [block, what] : written) {
      if (block_of_.count(what)) continue;  // known already: the known block took its place
      content_[block] = what;
      block_of_[what] = block;
    }
  }

  /// A begin() that failed has evicted blocks on its way, which nobody holds now.
  void forget_evicted() {
    for (auto each = content_.begin(); each != content_.end();) {
      const auto& [block, what] = *each;
      const BlockKey key = TokenChain("salt", what.scope, block_size).extend(what.tokens).back();
      each = cache_.block_of({key, what.group}) == block ? std::next(each) : erase(each);
    }
  }

  void end(size_t which) {
    Life& life = lives_[which];
    cache_.release(life.kv, life.chain.keys());
    lives_.erase(lives_.begin() + long(which));
  }

  void check() {
    std::map<uint32_t, uint32_t> references;
    for (const Life& life : lives_) {
      for (const BlockTable& table : life.kv.tables()) {
        for (uint32_t block : table.entries()) {
          if (block != null_block) ++references[block];
        }
      }
    }
    ASSERT_EQ(references.size(), pool_.used());
    for (const auto& [block, n] : references) ASSERT_EQ(pool_.references(block), n);
    ASSERT_LE(pool_.used() + pool_.parked(), pool_.size());
    // Nobody writes into what two share: only blocks behind a sequence's full ones are written.
    for (const Life& life : lives_) {
      for (const BlockTable& table : life.kv.tables()) {
        for (uint32_t i = life.kv.committed() / block_size; i < table.entries().size(); ++i) {
          ASSERT_EQ(pool_.references(table.entries()[i]), 1u);
        }
      }
    }
  }

  std::mt19937 random_;
  const uint32_t window_;
  const std::vector<GroupReach> groups_;
  std::map<uint32_t, Content> content_;
  std::map<Content, uint32_t> block_of_;
  BlockPool pool_;
  PrefixCache cache_;
  std::vector<Life> lives_;
  std::vector<std::vector<TokenId>> history_;
  uint64_t hits_ = 0;
};

TEST(PrefixCache, RandomLivesAgainstAPlainModel) {
  uint64_t hits = 0;
  for (uint32_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Simulation simulation(seed);
    simulation.run(300);
    hits += simulation.hits();
    if (HasFailure()) return;
  }
  EXPECT_GT(hits, 1000u);
}

}  // namespace
}  // namespace hearth
