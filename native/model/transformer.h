// The forward pass of a decoder-only transformer, written once over the ops and driven by ModelSpec.
// It decides what is computed and in which buffers; never how, where, or for which sequences.
#pragma once

#include <functional>
#include <vector>

#include "backend/backend.h"
#include "model/model_file.h"
#include "model/part.h"

namespace hearth {

/// What a step is for: logits of StepInputs::output_rows, these and the best of them, or KV alone (a chunk of a prompt that goes on).
enum class StepTail { logits, top_logits, kv_only };

struct TransformerLimits {
  uint32_t rows = 0;         // most rows of a step
  uint32_t output_rows = 0;  // most rows whose logits are wanted
  uint64_t context = 0;      // longest sequence; rope tables may follow from it
};

class Transformer {
 public:
  using Progress = std::function<void(double)>;

  /// Hands the model's weights to the backend, in order; `progress` is called with 0..1 and may throw to give up.
  /// The backend and the file behind the weights must outlive this object.
  Transformer(const ModelSpec& spec, const ModelWeights& weights, Backend& backend, TransformerLimits limits,
              const Progress& progress = {});
  /// The same of a part of the model, where the backend is one rank of several.
  Transformer(const ModelSpec& spec, const ModelWeights& weights, const ModelPart& part, Backend& backend, TransformerLimits limits,
              const Progress& progress = {});

  /// The op list of a step. It holds for any number of rows within the limits, so one per tail is enough.
  OpList record(StepTail tail) const;

  KvShape kv_shape(uint32_t block_size) const { return kv_shape(spec_, block_size); }
  static KvShape kv_shape(const ModelSpec& spec, uint32_t block_size);
  /// [output rows, vocabulary], after a step with StepTail::logits; of a part that ends, its columns of them.
  Buffer logits() const { return logits_; }
  uint32_t logits_cols() const { return spec_.vocabulary; }
  /// The best `most_top` of them, after a step with StepTail::top_logits.
  Buffer top_logits() const { return top_logits_; }
  /// The router's choice of a layer in the last step, for tests.
  Buffer routes(uint32_t layer) const { return layers_.at(layer).routes; }

 private:
  struct Layer {
    VectorRef attention_norm, mlp_norm, attention_post_norm, mlp_post_norm, q_norm, k_norm;
    WeightRef q, k, v, o;
    VectorRef q_bias, k_bias, v_bias, o_bias, sinks;
    RopeRef rope;
    WeightRef router, gate, up, down;
    VectorRef router_bias, gate_bias, up_bias, down_bias;
    VectorRef places;  // of experts, where only some are here
    Buffer routes, here, hidden;  // here: the routes by the numbers that experts have in the weights
  };

  void add_buffers(const TransformerLimits& limits);
  Layer bind(size_t i, const LayerWeights& weights, uint32_t rows);
  void bind_attention(Layer& layer, const AttentionSpec& spec, const LayerWeights& weights);
  void bind_mlp(Layer& layer, size_t i, const LayerWeights& weights, uint32_t rows);
  RopeRef bind_rope(const RopeSpec& spec);
  Buffer hidden_buffer(uint32_t width, uint32_t rows);
  void begin(OpList& ops) const;
  void end(OpList& ops) const;
  void attention(OpList& ops, size_t index, bool kv_only) const;
  void mlp(OpList& ops, size_t index) const;
  void choose(OpList& ops, size_t index) const;
  void inner(OpList& ops, size_t index) const;
  void outer(OpList& ops, size_t index) const;
  void elsewhere(OpList& ops, const LayerPart& layer) const;
  void serve(OpList& ops, size_t index) const;
  void clear_part(OpList& ops) const;
  void sum_parts(OpList& ops) const;

  float eps() const { return static_cast<float>(spec_.norm_eps); }

  const ModelSpec spec_;  // of the part
  const ModelPart part_;
  const size_t model_layers_;
  Backend& backend_;
  const uint64_t context_;
  std::vector<std::pair<RopeSpec, RopeRef>> ropes_;      // one table per distinct spec
  std::vector<std::pair<uint32_t, Buffer>> hidden_;      // one buffer per width of an MLP's inner activations
  std::vector<Layer> layers_;
  WeightRef embedding_, output_;
  VectorRef output_norm_;
  Buffer residual_, normed_, query_, attended_, selected_, final_, logits_, top_logits_;
};

}  // namespace hearth
