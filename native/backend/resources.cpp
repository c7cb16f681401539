// Taking in weights and buffers, with the checks that make later indexing safe.
#include "backend/resources.h"

#include <cstring>

namespace hearth {
namespace {

[[noreturn]] void fail(const std::string& message) { throw Error(ErrorCode::internal, message); }

template <typename List>
auto& checked(List& list, uint32_t id, const char* what) {
  if (id >= list.size()) fail(std::string("An op names a ") + what + " that was never added.");
  return list[id];
}

}  // namespace

WeightRef Resources::add_weight(const Matrix& m) {
  if (!m.data || m.rows == 0 || m.cols == 0 || m.experts == 0) fail("The weight " + m.name + " is empty.");
  if (m.cols % info(m.type).block != 0) fail("The columns of " + m.name + " are no whole number of blocks.");
  if (m.row_stride < row_bytes(m.type, m.cols)) fail("The row stride of " + m.name + " is too small.");
  if (m.type == DType::mxfp4_planes && (!m.scales || m.scale_row_stride < m.cols / 32)) {
    fail("The weight " + m.name + " lacks its plane of scales.");
  }
  if (m.picked && m.picked->size() != m.experts) fail("The experts of " + m.name + " are not those that it names.");
  for (uint32_t e = 0; m.scattered && e < m.experts; ++e) {
    if (m.place(e) >= m.scattered->size()) fail("An expert of " + m.name + " is nowhere.");
  }
  weights_.push_back(m);
  return {static_cast<uint32_t>(weights_.size() - 1)};
}

VectorRef Resources::add_vector(const Vector& vector) {
  vectors_.push_back(vector);
  return {static_cast<uint32_t>(vectors_.size() - 1)};
}

RopeRef Resources::add_rope(const RopeTable& table) {
  if (table.layout != RopeLayout::none && table.inverse_frequency.size() != table.dims / 2) fail("A rope table has the wrong size.");
  ropes_.push_back(table);
  return {static_cast<uint32_t>(ropes_.size() - 1)};
}

Buffer Resources::add_buffer(std::string_view name, uint32_t cols, uint32_t max_rows) {
  BufferState state;
  state.name = name;
  state.cols = cols;
  state.max_rows = max_rows;
  // Pages that no step reaches stay untouched, hence calloc.
  if (holds_ == Holds::data) state.data.reset(static_cast<float*>(std::calloc(size_t(cols) * max_rows + 16, sizeof(float))));
  if (holds_ == Holds::data && !state.data) {
    throw Error(ErrorCode::out_of_ram, "There is not enough memory for the activations.",
                uint64_t(cols) * max_rows * sizeof(float));
  }
  buffers_.push_back(std::move(state));
  return {static_cast<uint32_t>(buffers_.size() - 1)};
}

Buffer Resources::add_routes(uint32_t k, uint32_t max_rows) {
  if (k == 0) fail("Routes need at least one expert a row.");
  BufferState state;
  state.name = "routes";
  state.max_rows = max_rows;
  state.k = k;
  if (holds_ == Holds::data) {
    state.experts.resize(size_t(k) * max_rows);
    state.weights.resize(size_t(k) * max_rows);
  }
  buffers_.push_back(std::move(state));
  return {static_cast<uint32_t>(buffers_.size() - 1)};
}

const Matrix& Resources::weight(WeightRef ref) const { return checked(weights_, ref.id, "weight"); }
const Vector& Resources::vector(VectorRef ref) const { return checked(vectors_, ref.id, "vector"); }
const RopeTable& Resources::rope(RopeRef ref) const { return checked(ropes_, ref.id, "rope table"); }
BufferState& Resources::buffer(Buffer ref) { return checked(buffers_, ref.id, "buffer"); }

void Resources::read(Buffer ref, uint32_t first, uint32_t rows, float* out) const {
  const BufferState& state = buffer(ref);
  if (!state.data || first > state.max_rows || rows > state.max_rows - first) fail("read() is out of the buffer " + state.name + ".");
  std::memcpy(out, state.row(first), size_t(rows) * state.cols * sizeof(float));
}

void Resources::read_routes(Buffer ref, uint32_t rows, int32_t* experts, float* weights) const {
  const BufferState& state = buffer(ref);
  if (state.k == 0 || rows > state.max_rows) fail("read_routes() is out of the routes.");
  std::memcpy(experts, state.experts.data(), size_t(rows) * state.k * sizeof(int32_t));
  std::memcpy(weights, state.weights.data(), size_t(rows) * state.k * sizeof(float));
}

uint64_t Resources::buffer_bytes() const {
  uint64_t bytes = 0;
  for (const BufferState& b : buffers_) bytes += uint64_t(b.max_rows) * (b.cols * 4ull + b.k * 8ull);
  return bytes;
}

}  // namespace hearth
