// Implements the meetings of ranks.
#include "mesh/meeting.h"

#include <algorithm>
#include <cstring>

#include "hearth/error.h"

namespace hearth {
namespace {

[[noreturn]] void do_not_meet() { throw Error(ErrorCode::internal, "The op lists of two ranks do not meet."); }

}  // namespace

Meeting::Meeting(uint32_t ranks, size_t most_bytes) : sizes_{std::vector<size_t>(ranks), std::vector<size_t>(ranks)}, left_(ranks) {
  for (uint32_t rank = 0; rank < ranks; ++rank) comms_.emplace_back(*this, rank);
  if (most_bytes > 0) plan_sums(most_bytes);
}

void Meeting::plan_sums(size_t most_bytes) { slots_ = std::make_shared<SumSlots>(static_cast<uint32_t>(comms_.size()), most_bytes); }

void Meeting::begin() {
  std::lock_guard lock(mutex_);
  here_ = 0;
  broken_ = false;
  std::fill(left_.begin(), left_.end(), false);
  post_.clear();
  for (RankComm& comm : comms_) comm.turn_ = 0;
}

void Meeting::leave(uint32_t rank, bool whole) {
  std::lock_guard lock(mutex_);
  left_[rank] = true;
  broken_ = broken_ || !whole;
  changed_.notify_all();
}

/// Waits until every rank is here.
bool Meeting::all_here() {
  std::unique_lock lock(mutex_);
  if (broken_) return false;
  const uint64_t meeting = meetings_;
  if (++here_ == comms_.size()) {
    here_ = 0;
    ++meetings_;
    changed_.notify_all();
    return true;
  }
  const auto nobody_left = [&] { return std::find(left_.begin(), left_.end(), true) == left_.end(); };
  changed_.wait(lock, [&] { return meetings_ != meeting || broken_ || !nobody_left(); });
  if (meetings_ != meeting) return true;
  if (broken_) return false;
  do_not_meet();
}

bool Meeting::RankComm::parts_are_there(size_t bytes) {
  std::vector<size_t>& sizes = meeting_->sizes_[turn_];
  sizes[rank_] = bytes;
  if (!meeting_->all_here()) return false;
  if (std::ranges::any_of(sizes, [&](size_t size) { return size != bytes; })) do_not_meet();
  turn_ ^= 1;
  return true;
}

bool Meeting::RankComm::share(std::span<std::byte> bytes) {
  Bytes& shared = meeting_->shared_[turn_];
  if (rank_ == 0) shared.assign(bytes.begin(), bytes.end());
  if (!meeting_->all_here()) return false;
  if (shared.size() != bytes.size()) do_not_meet();
  std::ranges::copy(shared, bytes.begin());
  turn_ ^= 1;
  return true;
}

bool Meeting::RankComm::send(uint32_t to_rank, std::span<const std::byte> bytes) {
  Bytes message(bytes.begin(), bytes.end());
  std::lock_guard lock(meeting_->mutex_);
  if (meeting_->broken_) return false;
  meeting_->post_[{rank_, to_rank}].push_back(std::move(message));
  meeting_->changed_.notify_all();
  return true;
}

bool Meeting::RankComm::recv(uint32_t from_rank, std::span<std::byte> bytes) {
  std::unique_lock lock(meeting_->mutex_);
  std::deque<Bytes>& post = meeting_->post_[{from_rank, rank_}];
  meeting_->changed_.wait(lock, [&] { return !post.empty() || meeting_->broken_ || meeting_->left_.at(from_rank); });
  if (meeting_->broken_) return false;
  if (post.empty()) do_not_meet();
  const Bytes message = std::move(post.front());
  post.pop_front();
  lock.unlock();
  if (message.size() != bytes.size()) do_not_meet();
  std::ranges::copy(message, bytes.begin());
  return true;
}

}  // namespace hearth
