// Recording: how each op reads as a line of text, and the hazards of a list.
#include "backend/trace/trace_backend.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "backend/finished_ticket.h"
#include "backend/resources.h"

namespace hearth {
namespace {

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", value);
  return text;
}

struct Shape {
  std::string name;
  uint32_t cols = 0, k = 0;
  bool selected = false;
};

class Trace final : public TraceBackend {
 public:
  explicit Trace(Precision precision) : precision_(precision) {}
  std::string name() const override { return "trace"; }
  Precision precision() const override { return precision_; }
  KvType kv_type() const override { return resolve(KvType::automatic, precision_); }

  void set_comm(Comm*) override {}  // it moves nothing

  WeightRef add_weight(const Matrix& m) override {
    weights_.push_back(m);
    return {static_cast<uint32_t>(weights_.size() - 1)};
  }
  VectorRef add_vector(const Vector& v) override {
    vectors_.push_back(v.size());
    return {static_cast<uint32_t>(vectors_.size() - 1)};
  }
  RopeRef add_rope(const RopeTable& t) override {
    ropes_.push_back(t);
    return {static_cast<uint32_t>(ropes_.size() - 1)};
  }
  Buffer add_buffer(std::string_view name, uint32_t cols, uint32_t) override { return add({std::string(name), cols, 0}); }
  Buffer add_routes(uint32_t k, uint32_t) override { return add({"routes", 0, k}); }

  uint64_t kv_block_bytes(const KvShape& shape) const override { return KvPool::block_bytes(shape, kv_type()); }
  void set_kv_shape(const KvShape& shape) override { block_bytes_ = kv_block_bytes(shape); }
  void resize_kv(uint32_t) override {}
  void read_kv_block(uint32_t, std::byte* out) override { std::fill_n(out, block_bytes_, std::byte{0}); }
  void write_kv_block(uint32_t, const std::byte*) override {}

  std::unique_ptr<Ticket> submit(const OpList& ops, const StepInputs&, const std::atomic<bool>*) override {
    std::set<uint32_t> written, stored;
    for (Shape& b : buffers_) b.selected = false;
    for (const Op& op : ops) {
      check(op, written, stored);
      text_ += std::string(hearth::name(op)) + std::visit([this](const auto& o) { return line(o); }, op) + "\n";
    }
    return std::make_unique<FinishedTicket>(true);
  }
  void read(Buffer b, uint32_t, uint32_t rows, float* out) override {
    std::fill_n(out, b.id < buffers_.size() ? size_t(rows) * buffers_[b.id].cols : 0, 0.0f);
  }
  void read_routes(Buffer b, uint32_t rows, int32_t* experts, float* weights) override {
    const size_t n = b.id < buffers_.size() ? size_t(rows) * buffers_[b.id].k : 0;
    std::fill_n(experts, n, 0);
    std::fill_n(weights, n, 0.0f);
  }
  uint64_t scratch_bytes() const override { return 0; }

  const std::string& text() const override { return text_; }
  const std::vector<std::string>& hazards() const override { return hazards_; }
  void clear() override { text_.clear(), hazards_.clear(); }

 private:
  Buffer add(Shape shape) {
    buffers_.push_back(std::move(shape));
    return {static_cast<uint32_t>(buffers_.size() - 1)};
  }

  void check(const Op& op, std::set<uint32_t>& written, std::set<uint32_t>& stored) {
    const std::string op_name(hearth::name(op));
    for (const Access& a : accesses(op)) {
      if (a.kind == Access::Kind::buffer) {
        if (a.id >= buffers_.size()) hazards_.push_back(op_name + " names a buffer that was never added");
        else if (!a.write && !written.contains(a.id)) hazards_.push_back(op_name + " reads " + buffers_[a.id].name + " before it is written");
        if (a.write) written.insert(a.id);
      } else {
        const std::string layer = "the KV of group " + std::to_string(a.id >> 16) + ", layer " + std::to_string(a.id & 0xffff);
        if (a.write && !stored.insert(a.id).second) hazards_.push_back(op_name + " stores " + layer + " twice");
        if (!a.write && !stored.contains(a.id)) hazards_.push_back(op_name + " reads " + layer + " before this step stored it");
      }
    }
    if (const auto* s = std::get_if<SelectRows>(&op); s && s->out.id < buffers_.size()) buffers_[s->out.id].selected = true;
    spread(op);
  }
  /// An output has the selection of its first input.
  void spread(const Op& op) {
    if (std::holds_alternative<SelectRows>(op)) return;
    const std::vector<Access> list = accesses(op);
    bool selected = false;
    for (const Access& a : list) {
      if (a.kind != Access::Kind::buffer || a.id >= buffers_.size()) continue;
      if (!a.write) selected = selected || buffers_[a.id].selected;
      else buffers_[a.id].selected = selected;
    }
  }

