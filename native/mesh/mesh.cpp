// Implements the mesh: a thread for each rank, woken for a step, and what their outcomes come to (see design.md).
#include "mesh/mesh.h"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#include "mesh/meeting.h"
#include "mesh/pieces.h"
#include "mesh/ranks.h"

namespace hearth {
namespace {

class MeshOfThreads final : public MeshOfRanks {
 public:
  explicit MeshOfThreads(std::vector<MeshRank> all) : MeshOfRanks(std::move(all)), meeting_(static_cast<uint32_t>(ranks())) {
    for (uint32_t r = 0; r < ranks(); ++r) backend(r).set_comm(&meeting_.comm(r));
    for (uint32_t r = 0; r < ranks(); ++r) threads_.emplace_back([this, r] { work(r); });
  }
  ~MeshOfThreads() override {
    {
      std::lock_guard lock(mutex_);
      ending_ = true;
    }
    changed_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  bool far_logits() const override { return any_far(joined_); }
  uint64_t kv_copy_bytes() const override { return kv_block_bytes(); }
  void read_kv_block(uint32_t block, std::byte* out) override {
    for (size_t r = 0; r < ranks(); out += block_bytes(r++)) {
      if (block_bytes(r) > 0) backend(r).read_kv_block(block, out);
    }
  }
  void write_kv_block(uint32_t block, const std::byte* in) override {
    for (size_t r = 0; r < ranks(); in += block_bytes(r++)) {
      if (block_bytes(r) > 0) backend(r).write_kv_block(block, in);
    }
  }

  std::unique_ptr<Ticket> submit(const OpList& ops, const StepInputs& inputs, const std::atomic<bool>* abandon) override {
    finish();  // what a ticket that nobody waited for has left
    lists_ = by_rank(ops, ranks());
    pieces_ = in_pieces(inputs, quiet_lists_.empty() ? 1 : static_cast<uint32_t>(ranks()));
    abandon_ = abandon;
    error_ = nullptr, whole_ = true;
    meeting_.begin();
    {
      std::lock_guard lock(mutex_);
      working_ = static_cast<uint32_t>(ranks());
      ++step_;
    }
    changed_.notify_all();
    return std::make_unique<StepTicket>(*this);
  }

  void plan_sums(uint64_t most_bytes) override { meeting_.plan_sums(most_bytes); }
  Buffer join(std::vector<JoinedPart> parts) override {
    joined_.push_back(std::move(parts));
    return {static_cast<uint32_t>(joined_.size() - 1)};
  }
  void pipeline(const OpList& without_outputs) override { quiet_lists_ = by_rank(without_outputs, ranks()); }
  void read(Buffer buffer, uint32_t first, uint32_t rows, float* out) override {
    const std::vector<JoinedPart>& parts = joined_.at(buffer.id);
    if (parts.size() == 1) return backend(parts[0].rank).read(parts[0].buffer, first, rows, out);
    size_t width = 0, at = 0;
    for (const JoinedPart& part : parts) width += part.cols;
    for (const JoinedPart& part : parts) {
      rows_.resize(size_t(rows) * part.cols);
      backend(part.rank).read(part.buffer, first, rows, rows_.data());
      for (uint32_t r = 0; r < rows; ++r) std::copy_n(&rows_[size_t(r) * part.cols], part.cols, out + r * width + at);
      at += part.cols;
    }
  }

  uint64_t scratch_bytes() const override { return meeting_.bytes() + MeshOfRanks::scratch_bytes(); }

 private:
  class StepTicket final : public Ticket {
   public:
    explicit StepTicket(MeshOfThreads& mesh) : mesh_(mesh) {}
    ~StepTicket() override { mesh_.finish(); }  // the abandon flag may go next
    bool wait() override {
      mesh_.finish();
      if (mesh_.error_) std::rethrow_exception(mesh_.error_);
      return mesh_.whole_;
    }

   private:
    MeshOfThreads& mesh_;
  };

  void finish() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return working_ == 0; });
  }

  void work(uint32_t rank) {
    uint64_t seen = 0;
    for (;;) {
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return step_ != seen || ending_; });
        if (step_ == seen) return;
        seen = step_;
      }
      bool whole = false;
      std::exception_ptr error;
      try {
        whole = run(rank);
      } catch (...) {
        error = std::current_exception();
      }
      note(whole, std::move(error));  // before the others learn of it: theirs only follows from this one
      meeting_.leave(rank, whole);
      std::lock_guard lock(mutex_);
      if (--working_ == 0) changed_.notify_all();
    }
  }

  bool run(uint32_t rank) {
    for (size_t i = 0; i < pieces_.size(); ++i) {
      const OpList& list = i + 1 < pieces_.size() ? quiet_lists_[rank] : lists_[rank];
      if (!backend(rank).submit(list, pieces_[i], abandon_)->wait()) return false;
    }
    return true;
  }

  void note(bool whole, std::exception_ptr error) {
    std::lock_guard lock(mutex_);
    whole_ = whole_ && whole;
    if (!error_) error_ = std::move(error);
  }

  Meeting meeting_;
  std::vector<std::vector<JoinedPart>> joined_;
  std::vector<float> rows_;
  std::vector<OpList> quiet_lists_;  // by rank; none: a step is one piece

  // Of the step under way; written while no rank works.
  std::vector<OpList> lists_;  // by rank
  std::vector<StepInputs> pieces_;
  const std::atomic<bool>* abandon_ = nullptr;

  std::mutex mutex_;
  std::condition_variable changed_;
  uint64_t step_ = 0;
  uint32_t working_ = 0;
  bool ending_ = false, whole_ = true;
  std::exception_ptr error_;
  std::vector<std::thread> threads_;
};

}  // namespace

std::unique_ptr<Mesh> make_mesh(std::vector<MeshRank> ranks) { return std::make_unique<MeshOfThreads>(std::move(ranks)); }

}  // namespace hearth
