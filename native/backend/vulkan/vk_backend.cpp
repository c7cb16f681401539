// The backend as the engine sees it: takes weights in, turns op lists into programs, waits for them.
#include <algorithm>
#include <exception>
#include <utility>

#include "backend/finished_ticket.h"
#include "backend/vulkan/vk_state.h"

namespace hearth {
namespace vulkan {
namespace {

constexpr uint32_t most_chosen = 64;  // experts of a row, as in shaders/route.comp

/// What is still under way when it goes is waited for: the memory that it works on may go next.
class RunningTicket final : public Ticket {
 public:
  /// The first of the stages runs already.
  RunningTicket(State& state, std::vector<Stage> stages, const std::atomic<bool>* abandon)
      : state_(&state), stages_(std::move(stages)), abandon_(abandon) {}
  ~RunningTicket() override {
    try {
      if (state_) state_->executor.drop();
    } catch (...) {  // it was said when the ticket was waited for, or nobody asks
    }
  }
  bool wait() override {
    State& state = *std::exchange(state_, nullptr);
    bool whole = false;
    try {
      whole = run_stages(state);
    } catch (...) {
      state_ = &state;
      throw;
    }
    uint32_t not_finite = 0;
    if (whole) state.transfer.read(*state.flag.memory, 0, &not_finite, sizeof not_finite);
    if (not_finite) throw Error(ErrorCode::numeric_error, "The model computed logits that are not finite numbers.");
    return whole;
  }

 private:
  bool run_stages(State& state) {
    for (size_t i = 0;; ++i) {
      if (!state.executor.finish()) return false;
      if (!stages_[i].then) return true;
      Stage& next = stages_[i + 1];
      if (!run_between_ranks(state, stages_[i], next.program)) return false;
      state.executor.start(program_of(state, next), abandon_);
    }
  }

  State* state_;
  std::vector<Stage> stages_;
  const std::atomic<bool>* abandon_;
};

class VulkanBackend final : public Backend {
 public:
  explicit VulkanBackend(const VulkanOptions& options)
      : options_(options), state_(options, resolve(options.kv_type, options.precision)) {
    need(state_, state_.flag, 4);
  }

  std::string name() const override {
    std::string kernels;
    for (const Variant& each : variants) {
      if (each.feature != best_logits && state_.device.has(each.feature)) kernels += (kernels.empty() ? "" : "+") + std::string(each.feature);
    }
    return "vulkan/" + (kernels.empty() ? "baseline" : kernels) + " " + state_.device.info().name;
  }
  bool far_logits() const override { return state_.allows(best_logits, "top_logits"); }
  std::vector<std::string> notes() const override {
    std::vector<std::string> notes = state_.verdicts.sentences();
    if (state_.slots_tried && !state_.slots) {
      notes.push_back("The driver did not take the memory between devices (" + state_.device.title() + "): sums go through copies.");
    }
    return notes;
  }
  Precision precision() const override { return options_.precision; }
  KvType kv_type() const override { return state_.kv.type(); }

  void set_comm(Comm* comm) override { state_.resources.set_comm(comm); }
  void set_route_counts(RouteCounts* counts) override { state_.resources.set_route_counts(counts); }
  WeightRef add_weight(const Matrix& matrix) override {
    const WeightRef ref = state_.resources.add_weight(matrix);
    state_.weights.push_back(upload(matrix, state_.memory, state_.transfer));
    return ref;
  }
  VectorRef add_vector(const Vector& vector) override {
    std::unique_ptr<Memory> memory = state_.memory.allocate(std::max<uint64_t>(4, vector.size() * 4), MemoryKind::device);
    state_.transfer.write(*memory, 0, vector.data(), vector.size() * 4);
    state_.vectors.push_back(std::move(memory));
    return state_.resources.add_vector(vector);
  }
  RopeRef add_rope(const RopeTable& table) override { return state_.resources.add_rope(table); }
  Buffer add_buffer(std::string_view name, uint32_t cols, uint32_t max_rows) override {
    return add(state_.resources.add_buffer(name, cols, max_rows), 4ull * cols * max_rows);
  }
  Buffer add_routes(uint32_t k, uint32_t max_rows) override {
    if (k > most_chosen) throw Error(ErrorCode::unsupported_architecture, "Models that choose more than 64 experts a token are not run on graphics devices.");
    return add(state_.resources.add_routes(k, max_rows), 8ull * k * max_rows);
  }

  uint64_t kv_block_bytes(const KvShape& shape) const override { return KvMemory::block_bytes(shape, kv_type()); }
  KvForm kv_form() const override { return KvForm::words; }
  void set_kv_shape(const KvShape& shape) override { state_.kv.set_shape(shape); }
  void resize_kv(uint32_t blocks) override { state_.kv.resize(blocks); }
  void read_kv_block(uint32_t block, std::byte* out) override { state_.kv.read(block, out); }
  void write_kv_block(uint32_t block, const std::byte* in) override { state_.kv.write(block, in); }

