// Implements the slots and the sum.
#include "backend/sum_slots.h"

#include <algorithm>
#include <bit>
#include <new>

namespace hearth {
namespace {

constexpr size_t at_once = 2048;  // values whose sums stay in the nearest cache while the ranks go by

constexpr size_t round_up(size_t bytes, size_t to) { return (bytes + to - 1) / to * to; }

/// A normal number, or 0; infinities and NaN stay.
float normal(float value) { return (std::bit_cast<uint32_t>(value) & 0x7f800000u) == 0 ? 0.0f : value; }

}  // namespace

SumSlots::SumSlots(uint32_t ranks, size_t most_bytes)
    : ranks_(ranks),
      slot_bytes_(round_up(most_bytes, 256)),  // no two ranks write to one line, and devices bind at such offsets
      bytes_(round_up(std::max<size_t>(1, 2 * ranks * slot_bytes_), page)),
      memory_(new (std::align_val_t{page}) std::byte[bytes_]) {}

void SumSlots::Free::operator()(std::byte* memory) const { ::operator delete[](memory, std::align_val_t{page}); }

void SumSlots::add_up(uint32_t turn, size_t first, std::span<float> out) const {
  for (size_t begin = 0; begin < out.size(); begin += at_once) {
    float* const sums = out.data() + begin;
    const size_t count = std::min(at_once, out.size() - begin);
    for (uint32_t rank = 0; rank < ranks_; ++rank) {
      const float* const part = reinterpret_cast<const float*>(slot(turn, rank)) + first + begin;
      if (rank == 0) for (size_t i = 0; i < count; ++i) sums[i] = normal(part[i]);
      else for (size_t i = 0; i < count; ++i) sums[i] = normal(sums[i] + normal(part[i]));
    }
  }
}

}  // namespace hearth
