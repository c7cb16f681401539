// What this machine can do at most: how fast it reads memory and multiplies bytes. Measures; judges nothing.
#pragma once

#include <cstdint>
#include <string>

namespace hearth {

struct MachineLimits {
  uint32_t threads = 0;
  double read_bytes_per_second = 0;  // sequential reads of memory far larger than the caches, all threads together
  double int8_ops_per_second = 0;    // multiply and add counted as two, all threads together
  std::string int8_kernel;           // "avx512vnni", "avx2", "neon-dot" or "scalar": what was timed
};

/// Takes about `seconds`, and 256 MiB of memory for that time. threads 0: every core.
MachineLimits measure_machine_limits(uint32_t threads, double seconds);

}  // namespace hearth
