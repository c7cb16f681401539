// The reference backend: runs the op list in order on the caller's thread, in float32 with sums in double.
// It is the judge of the other backends, so it has one path, no caches, and no interest in speed.
#include <exception>

#include "backend/finished_ticket.h"
#include "backend/finite_check.h"
#include "backend/host_comm.h"
#include "backend/reference/reference_ops.h"

namespace hearth {
namespace {

class ReferenceBackend final : public Backend {
 public:
  explicit ReferenceBackend(KvType kv_type) : kv_type_(resolve(kv_type, Precision::exact)) {}
  std::string name() const override { return "reference"; }
  Precision precision() const override { return Precision::exact; }
  KvType kv_type() const override { return kv_type_; }

  void set_comm(Comm* comm) override { resources_.set_comm(comm); }
  void set_route_counts(RouteCounts* counts) override { resources_.set_route_counts(counts); }
  WeightRef add_weight(const Matrix& matrix) override { return resources_.add_weight(matrix); }
  VectorRef add_vector(const Vector& vector) override { return resources_.add_vector(vector); }
  RopeRef add_rope(const RopeTable& table) override { return resources_.add_rope(table); }
  Buffer add_buffer(std::string_view name, uint32_t cols, uint32_t max_rows) override {
    return resources_.add_buffer(name, cols, max_rows);
  }
  Buffer add_routes(uint32_t k, uint32_t max_rows) override { return resources_.add_routes(k, max_rows); }

  uint64_t kv_block_bytes(const KvShape& shape) const override { return KvPool::block_bytes(shape, kv_type_); }
  void set_kv_shape(const KvShape& shape) override { kv_.set_shape(shape, kv_type_); }
  void resize_kv(uint32_t blocks) override { kv_.resize(blocks); }
  void read_kv_block(uint32_t block, std::byte* out) override { kv_.read(block, out); }
  void write_kv_block(uint32_t block, const std::byte* in) override { kv_.write(block, in); }

  std::unique_ptr<Ticket> submit(const OpList& ops, const StepInputs& inputs, const std::atomic<bool>* abandon) override {
    try {
      return std::make_unique<FinishedTicket>(run(ops, inputs, abandon));
    } catch (...) {
      return std::make_unique<FinishedTicket>(false, std::current_exception());
    }
  }

  void read(Buffer buffer, uint32_t first, uint32_t rows, float* out) override { resources_.read(buffer, first, rows, out); }
  void read_routes(Buffer routes, uint32_t rows, int32_t* experts, float* weights) override {
    resources_.read_routes(routes, rows, experts, weights);
  }
  uint64_t scratch_bytes() const override { return resources_.buffer_bytes(); }

 private:
  bool run(const OpList& ops, const StepInputs& inputs, const std::atomic<bool>* abandon) {
    const std::vector<OpRows> rows = check_step(resources_, kv_.shape(), kv_.blocks(), ops, inputs);
    for (size_t i = 0; i < ops.size(); ++i) {
      if (abandon && abandon->load(std::memory_order_relaxed)) return false;
      reference::Context context{resources_, kv_, inputs, rows[i]};
      if (!run_between_ranks(resources_, ops[i], rows[i])) return false;
      std::visit([&](const auto& op) { dispatch(context, op); }, ops[i]);
      if (checks_finite_) check_finite(resources_, ops, i, rows[i]);
    }
    return true;
  }

  template <typename SomeOp>
  static void dispatch(reference::Context& context, const SomeOp& op) {
    if constexpr (requires { reference::run(context, op); }) reference::run(context, op);
  }

  const KvType kv_type_;
  const bool checks_finite_ = finite_checks_wanted();
  Resources resources_;
  KvPool kv_;
};

}  // namespace

std::unique_ptr<Backend> make_reference_backend(KvType kv_type) { return std::make_unique<ReferenceBackend>(kv_type); }

}  // namespace hearth
