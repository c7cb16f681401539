// Weights out of a seed, in every type: for self-tests and benchmarks, where a model's shape matters and its words do not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "backend/weights.h"

namespace hearth {

/// Writes row_bytes(type, cols) valid bytes whose values scatter around 0 by about `size`; with mxfp4_planes cols / 32 bytes at
/// `scales` as well. The same seed gives the same bytes everywhere.
void synthetic_row(DType type, uint32_t cols, float size, uint64_t seed, std::byte* row, std::byte* scales = nullptr);

/// A matrix that owns its bytes: `matrix.data` is valid as long as it lives.
struct SyntheticMatrix {
  SyntheticMatrix(const std::string& name, DType type, uint32_t rows, uint32_t cols, uint32_t experts, uint64_t seed);
  Matrix matrix;
  std::unique_ptr<std::byte[]> bytes, scales;
};

}  // namespace hearth
