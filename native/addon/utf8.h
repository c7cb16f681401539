// Whether bytes are well-formed UTF-8 (Unicode standard, table 3-7): no overlong forms, no surrogates, no gaps.
#pragma once

#include <cstdint>
#include <string_view>

namespace hearth::addon {

inline bool is_utf8(std::string_view bytes) {
  size_t i = 0;
  while (i < bytes.size()) {
    const auto byte = [&](size_t k) { return i + k < bytes.size() ? static_cast<uint8_t>(bytes[i + k]) : uint8_t(0); };
    const uint8_t first = byte(0);
    if (first < 0x80) {
      ++i;
      continue;
    }
    const size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
    if (first < 0xC2 || first > 0xF4) return false;
    for (size_t k = 1; k < length; ++k) {
      if ((byte(k) & 0xC0) != 0x80) return false;
    }
    const uint8_t second = byte(1);
    if ((first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F)) return false;
    if ((first == 0xF0 && second < 0x90) || (first == 0xF4 && second > 0x8F)) return false;
    i += length;
  }
  return true;
}

}  // namespace hearth::addon
