// The CPU backend: runs the op list in order, each op as one or a few parallel loops over kernels chosen at run time.
// Weights stay where they are mapped. submit() computes before it returns; the ticket carries the outcome.
#include <exception>

#include "backend/cpu/cpu_features.h"
#include "backend/cpu/cpu_state.h"
#include "backend/finished_ticket.h"
#include "backend/finite_check.h"
#include "backend/host_comm.h"

namespace hearth {
namespace cpu {

uint64_t CpuState::scratch_bytes() const {
  uint64_t bytes = resources.buffer_bytes() + tiles.bytes() + temporary.bytes() + partial.bytes();
  for (const ThreadScratch& t : scratch) bytes += t.strip.bytes() + t.out.bytes() + t.part.bytes() + t.attention.bytes();
  for (const QuantisedRows& q : quantised) bytes += q.memory.bytes();
  return bytes;
}

namespace {

class CpuBackend final : public Backend {
 public:
  explicit CpuBackend(const CpuOptions& options)
      : state_(choose_kernels(options.isa), options.threads ? options.threads : physical_cores(), options.precision,
               resolve(options.kv_type, options.precision)) {}

  std::string name() const override { return std::string("cpu/") + state_.kernels.isa; }
  Precision precision() const override { return state_.precision; }
  KvType kv_type() const override { return state_.kv_type; }

  void set_comm(Comm* comm) override { state_.resources.set_comm(comm); }
  void set_route_counts(RouteCounts* counts) override { state_.resources.set_route_counts(counts); }
  WeightRef add_weight(const Matrix& matrix) override { return state_.resources.add_weight(matrix); }
  VectorRef add_vector(const Vector& vector) override { return state_.resources.add_vector(vector); }
  RopeRef add_rope(const RopeTable& table) override {
    state_.angles.emplace_back();
    return state_.resources.add_rope(table);
  }
  Buffer add_buffer(std::string_view name, uint32_t cols, uint32_t max_rows) override {
    state_.quantised.emplace_back();
    return state_.resources.add_buffer(name, cols, max_rows);
  }
  Buffer add_routes(uint32_t k, uint32_t max_rows) override {
    state_.quantised.emplace_back();
    return state_.resources.add_routes(k, max_rows);
  }

  uint64_t kv_block_bytes(const KvShape& shape) const override { return KvPool::block_bytes(shape, kv_type()); }
  KvForm kv_form() const override { return KvForm::keys_across; }
  void set_kv_shape(const KvShape& shape) override {
    const uint32_t size = shape.block_size;
    if (size == 0 || kv_split % size != 0) throw Error(ErrorCode::internal, "The KV block size must divide 512.");
    state_.kv.set_shape(shape, kv_type());
  }
  void resize_kv(uint32_t blocks) override { state_.kv.resize(blocks); }
  void read_kv_block(uint32_t block, std::byte* out) override { state_.kv.read(block, out); }
  void write_kv_block(uint32_t block, const std::byte* in) override { state_.kv.write(block, in); }

  std::unique_ptr<Ticket> submit(const OpList& ops, const StepInputs& inputs, const std::atomic<bool>* abandon) override {
    try {
      return std::make_unique<FinishedTicket>(run_all(ops, inputs, abandon));
    } catch (const std::bad_alloc&) {
      return std::make_unique<FinishedTicket>(
          false, std::make_exception_ptr(Error(ErrorCode::out_of_ram, "There is not enough memory for this step's scratch.")));
    } catch (...) {
      return std::make_unique<FinishedTicket>(false, std::current_exception());
    }
  }

  void read(Buffer buffer, uint32_t first, uint32_t rows, float* out) override { state_.resources.read(buffer, first, rows, out); }
  void read_routes(Buffer routes, uint32_t rows, int32_t* experts, float* weights) override {
    state_.resources.read_routes(routes, rows, experts, weights);
  }
  uint64_t scratch_bytes() const override { return state_.scratch_bytes(); }

  uint32_t threads() const override { return state_.pool.threads(); }
  void for_each(uint32_t count, const std::function<void(uint32_t, uint32_t)>& body) override {
    state_.pool.run(count, 1, nullptr, body);
  }

 private:
  bool run_all(const OpList& ops, const StepInputs& inputs, const std::atomic<bool>* abandon) {
    const std::vector<OpRows> rows = check_step(state_.resources, state_.kv.shape(), state_.kv.blocks(), ops, inputs);
    for (RopeAngles& a : state_.angles) a.ready = false;
    for (size_t i = 0; i < ops.size(); ++i) {
      if (abandon && abandon->load(std::memory_order_relaxed)) return false;
      Step step{state_, inputs, rows[i], abandon};
      if (!run_between_ranks(state_.resources, ops[i], rows[i])) return false;
      std::visit([&](const auto& op) { dispatch(step, op); }, ops[i]);
      forget_written(ops[i]);
      if (checks_finite_ && !(abandon && *abandon)) check_finite(state_.resources, ops, i, rows[i]);
    }
    return !(abandon && abandon->load(std::memory_order_relaxed));  // the last op may have left items out
  }

  /// int8 copies of buffers that this op wrote are stale now.
  void forget_written(const Op& op) {
    for (const Access& a : accesses(op)) {
      if (a.kind == Access::Kind::buffer && a.write) state_.quantised[a.id].rows = 0;
    }
  }

  template <typename SomeOp>
  static void dispatch(Step& step, const SomeOp& op) {
    if constexpr (requires { run(step, op); }) run(step, op);  // the others are between ranks
  }

  CpuState state_;
  const bool checks_finite_ = finite_checks_wanted();
};

}  // namespace
}  // namespace cpu

std::unique_ptr<Backend> make_cpu_backend(const CpuOptions& options) { return std::make_unique<cpu::CpuBackend>(options); }

}  // namespace hearth
