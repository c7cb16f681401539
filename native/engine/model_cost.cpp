// Implements the counting: bytes of matrices, two operations for each weight that a row meets.
#include "engine/model_cost.h"

#include <algorithm>

namespace hearth {
namespace {

double operations(const Matrix& m) { return m ? 2.0 * m.rows * m.cols : 0.0; }
double bytes(const Matrix& m) { return m ? double(m.bytes()) : 0.0; }

}  // namespace

ModelCost model_cost(const ModelSpec& spec, const ModelWeights& weights) {
  ModelCost cost;
  for (size_t i = 0; i < spec.layers.size(); ++i) {
    const AttentionSpec& attention = spec.layers[i].attention;
    const MlpSpec& mlp = spec.layers[i].mlp;
    const LayerWeights& w = weights.layers[i];
    for (const Matrix* m : {&w.q, &w.k, &w.v, &w.o, &w.router}) {
      cost.dense_bytes += bytes(*m);
      cost.row_operations += operations(*m);
    }
    const bool moe = mlp.kind == MlpKind::moe;
    for (const Matrix* m : {&w.gate, &w.up, &w.down}) {
      (moe ? cost.expert_bytes : cost.dense_bytes) += bytes(*m);
      cost.row_operations += operations(*m) * (moe ? mlp.experts_used : 1);
    }
    if (moe) cost.experts = mlp.experts, cost.experts_used = mlp.experts_used;
    const bool window = attention.kind == AttentionKind::window;
    ++(window ? cost.window_layers : cost.full_layers);
    if (window) cost.window = attention.window;
  }
  cost.output_bytes = bytes(weights.output);
  cost.output_operations = operations(weights.output);
  cost.position_operations = 4.0 * spec.heads * spec.head_dim;
  return cost;
}

}  // namespace hearth
