// The safetensors container: header and tensor list. Every length is held against the bytes that are there.
// What the names mean is not known here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "backend/dtype.h"

namespace hearth {

struct SafetensorsTensor {
  std::string name;
  std::string type;                // "BF16", "U8", ...
  std::optional<DType> dtype;      // none: the engine does not compute with this type
  std::vector<uint64_t> shape;     // slowest dimension first; may hold zeros
  uint64_t offset = 0, bytes = 0;  // in the file
};

struct Safetensors {
  uint64_t data_begin = 0;
  std::vector<SafetensorsTensor> tensors;  // by offset
};

/// Parses a whole file. `name` is the file's name for messages. Throws Error{bad_file | unsupported_type}.
Safetensors parse_safetensors(std::span<const std::byte> bytes, const std::string& name);

}  // namespace hearth
