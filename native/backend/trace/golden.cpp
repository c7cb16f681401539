// Comparison of a trace with a golden file, and its renewal on request.
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "backend/trace/trace_backend.h"

namespace hearth {

std::string differs_from_golden(const std::string& text, const std::string& path) {
  if (const char* update = std::getenv("HEARTH_UPDATE_GOLDEN"); update && std::string_view(update) == "1") {
    std::ofstream(path, std::ios::binary) << text;
    return "";
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) return "There is no golden file " + path + " (HEARTH_UPDATE_GOLDEN=1 writes it).";
  std::istringstream actual(text);
  std::string want, got;
  for (int line = 1;; ++line) {
    const bool more_want = static_cast<bool>(std::getline(file, want)), more_got = static_cast<bool>(std::getline(actual, got));
    if (!more_want && !more_got) return "";
    if (more_want != more_got || want != got) {
      return path + ", line " + std::to_string(line) + ":\n  golden: " + (more_want ? want : "(end)") +
             "\n  now:    " + (more_got ? got : "(end)");
    }
  }
}

}  // namespace hearth
