// KV memory and the thread pool: zeroed blocks, shrinking and growing, every item once, sleep when idle.
#include "backend/kv_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <ctime>
#include <thread>

#include "backend/cpu/thread_pool.h"

namespace hearth {
namespace {

TEST(KvPool, NewBlocksAreZeroEvenWhereOldOnesLay) {
  KvPool pool;
  pool.set_shape({16, 2, 8, {3, 1}}, KvType::f32);
  pool.resize(5);
  auto size = KvPool::block_bytes({16, 2, 8, {3, 1}}, KvType::f32);
  EXPECT_EQ(size, 3u * 2 * 16 * 2 * 8 * 4);
  std::fill_n(pool.keys(3, 0), size, std::byte{0xff});
  std::fill_n(pool.keys(2, 0), size, std::byte{0x11});
  pool.resize(3);
  pool.resize(70000);
  for (uint64_t i = 0; i < size; ++i) ASSERT_EQ(pool.keys(3, 0)[i], std::byte{0});
  EXPECT_EQ(pool.keys(2, 0)[5], std::byte{0x11}) << "blocks that stay keep what they hold";
  pool.resize(0);
  EXPECT_EQ(pool.blocks(), 0u);
}

TEST(KvPool, LayersOfABlockDoNotOverlap) {
  KvPool pool;
  pool.set_shape({4, 1, 8, {2}}, KvType::f32);
  pool.resize(2);
  EXPECT_EQ(pool.values(0, 0) - pool.keys(0, 0), 4 * 8 * 4);
  EXPECT_EQ(pool.keys(0, 1) - pool.values(0, 0), 4 * 8 * 4);
  EXPECT_EQ(pool.keys(1, 0) - pool.values(0, 1), 4 * 8 * 4);
}

TEST(KvPool, ShapeIsSetOnce) {
  KvPool pool;
  EXPECT_THROW(pool.resize(1), Error);
  pool.set_shape({4, 1, 8, {2}}, KvType::f32);
  EXPECT_NO_THROW(pool.set_shape({4, 1, 8, {2}}, KvType::f32));
  EXPECT_THROW(pool.set_shape({8, 1, 8, {2}}, KvType::f32), Error);
}

TEST(ThreadPool, EveryItemIsDoneExactlyOnce) {
  for (uint32_t threads : {1u, 2u, 5u}) {
    cpu::ThreadPool pool(threads);
    for (uint32_t count : {0u, 1u, 2u, 7u, 1000u}) {
      for (uint32_t grain : {1u, 3u, 2000u}) {
        std::vector<std::atomic<int>> done(count);
        pool.run(count, grain, nullptr, [&](uint32_t thread, uint32_t i) {
          EXPECT_LT(thread, threads);
          ++done[i];
        });
        for (auto& d : done) EXPECT_EQ(d.load(), 1);
      }
    }
  }
}

TEST(ThreadPool, ManySmallLoopsInARowAndAfterASleep) {
  cpu::ThreadPool pool(4);
  std::atomic<uint64_t> sum{0};
  for (int round = 0; round < 2000; ++round) {
    pool.run(8, 1, nullptr, [&](uint32_t, uint32_t i) { sum += i; });
    if (round % 500 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  EXPECT_EQ(sum.load(), 2000u * 28);
}

TEST(ThreadPool, StopLeavesTheRestOut) {
  cpu::ThreadPool pool(2);
  std::atomic<bool> stop{false};
  std::atomic<uint32_t> done{0};
  pool.run(100000, 1, &stop, [&](uint32_t, uint32_t) {
    if (++done == 50) stop = true;
  });
  EXPECT_LT(done.load(), 1000u);
}

TEST(ThreadPool, IdleThreadsSleep) {
  cpu::ThreadPool pool(4);
  pool.run(8, 1, nullptr, [](uint32_t, uint32_t) {});
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const std::clock_t before = std::clock();  // processor time of all threads
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_LT(double(std::clock() - before) / CLOCKS_PER_SEC, 0.02);
}

}  // namespace
}  // namespace hearth
