// Binding of tensors to weights; see binder.h.
#include "model/binder.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "backend/half.h"
#include "model/words.h"

namespace hearth {

namespace {

float value_at(DType type, const std::byte* data, uint64_t index) {
  if (type == DType::f32) {
    float value;
    std::memcpy(&value, data + index * 4, 4);
    return value;
  }
  uint16_t bits;
  std::memcpy(&bits, data + index * 2, 2);
  return type == DType::f16 ? half_to_float(bits) : bf16_to_float(bits);
}

bool is_plain(DType type) { return type == DType::f32 || type == DType::f16 || type == DType::bf16; }

std::vector<uint64_t> without_leading_ones(const std::vector<uint64_t>& shape) {
  size_t first = 0;
  while (first + 1 < shape.size() && shape[first] == 1) ++first;
  return {shape.begin() + static_cast<std::ptrdiff_t>(first), shape.end()};
}

/// "block 3" for blk.3.* and *.layers.3.*, else "".
std::string block_words(std::string_view name) {
  for (std::string_view prefix : {std::string_view("blk."), std::string_view("layers.")}) {
    size_t at = name.find(prefix);
    if (at == std::string_view::npos) continue;
    size_t begin = at + prefix.size();
    size_t end = name.find('.', begin);
    if (end != std::string_view::npos) return say("block ", name.substr(begin, end - begin));
  }
  return "";
}

/// Bytes that a load from this type must be aligned to.
uint64_t alignment_of(DType type) {
  switch (type) {
    case DType::f32: return 4;
    case DType::mxfp4:
    case DType::mxfp4_planes: return 1;
    default: return 2;
  }
}

}  // namespace

Binder::Binder(const TensorTable& table, std::string model, bool read)
    : table_(table), model_(std::move(model)), read_(read) {}

const Tensor& Binder::tensor(const std::string& name) {
  const Tensor* tensor = table_.find(name);
  if (!tensor) {
    std::string block = block_words(name);
    fail(ErrorCode::incomplete_model, model_, ": a tensor ", block.empty() ? "" : say("of ", block, " "),
         "is missing: ", name);
  }
  used_.insert(name);
  return *tensor;
}

const Tensor& Binder::need_shape(const std::string& name, const std::vector<uint64_t>& shape) {
  const Tensor& found = tensor(name);
  if (without_leading_ones(found.shape) != without_leading_ones(shape)) {
    fail(ErrorCode::bad_file, model_, ": tensor ", name, " has the shape ", shape_words(found.shape),
         ", the model needs ", shape_words(shape));
  }
  return found;
}

void Binder::wrong_type(const std::string& name, const Tensor& tensor, const char* wanted) const {
  fail(ErrorCode::unsupported_type, model_, ": tensor ", name, " is of type ", tensor.type_name, "; ", wanted);
}

std::byte* Binder::allocate(const std::string& name, uint64_t bytes) {
  try {
    copies_.push_back(std::make_unique_for_overwrite<std::byte[]>(bytes));
  } catch (const std::bad_alloc&) {
    throw Error(ErrorCode::out_of_ram, say(model_, ": no memory for the ", bytes, " bytes of tensor ", name), bytes);
  }
  return copies_.back().get();
}

Matrix Binder::view(const std::string& name, const Tensor& tensor, uint64_t experts, uint64_t rows, uint64_t cols) {
  if (!tensor.type) wrong_type(name, tensor, "Hearth cannot compute with this type");
  Matrix out;
  out.name = name;
  out.type = *tensor.type;
  out.rows = static_cast<uint32_t>(rows);
  out.cols = static_cast<uint32_t>(cols);
  out.experts = static_cast<uint32_t>(experts);
  out.data = tensor.data;
  out.row_stride = row_bytes(out.type, cols);
  out.expert_stride = out.row_stride * rows;
  // Safetensors promises no alignment; kernels need it. Such files are rare, so a copy will do.
  if (read_ && reinterpret_cast<uintptr_t>(tensor.data) % alignment_of(out.type) != 0) {
    std::byte* copy = allocate(name, tensor.bytes);
    std::memcpy(copy, tensor.data, tensor.bytes);
    out.data = copy;
  }
  return out;
}

Matrix Binder::matrix(const std::string& name, uint64_t rows, uint64_t cols) {
  return view(name, need_shape(name, {rows, cols}), 1, rows, cols);
}

Matrix Binder::experts(const std::string& name, uint64_t experts, uint64_t rows, uint64_t cols) {
  return view(name, need_shape(name, {experts, rows, cols}), experts, rows, cols);
}

Matrix Binder::scattered_experts(const std::vector<std::string>& names, uint64_t rows, uint64_t cols) {
  Matrix out;
  auto begins = std::make_shared<std::vector<const std::byte*>>();
  for (const std::string& name : names) {
    Matrix one = matrix(name, rows, cols);
    if (begins->empty()) out = one;
    if (one.type != out.type) wrong_type(name, tensor(name), "all experts of a layer must be of one type");
    begins->push_back(one.data);
  }
  out.experts = static_cast<uint32_t>(names.size());
  out.expert_stride = 0;
  out.scattered = std::move(begins);
  return out;
}

Matrix Binder::transposed_experts(const std::string& name, uint64_t experts, uint64_t rows, uint64_t cols) {
  const Tensor& tensor = need_shape(name, {experts, cols, rows});
  if (!tensor.type || !is_plain(*tensor.type)) wrong_type(name, tensor, "unpacked experts must be F32, F16 or BF16");
  Matrix out;
  out.name = name;
  out.type = *tensor.type;
  out.rows = static_cast<uint32_t>(rows);
  out.cols = static_cast<uint32_t>(cols);
  out.experts = static_cast<uint32_t>(experts);
  uint64_t size = info(out.type).bytes;
  out.row_stride = cols * size;
  out.expert_stride = out.row_stride * rows;
  out.data = tensor.data;
  if (!read_) return out;
  std::byte* copy = allocate(name, tensor.bytes);
  constexpr uint64_t tile = 64;  // keeps both sides of the transposition in cache
  for (uint64_t e = 0; e < experts; ++e) {
    const std::byte* from = tensor.data + e * out.expert_stride;
    std::byte* to = copy + e * out.expert_stride;
    for (uint64_t r0 = 0; r0 < rows; r0 += tile) {
      for (uint64_t c = 0; c < cols; ++c) {
        for (uint64_t r = r0; r < std::min(rows, r0 + tile); ++r) {
          std::memcpy(to + (r * cols + c) * size, from + (c * rows + r) * size, size);
        }
      }
    }
  }
  out.data = copy;
  return out;
}

Matrix Binder::planes(const std::string& name, uint64_t experts, uint64_t rows, uint64_t cols) {
  if (cols % 32 != 0) fail(ErrorCode::bad_file, model_, ": ", name, " has ", cols, " columns, no multiple of 32");
  const Tensor& blocks = need_shape(name + "_blocks", {experts, rows, cols / 32, 16});
  const Tensor& scales = need_shape(name + "_scales", {experts, rows, cols / 32});
  if (blocks.type_name != "U8") wrong_type(name + "_blocks", blocks, "it must be U8");
  if (scales.type_name != "U8") wrong_type(name + "_scales", scales, "it must be U8");
  Matrix out;
  out.name = name;
  out.type = DType::mxfp4_planes;
  out.rows = static_cast<uint32_t>(rows);
  out.cols = static_cast<uint32_t>(cols);
  out.experts = static_cast<uint32_t>(experts);
  out.data = blocks.data;
  out.row_stride = cols / 2;
  out.expert_stride = out.row_stride * rows;
  out.scales = scales.data;
  out.scale_row_stride = cols / 32;
  out.scale_expert_stride = out.scale_row_stride * rows;
  return out;
}

Vector Binder::vector(const std::string& name, const std::vector<uint64_t>& shape) {
  const Tensor& tensor = need_shape(name, shape);
  if (!tensor.type || !is_plain(*tensor.type))
    wrong_type(name, tensor, "norms, biases and sinks must be F32, F16 or BF16");
  if (!read_) return {};
  uint64_t count = tensor.bytes / info(*tensor.type).bytes;
  Vector out(count);
  for (uint64_t i = 0; i < count; ++i) out[i] = value_at(*tensor.type, tensor.data, i);
  return out;
}

Vector Binder::vector_if(const std::string& name, const std::vector<uint64_t>& shape) {
  return has(name) ? vector(name, shape) : Vector{};
}

std::vector<std::string> Binder::unused() const {
  std::vector<std::string> out;
  for (const auto& [name, tensor] : table_.tensors) {
    if (!used_.contains(name)) out.push_back(shown(name));
  }
  return out;
}

std::shared_ptr<WeightOwner> Binder::take_owner() {
  auto owner = std::make_shared<WeightOwner>();
  owner->files = table_.files;
  owner->copies = std::move(copies_);
  return owner;
}

Matrix rows_of(const Matrix& matrix, uint32_t first, uint32_t count, uint32_t step) {
  Matrix out = matrix;
  out.rows = count;
  if (matrix.data) out.data = matrix.data + first * matrix.row_stride;
  out.row_stride = matrix.row_stride * step;
  if (matrix.scales) out.scales = matrix.scales + first * matrix.scale_row_stride;
  out.scale_row_stride = matrix.scale_row_stride * step;
  return out;
}

}  // namespace hearth
