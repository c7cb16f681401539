// Implements the placing of a model.
#include "engine/placed_model.h"

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "backend/top_logits.h"
#include "backend/vulkan/vulkan.h"
#include "engine/devices.h"
#include "hearth/error.h"
#include "model/division.h"

namespace hearth {
namespace {

std::unique_ptr<Backend> make_backend(const EngineOptions& options, const RankOptions& rank) {
  const bool full = options.kv_type == KvType::automatic || options.kv_type == KvType::f32;
  if (options.precision == Precision::exact && !full) {
    throw Error(ErrorCode::invalid_request, "Exact precision keeps keys and values in float32. Leave their type out, or use fast precision.");
  }
  if (rank.device == "reference") return make_reference_backend(options.kv_type);
  if (rank.device == "cpu") return make_cpu_backend({options.precision, rank.threads, "", options.kv_type});
  if (rank.device.rfind("vulkan", 0) == 0) {
    VulkanOptions vulkan;
    vulkan.device = rank.device, vulkan.precision = options.precision, vulkan.kv_type = options.kv_type;
    vulkan.cache_folder = options.kernel_cache_path;
    const char* folder = std::getenv("HEARTH_VULKAN_CACHE");
    if (vulkan.cache_folder.empty() && folder) vulkan.cache_folder = folder;
    return make_vulkan_backend(vulkan);
  }
  throw Error(ErrorCode::invalid_request, "There is no device '" + rank.device + "'.");
}

std::vector<double> shares_of(const std::vector<RankOptions>& ranks) {
  std::vector<double> shares;
  for (const RankOptions& rank : ranks) {
    if (!(rank.share > 0)) throw Error(ErrorCode::invalid_request, "The share of a device must be more than nothing.");
    shares.push_back(rank.share);
  }
  return shares;
}

std::vector<ModelPart> row_of(const std::vector<RankOptions>& ranks, const ModelSpec& spec) {
  std::vector<uint32_t> layers;
  if (std::ranges::any_of(ranks, [](const RankOptions& rank) { return rank.layers > 0; })) {
    for (const RankOptions& rank : ranks) layers.push_back(rank.layers);
  } else {
    if (spec.layers.size() < ranks.size()) throw Error(ErrorCode::invalid_request, "There are more devices than layers.");
    for (Range range : share_out(static_cast<uint32_t>(spec.layers.size()), shares_of(ranks))) layers.push_back(range.count());
  }
  return in_a_row(spec, layers);
}

/// Devices that round differently may choose other experts where two are equally good.
bool of_one_kind(const std::vector<RankOptions>& ranks) {
  return std::ranges::all_of(ranks, [&](const RankOptions& rank) { return rank.device == ranks[0].device; });
}

std::vector<ModelPart> parts_of(const EngineOptions& options, const ModelSpec& spec, const ModelWeights& weights) {
  if (options.ranks.empty()) return {whole_model(spec)};
  std::vector<ModelPart> parts;
  if (options.split == RankSplit::handover) {
    if (options.ranks.size() != 2) throw Error(ErrorCode::invalid_request, "A prompt is handed over from one device to one other.");
    return {whole_model(spec), whole_model(spec)};
  }
  if (options.split == RankSplit::tensor && options.ranks.size() > 1) {
    parts = divide(spec, weights, shares_of(options.ranks));
    for (ModelPart& part : parts) part.share_routes = !of_one_kind(options.ranks);
  } else {
    parts = row_of(options.ranks, spec);
  }
  return parts;
}

/// Ranks of one processor that work at the same time share its cores, or the `threads` that were asked for; those in a row have them in turn.
void share_cores(std::vector<PlannedRank>& ranks, uint32_t threads) {
  const auto computes = [](const PlannedRank& rank) { return rank.options.device == "cpu"; };
  const auto count = static_cast<uint32_t>(std::ranges::count_if(ranks, computes));
  if (count > 1 && ranks[0].part.divided) threads = std::max(1u, (threads > 0 ? threads : this_cpu().cores) / count);
  for (PlannedRank& rank : ranks) {
    if (rank.options.threads == 0) rank.options.threads = threads;
  }
}

uint32_t most_experts(const ModelSpec& spec) {
  uint32_t most = 0;
  for (const LayerSpec& layer : spec.layers) most = std::max(most, layer.mlp.kind == MlpKind::moe ? layer.mlp.experts : 0);
  return most;
}

/// A rank's part in words: sums that are made of other parts round differently.
std::string described(const ModelPart& part) {
  std::string text = std::to_string(part.kv_heads.count());
  for (const LayerPart& layer : part.layers) {
    text += ' ' + std::to_string(layer.layer) + (layer.attention ? "a" : "");
    if (layer.mlp) text += 'm' + std::to_string(layer.inner.count());
    for (uint32_t expert : layer.experts.value_or(std::vector<uint32_t>{})) text += ':' + std::to_string(expert);
  }
  return text;
}

}  // namespace

std::vector<PlannedRank> plan_ranks(const EngineOptions& options, const ModelSpec& spec, const ModelWeights& weights) {
  std::vector<ModelPart> parts = parts_of(options, spec, weights);
  std::vector<RankOptions> devices = options.ranks;
  if (devices.empty()) devices.push_back({options.device});
  if (!options.served.empty()) {
    if (options.split == RankSplit::handover) throw Error(ErrorCode::invalid_request, "Where prompts are handed over, nothing is served by the processor.");
    if (parts[0].divided) throw Error(ErrorCode::invalid_request, "Layers that are shared out over devices are not served by the processor, too.");
    serve_experts(spec, options.served, parts);
    devices.push_back({"cpu"});
  }
  std::vector<PlannedRank> ranks;
  for (size_t r = 0; r < parts.size(); ++r) {
    ranks.push_back({devices[r], std::move(parts[r])});
  }
  share_cores(ranks, options.threads);
  return ranks;
}

PlacedModel::PlacedModel(const EngineOptions& options, const ModelFile& file, uint32_t block_size)
    : file_(file), counts_(static_cast<uint32_t>(file.spec.layers.size()), most_experts(file.spec)) {
  std::vector<PlannedRank> plan = plan_ranks(options, file.spec, file.weights);
  for (PlannedRank& planned : plan) {
    Rank rank;
    rank.kv = Transformer::kv_shape(cut_spec(file.spec, planned.part), block_size);
    rank.part = std::move(planned.part);
    rank.owned = make_backend(options, planned.options);
    rank.backend = rank.owned.get();
    if (rank.part.keeps) rank.backend->set_route_counts(&counts_);  // ranks that share a layer choose alike: one of them counts
    ranks_.push_back(std::move(rank));
  }
  if (ranks_.size() == 1) return;
  std::vector<MeshRank> together;
  for (Rank& rank : ranks_) together.push_back({std::move(rank.owned), rank.kv});
  hands_over_ = options.split == RankSplit::handover;
  mesh_ = hands_over_ ? make_handover(std::move(together[0]), std::move(together[1])) : make_mesh(std::move(together));
}

uint64_t PlacedModel::kv_block_bytes() const { return mesh_ ? mesh_->kv_block_bytes() : ranks_[0].backend->kv_block_bytes(ranks_[0].kv); }

uint64_t PlacedModel::kv_copy_bytes() const { return mesh_ ? mesh_->kv_copy_bytes() : kv_block_bytes(); }

uint64_t PlacedModel::kv_memory_free() const {
  const uint64_t machine = this_cpu().memory_free;
  uint64_t host_bytes = 0;  // of a block, on all ranks that have the machine's memory
  for (const Rank& rank : ranks_) host_bytes += rank.backend->memory_free() ? 0 : rank.backend->kv_block_bytes(rank.kv);
  uint64_t blocks = host_bytes > 0 ? machine / host_bytes : std::numeric_limits<uint64_t>::max();
  for (const Rank& rank : ranks_) {
    const uint64_t bytes = rank.backend->kv_block_bytes(rank.kv);
    if (const auto free = rank.backend->memory_free(); free && bytes > 0) blocks = std::min(blocks, *free / bytes);
  }
  return blocks * kv_block_bytes();
}

std::string PlacedModel::layout() const {
  if (!mesh_) return "";
  std::string text;
  for (const Rank& rank : ranks_) text += " [" + described(rank.part) + ']';
  return text;
}

void PlacedModel::load(TransformerLimits limits, const Transformer::Progress& progress) {
  std::vector<JoinedPart> logits, top;
  for (size_t r = 0; r < ranks_.size(); ++r) {
    Rank& rank = ranks_[r];
    const auto part = [&](double of_rank) { progress((double(r) + of_rank) / double(ranks_.size())); };
    rank.transformer = std::make_unique<Transformer>(file_.spec, file_.weights, rank.part, *rank.backend, limits, part);
    if (!rank.part.ends) continue;
    const uint32_t cols = rank.transformer->logits_cols(), id = static_cast<uint32_t>(r);
    logits.push_back({id, rank.transformer->logits(), cols});
    top.push_back({id, rank.transformer->top_logits(), TopLayout{cols, most_top}.cols()});
    if (!hands_over_ || shares_.empty()) shares_.push_back(cols);  // there a row comes from the one or the other
  }
  if (!mesh_) ranks_[0].backend->set_kv_shape(ranks_[0].kv);
  if (mesh_ && ranks_[0].part.divided) mesh_->plan_sums(uint64_t(limits.rows) * file_.spec.hidden * sizeof(float));
  const bool in_a_row = std::ranges::any_of(ranks_, [](const Rank& rank) { return rank.part.after.has_value(); });
  if (in_a_row || hands_over_) mesh_->pipeline(record(StepTail::kv_only));
  logits_ = mesh_ ? mesh_->join(std::move(logits)) : logits[0].buffer;
  top_logits_ = mesh_ ? mesh_->join(std::move(top)) : top[0].buffer;
}

StepLists PlacedModel::lists() const {
  return {record(StepTail::logits), record(StepTail::kv_only), logits_, record(StepTail::top_logits), top_logits_, shares_};
}

OpList PlacedModel::record(StepTail tail) const {
  OpList list;
  for (size_t r = 0; r < ranks_.size(); ++r) {
    if (mesh_) list.push_back(OnRank{static_cast<uint32_t>(r)});
    const OpList ops = ranks_[r].transformer->record(tail);
    list.insert(list.end(), ops.begin(), ops.end());
  }
  return list;
}

}  // namespace hearth
