// Implements the measurement: every thread runs the same small loop and counts against its own processor time, so that
// programs beside it disturb little; the best of several short rounds counts, because they can only make a round slower.
#include "bench/machine_limits.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <ctime>
#include <functional>
#include <memory>
#include <numeric>
#include <thread>
#include <vector>

#if defined(__x86_64__) || defined(_M_X64)
#include <immintrin.h>
#define HEARTH_X86 1
#endif
#if defined(__aarch64__) && defined(__ARM_FEATURE_DOTPROD)
#include <arm_neon.h>
#define HEARTH_NEON_DOT 1
#endif
#if defined(HEARTH_X86) && (defined(__GNUC__) || defined(__clang__))
#define HEARTH_X86_TARGETS 1
#define HEARTH_TARGET(features) __attribute__((target(features)))
#endif

namespace hearth {
namespace {

using Clock = std::chrono::steady_clock;
constexpr uint64_t int8_rounds = 2'000'000;

std::atomic<uint64_t> sink{0};  // keeps what the loops compute from being optimised away

/// Reads every cache line once. Sixteen independent sums keep enough loads in flight on every compiler.
void read_all(const uint64_t* words, size_t count) {
  uint64_t sums[16] = {};
  for (size_t i = 0; i + 16 <= count; i += 16) {
    for (size_t lane = 0; lane < 16; ++lane) sums[lane] ^= words[i + lane];
  }
  uint64_t all = 0;
  for (uint64_t sum : sums) all ^= sum;
  sink += all;
}

/// A loop of int8 products on values in registers. Returns the operations that it did.
struct Int8Kernel {
  const char* name;
  uint64_t (*run)(uint64_t rounds);
};

#if defined(HEARTH_X86_TARGETS)

// The instructions are spelled out: compilers add moves between the accumulators, or fold the loop into one product.
HEARTH_TARGET("avx512f,avx512bw,avx512vnni") uint64_t int8_avx512(uint64_t rounds) {
  const __m512i a = _mm512_set1_epi8(3), b = _mm512_set1_epi8(-2);
  __m512i s0 = _mm512_setzero_si512(), s1 = s0, s2 = s0, s3 = s0, s4 = s0, s5 = s0, s6 = s0, s7 = s0, s8 = s0, s9 = s0;
  for (uint64_t r = 0; r < rounds; ++r) {
    __asm__("vpdpbusd %11, %10, %0\n\tvpdpbusd %11, %10, %1\n\tvpdpbusd %11, %10, %2\n\tvpdpbusd %11, %10, %3\n\t"
            "vpdpbusd %11, %10, %4\n\tvpdpbusd %11, %10, %5\n\tvpdpbusd %11, %10, %6\n\tvpdpbusd %11, %10, %7\n\t"
            "vpdpbusd %11, %10, %8\n\tvpdpbusd %11, %10, %9"
            : "+v"(s0), "+v"(s1), "+v"(s2), "+v"(s3), "+v"(s4), "+v"(s5), "+v"(s6), "+v"(s7), "+v"(s8), "+v"(s9)
            : "v"(a), "v"(b));
  }
  alignas(64) int32_t lanes[16];
  for (const __m512i& sum : {s0, s1, s2, s3, s4, s5, s6, s7, s8, s9}) {
    _mm512_store_si512(lanes, sum);
    for (int32_t lane : lanes) sink += static_cast<uint64_t>(lane);
  }
  return rounds * 10 * 64 * 2;
}

HEARTH_TARGET("avx2") uint64_t int8_avx2(uint64_t rounds) {
  __m256i sums[8];
  for (auto& sum : sums) sum = _mm256_setzero_si256();
  __m256i a = _mm256_set1_epi8(3), b = _mm256_set1_epi8(-2);
  const __m256i ones = _mm256_set1_epi16(1);
  for (uint64_t r = 0; r < rounds; ++r) {
    __asm__ volatile("" : "+x"(a), "+x"(b));
#pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) {
      __m256i product = _mm256_maddubs_epi16(a, b);
      __asm__ volatile("" : "+x"(product));  // each of the eight is a product of its own
      sums[i] = _mm256_add_epi32(sums[i], _mm256_madd_epi16(product, ones));
    }
  }
  alignas(32) int32_t lanes[8];
  for (const auto& sum : sums) {
    _mm256_store_si256(reinterpret_cast<__m256i*>(lanes), sum);
    for (int32_t lane : lanes) sink += static_cast<uint64_t>(lane);
  }
  return rounds * 8 * 32 * 2;
}

Int8Kernel best_int8_kernel() {
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512bw")) return {"avx512vnni", int8_avx512};
  if (__builtin_cpu_supports("avx2")) return {"avx2", int8_avx2};
  return {"", nullptr};
}

#elif defined(HEARTH_NEON_DOT)

uint64_t int8_neon(uint64_t rounds) {
  int32x4_t sums[12];
  for (auto& sum : sums) sum = vdupq_n_s32(0);
  int8x16_t a = vdupq_n_s8(3), b = vdupq_n_s8(-2);
  for (uint64_t r = 0; r < rounds; ++r) {
    __asm__ volatile("" : "+w"(a), "+w"(b));
    for (int i = 0; i < 12; ++i) sums[i] = vdotq_s32(sums[i], a, b);
  }
  for (const auto& sum : sums) sink += static_cast<uint64_t>(vaddvq_s32(sum));
  return rounds * 12 * 16 * 2;
}

Int8Kernel best_int8_kernel() { return {"neon-dot", int8_neon}; }

#else

Int8Kernel best_int8_kernel() { return {"", nullptr}; }

#endif

/// What a compiler makes of plain C: the floor for machines without a kernel above.
uint64_t int8_scalar(uint64_t rounds) {
  static int8_t a[1024], b[1024];
  int32_t sum = 0;
  const uint64_t passes = rounds / 16 + 1;
  for (uint64_t pass = 0; pass < passes; ++pass) {
    a[pass % 1024] = static_cast<int8_t>(pass);
    for (int i = 0; i < 1024; ++i) sum += int32_t(a[i]) * int32_t(b[i]);
  }
  sink += static_cast<uint64_t>(sum);
  return passes * 1024 * 2;
}

/// Seconds that this thread has been running on a processor; wall time where the system counts too coarsely.
double thread_seconds() {
#if defined(CLOCK_THREAD_CPUTIME_ID)
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return double(t.tv_sec) + 1e-9 * double(t.tv_nsec);
#else
  return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
#endif
}

/// Runs `body(thread)`, which returns an amount, on all threads at once; the sum of what each did per second of its own.
double rate_together(uint32_t threads, const std::function<double(uint32_t)>& body) {
  std::atomic<uint32_t> ready{0};
  std::vector<std::thread> pool;
  std::vector<double> rates(threads);
  for (uint32_t t = 0; t < threads; ++t) {
    pool.emplace_back([&, t] {
      ++ready;
      while (ready < threads) std::this_thread::yield();
      const double begin = thread_seconds();
      const double amount = body(t);
      rates[t] = amount / std::max(thread_seconds() - begin, 1e-9);
    });
  }
  for (std::thread& each : pool) each.join();
  return std::accumulate(rates.begin(), rates.end(), 0.0);
}

/// Best of the rounds that fit into `seconds` (at least two): amount per second.
double best_rate(double seconds, const std::function<double()>& round) {
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  double best = 0;
  for (int rounds = 0; rounds < 2 || Clock::now() < end; ++rounds) best = std::max(best, round());
  return best;
}

double measure_reading(uint32_t threads, double seconds) {
  // Far beyond any cache, small enough to be had: less where memory is short.
  size_t bytes = size_t(256) << 20;
  std::unique_ptr<uint64_t[]> memory;
  while (!memory && bytes > (size_t(32) << 20)) {
    memory.reset(new (std::nothrow) uint64_t[bytes / 8]);
    if (!memory) bytes /= 2;
  }
  if (!memory) return 0;
  const size_t words = bytes / 8 / threads / 16 * 16;
  std::memset(memory.get(), 1, words * 8 * threads);
  return best_rate(seconds, [&] {
    return rate_together(threads, [&](uint32_t t) {
      read_all(memory.get() + t * words, words);
      return double(words) * 8;
    });
  });
}

double measure_int8(uint32_t threads, double seconds, const Int8Kernel& kernel) {
  return best_rate(seconds, [&] { return rate_together(threads, [&](uint32_t) { return double(kernel.run(int8_rounds)); }); });
}

}  // namespace

MachineLimits measure_machine_limits(uint32_t threads, double seconds) {
  MachineLimits limits;
  limits.threads = threads > 0 ? threads : std::max(1u, std::thread::hardware_concurrency());
  Int8Kernel kernel = best_int8_kernel();
  if (!kernel.run) kernel = {"scalar", int8_scalar};
  limits.int8_kernel = kernel.name;
  limits.read_bytes_per_second = measure_reading(limits.threads, seconds * 0.6);
  limits.int8_ops_per_second = measure_int8(limits.threads, seconds * 0.4, kernel);
  return limits;
}

}  // namespace hearth
