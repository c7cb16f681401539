// The pool's protocol; see the comment at its members.
#include "backend/cpu/thread_pool.h"

#include <chrono>

#if defined(__x86_64__) || defined(_M_X64)
#include <immintrin.h>
#endif

namespace hearth::cpu {
namespace {

// Longer than the gap between two ops of a step, far shorter than anybody would notice. Counted in time, because a pause
// lasts from 10 to 140 cycles.
constexpr std::chrono::microseconds spinning{20};

void relax() {
#if defined(__x86_64__) || defined(_M_X64)
  _mm_pause();
#elif defined(__aarch64__) && !defined(_MSC_VER)
  __asm__ volatile("yield");
#else
  std::this_thread::yield();
#endif
}

/// Spins until done() or until the time is up.
template <typename Done>
bool spin(const Done& done) {
  const auto end = std::chrono::steady_clock::now() + spinning;
  do {
    for (int i = 0; i < 16; ++i) {
      if (done()) return true;
      relax();
    }
  } while (std::chrono::steady_clock::now() < end);
  return false;
}

}  // namespace

ThreadPool::ThreadPool(uint32_t threads) : shares_(new Share[threads == 0 ? 1 : threads]) {
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

void ThreadPool::share_out(uint32_t count) {
  const uint64_t n = threads();
  for (uint64_t t = 0; t < n; ++t) {
    shares_[t].left.store((count * t / n) << 32 | count * (t + 1) / n, std::memory_order_relaxed);
  }
}

/// Its own share, then what is left of the next threads'.
void ThreadPool::take(const Job& job, uint32_t thread) {
  for (uint32_t i = 0; i < threads(); ++i) {
    if (!empty(job, thread, (thread + i) % threads())) return;
  }
}

/// Works on one share until nothing is left there: its owner from the front, helpers from the back, so that the owner goes
/// on in order. False: the loop was stopped.
bool ThreadPool::empty(const Job& job, uint32_t thread, uint32_t share) {
  std::atomic<uint64_t>& left = shares_[share].left;
  uint64_t now = left.load(std::memory_order_relaxed);
  for (;;) {
    if (job.stop && job.stop->load(std::memory_order_relaxed)) return false;
    const auto first = static_cast<uint32_t>(now >> 32), end = static_cast<uint32_t>(now);
    if (first == end) return true;
    const uint32_t n = end - first < job.grain ? end - first : job.grain;
    const bool own = share == thread;
    const uint64_t rest = own ? uint64_t(first + n) << 32 | end : uint64_t(first) << 32 | (end - n);
    if (!left.compare_exchange_weak(now, rest, std::memory_order_relaxed)) continue;
    job.call(job.body, thread, own ? first : end - n, own ? first + n : end);
    now = left.load(std::memory_order_relaxed);
  }
}

void ThreadPool::execute(const Job& job) {
  if (job.count == 0) return;
  if (workers_.empty() || job.count <= job.grain) {
    for (uint32_t i = 0; i < job.count; i += job.grain) {
      if (job.stop && job.stop->load(std::memory_order_relaxed)) return;
      job.call(job.body, 0, i, job.count - i < job.grain ? job.count : i + job.grain);
    }
    return;
  }
  share_out(job.count);
  job_ = job;
  generation_.fetch_add(1);  // open
  if (sleeping_.load() > 0) {
    { std::lock_guard lock(mutex_); }
    wake_.notify_all();
  }
  take(job, 0);
  generation_.fetch_add(1);  // closed: who has not entered by now stays out
  const auto all_out = [&] { return active_.load() == 0; };
  while (!spin(all_out)) std::this_thread::yield();
}

bool ThreadPool::wait_for_work(uint32_t seen) {
  const auto news = [&] { return generation_.load() != seen || ending_.load(); };
  if (!spin(news)) {
    std::unique_lock lock(mutex_);
    sleeping_.fetch_add(1);
    wake_.wait(lock, news);
    sleeping_.fetch_sub(1);
  }
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
