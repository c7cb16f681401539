// Typed access to the keys of a GGUF file: a value of the wrong type or out of range is an error that names the key.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/gguf.h"

namespace hearth {

class GgufMeta {
 public:
  GgufMeta(const Gguf& gguf, std::string file) : gguf_(gguf), file_(std::move(file)) {}

  const std::string& file() const { return file_; }
  bool has(std::string_view key) const { return gguf_.find(key) != nullptr; }
  bool is_array(std::string_view key) const { return has(key) && gguf_.find(key)->type == GgufType::array; }
  uint64_t array_size(std::string_view key) const { return is_array(key) ? gguf_.find(key)->count : 0; }

  // Absent: nullopt. Wrong type, or outside [least, most]: Error{bad_file}.
  std::optional<uint64_t> integer(std::string_view key, uint64_t least, uint64_t most) const;
  std::optional<int64_t> signed_integer(std::string_view key) const;
  std::optional<double> real(std::string_view key, double least, double most) const;
  std::optional<bool> boolean(std::string_view key) const;
  std::optional<std::string> text(std::string_view key) const;
  std::optional<std::vector<std::string>> texts(std::string_view key) const;
  std::optional<std::vector<int64_t>> integers(std::string_view key) const;
  std::optional<std::vector<float>> reals(std::string_view key) const;

  // Absent: Error{bad_file} too.
  uint64_t need_integer(std::string_view key, uint64_t least, uint64_t most) const;
  double need_real(std::string_view key, double least, double most) const;
  std::string need_text(std::string_view key) const;

 private:
  [[noreturn]] void wrong_type(std::string_view key, const GgufValue& value, const char* wanted) const;
  [[noreturn]] void missing(std::string_view key) const;

  const Gguf& gguf_;
  std::string file_;
};

}  // namespace hearth
