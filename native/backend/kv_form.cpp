// Implements the orders. A block is planes of a head's keys, then of its values, layer by layer, in every form.
#include "backend/kv_form.h"

#include <algorithm>
#include <cstring>

#include "backend/kv_layout.h"

namespace hearth {
namespace {

/// Where the parts of a head's plane lie: byte offsets of element (slot, d) and, of q8, of scale (slot, group).
struct Places {
  uint64_t plane_bytes = 0;
  uint64_t slot = 0, d = 0;               // bytes from one to the next
  uint64_t scales = 0, scale_slot = 0, scale_group = 0;

  uint64_t element_at(uint32_t s, uint32_t i) const { return s * slot + i * d; }
  uint64_t scale_at(uint32_t s, uint32_t g) const { return scales + s * scale_slot + g * scale_group; }
};

uint64_t element_bytes(KvType type) { return type == KvType::q8 ? 1 : type == KvType::f16 ? 2 : 4; }

Places places(const KvShape& shape, KvType type, KvForm form, bool keys) {
  const uint64_t each = element_bytes(type), dim = shape.head_dim, size = shape.block_size, groups = kv_groups(shape.head_dim);
  Places at;
  at.slot = dim * each, at.d = each;
  if (form == KvForm::words) {  // a position is whole words, its scales behind its codes
    const uint64_t codes = (dim * each + 3) / 4 * 4;
    at.slot = at.scale_slot = codes + (type == KvType::q8 ? groups * sizeof(float) : 0);
    at.scales = codes, at.scale_group = sizeof(float);
    at.plane_bytes = size * at.slot;
    return at;
  }
  at.plane_bytes = kv_plane_bytes(type, shape.block_size, shape.head_dim);
  at.scales = kv_elements_bytes(type, shape.block_size, shape.head_dim);
  at.scale_slot = groups * sizeof(float), at.scale_group = sizeof(float);
  if (form == KvForm::keys_across) {
    at.scale_slot = sizeof(float), at.scale_group = size * sizeof(float);
    if (keys) at.slot = each, at.d = size * each;
  }
  return at;
}

void move_plane(const KvShape& shape, KvType type, const Places& from, const std::byte* in, const Places& to, std::byte* out) {
  const uint64_t each = element_bytes(type);
  for (uint32_t s = 0; s < shape.block_size; ++s) {
    if (from.d == each && to.d == each) std::memcpy(out + to.element_at(s, 0), in + from.element_at(s, 0), each * shape.head_dim);
    else for (uint32_t i = 0; i < shape.head_dim; ++i) std::memcpy(out + to.element_at(s, i), in + from.element_at(s, i), each);
    if (type != KvType::q8) continue;
    for (uint32_t g = 0; g < kv_groups(shape.head_dim); ++g) std::memcpy(out + to.scale_at(s, g), in + from.scale_at(s, g), sizeof(float));
  }
}

/// Heads' planes, of keys or of values, in a block.
uint64_t halves(const KvShape& shape) {
  uint32_t layers = 0;
  for (uint32_t n : shape.layers_per_group) layers = std::max(layers, n);
  return 2ull * layers;
}

}  // namespace

uint64_t kv_block_bytes(const KvShape& shape, KvType type, KvForm form) {
  return halves(shape) * shape.kv_heads * places(shape, type, form, true).plane_bytes;
}

void reorder_kv_block(const KvShape& shape, KvType type, KvForm from, const std::byte* in, KvForm to, std::byte* out) {
  if (from == to) {
    std::memcpy(out, in, kv_block_bytes(shape, type, from));
    return;
  }
  std::memset(out, 0, kv_block_bytes(shape, type, to));  // what lies between a position's values and its next word
  for (uint64_t half = 0; half < halves(shape); ++half) {
    const Places source = places(shape, type, from, half % 2 == 0), target = places(shape, type, to, half % 2 == 0);
    for (uint32_t h = 0; h < shape.kv_heads; ++h, in += source.plane_bytes, out += target.plane_bytes) {
      move_plane(shape, type, source, in, target, out);
    }
  }
}

}  // namespace hearth
