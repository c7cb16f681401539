// One pass over an op list before it runs: every shape, id and block is checked here, so that no kernel has to.
#include <algorithm>
#include <cmath>
#include <string>

#include "backend/resources.h"
#include "backend/top_logits.h"

namespace hearth {
namespace {

class Checker {
 public:
  Checker(const Resources& resources, const KvShape& kv, uint32_t kv_blocks, const StepInputs& in)
      : res_(resources), kv_(kv), kv_blocks_(kv_blocks), in_(in), rows_(resources.buffers()), known_(resources.buffers()) {}

  void inputs() {
    const size_t n = in_.rows();
    need(in_.positions.size() == n && in_.sequence.size() == n, "inputs of unequal length");
    need(in_.table_begin.size() == size_t(in_.sequences) * in_.groups, "block tables of the wrong number");
    for (uint32_t s : in_.sequence) need(s < in_.sequences, "a row of an unknown sequence");
    for (size_t i = 0; i < in_.output_rows.size(); ++i) {
      need(in_.output_rows[i] < n && (i == 0 || in_.output_rows[i] > in_.output_rows[i - 1]), "wrong output rows");
    }
  }

  OpRows check(const Op& op) {
    name_ = name(op);
    return std::visit([this](const auto& o) { return one(o); }, op);
  }

 private:
  void need(bool condition, const char* what) const {
    if (!condition) throw Error(ErrorCode::internal, "Op " + std::string(name_) + ": " + what + ".");
  }
  const BufferState& data(Buffer b) const {
    const BufferState& state = res_.buffer(b);
    need(state.k == 0, "routes where activations are expected");
    return state;
  }
  OpRows read(Buffer b) const {
    need(b.id < known_.size() && known_[b.id], "a buffer that nothing has written");
    return rows_[b.id];
  }
  OpRows write(Buffer b, OpRows rows, uint64_t values) {
    const BufferState& state = res_.buffer(b);
    need(rows.rows * values <= uint64_t(state.max_rows) * (state.k ? state.k : state.cols), "more rows than the buffer holds");
    known_[b.id] = true;
    return rows_[b.id] = rows;
  }
  void vector(VectorRef v, uint64_t size) const { need(!v || res_.vector(v).size() == size, "a vector of the wrong size"); }
  void same(OpRows a, OpRows b) const { need(a.rows == b.rows && a.selected == b.selected, "different rows"); }
  const Matrix& weight(WeightRef w, uint64_t cols) const {
    const Matrix& m = res_.weight(w);
    need(m.cols == cols, "columns do not match the input");
    return m;
  }

