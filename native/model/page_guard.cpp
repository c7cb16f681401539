// The SIGBUS handler of mapped model files; see page_guard.h.
#include "model/page_guard.h"

#ifndef _WIN32

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <mutex>

namespace hearth {

namespace {

// Plain atomics in static storage: a signal handler may touch nothing else.
struct Slot {
  std::atomic<bool> taken{false};
  std::atomic<uintptr_t> begin{0}, end{0};
  std::atomic<bool> lost{false};
};
std::array<Slot, 1024> slots;
struct sigaction previous;
uintptr_t page_mask = 0;

/// Fills the mapping with zeros from the faulting page on. False: the address is not ours.
bool patch(uintptr_t address) {
  for (Slot& slot : slots) {
    uintptr_t begin = slot.begin.load(std::memory_order_acquire);
    uintptr_t end = slot.end.load(std::memory_order_acquire);
    if (address < begin || address >= end) continue;
    uintptr_t page = address & page_mask;
    slot.lost.store(true, std::memory_order_release);
    void* where = reinterpret_cast<void*>(page);
    return mmap(where, end - page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == where;
  }
  return false;
}

void on_bus_error(int number, siginfo_t* info, void* context) {
  if (info && patch(reinterpret_cast<uintptr_t>(info->si_addr))) return;
  if (previous.sa_flags & SA_SIGINFO) {
    if (previous.sa_sigaction) return previous.sa_sigaction(number, info, context);
  } else if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) {
    return previous.sa_handler(number);
  }
  signal(SIGBUS, SIG_DFL);  // not ours: the instruction runs again and the process dies as it would have
}

void install() {
  page_mask = ~(static_cast<uintptr_t>(sysconf(_SC_PAGESIZE)) - 1);
  struct sigaction action = {};
  action.sa_sigaction = on_bus_error;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  sigaction(SIGBUS, &action, &previous);
}

}  // namespace

int guard_pages(const void* begin, uint64_t size) {
  static std::once_flag once;
  std::call_once(once, install);
  for (size_t i = 0; i < slots.size(); ++i) {
    bool free = false;
    if (!slots[i].taken.compare_exchange_strong(free, true)) continue;
    slots[i].lost = false;
    slots[i].begin.store(reinterpret_cast<uintptr_t>(begin), std::memory_order_release);
    slots[i].end.store(reinterpret_cast<uintptr_t>(begin) + size, std::memory_order_release);
    return static_cast<int>(i);
  }
  return -1;
}

void release_pages(int slot) {
  if (slot < 0) return;
  Slot& s = slots[static_cast<size_t>(slot)];
  s.end = 0;
  s.begin = 0;
  s.taken = false;
}

bool pages_lost(int slot) { return slot >= 0 && slots[static_cast<size_t>(slot)].lost.load(std::memory_order_acquire); }

}  // namespace hearth

#else

namespace hearth {
int guard_pages(const void*, uint64_t) { return -1; }
void release_pages(int) {}
bool pages_lost(int) { return false; }
}  // namespace hearth

#endif
