// Implements the sizing of a load. The activations are counted by a backend that only adds up what a Transformer asks of it.
#include "engine/memory_plan.h"

#include <algorithm>

#include "backend/kv_pool.h"
#include "hearth/probe.h"
#include "model/division.h"
#include "model/model_file.h"
#include "model/transformer.h"

namespace hearth {
namespace {

constexpr uint32_t most_drafts = 16;  // speculative rows of a step
constexpr uint64_t logits_bytes = uint64_t(32) << 20;  // what a step's logits may take

/// Takes a transformer's buffers and keeps nothing but their sizes.
class CountingBackend final : public Backend {
 public:
  uint64_t float_bytes = 0, widest = 0;

  std::string name() const override { return "counting"; }
  Precision precision() const override { return Precision::fast; }
  KvType kv_type() const override { return KvType::f16; }
  void set_comm(Comm*) override {}
  WeightRef add_weight(const Matrix&) override { return {0}; }
  VectorRef add_vector(const Vector&) override { return {0}; }
  RopeRef add_rope(const RopeTable&) override { return {0}; }
  Buffer add_buffer(std::string_view, uint32_t cols, uint32_t max_rows) override {
    float_bytes += uint64_t(cols) * max_rows * sizeof(float);
    widest = std::max(widest, uint64_t(cols) * max_rows * sizeof(float));
    return {0};
  }
  Buffer add_routes(uint32_t k, uint32_t max_rows) override {
    float_bytes += uint64_t(k) * max_rows * (sizeof(float) + sizeof(int32_t));
    return {0};
  }
  uint64_t kv_block_bytes(const KvShape& shape) const override { return KvPool::block_bytes(shape, KvType::f16); }
  void set_kv_shape(const KvShape&) override {}
  void resize_kv(uint32_t) override {}
  void read_kv_block(uint32_t, std::byte*) override { refuse(); }
  void write_kv_block(uint32_t, const std::byte*) override { refuse(); }
  std::unique_ptr<Ticket> submit(const OpList&, const StepInputs&, const std::atomic<bool>*) override { refuse(); }
  void read(Buffer, uint32_t, uint32_t, float*) override { refuse(); }
  void read_routes(Buffer, uint32_t, int32_t*, float*) override { refuse(); }
  uint64_t scratch_bytes() const override { return float_bytes; }

