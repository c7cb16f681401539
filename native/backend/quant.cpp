// Scalar decoding of weight rows for everybody; the formulas are in quant_rows.inl, shared with the CPU kernels.
#include "backend/quant.h"

#include <cstring>

#include "backend/half.h"

namespace hearth {
namespace {
#include "backend/quant_rows.inl"
}  // namespace

void decode_row(DType type, const std::byte* row, const std::byte* scales, uint32_t cols, float* out) {
  decode_any(type, row, scales, cols, out);
}

void decode_row(const Matrix& matrix, uint32_t expert, uint32_t row, float* out) {
  const std::byte* data = matrix.begin(expert) + row * matrix.row_stride;
  const std::byte* scales =
      matrix.scales ? matrix.scales_begin(expert) + row * matrix.scale_row_stride : nullptr;
  decode_any(matrix.type, data, scales, matrix.cols, out);
}

}  // namespace hearth
