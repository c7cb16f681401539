// Counter-based random numbers: Philox 4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011).
// It has no state: the same counter and key give the same bits on every machine and in every order of use.
#pragma once

#include <array>
#include <cstdint>

namespace hearth {

inline std::array<uint32_t, 4> philox4x32(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = uint64_t(0xD2511F53u) * counter[0];
    const uint64_t b = uint64_t(0xCD9E8D57u) * counter[2];
    counter = {uint32_t(b >> 32) ^ counter[1] ^ key[0], uint32_t(b), uint32_t(a >> 32) ^ counter[3] ^ key[1], uint32_t(a)};
    key = {key[0] + 0x9E3779B9u, key[1] + 0xBB67AE85u};
  }
  return counter;
}

/// Uniform in [0, 1) with 53 bits: the number that belongs to `position` of the stream `seed`.
inline double uniform_at(uint64_t seed, uint64_t position) {
  const auto bits = philox4x32({uint32_t(position), uint32_t(position >> 32), 0, 0}, {uint32_t(seed), uint32_t(seed >> 32)});
  return double((uint64_t(bits[0]) << 32 | bits[1]) >> 11) * 0x1p-53;
}

}  // namespace hearth
