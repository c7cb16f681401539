// Typed access to config.json of a Hugging Face folder: a value of the wrong type or out of range is an error that
// names the key. Keys that nobody asks for are ignored.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/json.h"

namespace hearth {

class HfConfig {
 public:
  /// `file` names the file in messages, e.g. "config.json". `json` must outlive this and be an object.
  HfConfig(const JsonValue& json, std::string file, std::string prefix = "");

  const std::string& file() const { return file_; }
  /// True when the key is there and not null.
  bool has(std::string_view key) const;
  /// True when the key is there and null, which to some keys is a value ("no window").
  bool is_null(std::string_view key) const;
  /// The object under a key; nullopt when absent or null.
  std::optional<HfConfig> child(std::string_view key) const;

  // Absent or null: nullopt. Wrong type, or outside [least, most]: Error{bad_file}.
  std::optional<uint64_t> integer(std::string_view key, uint64_t least, uint64_t most) const;
  std::optional<double> real(std::string_view key, double least, double most) const;
  std::optional<bool> boolean(std::string_view key) const;
  std::optional<std::string> text(std::string_view key) const;
  std::optional<std::vector<std::string>> texts(std::string_view key) const;
  std::optional<std::vector<double>> reals(std::string_view key, double least, double most) const;
  /// One number or an array of them, as eos_token_id is written.
  std::vector<uint64_t> integer_list(std::string_view key, uint64_t most) const;

  uint64_t need_integer(std::string_view key, uint64_t least, uint64_t most) const;

 private:
  const JsonValue* find(std::string_view key) const;
  double number(std::string_view key, const JsonValue& value, double least, double most) const;
  [[noreturn]] void wrong_type(std::string_view key, const char* wanted) const;
  std::string path(std::string_view key) const { return prefix_ + std::string(key); }

  const JsonValue* json_;
  std::string file_, prefix_;
};

}  // namespace hearth
