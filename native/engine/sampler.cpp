// Implements the sampler. Only what the settings ask for is computed: no sort of the whole vocabulary anywhere.
#include "engine/sampler.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "engine/philox.h"
#include "hearth/error.h"

namespace hearth {
namespace {

/// Below it the division overflows; the most likely token is what the limit gives.
constexpr float least_temperature = 1e-6f;
constexpr float minus_infinity = -std::numeric_limits<float>::infinity();

/// The largest logit; every logit is checked on the way.
float checked_max(const float* logits, uint32_t vocabulary) {
  float largest = minus_infinity;
  // A sum of products with zero is NaN as soon as one logit is NaN or infinite, and vectorises.
  float poison = 0.0f;
  for (uint32_t t = 0; t < vocabulary; ++t) {
    poison += logits[t] * 0.0f;
    largest = std::max(largest, logits[t]);
  }
  if (!(poison == 0.0f)) throw Error(ErrorCode::numeric_error, "The model produced a value that is not a number.");
  return largest;
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
  forbid(input, values);
}

/// The first of the largest values. Throws when all are forbidden.
uint32_t argmax(const std::vector<float>& values) {
  const auto best = std::max_element(values.begin(), values.end());
  if (*best == minus_infinity) {
    throw Error(ErrorCode::invalid_request, "The mask and the banned tokens leave no token to choose from.");
  }
  return static_cast<uint32_t>(best - values.begin());
}

/// Orders token ids by (value descending, id ascending): one order, whatever the algorithm that uses it.
struct MoreLikely {
  const float* values;
  bool operator()(uint32_t a, uint32_t b) const {
    return values[a] != values[b] ? values[a] > values[b] : a < b;
  }
};

/// How far below the most likely token a value is, in nats, as a bucket of one eighth; the last bucket is the rest.
constexpr size_t buckets = 256;
size_t bucket_of(float value, float largest, float scale) {
  return static_cast<size_t>(std::min((largest - value) * scale * 8.0f, float(buckets - 1)));
}

/// Keeps the most likely tokens that together hold `top_p` of the probability; the token that crosses the line stays.
/// Whole buckets are summed first, so that only the tokens of the bucket with the line in it are ever sorted.
void keep_top_p(std::vector<uint32_t>& candidates, const std::vector<float>& values, double top_p, float scale, float largest) {
  const auto weight = [&](uint32_t t) { return std::exp((values[t] - largest) * scale); };
  std::array<double, buckets> mass{};
  for (uint32_t t : candidates) mass[bucket_of(values[t], largest, scale)] += weight(t);
  const double wanted = top_p * std::accumulate(mass.begin(), mass.end(), 0.0);
  double sum = 0.0;
  size_t line = 0;
  while (line + 1 < buckets && sum + mass[line] < wanted) sum += mass[line++];

  std::vector<uint32_t> at_line;
  for (uint32_t t : candidates) {
    if (bucket_of(values[t], largest, scale) == line) at_line.push_back(t);
  }
  std::sort(at_line.begin(), at_line.end(), MoreLikely{values.data()});
  size_t kept = 0;
  while (kept < at_line.size() && sum < wanted) sum += weight(at_line[kept++]);
  at_line.resize(kept);

  std::sort(at_line.begin(), at_line.end());
  std::erase_if(candidates, [&](uint32_t t) {
    const size_t bucket = bucket_of(values[t], largest, scale);
    return bucket > line || (bucket == line && !std::binary_search(at_line.begin(), at_line.end(), t));
  });
}

/// Which tokens remain after top-k, top-p and min-p; `weights` beside them, relative to the most likely one's 1.
void filter(const Sampling& s, float largest, SamplerScratch& scratch) {
  const std::vector<float>& values = scratch.values;
  std::vector<uint32_t>& candidates = scratch.candidates;
  const float scale = 1.0f / s.temperature;
  candidates.clear();
  for (uint32_t t = 0; t < values.size(); ++t) {
    if (values[t] > minus_infinity) candidates.push_back(t);
  }
  if (s.top_k > 0 && s.top_k < candidates.size()) {
    std::nth_element(candidates.begin(), candidates.begin() + s.top_k, candidates.end(), MoreLikely{values.data()});
    candidates.resize(s.top_k);
    std::sort(candidates.begin(), candidates.end());  // the order of what remains may not depend on the selection
  }
  if (s.top_p < 1.0f) keep_top_p(candidates, values, s.top_p, scale, largest);
  scratch.weights.clear();
  size_t kept = 0;
  for (uint32_t t : candidates) {
    const float weight = std::exp((values[t] - largest) * scale);
    if (weight < s.min_p) continue;
    candidates[kept++] = t;
    scratch.weights.push_back(weight);
  }
  candidates.resize(kept);
}

TokenId draw(const SamplerScratch& scratch, double uniform) {
  double total = 0.0;
  for (float weight : scratch.weights) total += weight;
  const double target = uniform * total;
  double sum = 0.0;
  size_t last = 0;
  for (size_t i = 0; i < scratch.weights.size(); ++i) {
    if (scratch.weights[i] <= 0.0f) continue;
    sum += scratch.weights[i];
    last = i;
    if (sum > target) break;
  }
  return static_cast<TokenId>(scratch.candidates[last]);
}

/// log of the sum of exp(logit - largest).
double log_normaliser(const float* logits, uint32_t vocabulary, float largest) {
  double total = 0.0;
  for (uint32_t t = 0; t < vocabulary; ++t) total += std::exp(logits[t] - largest);
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
    filter(s, scratch.values[token], scratch);
    token = static_cast<uint32_t>(draw(scratch, uniform_at(s.seed, input.position)));
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
