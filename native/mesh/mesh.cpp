// Implements the mesh: a thread for each rank, woken for a step, and what their outcomes come to (see design.md).
#include "mesh/mesh.h"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#include "hearth/error.h"
#include "mesh/meeting.h"
#include "mesh/pieces.h"

namespace hearth {
namespace {

class MeshOfThreads final : public Mesh {
 public:
  explicit MeshOfThreads(std::vector<MeshRank> ranks) : meeting_(static_cast<uint32_t>(ranks.size())), ranks_(std::move(ranks)) {
    for (uint32_t r = 0; r < ranks_.size(); ++r) {
      MeshRank& rank = ranks_[r];
      rank.backend->set_comm(&meeting_.comm(r));
      block_bytes_.push_back(rank.backend->kv_block_bytes(rank.kv));
      if (block_bytes_[r] > 0) rank.backend->set_kv_shape(rank.kv);
    }
    for (uint32_t r = 0; r < ranks_.size(); ++r) threads_.emplace_back([this, r] { work(r); });
  }
  ~MeshOfThreads() override {
    {
      std::lock_guard lock(mutex_);
      ending_ = true;
    }
    changed_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  std::string name() const override {
    std::string names;
    for (const MeshRank& rank : ranks_) names += (names.empty() ? "" : " + ") + rank.backend->name();
    return names;
  }
  std::vector<std::string> notes() const override {
    std::vector<std::string> notes;
    for (const MeshRank& rank : ranks_) {
      for (const std::string& note : rank.backend->notes()) {
        if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(note);
      }
    }
    return notes;
  }
  Precision precision() const override { return ranks_[0].backend->precision(); }
  KvType kv_type() const override { return ranks_[0].backend->kv_type(); }

  uint64_t kv_block_bytes() const override {
    return sum([this](const MeshRank& rank) { return block_bytes_[size_t(&rank - ranks_.data())]; });
  }
  /// Where one refuses, the others go back: ids mean the same everywhere.
  void resize_kv(uint32_t blocks) override {
    size_t done = 0;
    try {
      for (; done < ranks_.size(); ++done) resize(done, blocks);
    } catch (...) {
      for (size_t r = 0; r < done && blocks > blocks_; ++r) resize(r, blocks_);
      throw;
    }
    blocks_ = blocks;
  }
  void read_kv_block(uint32_t block, std::byte* out) override {
    for (size_t r = 0; r < ranks_.size(); out += block_bytes_[r++]) {
      if (block_bytes_[r] > 0) ranks_[r].backend->read_kv_block(block, out);
    }
  }
  void write_kv_block(uint32_t block, const std::byte* in) override {
    for (size_t r = 0; r < ranks_.size(); in += block_bytes_[r++]) {
      if (block_bytes_[r] > 0) ranks_[r].backend->write_kv_block(block, in);
    }
  }

  std::unique_ptr<Ticket> submit(const OpList& ops, const StepInputs& inputs, const std::atomic<bool>* abandon) override {
    finish();  // what a ticket that nobody waited for has left
    lists_ = share_out(ops);
    pieces_ = in_pieces(inputs, quiet_lists_.empty() ? 1 : static_cast<uint32_t>(ranks_.size()));
    abandon_ = abandon;
    error_ = nullptr, whole_ = true;
    meeting_.begin();
    {
      std::lock_guard lock(mutex_);
      working_ = static_cast<uint32_t>(ranks_.size());
      ++step_;
    }
    changed_.notify_all();
    return std::make_unique<StepTicket>(*this);
  }

  Buffer join(std::vector<JoinedPart> parts) override {
    joined_.push_back(std::move(parts));
    return {static_cast<uint32_t>(joined_.size() - 1)};
  }
  void pipeline(const OpList& without_outputs) override { quiet_lists_ = share_out(without_outputs); }
  void read(Buffer buffer, uint32_t first, uint32_t rows, float* out) override {
    const std::vector<JoinedPart>& parts = joined_.at(buffer.id);
    if (parts.size() == 1) return ranks_[parts[0].rank].backend->read(parts[0].buffer, first, rows, out);
    size_t width = 0, at = 0;
    for (const JoinedPart& part : parts) width += part.cols;
    for (const JoinedPart& part : parts) {
      rows_.resize(size_t(rows) * part.cols);
      ranks_[part.rank].backend->read(part.buffer, first, rows, rows_.data());
      for (uint32_t r = 0; r < rows; ++r) std::copy_n(&rows_[size_t(r) * part.cols], part.cols, out + r * width + at);
      at += part.cols;
    }
  }

  uint64_t scratch_bytes() const override {
    return sum([](const MeshRank& rank) { return rank.backend->scratch_bytes(); });
  }
  uint64_t device_bytes() const override {
    return sum([](const MeshRank& rank) { return rank.backend->device_bytes(); });
  }
  uint64_t over_budget() const override {
    return sum([](const MeshRank& rank) { return rank.backend->over_budget(); });
  }

  uint32_t threads() const override { return widest().threads(); }
  void for_each(uint32_t count, const std::function<void(uint32_t, uint32_t)>& body) override { widest().for_each(count, body); }

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

  template <typename Of>
  uint64_t sum(const Of& of) const {
    uint64_t total = 0;
    for (const MeshRank& rank : ranks_) total += of(rank);
    return total;
  }
  Backend& widest() const {
    const auto by_threads = [](const MeshRank& a, const MeshRank& b) { return a.backend->threads() < b.backend->threads(); };
    return *std::max_element(ranks_.begin(), ranks_.end(), by_threads)->backend;
  }
  void resize(size_t rank, uint32_t blocks) {
    if (block_bytes_[rank] > 0) ranks_[rank].backend->resize_kv(blocks);
  }

  std::vector<OpList> share_out(const OpList& ops) const {
    std::vector<OpList> lists(ranks_.size());
    OpList* list = nullptr;
    for (const Op& op : ops) {
      if (const auto* begin = std::get_if<OnRank>(&op)) {
        list = &lists.at(begin->rank);
        continue;
      }
      if (!list) throw Error(ErrorCode::internal, "An op that belongs to no rank.");
      list->push_back(op);
    }
    return lists;
  }

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
      if (!ranks_[rank].backend->submit(list, pieces_[i], abandon_)->wait()) return false;
    }
    return true;
  }

  void note(bool whole, std::exception_ptr error) {
    std::lock_guard lock(mutex_);
    whole_ = whole_ && whole;
    if (!error_) error_ = std::move(error);
  }

  Meeting meeting_;  // first: the backends hold its comms
  std::vector<MeshRank> ranks_;
  std::vector<uint64_t> block_bytes_;  // by rank
  uint32_t blocks_ = 0;
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
