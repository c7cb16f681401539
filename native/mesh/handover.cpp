// Implements the kind of mesh in which one rank reads prompts and another writes answers ("disaggregated prefill"): both have the whole model,
// and what the first has read is handed to the second. Which row is whose is phases.h's to say.
#include <functional>
#include <thread>

#include "backend/finished_ticket.h"
#include "backend/kv_form.h"
#include "hearth/error.h"
#include "mesh/phases.h"
#include "mesh/ranks.h"

namespace hearth {
namespace {

constexpr size_t reader = 0, writer = 1;

class Handover final : public MeshOfRanks {
 public:
  explicit Handover(std::vector<MeshRank> all) : MeshOfRanks(std::move(all)) {
    if (ranks() != 2) throw Error(ErrorCode::invalid_request, "A prompt is handed over between two devices.");
    if (backend(reader).kv_type() != backend(writer).kv_type()) {
      throw Error(ErrorCode::invalid_request, "Both devices must keep keys and values in the same type.");
    }
    for (size_t r : {reader, writer}) copies_[r].resize(block_bytes(r));
  }

  bool far_logits() const override { return any_far(joined_); }

  /// As the rank that reads has them.
  uint64_t kv_copy_bytes() const override { return block_bytes(reader); }
  void read_kv_block(uint32_t block, std::byte* out) override { backend(reader).read_kv_block(block, out); }
  void write_kv_block(uint32_t block, const std::byte* in) override {
    backend(reader).write_kv_block(block, in);
    hand_over(block, in);
  }

  std::unique_ptr<Ticket> submit(const OpList& ops, const StepInputs& inputs, const std::atomic<bool>* abandon) override {
    try {
      lists_ = by_rank(ops, ranks());
      phases_ = in_phases(inputs);
      return std::make_unique<FinishedTicket>(run(abandon));
    } catch (...) {
      return std::make_unique<FinishedTicket>(false, std::current_exception());
    }
  }

  Buffer join(std::vector<JoinedPart> parts) override {
    if (parts.size() != ranks()) throw Error(ErrorCode::internal, "Both ranks have all of the output.");
    joined_.push_back(std::move(parts));
    return {static_cast<uint32_t>(joined_.size() - 1)};
  }
  void pipeline(const OpList& without_outputs) override { quiet_lists_ = by_rank(without_outputs, ranks()); }
  void read(Buffer buffer, uint32_t first, uint32_t rows, float* out) override {
    const std::vector<JoinedPart>& parts = joined_.at(buffer.id);
    const std::vector<Phases::Output>& from = phases_.outputs;
    if (first > from.size() || rows > from.size() - first) throw Error(ErrorCode::internal, "The step has fewer outputs.");
    for (uint32_t n = first, end; n < first + rows; n = end) {
      for (end = n + 1; end < first + rows && from[end].writes == from[n].writes;) ++end;
      const JoinedPart& part = parts[from[n].writes ? writer : reader];
      backend(part.rank).read(part.buffer, from[n].index, end - n, out + size_t(n - first) * part.cols);
    }
  }

 private:
  bool run(const std::atomic<bool>* abandon) {
    const StepInputs &reading = phases_.reading, &writing = phases_.writing;
    if (writing.rows() == 0) return run(reader, reading, abandon) && hand_over(reading, abandon);
    if (reading.rows() == 0) return run(writer, writing, abandon);
    if (phases_.in_turn) return run(reader, reading, abandon) && hand_over(reading, abandon) && run(writer, writing, abandon);
    return run_both(abandon) && hand_over(reading, abandon);
  }

  bool run(size_t rank, const StepInputs& rows, const std::atomic<bool>* abandon) {
    const bool quiet = rows.output_rows.empty() && !quiet_lists_.empty();
    return backend(rank).submit(quiet ? quiet_lists_[rank] : lists_[rank], rows, abandon)->wait();
  }

  /// Streams go on while somebody's prompt is read. An error is told when both have come to an end.
  bool run_both(const std::atomic<bool>* abandon) {
    bool whole[2] = {};
    std::exception_ptr errors[2];
    const auto work = [&](size_t rank, const StepInputs& rows) {
      try {
        whole[rank] = run(rank, rows, abandon);
      } catch (...) {
        errors[rank] = std::current_exception();
      }
    };
    std::thread beside(work, reader, std::cref(phases_.reading));
    work(writer, phases_.writing);
    beside.join();
    for (const std::exception_ptr& error : errors) {
      if (error) std::rethrow_exception(error);
    }
    return whole[reader] && whole[writer];
  }

  /// What was read in this step, before any row can be written behind it.
  bool hand_over(const StepInputs& rows, const std::atomic<bool>* abandon) {
    for (uint32_t block : blocks_written(rows, kv_shape(reader).block_size)) {
      if (abandon && *abandon) return false;
      backend(reader).read_kv_block(block, copies_[reader].data());
      hand_over(block, copies_[reader].data());
    }
    return true;
  }

  void hand_over(uint32_t block, const std::byte* bytes) {
    const KvForm from = backend(reader).kv_form(), to = backend(writer).kv_form();
    if (from == to) return backend(writer).write_kv_block(block, bytes);
    reorder_kv_block(kv_shape(reader), kv_type(), from, bytes, to, copies_[writer].data());
    backend(writer).write_kv_block(block, copies_[writer].data());
  }

  std::vector<std::byte> copies_[2];  // of a block, as each rank has it
  std::vector<std::vector<JoinedPart>> joined_;
  std::vector<OpList> lists_, quiet_lists_;  // by rank
  Phases phases_;  // of the last step
};

}  // namespace

std::unique_ptr<Mesh> make_handover(MeshRank reads, MeshRank writes) {
  std::vector<MeshRank> ranks;
  ranks.push_back(std::move(reads)), ranks.push_back(std::move(writes));
  return std::make_unique<Handover>(std::move(ranks));
}

}  // namespace hearth
