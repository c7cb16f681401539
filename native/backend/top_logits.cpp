// Implements the plain form of TopLogits, and the reading of its rows.
#include "backend/top_logits.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace hearth {
namespace {

struct Part {
  float largest, sum;
};

Part part_of(const float* logits, uint32_t count) {
  if (!std::all_of(logits, logits + count, [](float v) { return std::isfinite(v); })) return {0.0f, std::numeric_limits<float>::quiet_NaN()};
  const float largest = *std::max_element(logits, logits + count);
  double sum = 0.0;
  for (uint32_t i = 0; i < count; ++i) sum += std::exp(double(logits[i]) - largest);
  return {largest, static_cast<float>(sum)};
}

/// A total order of whatever there is, so that NaN costs no memory its peace: it comes last.
bool before(const float* logits, uint32_t a, uint32_t b) {
  const bool a_is = !std::isnan(logits[a]), b_is = !std::isnan(logits[b]);
  if (a_is != b_is) return a_is;
  return a_is && logits[a] != logits[b] ? logits[a] > logits[b] : a < b;
}

struct Entry {
  float logit;
  int32_t token;
  bool operator<(const Entry& other) const { return logit != other.logit ? logit > other.logit : token < other.token; }
};

}  // namespace

void top_logits(const float* logits, TopLayout layout, float* out) {
  std::vector<uint32_t> order(layout.vocabulary);
  std::iota(order.begin(), order.end(), 0u);
  const uint32_t kept = std::min(layout.k, layout.vocabulary);
  std::partial_sort(order.begin(), order.begin() + kept, order.end(), [&](uint32_t a, uint32_t b) { return before(logits, a, b); });
  for (uint32_t i = 0; i < layout.k; ++i) {
    out[layout.token(i)] = i < kept ? static_cast<float>(order[i]) : -1.0f;
    out[layout.logit(i)] = i < kept ? logits[order[i]] : -std::numeric_limits<float>::max();
  }
  for (uint32_t p = 0; p < layout.parts(); ++p) {
    const uint32_t first = p * top_part_size;
    const Part part = part_of(logits + first, std::min(top_part_size, layout.vocabulary - first));
    out[layout.largest(p)] = part.largest;
    out[layout.sum(p)] = part.sum;
  }
}

Shortlist read_shortlist(const float* row, std::span<const uint32_t> shares, uint32_t k) {
  Shortlist list;
  list.whole = true;
  std::vector<Entry> entries;
  for (const uint32_t share : shares) {
    const TopLayout layout{share, k};
    for (uint32_t i = 0; i < std::min(k, share); ++i) {
      entries.push_back({row[layout.logit(i)], static_cast<int32_t>(list.vocabulary) + static_cast<int32_t>(row[layout.token(i)])});
    }
    for (uint32_t p = 0; p < layout.parts(); ++p) {
      const uint32_t first = p * top_part_size, count = std::min(top_part_size, share - first);
      list.parts.push_back({list.vocabulary + first, count, row[layout.largest(p)], row[layout.sum(p)]});
      // Of finite logits the largest alone adds 1.
      list.whole = list.whole && list.parts.back().sum >= 0.5f && std::isfinite(list.parts.back().sum);
    }
    list.vocabulary += share;
    row += layout.cols();
  }
  if (!list.whole) return list;
  const size_t kept = std::min<size_t>(k, entries.size());
  std::partial_sort(entries.begin(), entries.begin() + static_cast<std::ptrdiff_t>(kept), entries.end());
  for (size_t i = 0; i < kept; ++i) {
    list.tokens.push_back(entries[i].token);
    list.logits.push_back(entries[i].logit);
  }
  return list;
}

}  // namespace hearth
