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
  /// `most_bytes`: of the largest sum; 0: there are none, until plan_sums().
  explicit Meeting(uint32_t ranks, size_t most_bytes = 0);

  Comm& comm(uint32_t rank) { return comms_[rank]; }
  /// While no rank is at work.
  void plan_sums(size_t most_bytes);
  size_t bytes() const { return slots_ ? slots_->bytes() : 0; }
  /// Before every step, while no rank is at work.
  void begin();
  /// A rank has come to its end. With `whole` false it failed or gave up, and wherever the others wait they stop.
  void leave(uint32_t rank, bool whole);

 private:
  using Bytes = std::vector<std::byte>;

  class RankComm final : public Comm {
   public:
    RankComm(Meeting& meeting, uint32_t rank) : meeting_(&meeting), rank_(rank) {}
    uint32_t rank() const override { return rank_; }
    uint32_t turn() const override { return turn_; }
    const std::shared_ptr<SumSlots>& slots() const override { return meeting_->slots_; }
    bool parts_are_there(size_t bytes) override;
    bool send(uint32_t to_rank, std::span<const std::byte> bytes) override;
    bool recv(uint32_t from_rank, std::span<std::byte> bytes) override;
    bool share(std::span<std::byte> bytes) override;

   private:
    friend Meeting;
    Meeting* meeting_;
    uint32_t rank_;
    uint32_t turn_ = 0;  // of the next meeting of all: who meets for the second time knows that nobody reads what was brought to the first
  };

  bool all_here();

  std::vector<RankComm> comms_;
  std::shared_ptr<SumSlots> slots_;             // devices keep it, too
  std::array<std::vector<size_t>, 2> sizes_;  // [turn][rank]: bytes of the part that was brought to a sum
  std::array<Bytes, 2> shared_;                // [turn]: what rank 0 brought
  std::mutex mutex_;
  std::condition_variable changed_;
  uint32_t here_ = 0;
  uint64_t meetings_ = 0;
  bool broken_ = false;
  std::vector<bool> left_;
  std::map<std::pair<uint32_t, uint32_t>, std::deque<Bytes>> post_;  // (from, to): sent and not yet received
};

}  // namespace hearth
