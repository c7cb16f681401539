// Sampling from what TopLogits leaves of a row: the token that the whole row would give, or nothing where the shortlist does not prove which
// that is. Pure, like the sampler of whole rows; it never guesses, and it scores nothing.
#pragma once

#include <optional>

#include "backend/top_logits.h"
#include "engine/sampler.h"

namespace hearth {

/// Settings for which no shortlist is enough: values that are raised or lowered by what the text has, a mask, logprobs (their sum shall not
/// depend on the device), or more candidates than a shortlist has.
bool wants_whole_row(const Sampling& sampling, uint32_t listed);

/// What sample() of the whole row would return, for the same input; input.logits is not looked at.
std::optional<Sampled> sample_shortlist(const Shortlist& list, const SampleInput& input, SamplerScratch& scratch);

}  // namespace hearth
