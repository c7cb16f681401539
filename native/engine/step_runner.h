// Runs planned rows on the backend: builds StepInputs from tokens and block tables, submits, and hands out logits.
// It knows sequences of tokens; it knows nothing of requests, sampling or events.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

#include "backend/backend.h"
#include "cache/sequence_kv.h"
#include "model/transformer.h"

namespace hearth {

/// Rows [first, first + rows) of `tokens`, and of `drafts` behind them, whose KV goes to `kv` (begun for that many
/// rows); the last `outputs` of them leave their logits.
struct StepRows {
  const std::vector<int32_t>* tokens = nullptr;
  const SequenceKv* kv = nullptr;
  uint32_t first = 0, rows = 0, outputs = 0;
  const std::vector<int32_t>* drafts = nullptr;
};

/// A pure function: the inputs of a step over these rows.
StepInputs make_step_inputs(const std::vector<StepRows>& rows, uint32_t groups);

class StepRunner {
 public:
  /// `check` throws when the weights were not what they should be (a mapped file that shrank): called after every step,
  /// before its results are used.
  StepRunner(Backend& backend, const Transformer& transformer, uint32_t groups, uint32_t vocabulary,
             std::function<void()> check = {});

  /// False: given up because `abandon` became true. Errors of the backend are thrown.
  bool run(const std::vector<StepRows>& rows, const std::atomic<bool>* abandon);
  /// Logits of the last step's n-th output row, in the order of its rows.
  const float* logits(uint32_t n) const { return logits_.data() + size_t(n) * vocabulary_; }

 private:
  Backend& backend_;
  const Transformer& transformer_;
  uint32_t groups_, vocabulary_;
  std::function<void()> check_;
  OpList with_logits_, kv_only_;
  std::vector<float> logits_;
};

}  // namespace hearth
