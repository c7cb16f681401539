// Implements the running of one step.
#include "engine/step_runner.h"

#include <algorithm>
#include <utility>

namespace hearth {

StepInputs make_step_inputs(const std::vector<StepRows>& rows, uint32_t groups) {
  StepInputs inputs;
  inputs.groups = groups;
  inputs.sequences = static_cast<uint32_t>(rows.size());
  for (uint32_t s = 0; s < rows.size(); ++s) {
    const StepRows& r = rows[s];
    for (uint32_t i = 0; i < r.rows; ++i) {
      if (i + r.outputs >= r.rows) inputs.output_rows.push_back(inputs.rows());
      const uint32_t p = r.first + i, known = static_cast<uint32_t>(r.tokens->size());
      inputs.tokens.push_back(p < known ? (*r.tokens)[p] : r.drafts->at(p - known));
      inputs.positions.push_back(r.first + i);
      inputs.sequence.push_back(s);
    }
    inputs.prompt_ends.push_back(r.prompt);
    for (const BlockTable& table : r.kv->tables()) {
      inputs.table_begin.push_back(static_cast<uint32_t>(inputs.blocks.size()));
      inputs.blocks.insert(inputs.blocks.end(), table.entries().begin(), table.entries().end());
    }
  }
  return inputs;
}

StepRunner::StepRunner(StepDevice& device, StepLists lists, uint32_t groups, uint32_t vocabulary, std::function<void()> check)
    : device_(device), lists_(std::move(lists)), groups_(groups), vocabulary_(vocabulary), check_(std::move(check)) {}

bool StepRunner::run(const std::vector<StepRows>& rows, const std::atomic<bool>* abandon) {
  const StepInputs inputs = make_step_inputs(rows, groups_);
  const auto outputs = static_cast<uint32_t>(inputs.output_rows.size());
  wanted_.clear(), shortlists_.clear();
  for (const StepRows& each : rows) wanted_.insert(wanted_.end(), each.outputs, each.whole);
  const bool best = device_.far_logits() && std::ranges::find(wanted_, false) != wanted_.end();
  if (!best) wanted_.assign(outputs, true);
  const OpList& list = outputs == 0 ? lists_.kv_only : best ? lists_.with_top_logits : lists_.with_logits;
  if (!device_.submit(list, inputs, abandon)->wait()) return false;
  if (check_) check_();
  here_.assign(outputs, false);
  if (size_t(outputs) * vocabulary_ > capacity_) {
    logits_.reset();
    capacity_ = size_t(outputs) * vocabulary_;
    logits_.reset(new float[capacity_]);
  }
  if (best) read_shortlists(outputs);
  for (uint32_t first = 0, last = 0; first < outputs; first = std::max(last, first + 1)) {
    for (last = first; last < outputs && wanted_[last];) ++last;
    if (last > first) read_rows(first, last - first);
  }
  return true;
}

const float* StepRunner::logits(uint32_t n) {
  const std::lock_guard lock(reading_);
  if (n < here_.size() && !here_[n]) read_rows(n, 1);
  return logits_.get() + size_t(n) * vocabulary_;
}

void StepRunner::read_rows(uint32_t first, uint32_t count) {
  device_.read(lists_.logits, first, count, logits_.get() + size_t(first) * vocabulary_);
  std::fill_n(here_.begin() + first, count, true);
  bytes_read_ += uint64_t(count) * vocabulary_ * sizeof(float);
}

void StepRunner::read_shortlists(uint32_t outputs) {
  uint32_t cols = 0;
  for (const uint32_t share : lists_.shares) cols += TopLayout{share, most_top}.cols();
  best_.resize(size_t(outputs) * cols);
  device_.read(lists_.top_logits, 0, outputs, best_.data());
  for (uint32_t n = 0; n < outputs; ++n) shortlists_.push_back(read_shortlist(&best_[size_t(n) * cols], lists_.shares, most_top));
  bytes_read_ += best_.size() * sizeof(float);
}

}  // namespace hearth
