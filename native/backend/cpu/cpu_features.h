// What this processor and its operating system can do. Looked up once; decides nothing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hearth::cpu {

struct Features {
  bool avx2 = false, fma = false, f16c = false;
  bool avx512 = false;       // F, BW, VL, DQ and the system saves zmm registers
  bool avx512_vnni = false, avx512_bf16 = false, avx_vnni = false;
  bool neon = false, neon_dot = false;
};

const Features& features();
/// The names of the features that are present, e.g. "avx2", "avx512f", "avx512vnni".
std::vector<std::string> feature_names();
/// Physical cores that this process may run on, at least 1.
uint32_t physical_cores();

}  // namespace hearth::cpu
