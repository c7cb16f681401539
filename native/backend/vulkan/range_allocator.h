// Which bytes of a block are free: first fit, neighbours joined again. It knows offsets and sizes, and touches no memory.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

namespace hearth::vulkan {

class RangeAllocator {
 public:
  explicit RangeAllocator(uint64_t bytes) : bytes_(bytes) { free_[0] = bytes; }

  /// Offset of `bytes` (> 0), a multiple of `alignment`; nothing where no gap is large enough.
  std::optional<uint64_t> take(uint64_t bytes, uint64_t alignment);
  /// Gives back what take() returned, with the same size.
  void give_back(uint64_t offset, uint64_t bytes);
  uint64_t bytes() const { return bytes_; }
  bool empty() const { return free_.size() == 1 && free_.begin()->second == bytes_; }

 private:
  uint64_t bytes_;
  std::map<uint64_t, uint64_t> free_;  // offset to size; no two touch
};

}  // namespace hearth::vulkan
