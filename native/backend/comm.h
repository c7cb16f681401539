// Which rank of how many: the only thing that the model's code knows of other devices.
// Moving data between ranks is mesh/'s; a backend with one rank refuses AllReduce, Send and Recv.
#pragma once

#include <cstdint>

namespace hearth {

struct RankContext {
  uint32_t rank = 0;
  uint32_t ranks = 1;
  bool alone() const { return ranks == 1; }
};

}  // namespace hearth
