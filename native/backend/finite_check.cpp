// Implements the search for the first result that is not finite.
#include "backend/finite_check.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#include <string_view>

namespace hearth {
namespace {

/// "layer 3" for an op between the third and the fourth layer's keys; the norm in front of a layer counts to the one before.
std::string place(const OpList& ops, size_t index) {
  const auto layers = [&](size_t end) {
    return std::count_if(ops.begin(), ops.begin() + std::ptrdiff_t(end), [](const Op& op) { return std::holds_alternative<QkvRopeStore>(op); });
  };
  const auto before = layers(index + 1);
  if (before == 0) return "before the first layer";
  const bool behind = before == layers(ops.size()) && std::holds_alternative<Logits>(ops[index]);
  return behind ? "after the last layer" : "in layer " + std::to_string(before - 1);
}

/// Floats that a row of this op's result has.
size_t row_size(const Resources& resources, const Op& op, const BufferState& written) {
  if (const auto* experts = std::get_if<ExpertsGateUp>(&op)) return size_t(resources.weight(experts->gate).rows) * experts->k;
  return written.k ? written.k : written.cols;
}

/// Rows of experts that are elsewhere stay as they were.
bool is_written(const Resources& resources, const Op& op, size_t at) {
  const auto* experts = std::get_if<ExpertsGateUp>(&op);
  return !experts || resources.buffer(experts->routes).experts[at / resources.weight(experts->gate).rows] >= 0;
}

}  // namespace

bool finite_checks_wanted() {
#ifndef NDEBUG
  return true;
#else
  const char* wanted = std::getenv("HEARTH_CHECK_FINITE");
  return wanted && std::string_view(wanted) == "1";
#endif
}

void check_finite(const Resources& resources, const OpList& ops, size_t index, OpRows rows) {
  for (const Access& access : accesses(ops[index])) {
    if (access.kind != Access::Kind::buffer || !access.write) continue;
    const BufferState& written = resources.buffer(Buffer{access.id});
    const float* values = written.k ? written.weights.data() : written.row(0);
    const size_t cols = row_size(resources, ops[index], written), count = rows.rows * cols;
    size_t at = 0;
    while (at < count && (std::isfinite(values[at]) || !is_written(resources, ops[index], at))) ++at;
    if (at == count) continue;
    throw Error(ErrorCode::numeric_error, "The model computed a value that is not a finite number " + place(ops, index) + ", op " +
                                              std::string(name(ops[index])) + ", row " + std::to_string(at / cols) + ", column " +
                                              std::to_string(at % cols) + ".");
  }
}

}  // namespace hearth
