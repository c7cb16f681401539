// A strict JSON reader for files of strangers: RFC 8259, valid UTF-8 only, bounded depth and size, no extensions.
// JsonCursor reads in place without building anything; parse_json builds a tree. Neither writes JSON.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace hearth {

/// Pulls values out of a text one after the other. Every method throws Error{bad_file} that names the file and the
/// byte.
class JsonCursor {
 public:
  /// `what` names the text in messages, e.g. "header of model.safetensors". The text must be valid UTF-8.
  JsonCursor(std::string_view text, std::string what) : text_(text), what_(std::move(what)) {}

  /// First character of the next value: '{', '[', '"', a digit or '-', 't', 'f', 'n'; 0 at the end.
  char peek();
  void enter_object();
  /// Reads `"key":` of the next member into `key`; false (and past the brace) at the end.
  bool next_member(std::string& key);
  void enter_array();
  /// True when another item follows; false (and past the bracket) at the end.
  bool next_item();
  std::string string();
  /// A whole number from 0 to 2^64-1 without fraction or exponent.
  uint64_t unsigned_integer();
  /// The text of a number, grammar checked, at most 64 characters.
  std::string_view number();
  bool boolean();
  void null();
  /// Reads over one value of any kind.
  void skip();
  /// Nothing but white space may follow.
  void finish();

  [[noreturn]] void wrong(std::string_view problem) const;

 private:
  struct Level {
    bool object, first;
  };
  void white();
  void expect(char c);
  void literal(std::string_view word);
  void open(char bracket, bool object);
  bool more(char close);
  uint32_t hex4();
  void escape(std::string& out);

  std::string_view text_;
  std::string what_;
  size_t at_ = 0;
  std::vector<Level> levels_;
};

struct JsonMember;

/// A JSON value. Integers that fit stay exact.
struct JsonValue {
  using Items = std::vector<JsonValue>;
  using Members = std::vector<JsonMember>;
  std::variant<std::monostate, bool, int64_t, double, std::string, Items, Members> value;

  bool is_null() const { return std::holds_alternative<std::monostate>(value); }
  const std::string* text() const { return std::get_if<std::string>(&value); }
  const Items* items() const { return std::get_if<Items>(&value); }
  const Members* members() const { return std::get_if<Members>(&value); }
  /// Member of an object (the last of that name), else nullptr.
  const JsonValue* find(std::string_view key) const;
};

struct JsonMember {
  std::string key;
  JsonValue value;
};

/// Parses a whole text. At most 64 levels and two million values. Throws Error{bad_file} naming `what`.
JsonValue parse_json(std::string_view text, const std::string& what);

}  // namespace hearth
