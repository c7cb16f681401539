// Words for error messages; see words.h.
#include "model/words.h"

#include <algorithm>
#include <cctype>
#include <cstddef>

namespace hearth {

namespace {

/// Length of the well-formed UTF-8 sequence at text[at], 0 when there is none (Unicode 15, table 3-7).
size_t sequence_length(std::string_view text, size_t at) {
  auto byte = [&](size_t i) -> unsigned { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  auto tail = [&](size_t i, unsigned low = 0x80, unsigned high = 0xBF) { return byte(i) >= low && byte(i) <= high; };
  unsigned first = byte(at);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return tail(at + 1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    unsigned low = first == 0xE0 ? 0xA0 : 0x80;
    unsigned high = first == 0xED ? 0x9F : 0xBF;
    return tail(at + 1, low, high) && tail(at + 2) ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    unsigned low = first == 0xF0 ? 0x90 : 0x80;
    unsigned high = first == 0xF4 ? 0x8F : 0xBF;
    return tail(at + 1, low, high) && tail(at + 2) && tail(at + 3) ? 4 : 0;
  }
  return 0;
}

}  // namespace

bool valid_utf8(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    size_t length = sequence_length(text, at);
    if (length == 0) return false;
    at += length;
  }
  return true;
}

std::string shown(std::string_view raw) {
  constexpr size_t most = 96;
  std::string out;
  for (size_t at = 0; at < raw.size();) {
    size_t length = sequence_length(raw, at);
    if (out.size() + std::max<size_t>(length, 1) > most) return out + "...";
    unsigned char byte = static_cast<unsigned char>(raw[at]);
    if (length == 0 || byte < 0x20 || byte == 0x7F) {
      out += '?';
      at += 1;
    } else {
      out.append(raw.substr(at, length));
      at += length;
    }
  }
  return out;
}

std::string file_name(const std::string& path) {
  size_t end = path.find_last_not_of("/\\");
  if (end == std::string::npos) return shown(path);
#ifdef _WIN32
  size_t slash = path.find_last_of("/\\", end);
#else
  size_t slash = path.find_last_of('/', end);
#endif
  size_t begin = slash == std::string::npos ? 0 : slash + 1;
  return shown(std::string_view(path).substr(begin, end - begin + 1));
}

std::string shape_words(const std::vector<uint64_t>& shape) {
  std::string out = "[";
  for (size_t i = 0; i < shape.size(); ++i) {
    if (i) out += ", ";
    out += std::to_string(shape[i]);
  }
  return out + "]";
}

std::string list_words(const std::vector<std::string>& items, size_t most) {
  std::string out;
  size_t count = std::min(items.size(), most);
  bool more = items.size() > most;
  for (size_t i = 0; i < count; ++i) {
    if (i) out += (i + 1 == count && !more) ? " and " : ", ";
    out += items[i];
  }
  if (more) out += say(" and ", items.size() - most, " more");
  return out;
}

std::string impostor_words(std::span<const std::byte> bytes) {
  std::string head(reinterpret_cast<const char*>(bytes.data()), std::min<size_t>(bytes.size(), 256));
  size_t begin = head.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  std::string lower = begin == std::string::npos ? "" : head.substr(begin);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return char(std::tolower(c)); });
  auto starts = [&](std::string_view prefix) { return lower.compare(0, prefix.size(), prefix) == 0; };
  if (starts("<!doctype html") || starts("<html") || starts("<head") || starts("<!-- ")) {
    return "an HTML page: an error or login page was saved instead of the model";
  }
  if (starts("<?xml") || starts("<error")) return "an XML message: an error was saved instead of the model";
  if (starts("version https://git-lfs")) return "a Git LFS pointer: the model itself has not been downloaded";
  if (starts("{\"error\"")) return "an error message of a server, saved instead of the model";
  if (head.compare(0, 4, std::string_view("PK\3\4", 4)) == 0) return "a ZIP archive (or a PyTorch checkpoint)";
  if (head.compare(0, 2, "\x1F\x8B") == 0) return "a gzip archive";
  if (head.compare(0, 4, "ggml") == 0 || head.compare(0, 4, "lmgg") == 0 || head.compare(0, 4, "tjgg") == 0) {
    return "a GGML file, the format before GGUF";
  }
  return "";
}

}  // namespace hearth
