// Implements the shares.
#include "model/division.h"

#include <algorithm>
#include <numeric>

#include "hearth/error.h"

namespace hearth {
namespace {

constexpr uint32_t column_group = 32;

uint32_t inner_group(const LayerWeights& layer) { return std::max(column_group, info(layer.down.type).block); }

/// KV heads that stay together, so that columns of the output projection are cut at whole blocks.
uint32_t heads_together(const ModelSpec& spec, uint32_t block) {
  return block / std::gcd(block, spec.heads / spec.kv_heads * spec.head_dim);
}

uint32_t heads_together(const ModelSpec& spec, const ModelWeights& weights) {
  uint32_t together = 1;
  for (const LayerWeights& layer : weights.layers) together = std::lcm(together, heads_together(spec, info(layer.o.type).block));
  return together;
}

[[noreturn]] void refuse(const std::string& why) { throw Error(ErrorCode::invalid_request, why); }

}  // namespace

std::vector<Range> share_out(uint32_t units, const std::vector<double>& weights) {
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  if (units < weights.size() || !(total > 0)) throw Error(ErrorCode::internal, "There is nothing for a rank to do.");
  std::vector<uint32_t> counts(weights.size(), 1);
  std::vector<double> lack;  // of what a rank should have
  for (double weight : weights) lack.push_back(units * weight / total - 1);
  for (size_t given = counts.size(); given < units; ++given) {
    const auto most = std::max_element(lack.begin(), lack.end(), [](double a, double b) { return a < b - 1e-9; });
    ++counts[static_cast<size_t>(most - lack.begin())];
    *most -= 1;
  }
  std::vector<Range> ranges;
  for (uint32_t at = 0; uint32_t count : counts) {
    ranges.push_back({at, at + count});
    at += count;
  }
  return ranges;
}

std::string why_not_divided(const ModelSpec& spec, const ModelWeights& weights, size_t ranks) {
  const std::string many = std::to_string(ranks) + " devices";
  const uint32_t together = heads_together(spec, weights);
  if (spec.kv_heads % together != 0 || spec.kv_heads / together < ranks) return "The attention heads of this model cannot be shared out over " + many + ".";
  for (size_t i = 0; i < spec.layers.size(); ++i) {
    if (spec.layers[i].post_norms) return "This model norms what its layers add, so a layer cannot be shared out over " + many + ".";
    const uint32_t group = inner_group(weights.layers.at(i));
    if ((spec.layers[i].mlp.intermediate + group - 1) / group < ranks) return "The layers of this model are too narrow to be shared out over " + many + ".";
  }
  if (spec.vocabulary < ranks) return "This model has too few tokens to be shared out over " + many + ".";
  return "";
}

uint32_t most_shares(const ModelSpec& spec, uint32_t block) {
  const uint32_t together = heads_together(spec, block);
  uint32_t most = spec.kv_heads % together == 0 ? spec.kv_heads / together : 0;
  for (const LayerSpec& layer : spec.layers) most = layer.post_norms ? 0 : std::min(most, layer.mlp.intermediate / std::max(column_group, block));
  return most;
}

std::vector<ModelPart> divide(const ModelSpec& spec, const ModelWeights& weights, const std::vector<double>& shares) {
  if (const std::string why = why_not_divided(spec, weights, shares.size()); !why.empty()) refuse(why);
  const uint32_t together = heads_together(spec, weights);
  const std::vector<Range> heads = share_out(spec.kv_heads / together, shares), rows = share_out(spec.vocabulary, shares);
  std::vector<ModelPart> parts(shares.size(), whole_model(spec));
  for (size_t r = 0; r < parts.size(); ++r) {
    parts[r].kv_heads = {heads[r].first * together, heads[r].last * together};
    parts[r].vocabulary = rows[r];
    parts[r].divided = true, parts[r].keeps = parts[r].embeds = r == 0;
  }
  for (size_t i = 0; i < spec.layers.size(); ++i) {
    const uint32_t inner = spec.layers[i].mlp.intermediate, group = inner_group(weights.layers[i]);
    const std::vector<Range> columns = share_out((inner + group - 1) / group, shares);
    for (size_t r = 0; r < parts.size(); ++r) {
      parts[r].layers[i].inner = {columns[r].first * group, std::min(inner, columns[r].last * group)};
    }
  }
  return parts;
}

std::vector<ModelPart> in_a_row(const ModelSpec& spec, const std::vector<uint32_t>& layers) {
  const ModelPart whole = whole_model(spec);
  if (std::accumulate(layers.begin(), layers.end(), size_t(0)) != whole.layers.size() || std::ranges::find(layers, 0u) != layers.end()) {
    refuse("The layers that devices are given are not those that the model has: " + std::to_string(whole.layers.size()) + ".");
  }
  std::vector<ModelPart> parts(layers.size(), whole);
  auto at = whole.layers.begin();
  for (uint32_t r = 0; r < parts.size(); ++r) {
    parts[r].layers.assign(at, at + layers[r]);
    at += layers[r];
    parts[r].embeds = parts[r].ends = r == 0;
    if (r > 0) parts[r].before = r - 1;
    if (r + 1 < parts.size()) parts[r].after = r + 1;
  }
  if (parts.size() > 1) parts.front().output_from = static_cast<uint32_t>(parts.size() - 1), parts.back().output_to = 0;
  return parts;
}

namespace {

/// The experts that a plan names, in order; none where these are all that the layer has.
std::optional<std::vector<uint32_t>> named_experts(const ServedExperts& served, const MlpSpec& mlp) {
  if (!served.experts) return std::nullopt;
  std::vector<uint32_t> experts = *served.experts;
  std::ranges::sort(experts);
  const bool are_there = mlp.kind == MlpKind::moe && !experts.empty() && experts.back() < mlp.experts;
  if (!are_there || std::ranges::adjacent_find(experts) != experts.end()) {
    refuse("An expert of layer " + std::to_string(served.layer) + " was named twice, or the layer does not have it.");
  }
  return experts.size() == mlp.experts ? std::nullopt : std::optional(experts);
}

std::vector<uint32_t> other_experts(uint32_t count, const std::vector<uint32_t>& experts) {
  std::vector<uint32_t> others;
  for (uint32_t e = 0; e < count; ++e) {
    if (!std::ranges::binary_search(experts, e)) others.push_back(e);
  }
  return others;
}

}  // namespace

void serve_experts(const ModelSpec& spec, const std::vector<ServedExperts>& served, std::vector<ModelPart>& parts) {
  const auto server = static_cast<uint32_t>(parts.size());
  ModelPart serving;
  serving.embeds = serving.ends = false;
  for (uint32_t r = 0; r < server; ++r) {
    for (LayerPart& layer : parts[r].layers) {
      const auto asked = std::ranges::find(served, layer.layer, &ServedExperts::layer);
      if (asked == served.end()) continue;
      const LayerSpec& whole = spec.layers.at(layer.layer);
      if (whole.post_norms) refuse("This model norms what its layers add, so its layers are not taken apart.");
      const auto experts = named_experts(*asked, whole.mlp);
      serving.layers.push_back({layer.layer, false, true, r, layer.inner, experts});
      layer.mlp = experts.has_value(), layer.partner = server;
      if (experts) layer.experts = other_experts(whole.mlp.experts, *experts);
    }
  }
  if (serving.layers.size() != served.size()) refuse("A layer was named twice, or the model does not have it.");
  parts.push_back(std::move(serving));
}

}  // namespace hearth
