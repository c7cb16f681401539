// `hearth_limits [threads [seconds]]`: prints the machine's limits, one a line.
#include <cstdio>
#include <cstdlib>

#include "bench/machine_limits.h"

int main(int argc, char** argv) {
  const auto threads = static_cast<uint32_t>(argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 0);
  const double seconds = argc > 2 ? std::strtod(argv[2], nullptr) : 3.0;
  const hearth::MachineLimits limits = hearth::measure_machine_limits(threads, seconds > 0 ? seconds : 3.0);
  std::printf("threads      %u\n", limits.threads);
  std::printf("read         %.2f GB/s\n", limits.read_bytes_per_second / 1e9);
  std::printf("int8 (%s) %.1f Gop/s\n", limits.int8_kernel.c_str(), limits.int8_ops_per_second / 1e9);
  return 0;
}
