// Runs planned rows on the device: builds StepInputs from tokens and block tables, submits, and hands out logits.
// It knows sequences of tokens; it knows nothing of requests, sampling or events.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

#include "backend/backend.h"
#include "cache/sequence_kv.h"

namespace hearth {

/// Rows [first, first + rows) of `tokens`, and of `drafts` behind them, whose KV goes to `kv` (begun for that many
/// rows); the last `outputs` of them leave their logits.
struct StepRows {
  const std::vector<int32_t>* tokens = nullptr;
  const SequenceKv* kv = nullptr;
  uint32_t first = 0, rows = 0, outputs = 0;
  const std::vector<int32_t>* drafts = nullptr;
  uint32_t prompt = 0xffffffffu;  // so many of the tokens were given
};

/// A pure function: the inputs of a step over these rows.
StepInputs make_step_inputs(const std::vector<StepRows>& rows, uint32_t groups);

/// The op lists of a model on its device, for any rows.
struct StepLists {
  OpList with_logits, kv_only;
  Buffer logits;
};

class StepRunner {
 public:
  /// `check` throws when the weights were not what they should be (a mapped file that shrank): called after every step,
  /// before its results are used.
  StepRunner(StepDevice& device, StepLists lists, uint32_t groups, uint32_t vocabulary,
             std::function<void()> check = {});

  /// False: given up because `abandon` became true. Errors of the device are thrown.
  bool run(const std::vector<StepRows>& rows, const std::atomic<bool>* abandon);
  /// Logits of the last step's n-th output row, in the order of its rows.
  const float* logits(uint32_t n) const { return logits_.data() + size_t(n) * vocabulary_; }

 private:
  StepDevice& device_;
  const StepLists lists_;
  uint32_t groups_, vocabulary_;
  std::function<void()> check_;
  std::vector<float> logits_;
};

}  // namespace hearth
