// Implements the sizing of the KV pool.
#include "engine/kv_plan.h"

#include <algorithm>
#include <string>

#include "hearth/error.h"

namespace hearth {
namespace {

constexpr uint64_t unknown_memory_bytes = uint64_t(1) << 30;  // where the system does not tell what is free
constexpr uint64_t slab_bytes = uint64_t(32) << 20;
constexpr uint32_t least_context = 256;

uint64_t bound_bytes(const KvRequest& request, uint64_t needed) {
  if (request.kv_bytes > 0) return request.kv_bytes;
  const uint64_t quarter = request.free_bytes > 0 ? request.free_bytes / 4 : unknown_memory_bytes;
  // A context that was asked for by name may take more than the quarter, but never nearly everything.
  return request.context > 0 ? std::max(quarter, std::min(needed, request.free_bytes / 10 * 8)) : quarter;
}

}  // namespace

KvPlan plan_kv(const SchedulerLimits& limits, const KvRequest& request) {
  const uint32_t wanted = request.context > 0 ? std::min(request.context, request.model_context) : request.model_context;
  const uint64_t needed = peak_blocks(limits, wanted) * request.block_bytes;
  const uint64_t bytes = bound_bytes(request, needed);
  KvPlan plan;
  plan.blocks = static_cast<uint32_t>(std::min<uint64_t>(bytes / request.block_bytes, 0x7fffffff));
  plan.context = longest_sequence(limits, wanted, plan.blocks);
  plan.slab = static_cast<uint32_t>(std::clamp<uint64_t>(slab_bytes / request.block_bytes, 16, 4096));
  const uint32_t least = request.context > 0 ? wanted : std::min(wanted, least_context);
  if (plan.context < least) {
    throw Error(ErrorCode::out_of_ram,
                "The memory for keys and values holds " + std::to_string(plan.context) + " tokens; " + std::to_string(least) +
                    " are needed.",
                peak_blocks(limits, least) * request.block_bytes, bytes);
  }
  // More than every sequence at full length is never used.
  const uint64_t most = peak_blocks(limits, plan.context) * limits.max_sequences;
  plan.blocks = static_cast<uint32_t>(std::min<uint64_t>(plan.blocks, most));
  return plan;
}

}  // namespace hearth
