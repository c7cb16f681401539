// Implements the bookkeeping of a block.
#include "backend/vulkan/range_allocator.h"

#include <iterator>

namespace hearth::vulkan {

std::optional<uint64_t> RangeAllocator::take(uint64_t bytes, uint64_t alignment) {
  for (auto gap = free_.begin(); gap != free_.end(); ++gap) {
    const uint64_t begin = gap->first, end = begin + gap->second;
    const uint64_t offset = (begin + alignment - 1) / alignment * alignment;
    if (offset > end || end - offset < bytes) continue;
    free_.erase(gap);
    if (offset > begin) free_[begin] = offset - begin;
    if (end > offset + bytes) free_[offset + bytes] = end - offset - bytes;
    return offset;
  }
  return std::nullopt;
}

void RangeAllocator::give_back(uint64_t offset, uint64_t bytes) {
  const auto next = free_.lower_bound(offset);
  if (next != free_.end() && next->first == offset + bytes) {
    bytes += next->second;
    free_.erase(next);
  }
  const auto behind = free_.lower_bound(offset);
  if (behind != free_.begin()) {
    const auto before = std::prev(behind);
    if (before->first + before->second == offset) {
      before->second += bytes;
      return;
    }
  }
  free_[offset] = bytes;
}

}  // namespace hearth::vulkan
