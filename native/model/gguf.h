// The GGUF container, versions 2 and 3: keys, tensor list, where the data lies. Every count, length and offset is held
// against the bytes that are there before it is used. What the keys mean is not known here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hearth {

enum class GgufType : uint32_t { u8, i8, u16, i16, u32, i32, f32, boolean, string, array, u64, i64, f64 };
std::string_view to_string(GgufType type);

/// A value as it lies in the file. `raw` views the file: a scalar's bytes, a string's characters, an array's items.
struct GgufValue {
  GgufType type = GgufType::u8;
  GgufType item = GgufType::u8;  // arrays: type of the items, never array
  uint64_t count = 0;            // arrays: number of items
  std::span<const std::byte> raw;
};

struct GgufTensor {
  std::string name;
  uint32_t type = 0;               // ggml type id
  std::vector<uint64_t> shape;     // slowest dimension first, 1 to 4 of them, each >= 1
  uint64_t offset = 0, bytes = 0;  // in the file
};

struct Gguf {
  uint32_t version = 0;
  uint64_t alignment = 32;
  uint64_t data_begin = 0;  // first byte after header and padding
  std::map<std::string, GgufValue, std::less<>> values;
  std::vector<GgufTensor> tensors;  // in the file's order

  const GgufValue* find(std::string_view key) const {
    auto at = values.find(key);
    return at == values.end() ? nullptr : &at->second;
  }
};

/// Parses a whole file. `name` is the file's name for messages. Throws Error{bad_file | unsupported_type}.
Gguf parse_gguf(std::span<const std::byte> bytes, const std::string& name);

}  // namespace hearth
