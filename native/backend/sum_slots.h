// Where the parts of a sum over ranks lie, and the sum itself. Memory of the host in whole pages that stays where it is, so that a device may
// import it and write or read its part without a copy. Who waits for whom is mesh/'s.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace hearth {

/// One slot for each rank, twice: a rank may bring its part of the next sum while another still reads the last. [turn][rank][slot_bytes]
class SumSlots {
 public:
  /// Of the memory's address and size: the most that a device may ask for.
  static constexpr size_t page = 65536;

  SumSlots(uint32_t ranks, size_t most_bytes);

  uint32_t ranks() const { return ranks_; }
  size_t slot_bytes() const { return slot_bytes_; }
  size_t bytes() const { return bytes_; }
  std::byte* memory() const { return memory_.get(); }
  size_t offset(uint32_t turn, uint32_t rank) const { return (size_t(turn) * ranks_ + rank) * slot_bytes_; }
  std::byte* slot(uint32_t turn, uint32_t rank) const { return memory() + offset(turn, rank); }

  /// out = values [first, first + out.size()) of all slots of `turn`, added in rank order. What is too small for a normal number counts as
  /// nothing, in parts and sums: devices flush such values or keep them, and all ranks shall have the same bytes.
  void add_up(uint32_t turn, size_t first, std::span<float> out) const;

 private:
  struct Free { void operator()(std::byte* memory) const; };
  uint32_t ranks_;
  size_t slot_bytes_, bytes_;
  std::unique_ptr<std::byte, Free> memory_;
};

}  // namespace hearth
