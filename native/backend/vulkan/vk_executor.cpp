// Implements the running of programs.
#include "backend/vulkan/vk_executor.h"

#include <algorithm>

namespace hearth::vulkan {
namespace {

constexpr uint32_t most_dispatches = 512;  // of one submission

}  // namespace

Executor::Executor(Device& device, Pipelines& pipelines, MemoryPool& pool, double most_work)
    : device_(device), pipelines_(pipelines), nothing_(pool.allocate(256, MemoryKind::device)), most_work_(most_work) {
  for (Slot& slot : slots_) slot.commands = std::make_unique<Commands>(device, most_dispatches);
}

void Executor::start(Program program, const std::atomic<bool>* abandon) {
  program_ = std::move(program);
  cutter_ = std::make_unique<Cutter>(program_);
  abandon_ = abandon;
  submit_next();
  if (!cutter_->done()) submit_next();
}

bool Executor::finish() {
  while (under_way_ > 0) {
    wait_oldest();
    if (!cutter_->done() && !given_up()) submit_next();
  }
  const bool whole = cutter_->done();
  cutter_.reset();
  return whole;
}

void Executor::drop() {
  while (under_way_ > 0) wait_oldest();
  cutter_.reset();
}

void Executor::submit_next() {
  if (cutter_->done() || given_up()) return;
  Slot& slot = slots_[(oldest_ + under_way_) % slots_.size()];
  const double budget = most_work_ > 0 ? std::min(most_work_, pacing_.budget()) : pacing_.budget();
  const std::vector<Piece> pieces = cutter_->next(budget, most_dispatches, &slot.work);
  for (const Piece& piece : pieces) {  // compiling takes its time, which is not the device's
    const Dispatch& dispatch = program_[piece.dispatch];
    pipelines_.get(dispatch.shader, dispatch.constants);
  }
  const VkCommandBuffer buffer = slot.commands->begin();
  for (const Piece& piece : pieces) record(buffer, *slot.commands, piece);
  slot.submitted = Clock::now();
  slot.commands->submit();
  ++under_way_;
}

void Executor::wait_oldest() {
  Slot& slot = slots_[oldest_];
  oldest_ = (oldest_ + 1) % slots_.size();
  --under_way_;
  slot.commands->wait();
  const Clock::time_point end = Clock::now();
  pacing_.took(slot.work, std::chrono::duration<double, std::milli>(end - std::max(slot.submitted, last_end_)).count());
  last_end_ = end;
}

void Executor::record(VkCommandBuffer buffer, Commands& commands, const Piece& piece) {
  const Dispatch& dispatch = program_[piece.dispatch];
  if (piece.barrier) {
    VkMemoryBarrier barrier{VK_STRUCTURE_TYPE_MEMORY_BARRIER};
    barrier.srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT;
    barrier.dstAccessMask = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT;
    device_.vk.vkCmdPipelineBarrier(buffer, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, 0, 1, &barrier, 0,
                                    nullptr, 0, nullptr);
  }
  device_.vk.vkCmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_COMPUTE, pipelines_.get(dispatch.shader, dispatch.constants));
  const VkDescriptorSet set = commands.descriptor_set(pipelines_.set_layout());
  VkDescriptorBufferInfo buffers[most_uses];
  VkWriteDescriptorSet writes[most_uses];
  for (uint32_t i = 0; i < most_uses; ++i) {
    const Memory& memory = dispatch.uses[i].memory ? *dispatch.uses[i].memory : *nothing_;
    buffers[i] = {memory.buffer(), memory.offset(), memory.bytes()};
    writes[i] = {VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET, nullptr, set, i, 0, 1, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, nullptr, &buffers[i], nullptr};
  }
  device_.vk.vkUpdateDescriptorSets(device_.handle, most_uses, writes, 0, nullptr);
  device_.vk.vkCmdBindDescriptorSets(buffer, VK_PIPELINE_BIND_POINT_COMPUTE, pipelines_.layout(), 0, 1, &set, 0, nullptr);
  device_.vk.vkCmdPushConstants(buffer, pipelines_.layout(), VK_SHADER_STAGE_COMPUTE_BIT, 0, push_words * 4, dispatch.push.data());
  const auto &base = piece.base, &count = piece.count;
  device_.vk.vkCmdDispatchBase(buffer, base[0], base[1], base[2], count[0], count[1], count[2]);
}

}  // namespace hearth::vulkan