  OpRows one(const Embed& o) {
    const Matrix& m = weight(o.table, data(o.out).cols);
    for (int32_t t : in_.tokens) need(t >= 0 && uint32_t(t) < m.rows, "a token outside the vocabulary");
    return write(o.out, {in_.rows(), false}, m.cols);
  }
  OpRows one(const Norm& o) {
    const uint32_t cols = data(o.x).cols;
    need(data(o.out).cols == cols && res_.vector(o.weight).size() == cols, "unequal widths");
    return write(o.out, read(o.x), cols);
  }
  OpRows one(const QkvRopeStore& o) {
    const uint32_t cols = data(o.x).cols, qs = o.heads * o.head_dim, ks = o.kv_heads * o.head_dim;
    need(weight(o.wq, cols).rows == qs && weight(o.wk, cols).rows == ks && weight(o.wv, cols).rows == ks, "wrong projections");
    vector(o.bq, qs), vector(o.bk, ks), vector(o.bv, ks), vector(o.q_norm, o.head_dim), vector(o.k_norm, o.head_dim);
    need(data(o.q).cols == qs, "wrong width of q");
    if (o.rope) need(res_.rope(o.rope).dims <= o.head_dim, "rope is wider than a head");
    const OpRows rows = read(o.x);
    need(!rows.selected, "keys of selected rows only");
    kv(o.group, o.layer_in_group, o.kv_heads, o.head_dim);
    for (uint32_t r = 0; r < rows.rows; ++r) block(in_.sequence[r], o.group, in_.positions[r] / kv_.block_size);
    return write(o.q, rows, qs);
  }
  OpRows one(const Attention& o) {
    const uint32_t qs = o.heads * o.head_dim;
    need(data(o.q).cols == qs && data(o.out).cols == qs, "wrong widths");
    need(o.kv_heads > 0 && o.heads % o.kv_heads == 0, "heads do not divide");
    vector(o.sinks, o.heads);
    const OpRows rows = read(o.q);
    need(!rows.selected, "attention of selected rows");
    kv(o.group, o.layer_in_group, o.kv_heads, o.head_dim);
    reach(o.group, o.window);
    return write(o.out, rows, qs);
  }
  OpRows one(const LinearResidual& o) {
    const Matrix& m = weight(o.w, data(o.x).cols);
    need(m.rows == data(o.residual).cols, "wrong width of the residual");
    vector(o.b, m.rows), vector(o.norm, m.rows);
    same(read(o.x), read(o.residual));
    return write(o.residual, read(o.x), m.rows);
  }
  OpRows one(const Router& o) {
    const Matrix& m = weight(o.w, data(o.x).cols);
    need(m.rows == o.experts && o.k >= 1 && o.k <= o.experts && res_.buffer(o.routes).k == o.k, "wrong number of experts");
    vector(o.b, o.experts);
    if (!in_.forced.experts.empty()) {
      const size_t per_layer = size_t(in_.rows()) * o.k;
      need((o.layer + 1) * per_layer <= in_.forced.experts.size(), "forced routes are too few");
      for (size_t i = o.layer * per_layer; i < (o.layer + 1) * per_layer; ++i) {
        need(in_.forced.experts[i] >= 0 && uint32_t(in_.forced.experts[i]) < o.experts, "a forced expert that does not exist");
      }
    }
    return write(o.routes, read(o.x), o.k);
  }
  OpRows one(const GateUp& o) {
    const Matrix &g = weight(o.gate, data(o.x).cols), &u = weight(o.up, data(o.x).cols);
    need(g.rows == u.rows && data(o.out).cols == g.rows, "wrong widths");
    vector(o.bg, g.rows), vector(o.bu, g.rows);
    return write(o.out, read(o.x), g.rows);
  }
  OpRows one(const PickRoutes& o) {
    const Vector& places = res_.vector(o.places);
    need(res_.buffer(o.routes).k > 0 && res_.buffer(o.out).k == res_.buffer(o.routes).k && o.routes.id != o.out.id, "no routes, or others");
    need(!places.empty() && chosen_from(o.routes) == places.size(), "places of another number of experts");
    for (float place : places) need(place == -1 || (place >= 0 && place < float(places.size()) && place == std::floor(place)), "a place that is none");
    return write(o.out, read(o.routes), res_.buffer(o.out).k);
  }
  OpRows one(const ExpertsGateUp& o) {
    const Matrix &g = weight(o.gate, data(o.x).cols), &u = weight(o.up, data(o.x).cols);
    need(g.rows == u.rows && g.experts == u.experts && res_.buffer(o.routes).k == o.k, "wrong experts");
    vector(o.bg, uint64_t(g.rows) * g.experts), vector(o.bu, uint64_t(g.rows) * g.experts);
    same(read(o.x), read(o.routes));
    experts(o.routes, g.experts);
    data(o.out);
    return write(o.out, read(o.x), uint64_t(g.rows) * o.k);
  }
  OpRows one(const ExpertsDown& o) {
    const Matrix& m = res_.weight(o.down);
    need(m.rows == data(o.residual).cols && res_.buffer(o.routes).k == o.k, "wrong experts");
    need(data(o.x).cols == m.cols || data(o.x).cols == uint64_t(m.cols) * o.k, "wrong width of x");
    vector(o.b, uint64_t(m.rows) * m.experts);
    same(read(o.x), read(o.residual)), same(read(o.x), read(o.routes));
    experts(o.routes, m.experts);
    return write(o.residual, read(o.x), m.rows);
  }
  OpRows one(const SelectRows& o) {
    need(data(o.out).cols == data(o.x).cols, "unequal widths");
    need(!read(o.x).selected, "rows that were selected already");
    return write(o.out, {static_cast<uint32_t>(in_.output_rows.size()), true}, data(o.x).cols);
  }
  OpRows one(const Logits& o) {
    const Matrix& m = weight(o.w, data(o.x).cols);
    need(data(o.out).cols == m.rows, "wrong width of the logits");
    return write(o.out, read(o.x), m.rows);
  }
  OpRows one(const TopLogits& o) {
    const TopLayout layout{data(o.logits).cols, o.k};
    need(o.k >= 1 && o.k <= most_top && data(o.out).cols == layout.cols(), "wrong width of what is kept of logits");
    return write(o.out, read(o.logits), layout.cols());
  }
  OpRows one(const Clear& o) { return write(o.x, {in_.rows(), false}, data(o.x).cols); }
  OpRows one(const AllReduce& o) { return between(o.x); }
  OpRows one(const Send& o) { return between(o.x); }
  OpRows one(const Recv& o) {
    need(res_.comm(), "there is no other rank");
    return o.add ? between(o.x) : write(o.x, {in_.rows(), false}, data(o.x).cols);
  }
  OpRows one(const ShareRoutes& o) {
    need(res_.comm() && res_.buffer(o.routes).k > 0, "no routes, or no other rank");
    return read(o.routes);
  }
  OpRows one(const SendRoutes& o) {
    need(res_.comm() && res_.buffer(o.routes).k > 0, "no routes, or no other rank");
    return read(o.routes);
  }
  OpRows one(const RecvRoutes& o) {
    need(res_.comm() && res_.buffer(o.routes).k > 0 && o.experts > 0, "no routes, or no other rank");
    return write(o.routes, {in_.rows(), false}, res_.buffer(o.routes).k);
  }
  OpRows one(const OnRank&) {
    need(false, "a list for several ranks");
    return {};
  }
  /// Values that go to other ranks, where rows must mean the same.
  OpRows between(Buffer x) const {
    data(x);
    need(res_.comm(), "there is no other rank");
    return read(x);
  }

