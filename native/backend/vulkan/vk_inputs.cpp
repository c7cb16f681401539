// The upload of what changes from step to step, and scratch that follows the size of steps.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "backend/vulkan/vk_state.h"

namespace hearth::vulkan {
namespace {

void append_angles(const RopeTable& rope, const StepInputs& inputs, std::vector<uint32_t>* words) {
  for (uint32_t position : inputs.positions) {
    for (uint32_t i = 0; i < rope.dims / 2; ++i) {
      // The angle is a float32 product, as in the published code; its cosine is exact.
      const float angle = static_cast<float>(position) * rope.inverse_frequency[i];
      words->push_back(word(static_cast<float>(std::cos(double(angle)) * rope.concentration)));
      words->push_back(word(static_cast<float>(std::sin(double(angle)) * rope.concentration)));
    }
  }
}

}  // namespace

Memory* need(State& state, Scratch& scratch, uint64_t bytes) {
  if (!scratch.memory || scratch.memory->bytes() < bytes) {
    if (scratch.memory) state.outgrown.push_back(std::move(scratch.memory));
    const uint64_t room = std::min(bytes + bytes / 4 + 4096, state.memory.most_bytes());
    scratch.memory = state.memory.allocate(std::max(bytes, room) / 4 * 4, MemoryKind::device);
  }
  return scratch.memory.get();
}

InputsLayout upload_inputs(State& state, const StepInputs& inputs) {
  std::vector<uint32_t> words;
  const auto append = [&](const auto& list) {
    const auto at = static_cast<uint32_t>(words.size());
    for (auto value : list) words.push_back(static_cast<uint32_t>(value));
    return at;
  };
  InputsLayout layout;
  layout.tokens = append(inputs.tokens), layout.positions = append(inputs.positions), layout.sequence = append(inputs.sequence);
  layout.table_begin = append(inputs.table_begin), layout.blocks = append(inputs.blocks);
  layout.output_rows = append(inputs.output_rows), layout.forced = append(inputs.forced.experts);
  for (uint32_t i = 0; i < state.resources.ropes(); ++i) {
    layout.angles.push_back(static_cast<uint32_t>(words.size()));
    const RopeTable& rope = state.resources.rope({i});
    if (rope.layout != RopeLayout::none) append_angles(rope, inputs, &words);
  }
  words.push_back(0);  // never empty
  Memory* memory = need(state, state.inputs, words.size() * 4);
  state.transfer.write(*memory, 0, words.data(), words.size() * 4);
  return layout;
}

}  // namespace hearth::vulkan
