// How large the KV pool may become and how long a sequence, from the options and the free memory: a pure decision.
#pragma once

#include <cstdint>

#include "engine/scheduler.h"
#include "hearth/engine.h"

namespace hearth {

struct KvRequest {
  uint64_t block_bytes = 0;
  uint32_t model_context = 0;  // tokens that the model was made for
  uint32_t context = 0;        // wanted by the options; 0: as the model's
  uint64_t kv_bytes = 0;       // bound by the options; 0: a quarter of free memory
  uint64_t free_bytes = 0;     // 0: unknown
};

struct KvPlan {
  uint32_t blocks = 0;   // most blocks of the pool
  uint32_t context = 0;  // tokens that one sequence may hold
  uint32_t slab = 0;     // blocks added at a time
};

/// Throws Error{out_of_ram} when a context that was asked for, or any useful one, does not fit.
KvPlan plan_kv(const SchedulerLimits& limits, const KvRequest& request);

}  // namespace hearth