  void experts(Buffer routes, uint32_t count) {
    // Routes of more experts than the weights have would be read out of bounds; the op that wrote them checked their ids.
    need(chosen_from(routes) <= count, "fewer experts than the router chooses from");
  }
  /// How many experts the ids of these routes may be of.
  uint32_t chosen_from(Buffer routes) const {
    const auto known = std::ranges::find(routers_, routes.id, &std::pair<uint32_t, uint32_t>::first);
    return known == routers_.end() ? 0 : known->second;
  }
  void kv(uint32_t group, uint32_t layer, uint32_t kv_heads, uint32_t head_dim) const {
    need(group < kv_.layers_per_group.size() && layer < kv_.layers_per_group[group], "no such KV layer");
    need(kv_.kv_heads == kv_heads && kv_.head_dim == head_dim && group < in_.groups, "KV of another shape");
  }
  void block(uint32_t sequence, uint32_t group, uint32_t index) const {
    const uint64_t at = uint64_t(in_.table_begin[sequence * in_.groups + group]) + index;
    need(at < in_.blocks.size() && in_.blocks[at] < kv_blocks_, "a position without a block");
  }
  void reach(uint32_t group, uint32_t window) {
    if (std::find(reached_.begin(), reached_.end(), std::pair{group, window}) != reached_.end()) return;
    reached_.emplace_back(group, window);
    const uint32_t size = kv_.block_size;
    for (uint32_t r = 0, next = 0; r < in_.rows(); r = next) {  // rows of a sequence are consecutive
      for (next = r + 1; next < in_.rows() && in_.sequence[next] == in_.sequence[r]; ++next) {
        need(in_.positions[next] > in_.positions[next - 1], "positions out of order");
      }
      const uint32_t last = in_.positions[next - 1] / size;
      for (uint32_t b = first_seen(in_.positions[r], window) / size; b <= last; ++b) block(in_.sequence[r], group, b);
    }
  }

 public:
  void remember(const Op& op) {
    if (const auto* router = std::get_if<Router>(&op)) remember(router->routes, router->experts);
    if (const auto* received = std::get_if<RecvRoutes>(&op)) remember(received->routes, received->experts);
    if (const auto* picked = std::get_if<PickRoutes>(&op)) {
      remember(picked->out, static_cast<uint32_t>(std::ranges::max(res_.vector(picked->places))) + 1);
    }
  }

 private:
  void remember(Buffer routes, uint32_t experts) {
    std::erase_if(routers_, [&](const auto& entry) { return entry.first == routes.id; });
    routers_.emplace_back(routes.id, experts);
  }

  const Resources& res_;
  const KvShape& kv_;
  const uint32_t kv_blocks_;
  const StepInputs& in_;
  std::vector<OpRows> rows_;
  std::vector<bool> known_;
  std::vector<std::pair<uint32_t, uint32_t>> reached_, routers_;
  std::string_view name_ = "inputs";
};

}  // namespace

void check_routes(std::span<const int32_t> chosen, uint32_t experts) {
  for (int32_t expert : chosen) {
    if (expert < 0 || static_cast<uint32_t>(expert) >= experts) throw Error(ErrorCode::internal, "Another rank has chosen an expert that there is not.");
  }
}

std::vector<OpRows> check_step(const Resources& resources, const KvShape& kv, uint32_t kv_blocks, const OpList& ops,
                               const StepInputs& inputs) {
  Checker checker(resources, kv, kv_blocks, inputs);
  checker.inputs();
  std::vector<OpRows> rows;
  rows.reserve(ops.size());
  for (const Op& op : ops) {
    rows.push_back(checker.check(op));
    checker.remember(op);
  }
  return rows;
}

}  // namespace hearth
