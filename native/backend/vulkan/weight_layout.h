// How a weight row lies in device memory: words of 32 bits, codes in the order of the columns, scales in a section of their
// own. Values are the file's, moved and never re-quantised. The shaders' half of this is shaders/weights.glsl.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backend/dtype.h"

namespace hearth::vulkan {

/// Word offsets of a row's sections; the codes begin at 0, every section at a multiple of 4 words. A section that the type
/// does not have has no words.
struct RowLayout {
  uint32_t high = 0;    // further bits of the codes
  uint32_t scales = 0;  // scales and minima
  uint32_t super = 0;   // Q6_K: scales of super-blocks
  uint32_t words = 0;   // of the whole row
};

RowLayout row_layout(DType type, uint32_t cols);

/// The type whose layout and shader serve `type`: both forms of MXFP4 become one.
constexpr DType stored_as(DType type) { return type == DType::mxfp4_planes ? DType::mxfp4 : type; }

/// Writes row_layout(type, cols).words words. `row` and `scales` as in decode_row (quant.h).
void pack_row(DType type, const std::byte* row, const std::byte* scales, uint32_t cols, uint32_t* out);

}  // namespace hearth::vulkan
