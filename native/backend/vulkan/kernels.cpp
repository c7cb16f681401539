// Implements the keeping of verdicts.
#include "backend/vulkan/kernels.h"

#ifdef _WIN32
#include <windows.h>
#else
#include <signal.h>
#include <unistd.h>
#endif

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace hearth::vulkan {
namespace {

constexpr std::string_view testing = "under test by process ";

#ifdef _WIN32
unsigned long this_process() { return GetCurrentProcessId(); }
bool alive(unsigned long process) {
  HANDLE handle = OpenProcess(SYNCHRONIZE, FALSE, process);
  const bool runs = handle && WaitForSingleObject(handle, 0) == WAIT_TIMEOUT;
  if (handle) CloseHandle(handle);
  return runs;
}
#else
unsigned long this_process() { return static_cast<unsigned long>(getpid()); }
bool alive(unsigned long process) { return kill(static_cast<pid_t>(process), 0) == 0; }
#endif

std::string first_line(uint64_t shaders) {
  char line[40];
  std::snprintf(line, sizeof line, "shaders %016llx", static_cast<unsigned long long>(shaders));
  return line;
}

std::string_view next_line(std::string_view* text) {
  const size_t end = std::min(text->find('\n'), text->size());
  const std::string_view line = text->substr(0, end);
  text->remove_prefix(std::min(end + 1, text->size()));
  return line;
}

}  // namespace

const Variant* variant_of(std::string_view kernel) {
  for (const Variant& each : variants) {
    if (kernel.substr(0, each.stem.size()) == each.stem) return &each;
  }
  return nullptr;
}

bool asks_for_subgroups(std::string_view shader) {
  if (shader == "rate_matrix") return true;
  const Variant* variant = variant_of(shader);
  return variant && (variant->feature == subgroups || variant->feature == cooperative_matrix);
}

Verdicts Verdicts::parse(std::string_view text, uint64_t shaders) {
  Verdicts out;
  if (next_line(&text) != first_line(shaders)) return out;
  while (!text.empty()) {
    const std::string_view line = next_line(&text);
    const size_t space = std::min(line.find(' '), line.size());
    const std::string kernel(line.substr(0, space)), reason(line.substr(std::min(space + 1, line.size())));
    if (kernel.empty()) continue;
    if (reason.rfind(testing, 0) != 0) out.set(kernel, reason);
    else if (!alive(std::strtoul(reason.c_str() + testing.size(), nullptr, 10))) out.set(kernel, "the driver ended the process that tested it");
  }
  return out;
}

std::string Verdicts::text(uint64_t shaders) const {
  std::string text = first_line(shaders) + "\n";
  for (const auto& [kernel, reason] : reasons_) text += reason.empty() ? kernel + "\n" : kernel + " " + reason + "\n";
  return text;
}

bool Verdicts::failed(const std::string& kernel) const {
  const auto entry = reasons_.find(kernel);
  return entry != reasons_.end() && !entry->second.empty();
}

void Verdicts::set(const std::string& kernel, std::string_view reason) {
  std::string& entry = reasons_[kernel] = reason;
  std::replace(entry.begin(), entry.end(), '\n', ' ');
}

void Verdicts::under_test(const std::string& kernel) { set(kernel, std::string(testing) + std::to_string(this_process())); }

std::vector<std::string> Verdicts::sentences() const {
  std::vector<std::string> out;
  for (const auto& [kernel, reason] : reasons_) {
    const Variant* variant = variant_of(kernel);
    if (!reason.empty() && variant) out.push_back("Kernel " + kernel + " is replaced by " + std::string(variant->baseline) + ": " + reason + ".");
  }
  return out;
}

}  // namespace hearth::vulkan
