// The faster kernels that stand beside the baseline's, and what the self-test says of each on one device and driver. Plain data:
// which of them are used follows from the features (quirks.h) and from these verdicts; nothing here calls Vulkan.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "backend/vulkan/quirks.h"

namespace hearth::vulkan {

/// A faster kernel; `stem` is its shader without the weight type, `baseline` what it replaces.
struct Variant {
  std::string_view feature, stem, baseline;
};
inline constexpr Variant variants[] = {
    {subgroups, "gemv_subgroup", "gemv"},
    {large_tiles, "gemm_large", "gemm"},
    {tiled_attention, "attention_tiled", "attention"},
    {cooperative_matrix, "gemm_matrix", "gemm"},
    {best_logits, "top_logits", "whole rows of logits"},
};

/// The variant that a kernel's name begins with, e.g. "gemm_large_q8_0" or "attention_tiled/f16/64"; nullptr: none.
const Variant* variant_of(std::string_view kernel);

/// Kernels whose pipeline asks for whole subgroups of the device's size.
bool asks_for_subgroups(std::string_view shader);

/// What the self-test said, by kernel. Kept as text: a line for each, the first names the shaders that were judged.
class Verdicts {
 public:
  static constexpr std::string_view ok = "";

  /// Empty where `text` is of other shaders or no such text. What was under test when its process died is a failure.
  static Verdicts parse(std::string_view text, uint64_t shaders);
  std::string text(uint64_t shaders) const;

  bool knows(const std::string& kernel) const { return reasons_.count(kernel) > 0; }
  bool failed(const std::string& kernel) const;
  void set(const std::string& kernel, std::string_view reason);
  /// Before a test: whoever reads the file after this process has died knows what it died of.
  void under_test(const std::string& kernel);
  /// One sentence for each failure.
  std::vector<std::string> sentences() const;
  bool operator==(const Verdicts&) const = default;

 private:
  std::map<std::string, std::string> reasons_;  // "": ok
};

}  // namespace hearth::vulkan
