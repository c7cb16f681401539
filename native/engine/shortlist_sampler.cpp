// Implements sampling from a shortlist. What lies outside of it is known by two bounds: no logit there is above the last one listed, and
// the exponentials there are what the listed ones leave of each part's sum. A choice is made where it is the same at both ends.
#include "engine/shortlist_sampler.h"

#include <algorithm>
#include <cmath>

#include "engine/draw.h"
#include "engine/fast_math.h"
#include "engine/philox.h"

namespace hearth {
namespace {

/// Sums of a part by the device and by the sampler differ by less than this part of them: float32 sums of 2048, exponentials of exponents
/// that were rounded. It is ten times what the kernels' tests allow.
constexpr double sum_error = 1e-4;
/// The same of sums in double of the same floats in another order.
constexpr double order_error = 1e-9;
/// A weight of a lower logit may come out higher by its rounding.
constexpr float weight_error = 1e-5f;
/// Above the most likely candidate, in nats, a banned token hides the rest of its part.
constexpr float hidden_below = 60.0f;

struct Bounds {
  double low = 0, high = 0;
  void operator+=(Bounds other) { low += other.low, high += other.high; }
};

/// What an exponential that came out as 0 may have been, and more: a high temperature raises it again.
constexpr double least_weight = 1e-290;

/// Weights are relative to the most likely candidate's.
struct Row {
  const Shortlist& list;
  SamplerScratch& scratch;
  float largest, scale;
  std::vector<bool> banned_outside;  // by part

