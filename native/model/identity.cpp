// model_id; see identity.h.
#include "model/identity.h"

#include <algorithm>
#include <array>

#include "model/sha256.h"

namespace hearth {

std::string model_identity(const std::vector<IdentifiedFile>& files) {
  constexpr uint64_t samples = 64, sample_bytes = 64 * 1024;
  Sha256 hash;
  for (const IdentifiedFile& file : files) {
    uint64_t size = file.bytes.size();
    std::array<std::byte, 8> length;
    for (size_t i = 0; i < 8; ++i) length[i] = static_cast<std::byte>(size >> (8 * i));
    hash.update(length);
    hash.update(file.bytes.subspan(0, std::min(file.header, size)));
    if (size <= samples * sample_bytes) {
      hash.update(file.bytes);
      continue;
    }
    for (uint64_t i = 0; i < samples; ++i) {
      hash.update(file.bytes.subspan(i * (size - sample_bytes) / (samples - 1), sample_bytes));
    }
  }
  return hash.hex();
}

}  // namespace hearth
