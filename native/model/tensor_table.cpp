// Sums over a model's tensors; see tensor_table.h.
#include "model/tensor_table.h"

#include "model/words.h"

namespace hearth {

namespace {

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

/// Hugging Face keeps MXFP4 as two U8 tensors, NAME_blocks and NAME_scales.
bool is_plane(const std::string& name, const Tensor& tensor) {
  return tensor.type_name == "U8" && (ends_with(name, "_blocks") || ends_with(name, "_scales"));
}

}  // namespace

std::vector<TensorInfo> list_tensors(const TensorTable& table) {
  std::vector<TensorInfo> out;
  out.reserve(table.tensors.size());
  for (const auto& [name, tensor] : table.tensors)
    out.push_back({shown(name), tensor.type_name, tensor.shape, tensor.bytes});
  return out;
}

uint64_t count_parameters(const TensorTable& table) {
  uint64_t total = 0;
  for (const auto& [name, tensor] : table.tensors) {
    if (is_plane(name, tensor)) {
      if (ends_with(name, "_blocks")) total += tensor.bytes * 2;
      continue;
    }
    uint64_t values = 1;
    for (uint64_t size : tensor.shape) values *= size;
    total += values;
  }
  return total;
}

std::string main_type(const TensorTable& table) {
  std::map<std::string, uint64_t> bytes;
  for (const auto& [name, tensor] : table.tensors) {
    bytes[is_plane(name, tensor) ? "MXFP4" : tensor.type_name] += tensor.bytes;
  }
  std::string best;
  for (const auto& [type, total] : bytes) {
    if (best.empty() || total > bytes[best]) best = type;
  }
  return best;
}

}  // namespace hearth
