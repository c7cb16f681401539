// Runs planned rows on the device: builds StepInputs from tokens and block tables, submits, and hands out logits, or the best of them where
// whole rows are far away. It knows sequences of tokens; it knows nothing of requests, sampling or events.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "backend/backend.h"
#include "backend/top_logits.h"
#include "cache/sequence_kv.h"

namespace hearth {

/// Rows [first, first + rows) of `tokens`, and of `drafts` behind them, whose KV goes to `kv` (begun for that many
/// rows); the last `outputs` of them leave their logits. `whole`: all of these logits are looked at, whatever the best of them are.
struct StepRows {
  const std::vector<int32_t>* tokens = nullptr;
  const SequenceKv* kv = nullptr;
  uint32_t first = 0, rows = 0, outputs = 0;
  const std::vector<int32_t>* drafts = nullptr;
  uint32_t prompt = 0xffffffffu;  // so many of the tokens were given
  bool whole = true;
};

/// A pure function: the inputs of a step over these rows.
StepInputs make_step_inputs(const std::vector<StepRows>& rows, uint32_t groups);

/// The op lists of a model on its device, for any rows.
struct StepLists {
  OpList with_logits, kv_only;
  Buffer logits;
  OpList with_top_logits = {};
  Buffer top_logits = {};
  std::vector<uint32_t> shares = {};  // of the vocabulary: a row of the best has a piece for each
};

class StepRunner {
 public:
  /// `check` throws when the weights were not what they should be (a mapped file that shrank): called after every step,
  /// before its results are used.
  StepRunner(StepDevice& device, StepLists lists, uint32_t groups, uint32_t vocabulary,
             std::function<void()> check = {});

  /// False: given up because `abandon` became true. Errors of the device are thrown.
  bool run(const std::vector<StepRows>& rows, const std::atomic<bool>* abandon);
  /// Logits of the last step's n-th output row, in the order of its rows; rows that are here lie side by side. What is not here yet is read
  /// now, and errors of the device are thrown. From any thread, until the next step.
  const float* logits(uint32_t n);
  /// The best of them; nullptr: all are here.
  const Shortlist* shortlist(uint32_t n) const { return n < shortlists_.size() && !wanted_[n] ? &shortlists_[n] : nullptr; }
  /// Bytes of logits, and of the best of them, that were read from the device.
  uint64_t bytes_read() const { return bytes_read_; }

 private:
  void read_shortlists(uint32_t outputs);
  void read_rows(uint32_t first, uint32_t count);

  StepDevice& device_;
  const StepLists lists_;
  uint32_t groups_, vocabulary_;
  std::function<void()> check_;

  // Of the last step, by output row.
  std::vector<Shortlist> shortlists_;
  std::vector<bool> wanted_, here_;  // whole rows: planned; read by now
  std::mutex reading_;               // of rows: guards here_ and logits_' contents while requests are sampled side by side
  std::unique_ptr<float[]> logits_;  // never touched where no row is read
  size_t capacity_ = 0;
  std::vector<float> best_;
  std::atomic<uint64_t> bytes_read_{0};
};

}  // namespace hearth
