// Frequencies of rotary embeddings: plain, linearly scaled, per-dimension divisors (LongRoPE), YaRN "NTK by parts"
// (Peng et al., "YaRN", 2023; torch/model.py of the gpt-oss reference).
// All in double and rounded once; the kernels multiply position * inverse_frequency in float32, as the published code does.
#include "backend/rope.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace hearth {
namespace {

/// The pair index (a real number) whose wavelength makes `beta` turns within the original context.
double correction_pair(const RopeSpec& spec, double beta) {
  const double turns = spec.yarn_original_context / (beta * 2.0 * std::numbers::pi);
  return spec.dims * std::log(turns) / (2.0 * std::log(spec.theta));
}

}  // namespace

/// YaRN as the gpt-oss reference (untruncated range); `yarn_truncate` rounds the range to whole pairs as ggml does.
RopeTable make_rope_table(const RopeSpec& spec, uint64_t context) {
  RopeTable table{spec.layout, spec.dims, {}, 1.0f};
  const bool is_long = !spec.long_divisors.empty() && context > spec.short_context;
  const std::vector<float>& divisors = is_long ? spec.long_divisors : spec.frequency_divisors;
  if (spec.layout == RopeLayout::none) {
    table.dims = 0;
    return table;
  }
  const uint32_t pairs = spec.dims / 2;
  table.inverse_frequency.resize(pairs);

  double low = 0.0, high = 0.0;
  if (spec.yarn) {
    low = correction_pair(spec, spec.yarn_beta_fast);
    high = correction_pair(spec, spec.yarn_beta_slow);
    if (spec.yarn_truncate) low = std::floor(low), high = std::ceil(high);
    low = std::max(low, 0.0);
    high = std::min(high, static_cast<double>(spec.dims) - 1.0);
    if (high <= low) high = low + 0.001;
    if (spec.yarn_factor > 1.0) table.concentration = static_cast<float>(0.1 * std::log(spec.yarn_factor) + 1.0);
  }
  if (spec.attention_factor > 0.0) table.concentration = static_cast<float>(spec.attention_factor);
  for (uint32_t i = 0; i < pairs; ++i) {
    double inverse = std::pow(spec.theta, -2.0 * i / spec.dims) / spec.linear_factor;
    if (spec.yarn) {
      const double ramp = std::clamp((i - low) / (high - low), 0.0, 1.0);
      inverse = inverse / spec.yarn_factor * ramp + inverse * (1.0 - ramp);
    }
    if (i < divisors.size()) inverse /= divisors[i];
    table.inverse_frequency[i] = static_cast<float>(inverse);
  }
  return table;
}

}  // namespace hearth
