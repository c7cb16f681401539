// What a backend that is one rank of several asks of the others, on the thread that runs its list. Data lies in the host's memory.
// Who the others are and how it reaches them is mesh/'s; a backend without a Comm refuses the ops between ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "backend/sum_slots.h"

namespace hearth {

/// Every call that gives a bool waits for the ranks that it concerns. False: the step was given up or failed elsewhere, and this rank
/// stops, too.
class Comm {
 public:
  virtual ~Comm() = default;

  // A sum over all ranks in three moves, each rank in its own way: its part goes into slot(turn(), rank()), all wait for each other, and it
  // takes what SumSlots::add_up says of that turn. The slots of a turn keep their parts until this rank comes to the next sum.

  virtual uint32_t rank() const = 0;
  /// Two in turn; which one the next sum goes through.
  virtual uint32_t turn() const = 0;
  /// nullptr: no sums were planned. Only while no step runs is it another than before.
  virtual const std::shared_ptr<SumSlots>& slots() const = 0;
  /// This rank's part, of so many bytes, is there. True: so are all others; the next sum goes through the other turn.
  virtual bool parts_are_there(size_t bytes) = 0;

  virtual bool send(uint32_t to_rank, std::span<const std::byte> bytes) = 0;
  virtual bool recv(uint32_t from_rank, std::span<std::byte> bytes) = 0;
  /// Rank 0's bytes to all.
  virtual bool share(std::span<std::byte> bytes) = 0;
};

/// This rank's slot of the next sum, of `bytes`. Throws Error{internal} where nothing so large was planned.
std::byte* own_slot(const Comm& comm, size_t bytes);
/// x = sum over all ranks of x.
bool all_reduce(Comm& comm, std::span<float> x);

}  // namespace hearth