  bool complete() const { return list.tokens.size() == list.vocabulary; }
  double weight(uint32_t token) const { return scratch.all_weights[token]; }
};

size_t part_of(const Shortlist& list, uint32_t token) {
  const auto behind = std::upper_bound(list.parts.begin(), list.parts.end(), token, [](uint32_t t, const Shortlist::Part& p) { return t < p.first; });
  return static_cast<size_t>(behind - list.parts.begin()) - 1;
}

/// Candidates by likelihood: what is listed and not banned.
std::vector<bool> take_candidates(const Shortlist& list, const SampleInput& input, SamplerScratch& scratch) {
  std::vector<bool> banned_outside(list.parts.size());
  std::vector<uint32_t> listed(list.tokens.begin(), list.tokens.end()), banned;
  std::sort(listed.begin(), listed.end());
  for (const TokenId token : input.banned ? *input.banned : std::vector<TokenId>{}) {
    if (token < 0 || static_cast<uint32_t>(token) >= list.vocabulary) continue;
    if (std::binary_search(listed.begin(), listed.end(), static_cast<uint32_t>(token))) banned.push_back(static_cast<uint32_t>(token));
    else banned_outside[part_of(list, static_cast<uint32_t>(token))] = true;
  }
  scratch.values.resize(list.vocabulary), scratch.all_weights.resize(list.vocabulary);
  scratch.candidates.clear();
  for (size_t i = 0; i < list.tokens.size(); ++i) {
    const auto token = static_cast<uint32_t>(list.tokens[i]);
    if (std::find(banned.begin(), banned.end(), token) != banned.end()) continue;
    scratch.candidates.push_back(token);
    scratch.values[token] = list.logits[i];
  }
  return banned_outside;
}

/// Of numbers x below `most` with a sum between the bounds: the sum of x^power.
Bounds powers(Bounds sum, double count, double most, double power) {
  if (power == 1.0) return sum;
  const double alike = std::pow(most, power - 1.0);  // of each x to its power at least (power < 1) or at most, over x
  const auto spread = [&](double total) { return count * std::pow(total / count, power); };
  return power > 1.0 ? Bounds{spread(sum.low), sum.high * alike} : Bounds{sum.low * alike, std::min(spread(sum.high), count * std::pow(most, power))};
}

/// The weight of what is not listed, of each part. False: the sums say too little.
bool outside(const Row& row, std::vector<Bounds>& parts) {
  const Shortlist& list = row.list;
  std::vector<double> listed(list.parts.size());
  std::vector<uint32_t> count(list.parts.size());
  for (size_t i = 0; i < list.tokens.size(); ++i) {
    if (list.logits[i] - row.largest > hidden_below) return false;
    const size_t part = part_of(list, static_cast<uint32_t>(list.tokens[i]));
    listed[part] += std::exp(double(list.logits[i]) - row.largest);
    ++count[part];
  }
  const double last = std::max(std::exp(double(list.logits.back()) - row.largest), least_weight), power = row.scale;
  for (size_t p = 0; p < list.parts.size(); ++p) {
    const Shortlist::Part& part = list.parts[p];
    const double all = part.sum * std::exp(double(part.largest) - row.largest), rest = all - listed[p], left = part.count - count[p];
    Bounds sum{std::max(0.0, rest - sum_error * all), std::min(std::max(least_weight, rest + sum_error * all), left * last)};
    sum.low = std::min(sum.low, sum.high);
    sum = left > 0 ? powers(sum, left, last, power) : Bounds{};
    parts.push_back({row.banned_outside[p] ? 0.0 : sum.low * (1 - sum_error), sum.high * (1 + sum_error)});
  }
  return true;
}

/// The candidates that top-p keeps; false where that is not certain. They are in the order of likelihood before and after.
bool keep_certain_top_p(const Row& row, float top_p, Bounds all) {
  std::vector<uint32_t>& candidates = row.scratch.candidates;
  const Bounds wanted{top_p * all.low * (1 - order_error), top_p * all.high * (1 + order_error)};
  double sum = 0;
  for (size_t i = 0; i < candidates.size(); ++i) {
    sum += row.weight(candidates[i]);
    if (sum < wanted.low) continue;
    candidates.resize(i + 1);
    return sum >= wanted.high;
  }
  return false;
}

/// The draw over everything: a candidate that it falls on wherever the rest of the weight lies.
std::optional<uint32_t> draw_certainly(const Row& row, const std::vector<Bounds>& parts, Bounds all, double uniform) {
  const Bounds target{uniform * all.low - order_error * all.high, uniform * all.high + order_error * all.high};
  Bounds before;
  size_t part = 0;
  for (const uint32_t token : row.scratch.candidates) {
    for (; part + 1 < parts.size() && row.list.parts[part + 1].first <= token; ++part) before += parts[part];
    const double weight = row.weight(token);
    if (before.high + parts[part].high <= target.low && before.low + weight > target.high) return token;
    before += {weight, weight};
  }
  return std::nullopt;
}

uint32_t draw_kept(const Row& row, const Sampling& s, double uniform) {
  keep_min_p(row.scratch, s.min_p);
  return row.scratch.candidates[draw(row.scratch.weights, uniform)];
}

std::optional<uint32_t> draw_token(Row& row, const Sampling& s, double uniform) {
  std::vector<uint32_t>& candidates = row.scratch.candidates;
  const auto by_id = [&] { std::sort(candidates.begin(), candidates.end()); };
  if (s.top_k > 0 && s.top_k < row.list.vocabulary) {
    if (candidates.size() < s.top_k && !row.complete()) return std::nullopt;
    candidates.resize(std::min<size_t>(candidates.size(), s.top_k));
    by_id();
    double total = 0;
    for (uint32_t t : candidates) total += row.weight(t);
    if (s.top_p < 1.0f) keep_top_p(row.scratch, s.top_p * total, row.scale, row.largest);
    return draw_kept(row, s, uniform);
  }
  if (s.top_p >= 1.0f && (s.min_p > 0.0f || s.top_k > 0)) {
    const float last = exp_of_negative((row.list.logits.back() - row.largest) * row.scale);
    if (!row.complete() && !(last < s.min_p * (1.0f - weight_error))) return std::nullopt;
    std::erase_if(candidates, [&](uint32_t t) { return row.weight(t) <= 0; });
    by_id();
    return draw_kept(row, s, uniform);
  }
  std::vector<Bounds> parts;
  if (!outside(row, parts)) return std::nullopt;
  Bounds all;
  for (const Bounds& part : parts) all += part;
  for (uint32_t t : candidates) all += {row.weight(t), row.weight(t)};
  if (s.top_p >= 1.0f) return by_id(), draw_certainly(row, parts, all, uniform);
  if (!keep_certain_top_p(row, s.top_p, all)) return std::nullopt;
  by_id();
  return draw_kept(row, s, uniform);
}

}  // namespace

bool wants_whole_row(const Sampling& s, uint32_t listed) {
  const bool penalties = s.repetition_penalty != 1.0f || s.frequency_penalty != 0.0f || s.presence_penalty != 0.0f;
  return penalties || !s.logit_bias.empty() || s.logprobs >= 0 || s.top_k > listed;
}

std::optional<Sampled> sample_shortlist(const Shortlist& list, const SampleInput& input, SamplerScratch& scratch) {
  const Sampling& s = *input.sampling;
  const bool masked = input.mask && !input.mask->empty();
  if (!list.whole || masked || list.vocabulary != input.vocabulary || wants_whole_row(s, static_cast<uint32_t>(list.tokens.size()))) return std::nullopt;
  Row row{list, scratch, 0, 0, take_candidates(list, input, scratch)};
  if (scratch.candidates.empty()) return std::nullopt;
  Sampled result;
  result.token = static_cast<TokenId>(scratch.candidates[0]);
  if (s.temperature < least_temperature) return result;
  row.largest = scratch.values[scratch.candidates[0]], row.scale = 1.0f / s.temperature;
  for (uint32_t t : scratch.candidates) scratch.all_weights[t] = exp_of_negative((scratch.values[t] - row.largest) * row.scale);
  const auto token = draw_token(row, s, uniform_at(s.seed, input.position));
  if (!token) return std::nullopt;
  result.token = static_cast<TokenId>(*token);
  return result;
}

}  // namespace hearth
