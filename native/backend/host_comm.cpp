// Implements the ops between ranks straight on the buffers.
#include "backend/host_comm.h"

#include <algorithm>
#include <span>
#include <vector>

namespace hearth {
namespace {

std::span<float> values(Resources& resources, Buffer buffer, OpRows rows) {
  BufferState& state = resources.buffer(buffer);
  return {state.row(0), size_t(rows.rows) * state.cols};
}

bool run(Resources& resources, const Clear& op, OpRows rows) {
  std::ranges::fill(values(resources, op.x, rows), 0.0f);
  return true;
}

bool run(Resources& resources, const AllReduce& op, OpRows rows) { return all_reduce(*resources.comm(), values(resources, op.x, rows)); }

bool run(Resources& resources, const Send& op, OpRows rows) {
  return resources.comm()->send(op.to_rank, std::as_bytes(values(resources, op.x, rows)));
}

bool run(Resources& resources, const Recv& op, OpRows rows) {
  const std::span<float> x = values(resources, op.x, rows);
  if (!op.add) return resources.comm()->recv(op.from_rank, std::as_writable_bytes(x));
  std::vector<float> more(x.size());
  if (!resources.comm()->recv(op.from_rank, std::as_writable_bytes(std::span(more)))) return false;
  for (size_t i = 0; i < x.size(); ++i) x[i] += more[i];
  return true;
}

bool run(Resources& resources, const ShareRoutes& op, OpRows rows) {
  BufferState& routes = resources.buffer(op.routes);
  const size_t count = size_t(rows.rows) * routes.k;
  return resources.comm()->share(std::as_writable_bytes(std::span(routes.experts).first(count))) &&
         resources.comm()->share(std::as_writable_bytes(std::span(routes.weights).first(count)));
}

bool run(Resources& resources, const SendRoutes& op, OpRows rows) {
  const BufferState& routes = resources.buffer(op.routes);
  const size_t count = size_t(rows.rows) * routes.k;
  return resources.comm()->send(op.to_rank, std::as_bytes(std::span(routes.experts).first(count))) &&
         resources.comm()->send(op.to_rank, std::as_bytes(std::span(routes.weights).first(count)));
}

bool run(Resources& resources, const RecvRoutes& op, OpRows rows) {
  BufferState& routes = resources.buffer(op.routes);
  const size_t count = size_t(rows.rows) * routes.k;
  const std::span<int32_t> experts = std::span(routes.experts).first(count);
  if (!resources.comm()->recv(op.from_rank, std::as_writable_bytes(experts)) ||
      !resources.comm()->recv(op.from_rank, std::as_writable_bytes(std::span(routes.weights).first(count)))) {
    return false;
  }
  check_routes(experts, op.experts);
  return true;
}

bool run(Resources& resources, const PickRoutes& op, OpRows rows) {
  const BufferState& routes = resources.buffer(op.routes);
  const float* places = resources.values(op.places);
  BufferState& out = resources.buffer(op.out);
  for (size_t i = 0; i < size_t(rows.rows) * routes.k; ++i) {
    out.experts[i] = static_cast<int32_t>(places[routes.experts[i]]);
    out.weights[i] = routes.weights[i];
  }
  return true;
}

}  // namespace

bool run_between_ranks(Resources& resources, const Op& op, OpRows rows) {
  return std::visit(
      [&](const auto& o) {
        if constexpr (requires { run(resources, o, rows); }) return run(resources, o, rows);
        else return true;
      },
      op);
}

}  // namespace hearth
