// Paths cross walls as UTF-8 strings; these two turn them into the system's own form and back.
#pragma once

#include <filesystem>
#include <string>

namespace hearth {

inline std::filesystem::path path_of(const std::string& utf8) { return {std::u8string(utf8.begin(), utf8.end())}; }

inline std::string utf8_of(const std::filesystem::path& path) {
  std::u8string text = path.u8string();
  return {text.begin(), text.end()};
}

}  // namespace hearth
