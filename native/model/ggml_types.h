// The tensor types that GGUF files can name: id, name, block geometry, and whether the engine computes with them.
// Source: the public ggml format (type ids and block sizes).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "backend/dtype.h"

namespace hearth {

struct GgmlType {
  uint32_t id;
  std::string_view name;
  uint32_t block;              // values
  uint32_t bytes;              // of a block
  std::optional<DType> dtype;  // none: known by name only
};

/// nullptr for ids that are not in the format as known here.
const GgmlType* find_ggml_type(uint32_t id);

}  // namespace hearth
