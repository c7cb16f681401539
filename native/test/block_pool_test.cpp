// Failures prevented: a block used by two sequences, a leaked block, the null block handed out, a window group that
// keeps what it cannot reach or gives up what it still needs.
#include "cache/block_pool.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "backend/step_inputs.h"
#include "cache/sequence_kv.h"
#include "hearth/error.h"

namespace hearth {
namespace {

BlockPool unbounded(uint32_t limit, uint32_t slab = 8) {
  return BlockPool(limit, slab, [](uint32_t) { return true; });
}

TEST(BlockPool, GrowsInSlabsAndOnlyOnDemand) {
  std::vector<uint32_t> grown;
  BlockPool pool(20, 8, [&](uint32_t blocks) { grown.push_back(blocks); return true; });
  EXPECT_EQ(pool.size(), 0u);
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(pool.take());
  EXPECT_EQ(grown, (std::vector<uint32_t>{8, 16, 20}));
  EXPECT_FALSE(pool.take());
}

TEST(BlockPool, TellsTheTruthAfterGrowthWasRefused) {
  BlockPool pool(100, 4, [](uint32_t blocks) { return blocks <= 4; });
  EXPECT_EQ(pool.available(), 100u);
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(pool.take());
  EXPECT_FALSE(pool.take());
  EXPECT_EQ(pool.available(), 0u);
  pool.release(2);
  EXPECT_EQ(pool.available(), 1u);
}

TEST(BlockPool, RefusesToFreeTwice) {
  BlockPool pool = unbounded(4);
  const uint32_t block = *pool.take();
  pool.retain(block);
  pool.release(block);
  EXPECT_EQ(pool.used(), 1u);
  pool.release(block);
  EXPECT_THROW(pool.release(block), Error);
  EXPECT_THROW(pool.release(null_block), Error);
  EXPECT_THROW(pool.retain(block), Error);
}

TEST(BlockTable, WindowKeepsExactlyWhatTheNextRowCanSee) {
  // Window 5, blocks of 4: a row at 12 sees 8..12, so blocks 0 and 1 are out of reach; one at 11 still sees 7.
  BlockPool pool = unbounded(100);
  BlockTable table({4, 5});
  ASSERT_TRUE(table.extend(pool, 12));
  table.drop_unreachable(pool, 11);
  EXPECT_EQ(table.entries()[0], null_block);
  EXPECT_NE(table.entries()[1], null_block);
  table.drop_unreachable(pool, 12);
  EXPECT_EQ(table.entries()[1], null_block);
  EXPECT_NE(table.entries()[2], null_block);
  EXPECT_EQ(pool.used(), 1u);
  EXPECT_EQ(table.held(), 1u);
  EXPECT_EQ((GroupReach{4, 5}.held(12)), 1u);
}

TEST(SequenceKv, AStepThatDidNotHappenGivesItsBlocksBack) {
  BlockPool pool = unbounded(6);
  SequenceKv kv({{4, 0}, {4, 4}});
  ASSERT_TRUE(kv.begin(pool, 3));
  kv.commit(pool);
  EXPECT_EQ(pool.used(), 2u);
  ASSERT_TRUE(kv.begin(pool, 6));
  EXPECT_EQ(pool.used(), 6u);
  kv.roll_back(pool);
  EXPECT_EQ(pool.used(), 2u);
  EXPECT_EQ(kv.committed(), 3u);
  EXPECT_FALSE(kv.begin(pool, 20));
  EXPECT_EQ(pool.used(), 2u);
}

/// Many sequences at random: every live block belongs to one table entry, every visible position has a block,
/// nothing is left at the end, and the closed forms that the scheduler counts with are exact.
TEST(SequenceKv, RandomLivesNeitherShareNorLeakBlocks) {
  std::mt19937 random(7);
  for (int round = 0; round < 60; ++round) {
    const uint32_t block_size = 1 + random() % 16, window = 1 + random() % 40;
    const std::vector<GroupReach> groups{{block_size, 0}, {block_size, window}};
    BlockPool pool = unbounded(20 + random() % 200, 1 + random() % 20);
    std::vector<SequenceKv> sequences(1 + random() % 6, SequenceKv(groups));
    std::map<size_t, uint32_t> peak;
    for (int step = 0; step < 300; ++step) {
      const size_t which = random() % sequences.size();
      SequenceKv& kv = sequences[which];
      const uint32_t rows = 1 + random() % 30, before = kv.committed();
      const uint32_t wanted = groups[0].blocks_over(before + rows) - groups[0].blocks_over(before);
      const uint32_t available = pool.available();
      const bool fits = 2 * wanted <= available;
      ASSERT_EQ(kv.begin(pool, rows), fits);
      if (fits) {
        for (size_t g = 0; g < 2; ++g) {
          ASSERT_LE(kv.tables()[g].held(), groups[g].peak(before + rows, rows));
          const uint32_t oldest = groups[g].window && before >= groups[g].window ? before - groups[g].window + 1 : 0;
          for (uint32_t p = oldest; p < before + rows; ++p) {
            ASSERT_NE(kv.tables()[g].entries().at(p / block_size), null_block);
          }
        }
        if (random() % 4 == 0) kv.roll_back(pool); else kv.commit(pool);
      }
      if (random() % 25 == 0) kv.release(pool);
      std::set<uint32_t> seen;
      uint32_t entries = 0, held = 0;
      for (const SequenceKv& each : sequences) {
        held += each.held();
        for (size_t g = 0; g < 2; ++g) {
          ASSERT_EQ(each.tables()[g].held(), groups[g].held(each.committed()));
          for (uint32_t block : each.tables()[g].entries()) {
            if (block == null_block) continue;
            ++entries;
            ASSERT_TRUE(seen.insert(block).second) << "block " << block << " is used twice";
          }
        }
      }
      ASSERT_EQ(entries, pool.used());
      ASSERT_EQ(held, pool.used());
    }
    for (SequenceKv& kv : sequences) kv.release(pool);
    ASSERT_EQ(pool.used(), 0u);
  }
}

}  // namespace
}  // namespace hearth
