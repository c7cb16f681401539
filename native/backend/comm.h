// What a backend that is one rank of several asks of the others, on the thread that runs its list. Data lies in the host's memory.
// Who the others are and how it reaches them is mesh/'s; a backend without a Comm refuses the ops between ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace hearth {

/// Every call waits for the ranks that it concerns. False: the step was given up or failed elsewhere, and this rank stops, too.
class Comm {
 public:
  virtual ~Comm() = default;
  /// x = sum over all ranks of x, in rank order.
  virtual bool all_reduce(std::span<float> x) = 0;
  virtual bool send(uint32_t to_rank, std::span<const float> x) = 0;
  virtual bool recv(uint32_t from_rank, std::span<float> x) = 0;
  /// Rank 0's bytes to all.
  virtual bool share(std::span<std::byte> bytes) = 0;
};

}  // namespace hearth
