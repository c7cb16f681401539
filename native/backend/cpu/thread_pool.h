// Worker threads that share out the items of one loop at a time. Each thread begins with a contiguous share of its own, so
// that it walks through memory in order, and helps the others when it is done; results must not depend on who does what.
// Idle workers spin for some microseconds, then sleep.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace hearth::cpu {

class ThreadPool {
 public:
  explicit ThreadPool(uint32_t threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  uint32_t threads() const { return static_cast<uint32_t>(workers_.size()) + 1; }

  /// Calls body(thread, item) once for every item < count, `grain` consecutive items at a time; returns when all are
  /// done. body must not throw. When `stop` becomes true, items not yet begun are left out.
  template <typename Body>
  void run(uint32_t count, uint32_t grain, const std::atomic<bool>* stop, const Body& body) {
    const Job job{[](const void* b, uint32_t thread, uint32_t begin, uint32_t end) {
                    for (uint32_t i = begin; i < end; ++i) (*static_cast<const Body*>(b))(thread, i);
                  },
                  &body, count, grain == 0 ? 1 : grain, stop};
    execute(job);
  }

 private:
  struct Job {
    void (*call)(const void* body, uint32_t thread, uint32_t begin, uint32_t end) = nullptr;
    const void* body = nullptr;
    uint32_t count = 0, grain = 1;
    const std::atomic<bool>* stop = nullptr;
  };
  /// A thread's own part of the loop's items, on a cache line of its own: as a rule only its owner comes there.
  struct alignas(64) Share {
    std::atomic<uint64_t> left{0};  // the items not yet begun: first << 32 | end
  };

  void execute(const Job& job);
  void share_out(uint32_t count);
  void work(uint32_t thread);
  void take(const Job& job, uint32_t thread);
  bool empty(const Job& job, uint32_t thread, uint32_t share);
  bool wait_for_work(uint32_t seen);

  // Even generation: closed. Odd: `job_` and `shares_` are open. A worker enters (active_ + 1), looks again, and only then
  // touches them; the owner closes first and then waits for active_ == 0.
  alignas(64) std::atomic<uint32_t> generation_{0};
  alignas(64) std::atomic<uint32_t> active_{0};
  std::atomic<uint32_t> sleeping_{0};
  std::atomic<bool> ending_{false};
  Job job_;
  std::unique_ptr<Share[]> shares_;  // [threads]
  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<std::thread> workers_;
};

}  // namespace hearth::cpu
