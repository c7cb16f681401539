// A reading position in bytes that are not trusted: every step is checked, a read past the end is an error.
// Little-endian numbers only.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "model/words.h"

namespace hearth {

class ByteCursor {
 public:
  /// `what` names the bytes in the message: "<file> ends inside <what>".
  ByteCursor(std::span<const std::byte> bytes, const std::string& file, const char* what)
      : bytes_(bytes), file_(&file), what_(what) {}

  uint64_t position() const { return at_; }
  uint64_t left() const { return bytes_.size() - at_; }
  void about(const char* what) { what_ = what; }

  std::span<const std::byte> take(uint64_t count) {
    if (count > left()) {
      throw Error(ErrorCode::bad_file,
                  say(*file_, " is damaged or cut short: ", what_, " at byte ", at_, " needs ", count, " bytes, ",
                      left(), " are left"),
                  count, left());
    }
    auto piece = bytes_.subspan(at_, count);
    at_ += count;
    return piece;
  }

  template <class T>
  T number() {
    static_assert(std::endian::native == std::endian::little, "Hearth runs on little-endian machines");
    T value;
    std::memcpy(&value, take(sizeof(T)).data(), sizeof(T));
    return value;
  }

  /// GGUF string: u64 length, bytes.
  std::string_view string(uint64_t most) {
    uint64_t length = number<uint64_t>();
    if (length > most && length <= left()) {
      fail(ErrorCode::bad_file, *file_, " is damaged: ", what_, " at byte ", at_, " is ", length,
           " bytes long, at most ", most, " are allowed");
    }
    auto piece = take(length);
    return {reinterpret_cast<const char*>(piece.data()), piece.size()};
  }

 private:
  std::span<const std::byte> bytes_;
  const std::string* file_;
  const char* what_;
  uint64_t at_ = 0;
};

}  // namespace hearth
