// Implements top-p, min-p and the draw. No sort of the whole vocabulary anywhere.
#include "engine/draw.h"

#include <algorithm>
#include <array>

#include "engine/fast_math.h"

namespace hearth {
namespace {

/// How far below the most likely token a value is, in nats, as a bucket of one eighth; the last bucket is the rest.
constexpr size_t buckets = 256;
size_t bucket_of(float value, float largest, float scale) {
  return static_cast<size_t>(std::min((largest - value) * scale * 8.0f, float(buckets - 1)));
}

}  // namespace

/// Whole buckets are summed first, so that only the tokens of the bucket with the line in it are ever sorted.
void keep_top_p(SamplerScratch& scratch, double wanted, float scale, float largest) {
  const std::vector<float>& values = scratch.values;
  std::vector<uint32_t>& candidates = scratch.candidates;
  std::array<double, buckets> mass{};
  for (uint32_t t : candidates) mass[bucket_of(values[t], largest, scale)] += scratch.all_weights[t];
  double sum = 0.0;
  size_t line = 0;
  while (line + 1 < buckets && sum + mass[line] < wanted) sum += mass[line++];

  std::vector<uint32_t> at_line;
  for (uint32_t t : candidates) {
    if (bucket_of(values[t], largest, scale) == line) at_line.push_back(t);
  }
  std::sort(at_line.begin(), at_line.end(), MoreLikely{values.data()});
  size_t kept = 0;
  while (kept < at_line.size() && sum < wanted) sum += scratch.all_weights[at_line[kept++]];
  at_line.resize(kept);

  std::sort(at_line.begin(), at_line.end());
  std::erase_if(candidates, [&](uint32_t t) {
    const size_t bucket = bucket_of(values[t], largest, scale);
    return bucket > line || (bucket == line && !std::binary_search(at_line.begin(), at_line.end(), t));
  });
}

void keep_min_p(SamplerScratch& scratch, float min_p) {
  scratch.weights.clear();
  size_t kept = 0;
  for (uint32_t t : scratch.candidates) {
    if (scratch.all_weights[t] < min_p) continue;
    scratch.candidates[kept++] = t;
    scratch.weights.push_back(scratch.all_weights[t]);
  }
  scratch.candidates.resize(kept);
}

/// Blocks are summed first.
size_t draw(const std::vector<float>& weights, double uniform) {
  constexpr size_t block = 512;
  const auto sum_of = [&](size_t begin) { return sum_in_lanes(&weights[begin], std::min(block, weights.size() - begin)); };
  double total = 0.0;
  for (size_t begin = 0; begin < weights.size(); begin += block) total += sum_of(begin);
  const double target = uniform * total;
  double sum = 0.0;
  size_t begin = 0;
  for (; begin + block < weights.size(); begin += block) {
    const double with = sum + sum_of(begin);
    if (with > target) break;
    sum = with;
  }
  for (size_t i = begin; i < weights.size(); ++i) {
    sum += weights[i];
    if (weights[i] > 0.0f && sum > target) return i;
  }
  // The sums differ in their last bits: the last token that is possible at all.
  size_t last = weights.size() - 1;
  while (last > 0 && weights[last] <= 0.0f) --last;
  return last;
}

}  // namespace hearth
