// Weight types as they lie in files: block geometry and names. How a block is decoded is backend/quant.h.
#pragma once

#include <cstdint>
#include <string_view>

namespace hearth {

enum class DType : uint8_t {
  f32, f16, bf16, q8_0, q4_0, q4_1, q5_0, q5_1, q4_k, q5_k, q6_k, iq4_nl,
  mxfp4,         // ggml blocks of 17 bytes: e8m0 scale, then nibbles j | j+16
  mxfp4_planes,  // Hugging Face: nibble pairs 2b | 2b+1 in one plane, e8m0 scales in another
};

struct DTypeInfo {
  std::string_view name;
  uint32_t block;  // values per block
  uint32_t bytes;  // bytes per block (mxfp4_planes: of the nibble plane)
};

constexpr DTypeInfo info(DType type) {
  switch (type) {
    case DType::f32: return {"F32", 1, 4};
    case DType::f16: return {"F16", 1, 2};
    case DType::bf16: return {"BF16", 1, 2};
    case DType::q8_0: return {"Q8_0", 32, 34};
    case DType::q4_0: return {"Q4_0", 32, 18};
    case DType::q4_1: return {"Q4_1", 32, 20};
    case DType::q5_0: return {"Q5_0", 32, 22};
    case DType::q5_1: return {"Q5_1", 32, 24};
    case DType::q4_k: return {"Q4_K", 256, 144};
    case DType::q5_k: return {"Q5_K", 256, 176};
    case DType::q6_k: return {"Q6_K", 256, 210};
    case DType::iq4_nl: return {"IQ4_NL", 32, 18};
    case DType::mxfp4: return {"MXFP4", 32, 17};
    case DType::mxfp4_planes: return {"MXFP4", 32, 16};
  }
  return {"?", 1, 0};
}

/// Bytes of a row of `cols` values; `cols` must be a multiple of the block.
constexpr uint64_t row_bytes(DType type, uint64_t cols) { return cols / info(type).block * info(type).bytes; }

}  // namespace hearth
