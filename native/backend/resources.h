// What a CPU-side backend has taken in: weights, vectors, ropes, activation buffers. Checks shapes once, at the door.
// Shared by reference/ and cpu/; it computes nothing.
#pragma once

#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "backend/kv_pool.h"

namespace hearth {

/// An activation buffer, or the routing of rows (k > 0: experts and weights instead of data).
struct BufferState {
  struct Free { void operator()(float* memory) const { std::free(memory); } };
  std::string name;
  uint32_t cols = 0, max_rows = 0, k = 0;
  std::unique_ptr<float, Free> data;
  std::vector<int32_t> experts;
  std::vector<float> weights;

  float* row(uint32_t r) { return data.get() + size_t(r) * cols; }
  const float* row(uint32_t r) const { return data.get() + size_t(r) * cols; }
};

class Resources {
 public:
  /// `shapes`: for backends whose activations lie elsewhere; buffers then have no data and routes no entries.
  enum class Holds { data, shapes };
  explicit Resources(Holds holds = Holds::data) : holds_(holds) {}

  WeightRef add_weight(const Matrix& matrix);
  VectorRef add_vector(const Vector& vector);
  RopeRef add_rope(const RopeTable& table);
  Buffer add_buffer(std::string_view name, uint32_t cols, uint32_t max_rows);
  Buffer add_routes(uint32_t k, uint32_t max_rows);

  const Matrix& weight(WeightRef ref) const;
  const Vector& vector(VectorRef ref) const;
  /// nullptr when the reference is absent.
  const float* values(VectorRef ref) const { return ref ? vector(ref).data() : nullptr; }
  const RopeTable& rope(RopeRef ref) const;
  BufferState& buffer(Buffer ref);
  const BufferState& buffer(Buffer ref) const { return const_cast<Resources*>(this)->buffer(ref); }

  void read(Buffer ref, uint32_t first, uint32_t rows, float* out) const;
  void read_routes(Buffer ref, uint32_t rows, int32_t* experts, float* weights) const;
  uint64_t buffer_bytes() const;
  size_t buffers() const { return buffers_.size(); }
  /// Who performs the ops between ranks; nullptr: there is one rank.
  void set_comm(Comm* comm) { comm_ = comm; }
  Comm* comm() const { return comm_; }
  /// nullptr: nobody counts.
  void set_route_counts(RouteCounts* counts) { route_counts_ = counts; }
  void count_routes(uint32_t layer, std::span<const int32_t> chosen, uint32_t rows) {
    if (route_counts_) route_counts_->add(layer, chosen, rows);
  }
  size_t ropes() const { return ropes_.size(); }

 private:
  Holds holds_;
  std::vector<Matrix> weights_;
  std::vector<Vector> vectors_;
  std::vector<RopeTable> ropes_;
  std::vector<BufferState> buffers_;
  Comm* comm_ = nullptr;
  RouteCounts* route_counts_ = nullptr;
};

/// Rows that an op works on; `selected`: they are StepInputs::output_rows rather than all rows.
struct OpRows {
  uint32_t rows = 0;
  bool selected = false;
};

/// Checks every shape, id, token, position and block that the ops will touch, so that kernels need no checks.
/// Returns the rows of each op. Throws Error{internal}: a wrong list is a bug of the caller, never of a user.
/// `kv_blocks`: blocks of the pool, whose shape is empty until it was set.
std::vector<OpRows> check_step(const Resources& resources, const KvShape& kv, uint32_t kv_blocks, const OpList& ops,
                               const StepInputs& inputs);

/// Of routes that another rank has chosen: throws Error{internal} where one is of an expert that there is not.
void check_routes(std::span<const int32_t> chosen, uint32_t experts);

/// The block that holds `position` of row r's sequence in `group`.
inline uint32_t block_of(const StepInputs& in, uint32_t row, uint32_t group, uint32_t position, uint32_t block_size) {
  return in.blocks[in.table_begin[in.sequence[row] * in.groups + group] + position / block_size];
}

/// First position that a query at `position` sees.
inline uint32_t first_seen(uint32_t position, uint32_t window) {
  return window == 0 || position < window ? 0 : position - window + 1;
}

}  // namespace hearth
