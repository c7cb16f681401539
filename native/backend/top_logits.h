// What TopLogits leaves of a row of logits: its best tokens, and the sum of exponentials of each part of it. The layout of such a row, the
// op in plain form, and the joining of rows from several ranks. What may be concluded from it is decided elsewhere (engine/shortlist_sampler).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace hearth {

inline constexpr uint32_t most_top = 128;        // tokens that a row can keep
inline constexpr uint32_t top_part_size = 2048;  // logits whose exponentials are added up together

/// Where the values lie in a row: tokens, their logits, then the largest logit and the sum of each part. All are floats; a token id is one
/// exactly, since no vocabulary has 2^24 of them.
struct TopLayout {
  uint32_t vocabulary = 0, k = 0;

  uint32_t parts() const { return (vocabulary + top_part_size - 1) / top_part_size; }
  uint32_t cols() const { return 2 * k + 2 * parts(); }
  uint32_t token(uint32_t i) const { return i; }
  uint32_t logit(uint32_t i) const { return k + i; }
  uint32_t largest(uint32_t part) const { return 2 * k + 2 * part; }
  uint32_t sum(uint32_t part) const { return 2 * k + 2 * part + 1; }
};

/// The op on one row (ops.h says what it computes), with sums in double.
void top_logits(const float* logits, TopLayout layout, float* out);

/// A row as the host sees it, of one device or joined from several.
struct Shortlist {
  struct Part {
    uint32_t first = 0, count = 0;  // tokens
    float largest = 0, sum = 0;     // sum of exp(logit - largest) over all of them
  };
  uint32_t vocabulary = 0;
  std::vector<int32_t> tokens;  // by (logit descending, id ascending); every token that is not here comes behind all of them
  std::vector<float> logits;    // of those
  std::vector<Part> parts;      // in the order of their tokens, all of the vocabulary
  /// False where a logit is not a number or not finite, or where the device did not compute the row: nothing follows from it then.
  bool whole = false;
};

/// `row` has the rows of the ranks side by side; `shares` are the parts of the vocabulary that they have, in order.
Shortlist read_shortlist(const float* row, std::span<const uint32_t> shares, uint32_t k);

}  // namespace hearth
