// Turns names into weights: finds a tensor, checks its shape and type, hands out a view (or a small float32 copy).
// A family's reader says what it needs; the binder says what is missing or wrong, by name.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "backend/weights.h"
#include "model/tensor_table.h"

namespace hearth {

/// Keeps alive what the views of a model point into.
struct WeightOwner {
  std::vector<std::shared_ptr<const MappedFile>> files;
  std::vector<std::unique_ptr<std::byte[]>> copies;
};

class Binder {
 public:
  /// `model` is the name for messages. With `read` false shapes are checked, no weight is touched, vectors stay empty.
  Binder(const TensorTable& table, std::string model, bool read);

  bool has(std::string_view name) const { return table_.find(name) != nullptr; }
  const std::string& model() const { return model_; }
  bool reads() const { return read_; }

  /// The tensor itself. Throws Error{incomplete_model} with its name when it is missing, as everything below.
  const Tensor& tensor(const std::string& name);
  /// [rows, cols]
  Matrix matrix(const std::string& name, uint64_t rows, uint64_t cols);
  /// [experts, rows, cols]
  Matrix experts(const std::string& name, uint64_t experts, uint64_t rows, uint64_t cols);
  /// Experts that are tensors of their own, each [rows, cols] and all of one type.
  Matrix scattered_experts(const std::vector<std::string>& names, uint64_t rows, uint64_t cols);
  /// [experts, cols, rows] stored, handed out as [experts, rows, cols] in memory of our own, same type (f32, f16,
  /// bf16).
  Matrix transposed_experts(const std::string& name, uint64_t experts, uint64_t rows, uint64_t cols);
  /// NAME_blocks [experts, rows, cols/32, 16] and NAME_scales [experts, rows, cols/32], both U8.
  Matrix planes(const std::string& name, uint64_t experts, uint64_t rows, uint64_t cols);
  /// Any shape that is `shape` after leading ones are dropped; f32, f16 or bf16, converted.
  Vector vector(const std::string& name, const std::vector<uint64_t>& shape);
  Vector vector_if(const std::string& name, const std::vector<uint64_t>& shape);  // absent: empty

  /// Marks a tensor as understood though no weight of its own comes of it.
  void use(const std::string& name) { used_.insert(name); }
  /// Names of tensors that nobody asked for.
  std::vector<std::string> unused() const;

  /// Hands over the copies made so far, together with the files.
  std::shared_ptr<WeightOwner> take_owner();

 private:
  const Tensor& need_shape(const std::string& name, const std::vector<uint64_t>& shape);
  [[noreturn]] void wrong_type(const std::string& name, const Tensor& tensor, const char* wanted) const;
  std::byte* allocate(const std::string& name, uint64_t bytes);
  Matrix view(const std::string& name, const Tensor& tensor, uint64_t experts, uint64_t rows, uint64_t cols);

  const TensorTable& table_;
  std::string model_;
  bool read_;
  std::set<std::string, std::less<>> used_;
  std::vector<std::unique_ptr<std::byte[]>> copies_;
};

/// Rows [first, first + count) of a matrix, every `step`-th row.
Matrix rows_of(const Matrix& matrix, uint32_t first, uint32_t count, uint32_t step = 1);

}  // namespace hearth
