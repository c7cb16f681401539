// What keys and values of a long context cost. Failures prevented: windowed layers that keep everything (half of gpt-oss's
// KV would be wasted), and accounts that differ from the blocks really held.
#include <gtest/gtest.h>

#include "backend/backend.h"
#include "cache/sequence_kv.h"
#include "engine/scheduler.h"

namespace hearth {
namespace {

constexpr uint32_t context = 32768, block_size = 16, layers = 24;
const KvShape gpt_oss_20b{block_size, 8, 64, {layers / 2, layers / 2}};

SchedulerLimits limits_of(uint32_t rows) {
  SchedulerLimits limits;
  limits.groups = {{block_size, 0}, {block_size, 128}};
  limits.prefill_rows = rows;
  return limits;
}

/// Most blocks that a sequence really held on its way, read in chunks of `rows`.
uint32_t really_held(const SchedulerLimits& limits, uint32_t rows) {
  BlockPool pool(1u << 20, 64, [](uint32_t) { return true; });
  SequenceKv kv(limits.groups);
  uint32_t most = 0;
  while (kv.committed() < context) {
    EXPECT_TRUE(kv.begin(pool, std::min(rows, context - kv.committed())));
    most = std::max(most, pool.used());
    kv.commit(pool);
  }
  return most;
}

TEST(KvMemory, AThirtyTwoThousandTokenContextCostsLittleMoreThanItsFullLayers) {
  for (KvType type : {KvType::f16, KvType::q8}) {
    const auto backend = make_cpu_backend({Precision::fast, 1, "", type});
    const uint64_t block = backend->kv_block_bytes(gpt_oss_20b);
    const uint64_t every_layer = backend->kv_block_bytes({block_size, 8, 64, {layers}}) / block_size;  // bytes a position
    for (uint32_t rows : {1u, 128u, 512u, 2048u}) {
      const uint64_t bytes = peak_blocks(limits_of(rows), context) * block;
      EXPECT_LE(double(bytes) / context, 0.55 * double(every_layer)) << "chunks of " << rows;
      EXPECT_LE(really_held(limits_of(rows), rows), peak_blocks(limits_of(rows), context)) << "chunks of " << rows;
    }
  }
}

}  // namespace
}  // namespace hearth