  std::string buf(Buffer b) const {
    if (b.id >= buffers_.size()) return "?";
    const Shape& s = buffers_[b.id];
    const std::string rows = s.selected ? "O" : "R";
    return s.name + "[" + rows + "," + (s.k ? "k=" + std::to_string(s.k) : std::to_string(s.cols)) + "]";
  }
  std::string mat(WeightRef w) const {
    if (w.id >= weights_.size()) return "?";
    const Matrix& m = weights_[w.id];
    const std::string experts = m.experts > 1 ? std::to_string(m.experts) + "," : "";
    return m.name + "[" + experts + std::to_string(m.rows) + "," + std::to_string(m.cols) + "]:" + std::string(info(m.type).name);
  }
  std::string vec(const char* label, VectorRef v) const {
    if (!v) return "";
    return std::string(" ") + label + "=[" + (v.id < vectors_.size() ? std::to_string(vectors_[v.id]) : "?") + "]";
  }
  std::string kv(uint32_t group, uint32_t layer) const { return "kv(" + std::to_string(group) + "," + std::to_string(layer) + ")"; }
  std::string heads(uint32_t h, uint32_t k, uint32_t d) const {
    return " heads=" + std::to_string(h) + "/" + std::to_string(k) + "x" + std::to_string(d);
  }
  std::string act(Activation a, float alpha, float limit) const {
    if (a == Activation::silu) return " act=silu";
    if (a == Activation::gelu_tanh) return " act=gelu_tanh";
    return " act=swiglu_oai(" + number(alpha) + "," + number(limit) + ")";
  }
  std::string normed(const char* label, VectorRef v, float eps) const {
    return v ? vec(label, v) + "*" + number(eps) : "";
  }
  std::string rope(RopeRef r) const {
    if (r.id >= ropes_.size() || ropes_[r.id].layout == RopeLayout::none) return " rope=none";
    const RopeTable& t = ropes_[r.id];
    return std::string(" rope=") + (t.layout == RopeLayout::half_split ? "half_split" : "interleaved") + "(" +
           std::to_string(t.dims) + ",x" + number(t.concentration) + ")";
  }

  std::string line(const Embed& o) { return " " + mat(o.table) + " scale=" + number(o.scale) + " -> " + buf(o.out); }
  std::string line(const Norm& o) { return " " + buf(o.x) + vec("w", o.weight) + " eps=" + number(o.eps) + " -> " + buf(o.out); }
  std::string line(const QkvRopeStore& o) {
    return " " + buf(o.x) + " " + mat(o.wq) + " " + mat(o.wk) + " " + mat(o.wv) + vec("bq", o.bq) + vec("bk", o.bk) +
           vec("bv", o.bv) + normed("q_norm", o.q_norm, o.norm_eps) + normed("k_norm", o.k_norm, o.norm_eps) + rope(o.rope) + heads(o.heads, o.kv_heads, o.head_dim) + " -> " + buf(o.q) + " " +
           kv(o.group, o.layer_in_group);
  }
  std::string line(const Attention& o) {
    return " " + buf(o.q) + " " + kv(o.group, o.layer_in_group) + vec("sinks", o.sinks) + heads(o.heads, o.kv_heads, o.head_dim) +
           " window=" + std::to_string(o.window) + " scale=" + number(o.scale) + " -> " + buf(o.out);
  }
  std::string line(const LinearResidual& o) {
    return " " + buf(o.x) + " " + mat(o.w) + vec("b", o.b) + normed("norm", o.norm, o.norm_eps) + " += " + buf(o.residual);
  }
  std::string line(const Router& o) {
    return " " + buf(o.x) + " " + mat(o.w) + vec("b", o.b) + " top=" + std::to_string(o.k) + "/" + std::to_string(o.experts) +
           (o.softmax == RouterSoftmax::all ? " softmax=all" : "") + " layer=" + std::to_string(o.layer) + " -> " + buf(o.routes);
  }
  std::string line(const GateUp& o) {
    return " " + buf(o.x) + " " + mat(o.gate) + " " + mat(o.up) + vec("bg", o.bg) + vec("bu", o.bu) +
           act(o.activation, o.alpha, o.limit) + " -> " + buf(o.out);
  }
  std::string line(const PickRoutes& o) { return " " + buf(o.routes) + vec("places", o.places) + " -> " + buf(o.out); }
  std::string line(const ExpertsGateUp& o) {
    return " " + buf(o.x) + " " + buf(o.routes) + " " + mat(o.gate) + " " + mat(o.up) + vec("bg", o.bg) + vec("bu", o.bu) +
           act(o.activation, o.alpha, o.limit) + " -> " + buf(o.out);
  }
  std::string line(const ExpertsDown& o) {
    return " " + buf(o.x) + " " + buf(o.routes) + " " + mat(o.down) + vec("b", o.b) + " += " + buf(o.residual);
  }
  std::string line(const SelectRows& o) { return " " + buf(o.x) + " -> " + buf(o.out); }
  std::string line(const Logits& o) { return " " + buf(o.x) + " " + mat(o.w) + " -> " + buf(o.out); }
  std::string line(const TopLogits& o) { return " " + buf(o.logits) + " k=" + std::to_string(o.k) + " -> " + buf(o.out); }
  std::string line(const Clear& o) { return " " + buf(o.x); }
  std::string line(const AllReduce& o) { return " " + buf(o.x); }
  std::string line(const Send& o) { return " " + buf(o.x) + " to=" + std::to_string(o.to_rank); }
  std::string line(const Recv& o) { return " from=" + std::to_string(o.from_rank) + (o.add ? " += " : " -> ") + buf(o.x); }
  std::string line(const ShareRoutes& o) { return " " + buf(o.routes); }
  std::string line(const SendRoutes& o) { return " " + buf(o.routes) + " layer=" + std::to_string(o.layer) + " to=" + std::to_string(o.to_rank); }
  std::string line(const RecvRoutes& o) { return " from=" + std::to_string(o.from_rank) + " of=" + std::to_string(o.experts) + " -> " + buf(o.routes); }
  std::string line(const OnRank& o) { return " " + std::to_string(o.rank); }

  Precision precision_;
  uint64_t block_bytes_ = 0;
  std::vector<Matrix> weights_;
  std::vector<size_t> vectors_;
  std::vector<RopeTable> ropes_;
  std::vector<Shape> buffers_;
  std::string text_;
  std::vector<std::string> hazards_;
};

}  // namespace

std::unique_ptr<TraceBackend> make_trace_backend(Precision precision) { return std::make_unique<Trace>(precision); }

}  // namespace hearth
