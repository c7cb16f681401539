// The end of sampling: of candidates with weights those that together are likely enough, and one of them by chance. Shared by the sampler of
// whole rows and that of shortlists, so that both do the same arithmetic and give the same token.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/sampler.h"

namespace hearth {

/// Below it the division overflows; the most likely token is what the limit gives.
inline constexpr float least_temperature = 1e-6f;

/// Orders token ids by (value descending, id ascending): one order, whatever the algorithm that uses it.
struct MoreLikely {
  const float* values;
  bool operator()(uint32_t a, uint32_t b) const { return values[a] != values[b] ? values[a] > values[b] : a < b; }
};

// Of a scratch they use `candidates`, in the order of their ids, and `values` and `all_weights` at these tokens alone.

/// Keeps the most likely tokens that together hold `wanted` of the weight; the token that crosses the line stays.
void keep_top_p(SamplerScratch& scratch, double wanted, float scale, float largest);
/// Keeps those of at least this weight, and puts their weights beside them.
void keep_min_p(SamplerScratch& scratch, float min_p);
/// The index where the running sum of weights passes `uniform` of their total.
size_t draw(const std::vector<float>& weights, double uniform);

}  // namespace hearth
