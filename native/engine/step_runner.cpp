// Implements the running of one step.
#include "engine/step_runner.h"

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
  if (!device_.submit(outputs > 0 ? lists_.with_logits : lists_.kv_only, inputs, abandon)->wait()) return false;
  if (check_) check_();
  if (outputs > 0) {
    logits_.resize(size_t(outputs) * vocabulary_);
    device_.read(lists_.logits, 0, outputs, logits_.data());
  }
  return true;
}

}  // namespace hearth
