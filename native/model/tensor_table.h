// The tensors of a model by name, whatever container they came from. Views into mapped bytes; nothing is interpreted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backend/dtype.h"
#include "hearth/probe.h"
#include "model/mapped_file.h"

namespace hearth {

struct Tensor {
  std::string type_name;        // as the file names it: "Q8_0", "BF16", "U8"
  std::optional<DType> type;    // none: the engine does not compute with this type
  std::vector<uint64_t> shape;  // slowest dimension first
  const std::byte* data = nullptr;
  uint64_t bytes = 0;
  uint32_t file = 0;  // index into TensorTable::files
};

struct TensorTable {
  std::vector<std::shared_ptr<const MappedFile>> files;
  std::map<std::string, Tensor, std::less<>> tensors;

  const Tensor* find(std::string_view name) const {
    auto at = tensors.find(name);
    return at == tensors.end() ? nullptr : &at->second;
  }
};

/// Name, type, shape and bytes of every tensor, in name order.
std::vector<TensorInfo> list_tensors(const TensorTable& table);
/// Number of weights: values of all tensors; packed MXFP4 planes count two per byte, their scales none.
uint64_t count_parameters(const TensorTable& table);
/// The type that holds most bytes, e.g. "MXFP4"; "" for an empty table.
std::string main_type(const TensorTable& table);

}  // namespace hearth
