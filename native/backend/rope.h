// Rotary position embedding as data. The formula of its frequencies is backend/rope.cpp.
#pragma once

#include <cstdint>
#include <vector>

namespace hearth {

enum class RopeLayout {
  none,
  half_split,   // pairs (i, i + dims/2)
  interleaved,  // pairs (2i, 2i + 1)
};

struct RopeSpec {
  RopeLayout layout = RopeLayout::half_split;
  uint32_t dims = 0;  // rotated dimensions of a head
  double theta = 10000.0;
  double linear_factor = 1.0;  // positions are divided by this
  bool yarn = false;
  double yarn_factor = 1.0, yarn_beta_fast = 32.0, yarn_beta_slow = 1.0;
  uint32_t yarn_original_context = 0;
  bool yarn_truncate = false;             // round the correction range as ggml does
  std::vector<float> frequency_divisors;  // [dims/2]; empty: all 1
  // LongRoPE: contexts above `short_context` use these divisors instead; empty: the same for all lengths.
  std::vector<float> long_divisors;
  uint32_t short_context = 0;
  double attention_factor = 0.0;  // cos and sin are multiplied by this; 0: what YaRN's formula says, else 1

  bool operator==(const RopeSpec&) const = default;
};

/// What the kernels need: angle = position * inverse_frequency[i]; cos and sin are multiplied by `concentration`.
struct RopeTable {
  RopeLayout layout = RopeLayout::none;
  uint32_t dims = 0;
  std::vector<float> inverse_frequency;  // [dims/2], rounded once from double
  float concentration = 1.0f;
};

/// `context` is the longest sequence that the table will serve. The choice between LongRoPE's divisors follows from it
/// and not from a sequence's length: keys that are stored already cannot be rotated again when a sequence grows.
RopeTable make_rope_table(const RopeSpec& spec, uint64_t context = 0);

}  // namespace hearth
