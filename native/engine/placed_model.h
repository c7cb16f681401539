// A model on its device or devices: which part each rank has, their backends, and the whole as one StepDevice with its op lists. It runs
// nothing; where a model should go is decided outside the engine.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/step_runner.h"
#include "hearth/engine.h"
#include "mesh/mesh.h"
#include "model/transformer.h"

namespace hearth {

struct PlannedRank {
  RankOptions options;
  ModelPart part;
};

/// Who has what; of the machine only its cores are asked for. One rank with the whole model where the options name no others. Throws
/// Error{invalid_request} where it cannot be.
std::vector<PlannedRank> plan_ranks(const EngineOptions& options, const ModelSpec& spec, const ModelWeights& weights);

class PlacedModel {
 public:
  /// Opens the devices. `file` must outlive this object.
  PlacedModel(const EngineOptions& options, const ModelFile& file, uint32_t block_size);

  uint64_t kv_block_bytes() const;
  /// Bytes of a block as it is copied out.
  uint64_t kv_copy_bytes() const;
  /// What is written is computed elsewhere than what is read: of its keys and values, those of another text are not the same.
  bool writes_elsewhere() const { return hands_over_; }
  /// Bytes that KV may take, where the least of the ranks' memories bounds it.
  uint64_t kv_memory_free() const;
  /// What the bytes of a block depend on, besides the device's name: the shapes of the parts.
  std::string layout() const;

  /// Hands the weights to the devices, and sets the shape of KV.
  void load(TransformerLimits limits, const Transformer::Progress& progress);

  StepDevice& device() { return mesh_ ? static_cast<StepDevice&>(*mesh_) : *ranks_[0].backend; }
  const StepDevice& device() const { return const_cast<PlacedModel*>(this)->device(); }
  /// After load().
  StepLists lists() const;
  ExpertUses expert_uses() const { return counts_.read(); }
  /// While no step runs.
  void forget_uses() { counts_.clear(); }

 private:
  OpList record(StepTail tail) const;

  struct Rank {
    ModelPart part;
    KvShape kv;
    std::unique_ptr<Backend> owned;  // until a mesh takes it
    Backend* backend = nullptr;
    std::unique_ptr<Transformer> transformer;
  };

  const ModelFile& file_;
  RouteCounts counts_;  // backends write there to their end
  std::vector<Rank> ranks_;
  bool hands_over_ = false;
  std::unique_ptr<Mesh> mesh_;  // none where there is one rank
  Buffer logits_, top_logits_;
  std::vector<uint32_t> shares_;  // of the vocabulary, by the ranks that have some
};

}  // namespace hearth
