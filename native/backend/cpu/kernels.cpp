// Which kernel table to use. The tables themselves are in kernels_<isa>.cpp.
#include "backend/cpu/kernels.h"

#include <cstdlib>

#include "backend/cpu/cpu_features.h"
#include "hearth/error.h"

namespace hearth::cpu {
namespace {

struct Choice {
  const char* name;
  const Kernels* kernels;
};

/// Tables that can run here, worst first.
std::vector<Choice> usable() {
  const Features& f = features();
  std::vector<Choice> list{{"scalar", scalar_kernels()}};
  if (f.neon && neon_kernels()) list.push_back({"neon", neon_kernels()});
  if (f.neon_dot && neondot_kernels()) list.push_back({"neondot", neondot_kernels()});
  if (f.avx2 && f.fma && f.f16c && avx2_kernels()) list.push_back({"avx2", avx2_kernels()});
  if (f.avx2 && f.fma && f.f16c && f.avx_vnni && avxvnni_kernels()) list.push_back({"avxvnni", avxvnni_kernels()});
  if (f.avx512 && f.avx512_vnni && f.fma && f.f16c && avx512_kernels()) list.push_back({"avx512", avx512_kernels()});
  return list;
}

}  // namespace

std::vector<std::string> usable_isas() {
  std::vector<std::string> names;
  for (const Choice& c : usable()) names.emplace_back(c.name);
  return names;
}

const Kernels& choose_kernels(const std::string& isa) {
  std::string wanted = isa;
  if (const char* env = std::getenv("HEARTH_ISA"); wanted.empty() && env) wanted = env;
  const std::vector<Choice> list = usable();
  if (wanted.empty()) return *list.back().kernels;
  for (const Choice& c : list) {
    if (wanted == c.name) return *c.kernels;
  }
  std::string names;
  for (const Choice& c : list) names += std::string(names.empty() ? "" : ", ") + c.name;
  throw Error(ErrorCode::invalid_request, "This processor cannot run the kernels named " + wanted + ". It can run: " + names + ".");
}

}  // namespace hearth::cpu
