// cpuid, xgetbv, the hardware words of ARM systems, and the topology files of Linux.
#include "backend/cpu/cpu_features.h"

#include <algorithm>
#include <fstream>
#include <set>
#include <thread>
#include <utility>

#if defined(__x86_64__) || defined(_M_X64)
#define HEARTH_X86 1
#if defined(_MSC_VER)
#include <intrin.h>
#else
#include <cpuid.h>
#endif
#endif
#if defined(__linux__)
#include <sched.h>
#endif
#if defined(__aarch64__) || defined(_M_ARM64)
#define HEARTH_ARM64 1
#if defined(__linux__)
#include <sys/auxv.h>
#elif defined(__APPLE__)
#include <sys/sysctl.h>
#elif defined(_WIN32)
#include <windows.h>
#endif
#endif

namespace hearth::cpu {
namespace {

#if HEARTH_X86
struct Registers { uint32_t a, b, c, d; };

Registers cpuid(uint32_t leaf, uint32_t sub) {
#if defined(_MSC_VER)
  int r[4];
  __cpuidex(r, static_cast<int>(leaf), static_cast<int>(sub));
  return {uint32_t(r[0]), uint32_t(r[1]), uint32_t(r[2]), uint32_t(r[3])};
#else
  Registers r{};
  __cpuid_count(leaf, sub, r.a, r.b, r.c, r.d);
  return r;
#endif
}

/// Register state that the operating system saves (XCR0).
uint64_t saved_state() {
#if defined(_MSC_VER)
  return _xgetbv(0);
#else
  uint32_t low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return uint64_t(high) << 32 | low;
#endif
}

bool bit(uint32_t word, int index) { return (word >> index) & 1u; }

Features detect() {
  Features f;
  const uint32_t highest = cpuid(0, 0).a;
  const Registers one = cpuid(1, 0);
  if (highest < 7 || !bit(one.c, 27)) return f;  // 27: the system uses XSAVE
  const uint64_t saved = saved_state();
  const bool ymm = (saved & 0x6) == 0x6, zmm = (saved & 0xe6) == 0xe6;
  const Registers seven = cpuid(7, 0), more = seven.a >= 1 ? cpuid(7, 1) : Registers{};
  f.avx2 = ymm && bit(one.c, 28) && bit(seven.b, 5);
  f.fma = ymm && bit(one.c, 12);
  f.f16c = ymm && bit(one.c, 29);
  f.avx512 = zmm && bit(seven.b, 16) && bit(seven.b, 17) && bit(seven.b, 30) && bit(seven.b, 31);
  f.avx512_vnni = f.avx512 && bit(seven.c, 11);
  f.avx512_bf16 = f.avx512 && bit(more.a, 5);
  f.avx_vnni = ymm && bit(more.a, 4);
  return f;
}
#elif HEARTH_ARM64
Features detect() {
  Features f;
  f.neon = true;  // part of the base architecture
#if defined(__linux__)
  f.neon_dot = (getauxval(AT_HWCAP) >> 20) & 1u;  // HWCAP_ASIMDDP
#elif defined(__APPLE__)
  int present = 0;
  size_t size = sizeof present;
  f.neon_dot = sysctlbyname("hw.optional.arm.FEAT_DotProd", &present, &size, nullptr, 0) == 0 && present != 0;
#elif defined(_WIN32)
  f.neon_dot = IsProcessorFeaturePresent(43) != 0;  // PF_ARM_V82_DP_INSTRUCTIONS_AVAILABLE
#endif
  return f;
}
#else
Features detect() { return {}; }
#endif

}  // namespace

const Features& features() {
  static const Features found = detect();
  return found;
}

std::vector<std::string> feature_names() {
  const Features& f = features();
  std::vector<std::string> names;
  const std::pair<bool, const char*> all[] = {{f.avx2, "avx2"},         {f.fma, "fma"},
                                              {f.f16c, "f16c"},         {f.avx_vnni, "avxvnni"},
                                              {f.avx512, "avx512f"},    {f.avx512_vnni, "avx512vnni"},
                                              {f.avx512_bf16, "avx512bf16"}, {f.neon, "neon"},
                                              {f.neon_dot, "neondot"}};
  for (const auto& [present, name] : all) {
    if (present) names.emplace_back(name);
  }
  return names;
}

uint32_t physical_cores() {
  const uint32_t logical = std::max(1u, std::thread::hardware_concurrency());
#if defined(__linux__)
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return logical;
  std::set<std::pair<int, int>> cores;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed)) continue;
    const std::string folder = "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/";
    int package = -1, core = -1;
    std::ifstream(folder + "physical_package_id") >> package;
    if (!(std::ifstream(folder + "core_id") >> core)) return static_cast<uint32_t>(std::max(1, CPU_COUNT(&allowed)));
    cores.emplace(package, core);
  }
  return std::max<uint32_t>(1, static_cast<uint32_t>(cores.size()));
#else
  return logical;
#endif
}

}  // namespace hearth::cpu
