// What a step may still take while it is being planned: rows, logits, and predicted seconds.
// It says how many rows fit; whose they are is the scheduler's business.
#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/cost_model.h"

namespace hearth {

class StepBudget {
 public:
  StepBudget(const CostModel& cost, uint32_t prompt_rows, uint32_t outputs)
      : cost_(cost), most_rows_(prompt_rows), outputs_(outputs) {}

  uint32_t outputs() const { return outputs_; }

  /// From now on rows of prompts may take `seconds` beyond what is in the step already.
  void open(double seconds) { end_ = (work_.rows > 0 ? cost_.predict(work_) : 0.0) + (seconds_ = seconds); }

  /// Takes rows at position `first`; `prompt_rows` of them count as rows of a prompt.
  void take(uint32_t first, uint32_t rows, uint32_t outputs, uint32_t prompt_rows) {
    work_ = with(first, rows, outputs);
    outputs_ -= outputs;
    prompt_rows_ += prompt_rows;
  }
  void give_back(uint32_t first, uint32_t rows, uint32_t outputs, uint32_t prompt_rows) {
    work_.rows -= rows;
    work_.outputs -= outputs;
    work_.attended -= cost_.model().attended(first, rows);
    outputs_ += outputs;
    prompt_rows_ -= prompt_rows;
  }

  /// Most of `wanted` rows of a prompt at `first` that fit when a quarter of the step is kept for others, or nothing is.
  /// The first prompt of a step gets some rows whatever they take: somebody has to go on.
  uint32_t chunk(uint32_t first, uint32_t wanted, bool keep_quarter) const {
    const uint32_t kept = keep_quarter && most_rows_ >= 4 * least_chunk ? most_rows_ / 4 : 0;
    const uint32_t most = std::min(wanted, most_rows_ - std::min(most_rows_, prompt_rows_ + kept));
    const double end = end_ - (keep_quarter ? 0.25 * seconds_ : 0.0);
    const auto fits = [&](uint32_t rows) { return cost_.bound(with(first, rows, 0)) <= end; };
    if (most == 0 || fits(most)) return even(most, wanted);
    uint32_t rows = 0, too_many = most;
    while (too_many - rows > 1) {
      const uint32_t middle = rows + (too_many - rows) / 2;
      (fits(middle) ? rows : too_many) = middle;
    }
    return even(prompt_rows_ == 0 ? std::max(rows, std::min(most, least_chunk)) : rows, wanted);
  }

 private:
  static constexpr uint32_t least_chunk = 16;

  /// Chunks of one size rather than a small last one, which would read all weights again for few rows.
  static uint32_t even(uint32_t rows, uint32_t wanted) {
    if (rows == 0 || rows >= wanted) return rows;
    const uint32_t steps = (wanted + rows - 1) / rows, each = (wanted + steps - 1) / steps;
    return std::min(rows, (each + 15) / 16 * 16);
  }

  StepWork with(uint32_t first, uint32_t rows, uint32_t outputs) const {
    return {work_.rows + rows, work_.outputs + outputs, work_.attended + cost_.model().attended(first, rows)};
  }

  const CostModel& cost_;
  const uint32_t most_rows_;
  uint32_t outputs_, prompt_rows_ = 0;
  double seconds_ = 0.0, end_ = 0.0;
  StepWork work_;
};

}  // namespace hearth
