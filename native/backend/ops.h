// The op list: what a model step is made of, at fused granularity. Ops are plain data; backends give them meaning.
// `rows` of every buffer is the number of rows in StepInputs, except behind SelectRows, where it is output_rows.size().
#pragma once

#include <cstdint>
#include <string_view>
#include <variant>
#include <vector>

namespace hearth {

/// act(gate, up): silu(gate)*up; gelu_tanh(gate)*up; swiglu_oai: g = min(gate, limit), u = clamp(up, -limit, limit),
/// g * sigmoid(alpha * g) * (u + 1).
enum class Activation { silu, gelu_tanh, swiglu_oai };

/// A float32 activation buffer [rows, cols], owned by the backend. Ids are dense from 0.
struct Buffer { uint32_t id = ~0u; };
/// Handles of weights that the backend has taken in. `none` means absent (no bias, no sinks).
struct WeightRef { uint32_t id = ~0u; explicit operator bool() const { return id != ~0u; } };
struct VectorRef { uint32_t id = ~0u; explicit operator bool() const { return id != ~0u; } };
struct RopeRef { uint32_t id = ~0u; explicit operator bool() const { return id != ~0u; } };

/// x[r] = table[token_r] * scale
struct Embed { WeightRef table; float scale; Buffer out; };

/// out[r] = x[r] * rsqrt(mean(x[r]^2) + eps) * weight. A backend may keep `out` quantised as well: its readers are matmuls.
struct Norm { Buffer x; VectorRef weight; float eps; Buffer out; };

/// q, k, v = W.x + b; where q_norm and k_norm are given, each head of q and k is normed (as Norm, one weight [head_dim] for
/// all heads); rope on q and k at the row's position; k and v go to the paged KV of (group, layer), q to `q`.
struct QkvRopeStore {
  Buffer x; WeightRef wq, wk, wv; VectorRef bq, bk, bv; RopeRef rope;
  uint32_t group, layer_in_group, heads, kv_heads, head_dim;
  Buffer q;
  VectorRef q_norm = {}, k_norm = {}; float norm_eps = 0.0f;
};

/// Causal paged attention. Query head h reads KV head h / (heads / kv_heads). A key at position j is seen from p when
/// j <= p and (window == 0 or p - j < window). sinks: one raw logit per head that joins the softmax and has no value.
struct Attention {
  Buffer q; VectorRef sinks;
  uint32_t group, layer_in_group, heads, kv_heads, head_dim, window; float scale;
  Buffer out;
};

/// residual[r] += W.x[r] + b (b absent: none). Where `norm` is given the sum is normed before it is added (as Norm).
struct LinearResidual { Buffer x; WeightRef w; VectorRef b; Buffer residual; VectorRef norm = {}; float norm_eps = 0.0f; };

/// Over what the weights of the chosen experts are a softmax. `all` lets them sum to less than 1; a softmax over all that
/// is made to sum to 1 again is `chosen`.
enum class RouterSoftmax { chosen, all };

/// g = W.x + b; the k largest by (value desc, index asc); weights = softmax over those k, or their part of one over all.
/// `routes` is a Routes buffer of the backend: per row k pairs (expert, weight). `layer` indexes StepInputs::forced.
struct Router {
  Buffer x; WeightRef w; VectorRef b; uint32_t experts, k, layer; Buffer routes; RouterSoftmax softmax = RouterSoftmax::chosen;
};

/// out = act(gate.x + bg, up.x + bu), dense.
struct GateUp {
  Buffer x; WeightRef gate, up; VectorRef bg, bu; Activation activation; float alpha, limit; Buffer out;
};

/// A choice among all experts of a layer as the numbers that those have whose weights are here: places[expert] of each slot (row, i), or
/// -1. Ops over such routes skip a slot without an expert: ExpertsGateUp leaves its row of `out` as it is, ExpertsDown adds nothing for it,
/// and neither reads a weight or what lies in that row.
struct PickRoutes { Buffer routes; VectorRef places; Buffer out; };

/// The same for the chosen experts: out row (r, i) for i < k.
struct ExpertsGateUp {
  Buffer x, routes; WeightRef gate, up; VectorRef bg, bu; uint32_t k; Activation activation; float alpha, limit; Buffer out;
};

/// residual[r] += sum_i weight(r, i) * (down[expert(r, i)].x[(r, i)] + b)
struct ExpertsDown { Buffer x, routes; WeightRef down; VectorRef b; uint32_t k; Buffer residual; };

/// out = the rows of StepInputs::output_rows.
struct SelectRows { Buffer x; Buffer out; };

/// logits = W.x
struct Logits { Buffer x; WeightRef w; Buffer out; };

/// Of each row of logits the k best by (value desc, index asc), and for each part of it the largest and the sum of exp(logit - largest), in
/// an order that depends on the row alone. top_logits.h has the layout. Fewer than k tokens: the rest is token -1. A part with a value that
/// is not finite has a sum that is NaN; which tokens are kept then is nobody's business. All zeros: the device says nothing of this row.
struct TopLogits { Buffer logits; uint32_t k; Buffer out; };

/// x = 0: what a rank adds to is a part of a sum whose rest lies elsewhere.
struct Clear { Buffer x; };

// Between ranks (comm.h performs them). With one rank none is recorded.

/// x = sum over ranks of x, in rank order: all have the same bytes then.
struct AllReduce { Buffer x; };
struct Send { Buffer x; uint32_t to_rank; };
/// x = what that rank sent, or x += it.
struct Recv { Buffer x; uint32_t from_rank; bool add = false; };
/// Every rank goes on with rank 0's choice of experts: devices of unlike kinds round differently, and a tie may fall either way.
struct ShareRoutes { Buffer routes; };
/// What a rank has chosen goes to one that has others of the layer's experts: it must not choose itself, for the same reason.
struct SendRoutes { Buffer routes; uint32_t layer, to_rank; };
struct RecvRoutes { Buffer routes; uint32_t experts, from_rank; };

/// Begins the part of a rank in a list for several (mesh/); no single device takes it.
struct OnRank { uint32_t rank; };

using Op = std::variant<Embed, Norm, QkvRopeStore, Attention, LinearResidual, Router, GateUp, PickRoutes, ExpertsGateUp, ExpertsDown,
                        SelectRows, Logits, TopLogits, Clear, AllReduce, Send, Recv, ShareRoutes, SendRoutes, RecvRoutes, OnRank>;
using OpList = std::vector<Op>;

/// One thing that an op touches: an activation buffer, or the KV of one layer.
struct Access {
  enum class Kind { buffer, kv } kind;
  uint32_t id;     // buffer id; kv: group << 16 | layer_in_group
  bool write;      // an in-place update is one read and one write
};

std::string_view name(const Op& op);
/// What the op reads and writes, reads first. Source of barriers and of the hazard test.
std::vector<Access> accesses(const Op& op);

}  // namespace hearth
