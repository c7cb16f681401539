// The ops between ranks, and those that only ranks need (Clear, PickRoutes), for backends whose activations lie in the host's memory. It
// computes nothing but sums of two.
#pragma once

#include "backend/resources.h"

namespace hearth {

/// Performs `op` where it is one of these; any other is left to the caller. False: this rank stops, the step has ended elsewhere.
bool run_between_ranks(Resources& resources, const Op& op, OpRows rows);

}  // namespace hearth
