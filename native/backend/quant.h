// Decoding of weight rows: every DType to float32, exactly as its format says. Encoding is not done anywhere in Hearth.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backend/weights.h"

namespace hearth {

/// out[cols] = the values of one row. `row` holds row_bytes(type, cols) bytes, any alignment; `scales` holds cols/32
/// e8m0 bytes for mxfp4_planes and is ignored otherwise. `cols` must be a multiple of info(type).block.
/// Formulas: the block formats of ggml-common.h and ggml-quants.c (ggml), and the OCP microscaling format (MXFP4).
void decode_row(DType type, const std::byte* row, const std::byte* scales, uint32_t cols, float* out);

/// Row `row` of matrix `expert` of a view.
void decode_row(const Matrix& matrix, uint32_t expert, uint32_t row, float* out);

}  // namespace hearth
