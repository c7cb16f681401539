// The forward pass of a decoder-only transformer, written once over the ops and driven by ModelSpec.
// It decides what is computed and in which buffers; never how, where, or for which sequences.
#pragma once

#include <functional>
#include <vector>

#include "backend/backend.h"
#include "backend/comm.h"
#include "model/model_file.h"

namespace hearth {

/// Layers [first, last) of a model.
struct LayerRange {
  uint32_t first = 0, last = 0;
};

/// What a step is for: logits of StepInputs::output_rows, or KV alone (a chunk of a prompt that goes on).
enum class StepTail { logits, kv_only };

struct TransformerLimits {
  uint32_t rows = 0;         // most rows of a step
  uint32_t output_rows = 0;  // most rows whose logits are wanted
  uint64_t context = 0;      // longest sequence; rope tables may follow from it
};

class Transformer {
 public:
  /// Hands the model's weights to the backend, in order; `progress` is called with 0..1 and may throw to give up.
  /// The backend and the file behind the weights must outlive this object.
  Transformer(const ModelSpec& spec, const ModelWeights& weights, Backend& backend, TransformerLimits limits,
              const std::function<void(double)>& progress = {});

  /// The op list of a step. It holds for any number of rows within the limits, so one per tail is enough.
  OpList record(const RankContext& rank, LayerRange layers, StepTail tail) const;
  /// All layers on one rank.
  OpList record(StepTail tail) const { return record({}, {0, static_cast<uint32_t>(layers_.size())}, tail); }

  KvShape kv_shape(uint32_t block_size) const { return kv_shape(spec_, block_size); }
  static KvShape kv_shape(const ModelSpec& spec, uint32_t block_size);
  /// [output rows, vocabulary], after a step with StepTail::logits.
  Buffer logits() const { return logits_; }
  /// The router's choice of a layer in the last step, for tests and statistics.
  Buffer routes(uint32_t layer) const { return layers_.at(layer).routes; }

 private:
  struct Layer {
    VectorRef attention_norm, mlp_norm, attention_post_norm, mlp_post_norm, q_norm, k_norm;
    WeightRef q, k, v, o;
    VectorRef q_bias, k_bias, v_bias, o_bias, sinks;
    RopeRef rope;
    WeightRef router, gate, up, down;
    VectorRef router_bias, gate_bias, up_bias, down_bias;
    Buffer routes, hidden;
  };

  Layer bind(const LayerSpec& spec, const LayerWeights& weights, uint32_t rows);
  RopeRef bind_rope(const RopeSpec& spec);
  Buffer hidden_buffer(uint32_t width, uint32_t rows);
  void attention(OpList& ops, uint32_t index, bool kv_only) const;
  void mlp(OpList& ops, uint32_t index) const;
  void experts(OpList& ops, uint32_t index) const;

  float eps() const { return static_cast<float>(spec_.norm_eps); }

  const ModelSpec& spec_;
  Backend& backend_;
  const uint64_t context_;
  std::vector<std::pair<RopeSpec, RopeRef>> ropes_;      // one table per distinct spec
  std::vector<std::pair<uint32_t, Buffer>> hidden_;      // one buffer per width of an MLP's inner activations
  std::vector<Layer> layers_;
  WeightRef embedding_, output_;
  VectorRef output_norm_;
  Buffer residual_, normed_, query_, attended_, selected_, final_, logits_;
};

}  // namespace hearth
