// What a Vulkan backend consists of, and the step that its ops turn into a program. Internal to this folder.
#pragma once

#include <array>
#include <bit>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "backend/resources.h"
#include "backend/vulkan/program.h"
#include "backend/vulkan/vk_executor.h"
#include "backend/vulkan/vk_kv.h"
#include "backend/vulkan/vk_self_test.h"
#include "backend/vulkan/vk_weights.h"

namespace hearth::vulkan {

/// Memory that grows to what a step needs. Its contents are nobody's between two ops.
struct Scratch {
  std::unique_ptr<Memory> memory;
};

struct State;
/// Room for `bytes`, with what was there lost when it has to grow.
Memory* need(State& state, Scratch& scratch, uint64_t bytes);

/// Where the parts of StepInputs lie in its buffer, in words.
struct InputsLayout {
  uint32_t tokens = 0, positions = 0, sequence = 0, table_begin = 0, blocks = 0, output_rows = 0, forced = 0;
  std::vector<uint32_t> angles;  // of each rope: [rows][pairs] cosine and sine
};

// The order of the members is the order of their making; memory goes before the pool that it came from.
struct State {
  State(const VulkanOptions& options, KvType kv_type)
      : device(options), memory(device), transfer(device, memory), pipelines(device, options.cache_folder),
        executor(device, pipelines, memory, options.most_work), kv(memory, transfer, kv_type) {}
  ~State() { device.vk.vkDeviceWaitIdle(device.handle); }  // a load that was given up may still copy

  /// Whether this faster kernel is used: the device has what it needs, and the self-test has nothing against it.
  bool allows(std::string_view feature, const std::string& kernel) const { return device.has(feature) && !verdicts.failed(kernel); }

  Device device;
  Verdicts verdicts;
  MemoryPool memory;
  Transfer transfer;
  Pipelines pipelines;
  Executor executor;
  Resources resources{Resources::Holds::shapes};
  std::vector<DeviceWeight> weights;
  std::vector<std::unique_ptr<Memory>> vectors, buffers;
  KvMemory kv;
  std::shared_ptr<SumSlots> slots_tried;  // whose import was tried
  std::unique_ptr<Memory> slots;          // the same as the device sees them; none: parts of sums are copied by the host
  Scratch inputs, k, v, gate, up, parts, lists, halves, states, flag;
  std::array<Scratch, 2> runs;  // of the best logits, in turn
  std::vector<std::unique_ptr<Memory>> outgrown;  // scratch that the running program may still name
};

/// Before a step with sums: imports their slots where that can be.
void take_slots(State& state);

/// A program, and the op between ranks that follows it; the last has none.
struct Stage {
  Program program;
  std::optional<Op> then;
  OpRows rows = {};
};

/// One step on its way from ops to programs.
struct Step {
  State& state;
  const StepInputs& inputs;
  InputsLayout layout;
  Program program;  // of the stage that is being made
  struct {  // whose rows lie in State::halves, and from which dispatch on
    const Memory* x = nullptr;
    uint32_t rows = 0, cols = 0;
    size_t at = 0;
  } halved = {};

  const Memory* buffer(Buffer b) const { return state.buffers.at(b.id).get(); }
  const Memory* vector(VectorRef v) const { return v ? state.vectors.at(v.id).get() : nullptr; }
  const DeviceWeight& weight(WeightRef w) const { return state.weights.at(w.id); }
  uint32_t cols(Buffer b) const { return state.resources.buffer(b).cols; }
};

inline Use reads(const Memory* memory) { return {memory, false}; }
inline Use writes(const Memory* memory) { return {memory, true}; }
inline uint32_t word(float value) { return std::bit_cast<uint32_t>(value); }
constexpr uint32_t groups_of(uint32_t count, uint32_t each) { return (count + each - 1) / each; }

/// Appends a dispatch; one without groups is left out.
void add(Step& step, std::string shader, std::vector<uint32_t> constants, std::initializer_list<Use> uses,
         std::initializer_list<uint32_t> push, std::array<uint32_t, 3> groups, double work);

/// What a matmul does with its sums (shaders/matmul.glsl).
enum class Epilogue : uint32_t { store, add, activate, weigh };

/// y = W.x, of one matrix or of the chosen experts' ones, with everything that is done before the result is written.
struct Matmul {
  const DeviceWeight* w = nullptr;
  const DeviceWeight* w1 = nullptr;  // of the same type and shape; with Epilogue::activate
  const Memory *x = nullptr, *out = nullptr, *b = nullptr, *b1 = nullptr;
  uint32_t rows = 0, x_stride = 0, out_stride = 0;
  Epilogue epilogue = Epilogue::store;
  Activation activation = Activation::silu;
  float alpha = 0, limit = 0;
  // Of experts: rows are slots, k for each row of the step.
  const Memory* routes = nullptr;
  uint32_t k = 0, weights_at = 0;
  bool x_per_slot = false;
};
void matmul(Step& step, const Matmul& m);

void run(Step& step, const Embed& op, OpRows rows);
void run(Step& step, const Norm& op, OpRows rows);
void run(Step& step, const QkvRopeStore& op, OpRows rows);
void run(Step& step, const Attention& op, OpRows rows);
void run(Step& step, const LinearResidual& op, OpRows rows);
void run(Step& step, const Router& op, OpRows rows);
void run(Step& step, const GateUp& op, OpRows rows);
void run(Step& step, const PickRoutes& op, OpRows rows);
void run(Step& step, const ExpertsGateUp& op, OpRows rows);
void run(Step& step, const ExpertsDown& op, OpRows rows);
void run(Step& step, const SelectRows& op, OpRows rows);
void run(Step& step, const Logits& op, OpRows rows);
void run(Step& step, const TopLogits& op, OpRows rows);
void run(Step& step, const Clear& op, OpRows rows);

bool is_between_ranks(const Op& op);
/// The stage's program, with this rank's part of the sum that follows it brought to its slot, where the device sees that.
Program program_of(State& state, Stage& stage);
/// After the stage's program, before the next one's, which it may put something in front of. False: this rank stops, the step has ended
/// elsewhere.
bool run_between_ranks(State& state, const Stage& stage, Program& next);

/// Writes the inputs of a step to the device. Angles of ropes are computed here: sines of large angles differ between devices.
InputsLayout upload_inputs(State& state, const StepInputs& inputs);

}  // namespace hearth::vulkan
