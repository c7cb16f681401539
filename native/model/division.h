// How a model is shared out over ranks: pure functions from its shapes and the ranks' weights to their parts. They know no devices.
#pragma once

#include <string>
#include <vector>

#include "hearth/engine.h"
#include "model/part.h"

namespace hearth {

/// `units` cut into one stretch for each weight, as near to their proportions as whole units are, none empty; ragged ones are the first.
/// There must be a unit for each.
std::vector<Range> share_out(uint32_t units, const std::vector<double>& weights);

/// Why these weights cannot be divided by heads and columns over so many ranks, as a sentence; empty: they can.
std::string why_not_divided(const ModelSpec& spec, const ModelWeights& weights, size_t ranks);

/// At least into so many shares a model can be divided, none of whose weights has blocks larger than `block`; 0 or 1: not at all.
uint32_t most_shares(const ModelSpec& spec, uint32_t block);

/// Tensor parallel: every layer on every rank, by KV heads, groups of 32 inner columns (or a block, where that is larger) and rows of the
/// vocabulary. Throws Error{invalid_request} with why_not_divided().
std::vector<ModelPart> divide(const ModelSpec& spec, const ModelWeights& weights, const std::vector<double>& shares);

/// Whole layers in a row, `layers[r]` of them on rank r: the sum is the model's.
std::vector<ModelPart> in_a_row(const ModelSpec& spec, const std::vector<uint32_t>& layers);

/// Moves the MLPs of the layers in `served`, or the experts that they name, from those who have them to one more rank behind the others. Not
/// of divided parts. Throws Error{invalid_request} where a layer does not have what is named.
void serve_experts(const ModelSpec& spec, const std::vector<ServedExperts>& served, std::vector<ModelPart>& parts);

}  // namespace hearth
