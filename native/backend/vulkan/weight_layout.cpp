// Implements the moving of codes: one small function a type, all writing through Row.
#include "backend/vulkan/weight_layout.h"

#include <algorithm>
#include <cstring>

namespace hearth::vulkan {
namespace {

constexpr uint32_t padded(uint32_t words) { return (words + 3) / 4 * 4; }

uint32_t u16(const uint8_t* p) { return uint32_t(p[0]) | uint32_t(p[1]) << 8; }
uint32_t u32(const uint8_t* p) { return u16(p) | u16(p + 2) << 16; }

/// A row of zeros that codes and scales are put into.
struct Row {
  uint32_t* words;
  RowLayout layout;

  void nibble(uint32_t column, uint32_t code) { words[column / 8] |= (code & 15u) << (4 * (column % 8)); }
  void high_bit(uint32_t column, uint32_t bit) { words[layout.high + column / 32] |= (bit & 1u) << (column % 32); }
  void high_pair(uint32_t column, uint32_t bits) { words[layout.high + column / 16] |= (bits & 3u) << (2 * (column % 16)); }
  void byte(uint32_t section, uint32_t index, uint32_t value) { words[section + index / 4] |= (value & 255u) << (8 * (index % 4)); }
  void half(uint32_t section, uint32_t index, uint32_t value) { words[section + index / 2] |= (value & 65535u) << (16 * (index % 2)); }
  void word(uint32_t section, uint32_t index, uint32_t value) { words[section + index] = value; }
};

/// The 16 bytes of nibbles j | j + 16 that most blocks of 32 have.
void nibbles(Row& row, uint32_t column, const uint8_t* q) {
  for (uint32_t j = 0; j < 16; ++j) row.nibble(column + j, q[j]), row.nibble(column + 16 + j, q[j] >> 4);
}

void pack_block(DType type, Row& row, uint32_t b, const uint8_t* p) {
  const uint32_t column = b * info(type).block, scales = row.layout.scales;
  switch (type) {
    case DType::f32: row.word(0, b, u32(p)); break;
    case DType::f16: case DType::bf16: row.half(0, b, u16(p)); break;
    case DType::q8_0:
      row.half(scales, b, u16(p));
      for (uint32_t i = 0; i < 32; ++i) row.byte(0, column + i, p[2 + i]);
      break;
    case DType::q4_0: case DType::iq4_nl: row.half(scales, b, u16(p)), nibbles(row, column, p + 2); break;
    case DType::q4_1: row.word(scales, b, u32(p)), nibbles(row, column, p + 4); break;
    case DType::q5_0: row.half(scales, b, u16(p)), row.word(row.layout.high, b, u32(p + 2)), nibbles(row, column, p + 6); break;
    case DType::q5_1: row.word(scales, b, u32(p)), row.word(row.layout.high, b, u32(p + 4)), nibbles(row, column, p + 8); break;
    case DType::mxfp4: row.byte(scales, b, p[0]), nibbles(row, column, p + 1); break;
    case DType::mxfp4_planes: for (uint32_t i = 0; i < 32; ++i) row.nibble(column + i, p[i / 2] >> (i % 2 * 4)); break;
    case DType::q4_k: case DType::q5_k: {
      const uint8_t* codes = p + (type == DType::q4_k ? 16 : 48);
      for (uint32_t i = 0; i < 4; ++i) row.word(scales, 4 * b + i, u32(p + 4 * i));
      for (uint32_t i = 0; i < 256; ++i) {
        row.nibble(column + i, codes[i / 64 * 32 + i % 32] >> (i / 32 % 2 * 4));
        if (type == DType::q5_k) row.high_bit(column + i, p[16 + i % 32] >> (i / 32));
      }
      break;
    }
    case DType::q6_k:
      row.half(row.layout.super, b, u16(p + 208));
      for (uint32_t i = 0; i < 16; ++i) row.byte(scales, 16 * b + i, p[192 + i]);
      for (uint32_t i = 0; i < 256; ++i) {
        const uint32_t half = i / 128, part = i / 32 % 4, l = i % 32;
        row.nibble(column + i, p[64 * half + 32 * (part % 2) + l] >> (part / 2 * 4));
        row.high_pair(column + i, p[128 + 32 * half + l] >> (2 * part));
      }
      break;
  }
}

}  // namespace

RowLayout row_layout(DType type, uint32_t cols) {
  const uint32_t groups = (cols + 31) / 32, supers = cols / 256;
  uint32_t codes = 4 * groups, high = 0, scales = 0, super = 0;
  switch (stored_as(type)) {
    case DType::f32: codes = 32 * groups; break;
    case DType::f16: case DType::bf16: codes = 16 * groups; break;
    case DType::q8_0: codes = 8 * groups, scales = (groups + 1) / 2; break;
    case DType::q4_0: case DType::iq4_nl: scales = (groups + 1) / 2; break;
    case DType::q4_1: scales = groups; break;
    case DType::q5_0: high = groups, scales = (groups + 1) / 2; break;
    case DType::q5_1: high = groups, scales = groups; break;
    case DType::q4_k: scales = 4 * supers; break;
    case DType::q5_k: high = groups, scales = 4 * supers; break;
    case DType::q6_k: high = 2 * groups, scales = 4 * supers, super = (supers + 1) / 2; break;
    default: scales = (groups + 3) / 4; break;  // mxfp4
  }
  RowLayout layout;
  layout.high = padded(codes);
  layout.scales = layout.high + padded(high);
  layout.super = layout.scales + padded(scales);
  layout.words = layout.super + padded(super);
  return layout;
}

void pack_row(DType type, const std::byte* row, const std::byte* scales, uint32_t cols, uint32_t* out) {
  Row to{out, row_layout(type, cols)};
  std::fill_n(out, to.layout.words, 0u);
  const auto* p = reinterpret_cast<const uint8_t*>(row);
  const DTypeInfo shape = info(type);
  if (type == DType::f32) return void(std::memcpy(out, p, size_t(cols) * 4));
  for (uint32_t b = 0; b < cols / shape.block; ++b) pack_block(type, to, b, p + size_t(b) * shape.bytes);
  for (uint32_t g = 0; type == DType::mxfp4_planes && g < cols / 32; ++g) to.byte(to.layout.scales, g, static_cast<uint8_t>(scales[g]));
}

}  // namespace hearth::vulkan
