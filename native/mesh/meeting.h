// Where the ranks of a step meet: sums, messages and shared bytes in the host's memory (see design.md). It knows no ops, no devices and no
// threads; a rank is a number.
#pragma once

#include <array>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "backend/comm.h"

namespace hearth {

class Meeting {
 public:
  explicit Meeting(uint32_t ranks);

  Comm& comm(uint32_t rank) { return comms_[rank]; }
  /// Before every step, while no rank is at work.
  void begin();
  /// A rank has come to its end. With `whole` false it failed or gave up, and wherever the others wait they stop.
  void leave(uint32_t rank, bool whole);

 private:
  using Bytes = std::vector<std::byte>;

  class RankComm final : public Comm {
   public:
    RankComm(Meeting& meeting, uint32_t rank) : meeting_(&meeting), rank_(rank) {}
    bool all_reduce(std::span<float> x) override;
    bool send(uint32_t to_rank, std::span<const float> x) override;
    bool recv(uint32_t from_rank, std::span<float> x) override;
    bool share(std::span<std::byte> bytes) override;

   private:
    friend Meeting;
    /// What this rank brings to the next meeting of all. The slots are two in turn: who meets for the second time knows that nobody
    /// reads what was brought to the one before.
    Bytes& slot(uint32_t of_rank) { return meeting_->slots_[turn_][of_rank]; }
    Meeting* meeting_;
    uint32_t rank_;
    uint32_t turn_ = 0;
  };

  bool all_here();

  std::vector<RankComm> comms_;
  std::array<std::vector<Bytes>, 2> slots_;  // [turn][rank]
  std::mutex mutex_;
  std::condition_variable changed_;
  uint32_t here_ = 0;
  uint64_t meetings_ = 0;
  bool broken_ = false;
  std::vector<bool> left_;
  std::map<std::pair<uint32_t, uint32_t>, std::deque<Bytes>> post_;  // (from, to): sent and not yet received
};

}  // namespace hearth
