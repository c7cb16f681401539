// Implements the upload: rows are repacked straight into staging, or into place where the processor sees device memory.
#include "backend/vulkan/vk_weights.h"

#include <algorithm>

namespace hearth::vulkan {
namespace {

/// Row r of the matrices lying one behind the other.
void pack(const Matrix& m, uint64_t r, uint32_t* out) {
  const uint64_t expert = r / m.rows, row = r % m.rows;
  const std::byte* scales = m.scales ? m.scales_begin(expert) + row * m.scale_row_stride : nullptr;
  pack_row(m.type, m.begin(expert) + row * m.row_stride, scales, m.cols, out);
}

void upload_rows(const Matrix& m, uint64_t first, uint64_t rows, uint32_t words, Memory& to, Transfer& transfer) {
  const uint64_t bytes = uint64_t(words) * 4, most = Transfer::window / bytes;
  if (most == 0) throw Error(ErrorCode::internal, "A row of " + m.name + " is larger than the staging memory.");
  for (uint64_t at = 0; at < rows; at += most) {
    const uint64_t n = std::min(most, rows - at);
    transfer.write(to, at * bytes, n * bytes, [&](std::byte* out) {
      for (uint64_t r = 0; r < n; ++r) pack(m, first + at + r, reinterpret_cast<uint32_t*>(out + r * bytes));
    });
  }
}

}  // namespace

DeviceWeight upload(const Matrix& m, MemoryPool& pool, Transfer& transfer) {
  DeviceWeight weight{stored_as(m.type), m.rows, m.cols, m.experts, row_layout(m.type, m.cols), {}};
  const uint64_t row = uint64_t(weight.layout.words) * 4;
  const uint64_t rows_each = m.experts > 1 ? m.rows : 1, each = rows_each * row;  // what is never cut
  const uint64_t most = pool.most_bytes() / each, all = m.experts > 1 ? m.experts : m.rows;
  if (most == 0) throw Error(ErrorCode::out_of_vram, "One expert of " + m.name + " is larger than this device lets a kernel see.", each, pool.most_bytes());
  for (uint64_t first = 0; first < all; first += most) {
    const uint64_t count = std::min(most, all - first);
    WeightSlice slice{pool.allocate(count * each, MemoryKind::device), static_cast<uint32_t>(first), static_cast<uint32_t>(count)};
    upload_rows(m, first * rows_each, count * rows_each, weight.layout.words, *slice.memory, transfer);
    weight.slices.push_back(std::move(slice));
  }
  return weight;
}

std::string_view shader_type(DType type) {
  switch (stored_as(type)) {
    case DType::f32: return "f32";
    case DType::f16: return "f16";
    case DType::bf16: return "bf16";
    case DType::q8_0: return "q8_0";
    case DType::q4_0: return "q4_0";
    case DType::q4_1: return "q4_1";
    case DType::q5_0: return "q5_0";
    case DType::q5_1: return "q5_1";
    case DType::q4_k: return "q4_k";
    case DType::q5_k: return "q5_k";
    case DType::q6_k: return "q6_k";
    case DType::iq4_nl: return "iq4_nl";
    default: return "mxfp4";
  }
}

}  // namespace hearth::vulkan