 private:
  [[noreturn]] static void refuse() { throw Error(ErrorCode::internal, "A backend that only counts was asked to compute."); }
};

uint32_t most_experts_used(const ModelSpec& spec) {
  uint32_t most = 1;
  for (const LayerSpec& layer : spec.layers) {
    if (layer.mlp.kind == MlpKind::moe) most = std::max(most, layer.mlp.experts_used);
  }
  return most;
}

/// What a transformer of this part of the model asks of a backend.
CountingBackend count(const ModelSpec& spec, const ModelPart& part, TransformerLimits rows) {
  CountingBackend counted;
  ModelWeights none;
  none.layers.resize(spec.layers.size());
  const Transformer transformer(spec, none, part, counted, rows);
  return counted;
}

/// Of a device in a row that is not its first.
ModelPart behind_the_first(const ModelSpec& spec) {
  ModelPart part = whole_model(spec);
  part.embeds = part.ends = false;
  return part;
}

/// What a share of every layer tends to as it becomes small: what each device has however many there are.
ModelPart share_of_nothing(const ModelSpec& spec) {
  ModelPart part = whole_model(spec);
  part.kv_heads = part.vocabulary = {};
  for (LayerPart& layer : part.layers) layer.inner = {};
  return part;
}

uint32_t largest_block(const std::vector<TensorInfo>& tensors) {
  uint32_t largest = 1;
  for (const TensorInfo& tensor : tensors) {
    for (auto type = DType::f32; type <= DType::mxfp4_planes; type = DType(static_cast<uint8_t>(type) + 1)) {
      if (info(type).name == tensor.type) largest = std::max(largest, info(type).block);
    }
  }
  return largest;
}

/// Of the gap that is promised, what is planned; the rest is for what no prediction sees: another program, a page that is read.
constexpr double kept_for_streams = 0.85;

}  // namespace

SchedulerLimits scheduler_limits(const EngineOptions& options, const ModelSpec& spec) {
  SchedulerLimits limits;
  for (const LayerGroup& group : spec.groups) {
    limits.groups.push_back({kv_block_size, group.kind == AttentionKind::window ? group.window : 0});
  }
  limits.prefill_rows = std::clamp(options.prefill_chunk, 1u, 4096u);
  limits.max_sequences = std::clamp(options.max_sequences, 1u, 256u);
  const auto affordable = static_cast<uint32_t>(logits_bytes / (uint64_t(spec.vocabulary) * sizeof(float)));
  limits.output_rows = std::clamp(affordable, limits.max_sequences + 8, limits.max_sequences + limits.prefill_rows + 8);
  limits.draft_rows = options.prompt_lookup ? std::min(most_drafts, limits.output_rows - limits.max_sequences) : 0;
  limits.stream_gap = kept_for_streams * options.stream_gap_ms / 1000.0;
  return limits;
}

uint64_t cpu_scratch_bytes(const ModelSpec& spec, const SchedulerLimits& limits) {
  // Pages are taken when they are written: of the logits, a few rows.
  const CountingBackend counted = count(spec, whole_model(spec), {limits.prefill_rows, limits.max_sequences, spec.context});
  const uint64_t used = most_experts_used(spec);
  const uint64_t results = uint64_t(limits.prefill_rows) * used * spec.hidden * sizeof(float);
  // An int8 record has a byte a value and a half more for its scales and sums; tiles hold the widest buffer's once more.
  const auto records = [](uint64_t float_bytes) { return float_bytes / sizeof(float) * 3 / 2; };
  return counted.float_bytes + records(counted.float_bytes) + records(counted.widest) + results;
}

uint64_t device_scratch_bytes(const ModelSpec& model, const ModelPart& part, const SchedulerLimits& limits) {
  // Buffers are taken whole, those of the logits too.
  const uint32_t rows = limits.prefill_rows + limits.max_sequences + limits.draft_rows;
  const CountingBackend counted = count(model, part, {rows, limits.output_rows, model.context});
  const ModelSpec spec = cut_spec(model, part);
  uint64_t widest = 0, slots = 0;
  for (const LayerSpec& layer : spec.layers) {
    const uint64_t used = layer.mlp.kind == MlpKind::moe ? layer.mlp.experts_used : 1;
    widest = std::max(widest, used * layer.mlp.intermediate);
    slots = std::max(slots, layer.mlp.kind == MlpKind::moe ? layer.mlp.experts * (used * rows + 1) : 0);
  }
  const uint64_t parts = uint64_t(rows) * std::max<uint64_t>(most_experts_used(spec) * spec.hidden, widest);
  const uint64_t kv = 2ull * rows * spec.kv_heads * spec.head_dim, gate_and_up = 2 * uint64_t(rows) * widest;
  const uint64_t angles = uint64_t(rows) * spec.head_dim * 2;
  return counted.float_bytes + sizeof(float) * (parts + kv + gate_and_up + slots + angles);
}

MemoryPlan plan_memory(const EngineOptions& options) {
  OpenOptions open;
  open.weights = false;
  open.tokenizer = false;
  ModelFile file = open_model(options.model_path, open);
  const SchedulerLimits limits = scheduler_limits(options, file.spec);
  const KvShape shape = Transformer::kv_shape(file.spec, kv_block_size);
  MemoryPlan plan;
  plan.weight_bytes = file.info.file_bytes;
  plan.scratch_bytes = cpu_scratch_bytes(file.spec, limits);
  plan.device_scratch_bytes = device_scratch_bytes(file.spec, whole_model(file.spec), limits);
  plan.row_scratch_bytes = device_scratch_bytes(file.spec, behind_the_first(file.spec), limits);
  plan.share_scratch_bytes = device_scratch_bytes(file.spec, share_of_nothing(file.spec), limits);
  for (const LayerSpec& layer : file.spec.layers) plan.layer_groups.push_back(layer.attention.group);
  plan.block_tokens = kv_block_size;
  plan.prefill_rows = limits.prefill_rows;
  for (const GroupReach& group : limits.groups) plan.windows.push_back(group.window);
  plan.block_bytes_f16 = KvPool::block_bytes(shape, KvType::f16);
  plan.block_bytes_q8 = KvPool::block_bytes(shape, KvType::q8);
  plan.most_shares = most_shares(file.spec, largest_block(file.tensors));
  plan.model = std::move(file.info);
  plan.tensors = std::move(file.tensors);
  return plan;
}

}  // namespace hearth
