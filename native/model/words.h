// Words for error messages: how file names, keys and tensor names from files of strangers are shown to people.
// It decides nothing about models.
#pragma once

#include <cstdint>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "hearth/error.h"

namespace hearth {

/// A name out of a file, fit to be shown: at most 96 bytes, control characters and broken UTF-8 as '?'.
std::string shown(std::string_view raw);

/// The last component of a path, shown.
std::string file_name(const std::string& path);

/// "[32, 201088, 2880]"
std::string shape_words(const std::vector<uint64_t>& shape);

/// "1 and 3", "1, 2 and 3"; at most `most` items, then "and 12 more".
std::string list_words(const std::vector<std::string>& items, size_t most = 8);

/// True when `text` is well-formed UTF-8 (no surrogates, no overlong forms).
bool valid_utf8(std::string_view text);

/// What a file that is no model is instead, by its first bytes ("an HTML page ..."), or "" when nothing is recognised.
std::string impostor_words(std::span<const std::byte> bytes);

/// Joins its arguments into one string; numbers in plain digits.
template <class... Parts>
std::string say(const Parts&... parts) {
  std::ostringstream out;
  out.imbue(std::locale::classic());
  (out << ... << parts);
  return out.str();
}

/// Throws Error with the joined sentence.
template <class... Parts>
[[noreturn]] void fail(ErrorCode code, const Parts&... parts) {
  throw Error(code, say(parts...));
}

}  // namespace hearth