  std::unique_ptr<Ticket> submit(const OpList& ops, const StepInputs& inputs, const std::atomic<bool>* abandon) override {
    try {
      return begin(ops, inputs, abandon);
    } catch (...) {
      return std::make_unique<FinishedTicket>(false, std::current_exception());
    }
  }

  void read(Buffer buffer, uint32_t first, uint32_t rows, float* out) override {
    const BufferState& shape = state_.resources.buffer(buffer);
    if (shape.k > 0 || first > shape.max_rows || rows > shape.max_rows - first) {
      throw Error(ErrorCode::internal, "read() is out of the buffer " + shape.name + ".");
    }
    state_.transfer.read(*state_.buffers[buffer.id], 4ull * first * shape.cols, out, 4ull * rows * shape.cols);
  }
  void read_routes(Buffer routes, uint32_t rows, int32_t* experts, float* weights) override {
    const BufferState& shape = state_.resources.buffer(routes);
    if (shape.k == 0 || rows > shape.max_rows) throw Error(ErrorCode::internal, "read_routes() is out of the routes.");
    const Memory& memory = *state_.buffers[routes.id];
    state_.transfer.read(memory, 0, experts, 4ull * rows * shape.k);
    state_.transfer.read(memory, 4ull * shape.max_rows * shape.k, weights, 4ull * rows * shape.k);
  }
  uint64_t scratch_bytes() const override {
    uint64_t bytes = 0;
    for (const auto& buffer : state_.buffers) bytes += buffer->bytes();
    for (const Scratch* s : {&state_.inputs, &state_.k, &state_.v, &state_.gate, &state_.up, &state_.parts, &state_.lists, &state_.halves, &state_.states}) {
      bytes += s->memory ? s->memory->bytes() : 0;
    }
    for (const Scratch& s : state_.runs) bytes += s.memory ? s.memory->bytes() : 0;
    return bytes;
  }
  uint64_t over_budget() const override { return state_.memory.over_budget(); }
  uint64_t device_bytes() const override { return state_.memory.device_bytes(); }
  std::optional<uint64_t> memory_free() const override { return state_.memory.free(); }

 private:
  Buffer add(Buffer buffer, uint64_t bytes) {
    state_.buffers.push_back(state_.memory.allocate(std::max<uint64_t>(4, bytes), MemoryKind::device));
    state_.transfer.clear(*state_.buffers.back(), 0, state_.buffers.back()->bytes());
    return buffer;
  }

  std::unique_ptr<Ticket> begin(const OpList& ops, const StepInputs& inputs, const std::atomic<bool>* abandon) {
    const std::vector<OpRows> rows = check_step(state_.resources, state_.kv.shape(), state_.kv.blocks(), ops, inputs);
    state_.executor.drop();  // what a step that failed has left
    try_new_kernels(ops);
    take_slots(state_);
    state_.outgrown.clear();
    Step step{state_, inputs, upload_inputs(state_, inputs), {}};
    state_.transfer.clear(*state_.flag.memory, 0, 4);
    std::vector<Stage> stages;
    for (size_t i = 0; i < ops.size(); ++i) {
      std::visit([&](const auto& op) { dispatch(step, op, rows[i]); }, ops[i]);
      if (!is_between_ranks(ops[i])) continue;
      stages.push_back({std::exchange(step.program, {}), ops[i], rows[i]});
      step.halved = {};
    }
    stages.push_back({std::move(step.program), std::nullopt});
    state_.transfer.flush();
    state_.executor.start(program_of(state_, stages.front()), abandon);
    return std::make_unique<RunningTicket>(state_, std::move(stages), abandon);
  }

  /// Before the first step, and again should ops or weights be others.
  void try_new_kernels(const OpList& ops) {
    if (options_.self_test_seconds <= 0) return;
    Needs needs;
    needs.top_logits = tried_.top_logits;  // lists with and without take turns
    for (const DeviceWeight& each : state_.weights) {
      if (std::find(needs.types.begin(), needs.types.end(), each.type) == needs.types.end()) needs.types.push_back(each.type);
    }
    for (const Op& op : ops) {
      if (const auto* attention = std::get_if<Attention>(&op)) {
        needs.heads = attention->heads, needs.kv_heads = attention->kv_heads, needs.head_dim = attention->head_dim;
      }
      needs.top_logits = needs.top_logits || std::holds_alternative<TopLogits>(op);
    }
    if (needs == tried_) return;
    state_.verdicts = self_test(options_, state_.device, kv_type(), needs);
    tried_ = std::move(needs);
  }

  template <typename SomeOp>
  static void dispatch(Step& step, const SomeOp& op, OpRows rows) {
    if constexpr (requires { run(step, op, rows); }) run(step, op, rows);  // the others are between ranks
  }

  const VulkanOptions options_;
  State state_;
  Needs tried_;
};

}  // namespace
}  // namespace vulkan

std::unique_ptr<Backend> make_vulkan_backend(const VulkanOptions& options) { return std::make_unique<vulkan::VulkanBackend>(options); }

}  // namespace hearth
