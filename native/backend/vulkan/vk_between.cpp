// The ops between ranks on a device: what they move goes through the host's memory, between two programs. Of sums the device itself brings its
// part there and adds up what lies there, where it can see that memory; all else is copied by the host.
#include <algorithm>

#include "backend/vulkan/quirks.h"
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

constexpr double bus_work = 64;  // of a value that goes over the bus, in multiplications (Dispatch::work)

/// A dispatch over the values of a sum and the slots.
Dispatch over_slots(State& state, const Stage& stage, const char* shader, Buffer buffer, bool to_slots) {
  const uint32_t cols = state.resources.buffer(buffer).cols;
  Dispatch dispatch{shader};
  dispatch.uses[0] = {state.buffers.at(buffer.id).get(), !to_slots};
  dispatch.uses[1] = {state.slots.get(), to_slots};
  dispatch.push[0] = cols;
  dispatch.groups = {groups_of(cols, 64), stage.rows.rows, 1};
  dispatch.work = bus_work * cols * stage.rows.rows;
  return dispatch;
}

uint32_t word_of(size_t byte_offset) { return static_cast<uint32_t>(byte_offset / sizeof(float)); }

size_t bytes_of(const State& state, Buffer buffer, OpRows rows) { return size_t(rows.rows) * state.resources.buffer(buffer).cols * sizeof(float); }

/// Parts and sum go straight between device memory and the slots; the device adds.
bool add_on_device(State& state, const Stage& stage, Buffer x, Program& next) {
  Comm& comm = *state.resources.comm();
  const uint32_t turn = comm.turn();
  if (!comm.parts_are_there(bytes_of(state, x, stage.rows))) return false;
  Dispatch sum = over_slots(state, stage, "sum", x, false);
  sum.push[1] = word_of(comm.slots()->offset(turn, 0)), sum.push[2] = word_of(comm.slots()->slot_bytes());
  sum.push[3] = comm.slots()->ranks(), sum.push[4] = comm.rank();
  next.insert(next.begin(), std::move(sum));
  return true;
}

/// The device's values go to the slot and the sum back through the staging ring, or straight where the processor sees them; the host adds.
bool add_on_host(State& state, const Stage& stage, Buffer buffer) {
  Comm& comm = *state.resources.comm();
  const size_t bytes = bytes_of(state, buffer, stage.rows);
  const uint32_t turn = comm.turn();
  Memory& x = *state.buffers.at(buffer.id);
  state.transfer.read(x, 0, own_slot(comm, bytes), bytes);
  if (!comm.parts_are_there(bytes)) return false;
  for (size_t at = 0; at < bytes; at += Transfer::window) {
    const size_t n = std::min<size_t>(Transfer::window, bytes - at);
    state.transfer.write(x, at, n, [&](std::byte* out) {
      comm.slots()->add_up(turn, at / sizeof(float), {reinterpret_cast<float*>(out), n / sizeof(float)});
    });
  }
  state.transfer.flush();
  return true;
}

bool between(State& state, const Send& op, OpRows rows) {
  Rows x(state, op.x, rows);
  return state.resources.comm()->send(op.to_rank, std::as_bytes(x.read()));
}

bool between(State& state, const Recv& op, OpRows rows) {
  Rows x(state, op.x, rows);
  if (!state.resources.comm()->recv(op.from_rank, std::as_writable_bytes(x.values()))) return false;
  if (op.add) {
    Rows had(state, op.x, rows);
    const std::span<float> before = had.read(), more = x.values();
    for (size_t i = 0; i < more.size(); ++i) more[i] += before[i];
  }
  x.write();
  return true;
}

/// A step's routes on the host, as the device has them: experts [most slots], then their weights.
class Routes {
 public:
  Routes(State& state, Buffer routes, OpRows rows) : state_(state), memory_(*state.buffers.at(routes.id)) {
    const BufferState& shape = state.resources.buffer(routes);
    count_ = size_t(rows.rows) * shape.k, weights_at_ = size_t(shape.max_rows) * shape.k;
    words_.resize(weights_at_ + count_);
  }
  std::span<int32_t> experts() { return std::span(words_).first(count_); }
  std::span<int32_t> weights() { return std::span(words_).subspan(weights_at_); }
  /// With what lies between them: a copy costs more than its bytes.
  void read() { state_.transfer.read(memory_, 0, words_.data(), words_.size() * sizeof(int32_t)); }
  void write() {
    state_.transfer.write(memory_, 0, experts().data(), experts().size_bytes());
    state_.transfer.write(memory_, weights_at_ * sizeof(int32_t), weights().data(), weights().size_bytes());
    state_.transfer.flush();
  }

 private:
  State& state_;
  Memory& memory_;
  size_t count_ = 0, weights_at_ = 0;
  std::vector<int32_t> words_;
};

bool between(State& state, const ShareRoutes& op, OpRows rows) {
  Routes routes(state, op.routes, rows);
  Comm& comm = *state.resources.comm();
  routes.read();
  if (!comm.share(std::as_writable_bytes(routes.experts())) || !comm.share(std::as_writable_bytes(routes.weights()))) return false;
  routes.write();
  return true;
}

bool between(State& state, const SendRoutes& op, OpRows rows) {
  Routes routes(state, op.routes, rows);
  Comm& comm = *state.resources.comm();
  routes.read();
  if (!comm.send(op.to_rank, std::as_bytes(routes.experts())) || !comm.send(op.to_rank, std::as_bytes(routes.weights()))) return false;
  state.resources.count_routes(op.layer, routes.experts(), rows.rows);
  return true;
}

bool between(State& state, const RecvRoutes& op, OpRows rows) {
  Routes routes(state, op.routes, rows);
  Comm& comm = *state.resources.comm();
  if (!comm.recv(op.from_rank, std::as_writable_bytes(routes.experts())) || !comm.recv(op.from_rank, std::as_writable_bytes(routes.weights()))) return false;
  check_routes(routes.experts(), op.experts);
  routes.write();
  return true;
}

}  // namespace

bool is_between_ranks(const Op& op) {
  return std::holds_alternative<AllReduce>(op) ||
         std::visit([](const auto& o) { return requires(State& state) { between(state, o, OpRows{}); }; }, op);
}

void take_slots(State& state) {
  if (!state.resources.comm() || !state.device.has(host_import)) return;
  const std::shared_ptr<SumSlots>& slots = state.resources.comm()->slots();
  if (state.slots_tried == slots) return;
  state.slots_tried = slots;
  state.slots = state.memory.import(slots, slots->memory(), slots->bytes());
}

Program program_of(State& state, Stage& stage) {
  const auto* sum = stage.then ? std::get_if<AllReduce>(&*stage.then) : nullptr;
  if (!sum || !state.slots) return std::move(stage.program);
  own_slot(*state.resources.comm(), bytes_of(state, sum->x, stage.rows));  // there is room for it
  Dispatch part = over_slots(state, stage, "part", sum->x, true);
  part.push[1] = word_of(state.resources.comm()->slots()->offset(state.resources.comm()->turn(), state.resources.comm()->rank()));
  stage.program.push_back(std::move(part));
  return std::move(stage.program);
}

bool run_between_ranks(State& state, const Stage& stage, Program& next) {
  if (const auto* sum = std::get_if<AllReduce>(&*stage.then)) {
    return state.slots ? add_on_device(state, stage, sum->x, next) : add_on_host(state, stage, sum->x);
  }
  return std::visit(
      [&](const auto& o) {
        if constexpr (requires { between(state, o, stage.rows); }) return between(state, o, stage.rows);
        else return true;
      },
      *stage.then);
}

}  // namespace hearth::vulkan
