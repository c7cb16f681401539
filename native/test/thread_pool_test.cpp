// The pool's promises: every item once, memory walked in order, nobody waits for a slow thread's share, idle costs nothing.
#include <gtest/gtest.h>

#include <chrono>
#include <ctime>

#include "backend/cpu/thread_pool.h"

namespace hearth::cpu {
namespace {

using std::chrono::milliseconds;

TEST(ThreadPool, EveryItemRunsExactlyOnce) {
  for (uint32_t threads : {1u, 2u, 3u, 8u}) {
    ThreadPool pool(threads);
    ASSERT_EQ(pool.threads(), threads);
    for (uint32_t count : {0u, 1u, 2u, 3u, 7u, 8u, 100u, 1001u}) {
      for (uint32_t grain : {0u, 1u, 3u, 64u, 5000u}) {
        std::vector<std::atomic<int>> times(count);
        pool.run(count, grain, nullptr, [&](uint32_t thread, uint32_t item) {
          EXPECT_LT(thread, threads);
          ++times[item];
        });
        for (uint32_t i = 0; i < count; ++i) ASSERT_EQ(times[i], 1) << "item " << i << " of " << count << ", grain " << grain << ", " << threads << " threads";
      }
    }
  }
}

TEST(ThreadPool, ManyShortLoopsInARowLoseNothing) {
  ThreadPool pool(4);
  std::atomic<uint64_t> sum{0};
  for (uint32_t loop = 0; loop < 3000; ++loop) {
    pool.run(9, 1, nullptr, [&](uint32_t, uint32_t item) { sum += item; });
    if (loop % 200 == 0) std::this_thread::sleep_for(milliseconds(1));  // the workers fall asleep and must wake up again
  }
  EXPECT_EQ(sum, 3000u * 36);
}

/// Kernels prefetch the next item: a thread that jumps about would fetch for others.
TEST(ThreadPool, AThreadWalksThroughItsShareInOrder) {
  ThreadPool pool(4);
  std::vector<std::vector<uint32_t>> items(4);
  pool.run(400, 1, nullptr, [&](uint32_t thread, uint32_t item) {
    items[thread].push_back(item);
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  });
  for (uint32_t t = 0; t < 4; ++t) {  // its own from the front, although others may have helped at the back
    for (size_t i = 0; i < items[t].size() && items[t][i] / 100 == t; ++i) ASSERT_EQ(items[t][i], 100 * t + i) << "thread " << t;
  }
  EXPECT_FALSE(items[0].empty());
}

/// A core taken away by another program must not hold up the whole step.
TEST(ThreadPool, OthersTakeOverASlowThreadsShare) {
  ThreadPool pool(2);
  std::atomic<uint32_t> done{0};
  pool.run(100, 1, nullptr, [&](uint32_t, uint32_t item) {
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (item == 0 && done < 99 && std::chrono::steady_clock::now() < limit) std::this_thread::yield();
    if (item == 0) { EXPECT_EQ(done, 99u) << "items of the stuck thread were left to it"; }
    ++done;
  });
  EXPECT_EQ(done, 100u);
}

TEST(ThreadPool, StopLeavesOutWhatHasNotBegun) {
  for (uint32_t threads : {1u, 2u, 4u}) {
    ThreadPool pool(threads);
    std::atomic<bool> stop{false};
    std::atomic<uint32_t> ran{0};
    pool.run(100000, 1, &stop, [&](uint32_t, uint32_t) {
      if (++ran == 50) stop = true;
    });
    EXPECT_GE(ran, 50u);
    EXPECT_LT(ran, 50u + 4 * threads) << threads;
    pool.run(100, 1, &stop, [&](uint32_t, uint32_t) { ADD_FAILURE() << "begun after the stop"; });
    stop = false;
    ran = 0;
    pool.run(100, 7, &stop, [&](uint32_t, uint32_t) { ++ran; });
    EXPECT_EQ(ran, 100u) << "the pool is whole after a stop";
  }
}

#if !defined(_WIN32)
TEST(ThreadPool, IdleWorkersUseNoProcessor) {
  ThreadPool pool(8);
  pool.run(1000, 1, nullptr, [](uint32_t, uint32_t) {});
  std::this_thread::sleep_for(milliseconds(20));  // they spin for microseconds
  const std::clock_t before = std::clock();        // of the whole process
  std::this_thread::sleep_for(milliseconds(300));
  EXPECT_LT(double(std::clock() - before) / CLOCKS_PER_SEC, 0.05);
}
#endif

TEST(ThreadPool, EndsWhileWorkersSpinOrSleep) {
  for (int i = 0; i < 60; ++i) {
    ThreadPool pool(4);
    if (i % 2) pool.run(4, 1, nullptr, [](uint32_t, uint32_t) {});
    if (i % 10 == 0) std::this_thread::sleep_for(milliseconds(2));
  }
}

}  // namespace
}  // namespace hearth::cpu
