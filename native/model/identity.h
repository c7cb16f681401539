// The identity of a model: a hash that is known at once, of sizes, headers and samples.
// It names a model; it does not prove that every byte is right.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace hearth {

struct IdentifiedFile {
  std::span<const std::byte> bytes;  // the whole file
  uint64_t header = 0;               // its complete header: bytes [0, header)
};

/// SHA-256 over, for each file in order: its size as 8 little-endian bytes, its header, and 64 samples of 64 KiB at
/// offsets i * (size - 64 KiB) / 63; of a file that 64 samples would cover (up to 4 MiB), the whole file instead.
std::string model_identity(const std::vector<IdentifiedFile>& files);

}  // namespace hearth
