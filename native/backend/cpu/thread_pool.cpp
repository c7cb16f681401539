// The pool's protocol; see the comment at its members.
#include "backend/cpu/thread_pool.h"

#if defined(__x86_64__) || defined(_M_X64)
#include <immintrin.h>
#endif

namespace hearth::cpu {
namespace {

// About 20 microseconds: longer than the gap between two ops of a step, far shorter than anybody would notice.
constexpr int spins = 600;

void relax() {
#if defined(__x86_64__) || defined(_M_X64)
  _mm_pause();
#elif defined(__aarch64__) && !defined(_MSC_VER)
  __asm__ volatile("yield");
#else
  std::this_thread::yield();
#endif
}

}  // namespace

ThreadPool::ThreadPool(uint32_t threads) {
  for (uint32_t i = 1; i < threads; ++i) workers_.emplace_back([this, i] { work(i); });
}

ThreadPool::~ThreadPool() {
  {
    std::lock_guard lock(mutex_);
    ending_ = true;
  }
  wake_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::take(const Job& job, uint32_t thread) {
  for (;;) {
    if (job.stop && job.stop->load(std::memory_order_relaxed)) return;
    const uint64_t begin = next_.fetch_add(job.grain, std::memory_order_relaxed);
    if (begin >= job.count) return;
    const uint64_t end = begin + job.grain < job.count ? begin + job.grain : job.count;
    job.call(job.body, thread, static_cast<uint32_t>(begin), static_cast<uint32_t>(end));
  }
}

void ThreadPool::execute(const Job& job) {
  if (job.count == 0) return;
  next_.store(0, std::memory_order_relaxed);
  if (workers_.empty() || job.count <= job.grain) return take(job, 0);
  job_ = job;
  generation_.fetch_add(1);  // open
  if (sleeping_.load() > 0) {
    { std::lock_guard lock(mutex_); }
    wake_.notify_all();
  }
  take(job, 0);
  generation_.fetch_add(1);  // closed: who has not entered by now stays out
  for (int i = 0; active_.load() != 0; ++i) {
    if (i < spins) relax();
    else std::this_thread::yield();
  }
}

bool ThreadPool::wait_for_work(uint32_t seen) {
  for (int i = 0; i < spins; ++i) {
    if (generation_.load() != seen || ending_.load()) return !ending_.load();
    relax();
  }
  std::unique_lock lock(mutex_);
  sleeping_.fetch_add(1);
  wake_.wait(lock, [&] { return generation_.load() != seen || ending_.load(); });
  sleeping_.fetch_sub(1);
  return !ending_.load();
}

void ThreadPool::work(uint32_t thread) {
  uint32_t seen = 0;
  while (wait_for_work(seen)) {
    active_.fetch_add(1);
    seen = generation_.load();
    if (seen & 1u) take(job_, thread);
    active_.fetch_sub(1);
  }
}

}  // namespace hearth::cpu
