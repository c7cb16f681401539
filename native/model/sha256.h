// SHA-256 (FIPS 180-4), for the identity of models and the names of cached blocks. No secrets pass here.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace hearth {

class Sha256 {
 public:
  void update(std::span<const std::byte> bytes);
  /// The hash. The object is used up.
  std::array<std::byte, 32> digest();
  /// The same as 64 lower-case hexadecimal digits.
  std::string hex();

 private:
  void block(const std::byte* bytes);

  std::array<uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                    0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<std::byte, 64> pending_{};
  size_t held_ = 0;
  uint64_t total_ = 0;
};

}  // namespace hearth
