// Names and accesses of the ops: the facts from which barriers, hazard checks and traces are made.
#include "backend/ops.h"

namespace hearth {
namespace {

template <typename... Fs>
struct Overloaded : Fs... {
  using Fs::operator()...;
};
template <typename... Fs>
Overloaded(Fs...) -> Overloaded<Fs...>;

Access reads(Buffer buffer) { return {Access::Kind::buffer, buffer.id, false}; }
Access writes(Buffer buffer) { return {Access::Kind::buffer, buffer.id, true}; }
Access kv(uint32_t group, uint32_t layer, bool write) { return {Access::Kind::kv, group << 16 | layer, write}; }

}  // namespace

std::string_view name(const Op& op) {
  return std::visit(Overloaded{
                        [](const Embed&) { return "embed"; },
                        [](const Norm&) { return "norm"; },
                        [](const QkvRopeStore&) { return "qkv_rope_store"; },
                        [](const Attention&) { return "attention"; },
                        [](const LinearResidual&) { return "linear_residual"; },
                        [](const Router&) { return "router"; },
                        [](const GateUp&) { return "gate_up"; },
                        [](const PickRoutes&) { return "pick_routes"; },
                        [](const ExpertsGateUp&) { return "experts_gate_up"; },
                        [](const ExpertsDown&) { return "experts_down"; },
                        [](const SelectRows&) { return "select_rows"; },
                        [](const Logits&) { return "logits"; },
                        [](const TopLogits&) { return "top_logits"; },
                        [](const Clear&) { return "clear"; },
                        [](const AllReduce&) { return "all_reduce"; },
                        [](const Send&) { return "send"; },
                        [](const Recv&) { return "recv"; },
                        [](const ShareRoutes&) { return "share_routes"; },
                        [](const SendRoutes&) { return "send_routes"; },
                        [](const RecvRoutes&) { return "recv_routes"; },
                        [](const OnRank&) { return "on_rank"; },
                    },
                    op);
}

std::vector<Access> accesses(const Op& op) {
  using List = std::vector<Access>;
  return std::visit(
      Overloaded{
          [](const Embed& o) { return List{writes(o.out)}; },
          [](const Norm& o) { return List{reads(o.x), writes(o.out)}; },
          [](const QkvRopeStore& o) {
            return List{reads(o.x), writes(o.q), kv(o.group, o.layer_in_group, true)};
          },
          [](const Attention& o) {
            return List{reads(o.q), kv(o.group, o.layer_in_group, false), writes(o.out)};
          },
          [](const LinearResidual& o) { return List{reads(o.x), reads(o.residual), writes(o.residual)}; },
          [](const Router& o) { return List{reads(o.x), writes(o.routes)}; },
          [](const GateUp& o) { return List{reads(o.x), writes(o.out)}; },
          [](const PickRoutes& o) { return List{reads(o.routes), writes(o.out)}; },
          [](const ExpertsGateUp& o) { return List{reads(o.x), reads(o.routes), writes(o.out)}; },
          [](const ExpertsDown& o) {
            return List{reads(o.x), reads(o.routes), reads(o.residual), writes(o.residual)};
          },
          [](const SelectRows& o) { return List{reads(o.x), writes(o.out)}; },
          [](const Logits& o) { return List{reads(o.x), writes(o.out)}; },
          [](const TopLogits& o) { return List{reads(o.logits), writes(o.out)}; },
          [](const Clear& o) { return List{writes(o.x)}; },
          [](const AllReduce& o) { return List{reads(o.x), writes(o.x)}; },
          [](const Send& o) { return List{reads(o.x)}; },
          [](const Recv& o) { return o.add ? List{reads(o.x), writes(o.x)} : List{writes(o.x)}; },
          [](const ShareRoutes& o) { return List{reads(o.routes), writes(o.routes)}; },
          [](const SendRoutes& o) { return List{reads(o.routes)}; },
          [](const RecvRoutes& o) { return List{writes(o.routes)}; },
          [](const OnRank&) { return List{}; },
      },
      op);
}

}  // namespace hearth
