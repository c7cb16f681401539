// How often each expert of each layer was chosen: written by the threads that run steps, read from any other. It knows neither who chose nor
// what is done with the counts.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "hearth/engine.h"

namespace hearth {

class RouteCounts {
 public:
  RouteCounts(uint32_t layers, uint32_t experts) : layers_(layers), experts_(experts), uses_(size_t(layers) * experts), rows_(layers) {}

  /// `chosen`: of each row as many experts. A layer or expert that the counts do not have is left out.
  void add(uint32_t layer, std::span<const int32_t> chosen, uint32_t rows) {
    if (layer >= layers_) return;
    for (int32_t expert : chosen) {
      if (expert >= 0 && static_cast<uint32_t>(expert) < experts_) count(uses_[size_t(layer) * experts_ + static_cast<uint32_t>(expert)], 1);
    }
    count(rows_[layer], rows);
  }

  /// While no step runs.
  void clear() {
    for (auto* list : {&uses_, &rows_}) {
      for (Count& each : *list) each.store(0, std::memory_order_relaxed);
    }
  }

  ExpertUses read() const { return {layers_, experts_, copy(uses_), copy(rows_)}; }

 private:
  using Count = std::atomic<uint64_t>;
  static void count(Count& each, uint64_t more) { each.fetch_add(more, std::memory_order_relaxed); }
  static std::vector<uint64_t> copy(const std::vector<Count>& counts) {
    std::vector<uint64_t> values;
    for (const Count& each : counts) values.push_back(each.load(std::memory_order_relaxed));
    return values;
  }

  const uint32_t layers_, experts_;
  std::vector<Count> uses_, rows_;
};

}  // namespace hearth
