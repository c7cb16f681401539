// How fast a device copies and multiplies, measured for a moment: what the speed of kernels is compared with, and what shares of
// unequal devices follow from.
#include <algorithm>
#include <chrono>

#include "backend/vulkan/quirks.h"
#include "backend/vulkan/vk_executor.h"
#include "backend/vulkan/vk_transfer.h"

namespace hearth {
namespace vulkan {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

constexpr uint64_t mebi = uint64_t(1) << 20;
constexpr double enough = 0.2;  // seconds for a figure

/// Bytes read and written by copies within the device's memory, beyond its caches where there is room.
double copied_per_second(Device& device, MemoryPool& pool) {
  Transfer transfer(device, pool);
  const uint64_t bytes = std::min({pool.most_bytes(), pool.free() / 4, 512 * mebi}) / 4 * 4;
  const auto from = pool.allocate(bytes, MemoryKind::device), to = pool.allocate(bytes, MemoryKind::device);
  const CopyRange range{from.get(), 0, to.get(), 0, bytes};
  transfer.copy({&range, 1});
  double best = 0;
  for (const Clock::time_point begin = Clock::now(); seconds_since(begin) < enough || best == 0;) {
    const Clock::time_point one = Clock::now();
    transfer.copy({&range, 1});
    best = std::max(best, 2.0 * double(bytes) / seconds_since(one));
  }
  return best;
}

/// Runs `dispatch`, which takes its rounds from the first word, with more and more of them until they take their time.
double most_per_second(Device& device, MemoryPool& pool, Dispatch dispatch, double operations_each_round) {
  Pipelines pipelines(device, "");
  Executor executor(device, pipelines, pool, 0);
  const auto run = [&](uint32_t rounds) {
    dispatch.push[0] = rounds;
    const Clock::time_point begin = Clock::now();
    executor.start({dispatch}, nullptr);
    executor.finish();
    return seconds_since(begin);
  };
  run(1);  // compiles
  uint32_t rounds = 16;
  double took = run(rounds);
  while (took < 0.05 && rounds < (1u << 24)) rounds *= 2, took = run(rounds);
  for (int i = 0; i < 2; ++i) took = std::min(took, run(rounds));
  return operations_each_round * rounds / took;
}

}  // namespace
}  // namespace vulkan

VulkanRates vulkan_rates(const VulkanOptions& options) {
  using namespace vulkan;
  Device device(options);
  MemoryPool pool(device);
  VulkanRates rates;
  rates.copy = copied_per_second(device, pool);
  const auto out = pool.allocate(4096, MemoryKind::device);
  const bool software = device.info().type == "cpu";
  const uint32_t groups = software ? 64 : 8192;
  Dispatch fma;
  fma.shader = "rate", fma.uses[0] = {out.get(), true}, fma.groups = {groups, 1, 1}, fma.push = {0, 0x3f000000u};
  rates.multiply_adds = most_per_second(device, pool, fma, 64.0 * 64 * groups);
  if (!device.has(cooperative_matrix)) return rates;
  const VulkanLimits& limits = device.info().limits;
  Dispatch matrix = fma;
  matrix.shader = "rate_matrix";
  matrix.constants = {4 * limits.subgroup, limits.matrix_m, limits.matrix_n, limits.matrix_k};
  rates.matrix_multiply_adds = most_per_second(device, pool, matrix, 4.0 * 4 * limits.matrix_m * limits.matrix_n * limits.matrix_k * groups);
  return rates;
}

}  // namespace hearth
