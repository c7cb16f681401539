// The counts of a cost model, from a model's own weights. Only what is in the spec and the shapes; no speed.
#pragma once

#include "backend/weights.h"
#include "engine/cost_model.h"
#include "model/spec.h"

namespace hearth {

ModelCost model_cost(const ModelSpec& spec, const ModelWeights& weights);

}  // namespace hearth
