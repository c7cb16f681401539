// The ops between ranks on a device: what they move goes through the host's memory, between two programs.
#include "backend/vulkan/vk_state.h"

namespace hearth::vulkan {
namespace {

/// A buffer's rows of the step, on the host.
class Rows {
 public:
  Rows(State& state, Buffer buffer, OpRows rows)
      : state_(state), memory_(*state.buffers.at(buffer.id)), values_(size_t(rows.rows) * state.resources.buffer(buffer).cols) {}
  std::span<float> values() { return values_; }
  std::span<float> read() {
    state_.transfer.read(memory_, 0, values_.data(), values_.size() * sizeof(float));
    return values_;
  }
  void write() {
    state_.transfer.write(memory_, 0, values_.data(), values_.size() * sizeof(float));
    state_.transfer.flush();
  }

 private:
  State& state_;
  Memory& memory_;
  std::vector<float> values_;
};

bool between(State& state, const AllReduce& op, OpRows rows) {
  Rows x(state, op.x, rows);
  if (!state.resources.comm()->all_reduce(x.read())) return false;
  x.write();
  return true;
}

bool between(State& state, const Send& op, OpRows rows) {
  Rows x(state, op.x, rows);
  return state.resources.comm()->send(op.to_rank, x.read());
}

bool between(State& state, const Recv& op, OpRows rows) {
  Rows x(state, op.x, rows);
  if (!state.resources.comm()->recv(op.from_rank, x.values())) return false;
  if (op.add) {
    Rows had(state, op.x, rows);
    const std::span<float> before = had.read(), more = x.values();
    for (size_t i = 0; i < more.size(); ++i) more[i] += before[i];
  }
  x.write();
  return true;
}

bool between(State& state, const ShareRoutes& op, OpRows rows) {
  const BufferState& shape = state.resources.buffer(op.routes);
  Memory& memory = *state.buffers.at(op.routes.id);
  const size_t bytes = size_t(rows.rows) * shape.k * sizeof(uint32_t);
  std::vector<std::byte> part(bytes);
  for (const uint64_t at : {uint64_t(0), uint64_t(shape.max_rows) * shape.k * sizeof(uint32_t)}) {  // experts, then their weights
    state.transfer.read(memory, at, part.data(), bytes);
    if (!state.resources.comm()->share(part)) return false;
    state.transfer.write(memory, at, part.data(), bytes);
  }
  state.transfer.flush();
  return true;
}

}  // namespace

bool is_between_ranks(const Op& op) {
  return std::visit([](const auto& o) { return requires(State& state) { between(state, o, OpRows{}); }; }, op);
}

bool run_between_ranks(State& state, const Op& op, OpRows rows) {
  return std::visit(
      [&](const auto& o) {
        if constexpr (requires { between(state, o, rows); }) return between(state, o, rows);
        else return true;
      },
      op);
}

}  // namespace hearth::vulkan
