// What a load takes of the memory, from the spec alone: how much a step may hold, and how the options bound it. Shared by the load and
// by the estimate before it, so that the two cannot disagree. It allocates nothing and touches no weight.
#pragma once

#include "engine/scheduler.h"
#include "hearth/engine.h"
#include "model/part.h"
#include "model/spec.h"

namespace hearth {

inline constexpr uint32_t kv_block_size = 16;

/// The bounds of a step of this model with these options.
SchedulerLimits scheduler_limits(const EngineOptions& options, const ModelSpec& spec);

/// Bytes that a full step of the CPU backend holds: activations, their int8 copies and tiles, and the results of matmuls.
uint64_t cpu_scratch_bytes(const ModelSpec& spec, const SchedulerLimits& limits);

/// The same of a graphics device that has this part of the model: activations, and what its kernels hand to each other between two dispatches.
uint64_t device_scratch_bytes(const ModelSpec& spec, const ModelPart& part, const SchedulerLimits& limits);

}  // namespace hearth
