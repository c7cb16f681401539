// How one KV head's keys (or values) of a block lie in memory, by type: block_size * head_dim elements, and for q8 behind
// them one float32 scale for every 32 values of a position. The order of the elements is the backend's own.
#pragma once

#include <cstdint>

#include "hearth/engine.h"

namespace hearth {

inline constexpr uint32_t kv_group = 32;  // values of a position that share a scale in q8; the last group may be shorter

// Internal linkage: files compiled for AVX-512 must not lend their copies to the others.
static constexpr uint32_t kv_groups(uint32_t head_dim) { return (head_dim + kv_group - 1) / kv_group; }

/// Bytes of the elements; the scales of q8, [groups][block_size], begin there.
static constexpr uint64_t kv_elements_bytes(KvType type, uint32_t block_size, uint32_t head_dim) {
  const uint64_t elements = uint64_t(block_size) * head_dim;
  return type == KvType::q8 ? (elements + 3) / 4 * 4 : elements * (type == KvType::f16 ? 2 : 4);
}

/// Bytes of one KV head's keys, or values, of a block.
[[maybe_unused]] static constexpr uint64_t kv_plane_bytes(KvType type, uint32_t block_size, uint32_t head_dim) {
  const uint64_t scales = type == KvType::q8 ? uint64_t(kv_groups(head_dim)) * block_size * sizeof(float) : 0;
  return kv_elements_bytes(type, block_size, head_dim) + scales;
}

/// The type that `automatic` stands for.
[[maybe_unused]] static constexpr KvType resolve(KvType type, Precision precision) {
  if (type != KvType::automatic) return type;
  return precision == Precision::exact ? KvType::f32 : KvType::f16;
}

}  // namespace hearth
