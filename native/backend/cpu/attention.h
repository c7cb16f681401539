// The attention kernels of the CPU backend as a table of functions: rotation, storing, one split of positions, merging.
// Keys of a KV head lie [head_dim][slot] in a block, so that 16 neighbouring positions fill a register; values lie
// [slot][head_dim]; the scales of q8 behind both [group][slot].
#pragma once

#include <cstddef>
#include <cstdint>

namespace hearth::cpu {

inline constexpr uint32_t kv_split = 512;               // positions of one attention split, at absolute multiples
inline constexpr uint32_t score_stride = kv_split + 16;  // floats between the scores of two heads

/// One position's key and value of one KV head, and where they go.
struct StoreJob {
  const float *key, *value;
  uint32_t head_dim, block_size, slot;
  std::byte *keys, *values;  // the head's planes in the block
};

/// Rows of one sequence and their query heads of one KV head, over what each row sees of one split.
struct AttendJob {
  const float* q;  // of the first row: heads * head_dim, already rotated
  size_t q_stride;
  const uint32_t* positions;  // [rows], ascending
  uint32_t rows, heads, head_dim, block_size;
  uint32_t window;  // 0: none
  uint32_t split;
  float scale;
  const std::byte* const* keys;    // per block from the split's first: this KV head's plane; those that no row sees are not read
  const std::byte* const* values;
  float* scratch;  // attend_scratch(heads, head_dim)
  float* states;   // [rows][heads][state_floats(head_dim)]: the split is folded into them
};

/// A softmax under way: maximum, sum of weights, weighted sum of values. A sum of 0 is the state before the first key.
[[maybe_unused]] static constexpr uint32_t state_floats(uint32_t head_dim) { return head_dim + 2; }
[[maybe_unused]] static constexpr size_t attend_scratch(uint32_t heads, uint32_t head_dim) {
  return size_t(heads) * (score_stride + state_floats(head_dim));
}

struct AttentionKernels {
  struct Kv {
    void (*store)(const StoreJob& job);
    void (*attend)(const AttendJob& job);
  };
  Kv f32, f16, q8;
  /// Rotates the pairs (i, i + pairs) of a head, or (2 i, 2 i + 1) where not half_split.
  void (*rotate)(float* head, const float* cosine, const float* sine, uint32_t pairs, bool half_split);
  /// Adds a later state to an earlier one.
  void (*fold)(const float* later, float* state, uint32_t head_dim);
  /// The result of a state: the sink, a score without a value, joins here and nowhere else. nullptr: none.
  void (*finish)(const float* state, const float* sink, uint32_t head_dim, float* out);
};

}  // namespace hearth::cpu
