// Runs a program: records it submission by submission, at most two under way, each short. It knows neither ops nor weights.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <memory>

#include "backend/vulkan/program.h"
#include "backend/vulkan/vk_commands.h"
#include "backend/vulkan/vk_memory.h"
#include "backend/vulkan/vk_pipelines.h"

namespace hearth::vulkan {

class Executor {
 public:
  /// `most_work`: bounds every submission besides the pacing; 0: not.
  Executor(Device& device, Pipelines& pipelines, MemoryPool& pool, double most_work);

  /// Takes the program and begins with it. The one before must have been finished.
  void start(Program program, const std::atomic<bool>* abandon);
  /// Goes on to the end; false: given up between two submissions. Errors are thrown here.
  bool finish();
  /// Waits for what is under way and forgets the rest.
  void drop();

 private:
  using Clock = std::chrono::steady_clock;
  struct Slot {
    std::unique_ptr<Commands> commands;
    double work = 0;
    Clock::time_point submitted;
  };
  void submit_next();
  void wait_oldest();
  void record(VkCommandBuffer buffer, Commands& commands, const Piece& piece);
  bool given_up() const { return abandon_ && abandon_->load(std::memory_order_relaxed); }

  Device& device_;
  Pipelines& pipelines_;
  std::unique_ptr<Memory> nothing_;  // behind bindings that a kernel does not use
  std::array<Slot, 2> slots_;
  size_t oldest_ = 0, under_way_ = 0;
  Program program_;
  std::unique_ptr<Cutter> cutter_;
  const std::atomic<bool>* abandon_ = nullptr;
  Pacing pacing_;
  const double most_work_;
  Clock::time_point last_end_;
};

}  // namespace hearth::vulkan
