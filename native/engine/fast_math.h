// Arithmetic over a whole vocabulary that a compiler can vectorise: sums and maxima in fixed lanes, an exponential without
// a call. Only IEEE operations in a fixed order, so the results are the same on every machine.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace hearth {

/// exp(x) for x <= 0, relative error below 3e-7; exactly 0 below -87, and for minus infinity.
inline float exp_of_negative(float x) {
  const float clamped = x < -87.0f ? -87.0f : x;  // also keeps the exponent in range
  const float shifted = clamped * 1.44269504f + 12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer
  const float n = shifted - 12582912.0f;
  const float r = (clamped - n * 0.693359375f) + n * 2.12194440e-4f;  // ln 2 in two parts
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = (p * r * r + r) + 1.0f;
  const float scale = std::bit_cast<float>((static_cast<int32_t>(n) + 127) << 23);
  return x < -87.0f ? 0.0f : p * scale;
}

inline constexpr size_t lanes = 16;

/// The sum in `lanes` partial sums, added by a fixed tree.
inline double sum_in_lanes(const float* values, size_t count) {
  double partial[lanes] = {};
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    for (size_t lane = 0; lane < lanes; ++lane) partial[lane] += values[i + lane];
  }
  for (; i < count; ++i) partial[i % lanes] += values[i];
  for (size_t half = lanes / 2; half > 0; half /= 2) {
    for (size_t lane = 0; lane < half; ++lane) partial[lane] += partial[lane + half];
  }
  return partial[0];
}

/// The largest value; of no values minus infinity. NaN is passed over.
inline float max_in_lanes(const float* values, size_t count) {
  float partial[lanes];
  std::fill_n(partial, lanes, -std::numeric_limits<float>::infinity());
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    for (size_t lane = 0; lane < lanes; ++lane) partial[lane] = values[i + lane] > partial[lane] ? values[i + lane] : partial[lane];
  }
  for (; i < count; ++i) partial[0] = values[i] > partial[0] ? values[i] : partial[0];
  return *std::max_element(partial, partial + lanes);
}

/// True when every value is a number and finite.
inline bool all_finite(const float* values, size_t count) {
  uint32_t bad = 0;  // an exponent of all ones is infinity or NaN
  for (size_t i = 0; i < count; ++i) bad |= (std::bit_cast<uint32_t>(values[i]) & 0x7f800000u) == 0x7f800000u ? 1u : 0u;
  return bad == 0;
}

}  // namespace hearth
