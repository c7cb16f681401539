// Implements the sampler. Only what the settings ask for is computed: no sort of the whole vocabulary anywhere.
#include "engine/sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/draw.h"
#include "engine/fast_math.h"
#include "engine/philox.h"
#include "hearth/error.h"

namespace hearth {
namespace {

constexpr float minus_infinity = -std::numeric_limits<float>::infinity();
constexpr float largest_float = std::numeric_limits<float>::max();

/// The largest logit; every logit is checked.
float checked_max(const float* logits, uint32_t vocabulary) {
  if (!all_finite(logits, vocabulary)) {
    throw Error(ErrorCode::numeric_error, "The model produced a value that is not a number.");
  }
  return max_in_lanes(logits, vocabulary);
}

bool has_penalties(const Sampling& s) {
  return s.repetition_penalty != 1.0f || s.frequency_penalty != 0.0f || s.presence_penalty != 0.0f;
}

void apply_penalties(const Sampling& s, const SeenTokens& seen, std::vector<float>& values) {
  for (const auto& [token, count] : seen.output_counts()) {
    if (token < 0 || static_cast<size_t>(token) >= values.size()) continue;
    float& value = values[token];
    value = value > 0.0f ? value / s.repetition_penalty : value * s.repetition_penalty;
    if (count > 0) value -= s.frequency_penalty * static_cast<float>(count) + s.presence_penalty;
  }
}

void forbid(const SampleInput& input, std::vector<float>& values) {
  if (input.banned) {
    for (TokenId token : *input.banned) {
      if (token >= 0 && static_cast<size_t>(token) < values.size()) values[token] = minus_infinity;
    }
  }
  if (!input.mask || input.mask->empty()) return;
  const std::vector<uint32_t>& mask = *input.mask;
  for (uint32_t t = 0; t < input.vocabulary; ++t) {
    const bool allowed = t / 32 < mask.size() && (mask[t / 32] >> (t % 32) & 1u);
    if (!allowed) values[t] = minus_infinity;
  }
}

/// Raw logits to adjusted ones: everything that comes before temperature.
void adjust(const SampleInput& input, std::vector<float>& values) {
  values.assign(input.logits, input.logits + input.vocabulary);
  if (input.seen && has_penalties(*input.sampling)) apply_penalties(*input.sampling, *input.seen, values);
  for (const auto& [token, bias] : input.sampling->logit_bias) {
    if (token >= 0 && static_cast<uint32_t>(token) < input.vocabulary) values[token] += bias;
  }
  // Extreme settings may have left the range of a float: an infinity would make every weight a NaN.
  const bool adjusted = has_penalties(*input.sampling) || !input.sampling->logit_bias.empty();
  if (adjusted) for (float& value : values) value = std::clamp(value, -largest_float, largest_float);
  forbid(input, values);
}

/// The first of the largest values. Throws when all are forbidden.
uint32_t argmax(const std::vector<float>& values) {
  const float largest = max_in_lanes(values.data(), values.size());
  if (largest == minus_infinity) {
    throw Error(ErrorCode::invalid_request, "The mask and the banned tokens leave no token to choose from.");
  }
  return static_cast<uint32_t>(std::find(values.begin(), values.end(), largest) - values.begin());
}

/// The k most likely tokens in the order of their ids. A heap whose least is in front: few tokens get past it.
void keep_top_k(const std::vector<float>& values, uint32_t k, std::vector<uint32_t>& candidates) {
  const MoreLikely order{values.data()};
  candidates.clear();
  float least = minus_infinity;
  for (uint32_t t = 0; t < values.size(); ++t) {
    if (!(values[t] > least)) continue;  // equals of the least came later, so they lose; so does what is forbidden
    if (candidates.size() == k) {
      std::pop_heap(candidates.begin(), candidates.end(), order);
      candidates.pop_back();
    }
    candidates.push_back(t);
    std::push_heap(candidates.begin(), candidates.end(), order);
    if (candidates.size() == k) least = values[candidates.front()];
  }
  std::sort(candidates.begin(), candidates.end());
}

/// Which tokens remain after top-k, top-p and min-p; `weights` beside them, relative to the most likely one's 1.
void filter(const Sampling& s, float largest, SamplerScratch& scratch) {
  const std::vector<float>& all = scratch.all_weights;
  std::vector<uint32_t>& candidates = scratch.candidates;
  double total = 0.0;
  if (s.top_k > 0 && s.top_k < all.size()) {
    keep_top_k(scratch.values, s.top_k, candidates);
    for (uint32_t t : candidates) total += all[t];
  } else {
    total = sum_in_lanes(all.data(), all.size());
    // Tokens below this line could not hold the rest of the probability were they all: none is among the top p.
    const auto line = static_cast<float>(0.5 * (1.0 - s.top_p) * total / double(all.size()));
    candidates.clear();
    for (uint32_t t = 0; t < all.size(); ++t) {
      if (all[t] > 0.0f && all[t] >= line) candidates.push_back(t);
    }
  }
  if (s.top_p < 1.0f) keep_top_p(scratch, s.top_p * total, 1.0f / s.temperature, largest);
  keep_min_p(scratch, s.min_p);
}

/// From adjusted values to a token, by chance.
uint32_t draw_token(const Sampling& s, uint64_t position, float largest, SamplerScratch& scratch) {
  const float scale = 1.0f / s.temperature;
  scratch.all_weights.resize(scratch.values.size());
  const float* values = scratch.values.data();
  float* weights = scratch.all_weights.data();
  for (size_t t = 0; t < scratch.values.size(); ++t) weights[t] = exp_of_negative((values[t] - largest) * scale);
  const double uniform = uniform_at(s.seed, position);
  if (s.top_k == 0 && s.top_p >= 1.0f && s.min_p <= 0.0f) return static_cast<uint32_t>(draw(scratch.all_weights, uniform));
  filter(s, largest, scratch);
  return scratch.candidates[draw(scratch.weights, uniform)];
}

/// log of the sum of exp(logit - largest).
double log_normaliser(const float* logits, uint32_t vocabulary, float largest) {
  constexpr uint32_t block = 512;
  float weights[block];
  double total = 0.0;
  for (uint32_t begin = 0; begin < vocabulary; begin += block) {
    const uint32_t count = std::min(block, vocabulary - begin);
    for (uint32_t i = 0; i < count; ++i) weights[i] = exp_of_negative(logits[begin + i] - largest);
    total += sum_in_lanes(weights, count);
  }
  return std::log(total);
}

Sampled scored(const float* logits, uint32_t vocabulary, float largest, TokenId token, uint32_t n) {
  const double normaliser = log_normaliser(logits, vocabulary, largest) + largest;
  Sampled result;
  result.token = token;
  result.logprob = static_cast<float>(logits[token] - normaliser);
  // A heap of the best n so far, the least of them in front.
  const MoreLikely order{logits};
  std::vector<uint32_t> best;
  for (uint32_t t = 0; n > 0 && t < vocabulary; ++t) {
    if (best.size() == n && !order(t, best.front())) continue;
    if (best.size() == n) {
      std::pop_heap(best.begin(), best.end(), order);
      best.pop_back();
    }
    best.push_back(t);
    std::push_heap(best.begin(), best.end(), order);
  }
  std::sort(best.begin(), best.end(), order);
  for (uint32_t t : best) result.top.push_back({static_cast<TokenId>(t), static_cast<float>(logits[t] - normaliser)});
  return result;
}

}  // namespace

Sampled sample(const SampleInput& input, SamplerScratch& scratch) {
  const Sampling& s = *input.sampling;
  const float largest_raw = checked_max(input.logits, input.vocabulary);
  adjust(input, scratch.values);
  uint32_t token = argmax(scratch.values);
  if (s.temperature >= least_temperature) {
    token = draw_token(s, input.position, scratch.values[token], scratch);
  }
  if (s.logprobs >= 0) {
    return scored(input.logits, input.vocabulary, largest_raw, static_cast<TokenId>(token), static_cast<uint32_t>(s.logprobs));
  }
  Sampled result;
  result.token = static_cast<TokenId>(token);
  return result;
}

Sampled score(const float* logits, uint32_t vocabulary, TokenId token, uint32_t n) {
  return scored(logits, vocabulary, checked_max(logits, vocabulary), token, n);
}

void validate(const Sampling& s, uint32_t vocabulary) {
  const auto check = [](bool fine, const char* what) {
    if (!fine) throw Error(ErrorCode::invalid_request, std::string(what));
  };
  check(std::isfinite(s.temperature) && s.temperature >= 0.0f, "temperature must be a number of at least 0.");
  check(s.top_p > 0.0f && s.top_p <= 1.0f, "top_p must be above 0 and at most 1.");
  check(s.min_p >= 0.0f && s.min_p <= 1.0f, "min_p must be between 0 and 1.");
  check(std::isfinite(s.repetition_penalty) && s.repetition_penalty > 0.0f, "repetition_penalty must be above 0.");
  check(std::isfinite(s.frequency_penalty), "frequency_penalty must be a number.");
  check(std::isfinite(s.presence_penalty), "presence_penalty must be a number.");
  check(s.logprobs >= -1 && s.logprobs <= 20, "logprobs must be at most 20.");
  for (const auto& [token, bias] : s.logit_bias) {
    check(token >= 0 && static_cast<uint32_t>(token) < vocabulary, "logit_bias names a token that the model does not have.");
    check(std::isfinite(bias), "logit_bias values must be numbers.");
  }
}

}  // namespace hearth
