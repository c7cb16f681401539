// Implements barriers, cuts and pacing.
#include "backend/vulkan/program.h"

#include <algorithm>

namespace hearth::vulkan {
namespace {

struct Touched {
  std::vector<const Memory*> read, written;
  static bool has(const std::vector<const Memory*>& list, const Memory* memory) {
    return std::find(list.begin(), list.end(), memory) != list.end();
  }
  bool conflicts(const Use& use) const { return use.memory && (has(written, use.memory) || (use.write && has(read, use.memory))); }
  void add(const Use& use) {
    if (use.memory) (use.write ? written : read).push_back(use.memory);
  }
};

}  // namespace

std::vector<bool> barriers(const Program& program) {
  std::vector<bool> needed(program.size());
  Touched touched;
  for (size_t i = 0; i < program.size(); ++i) {
    const auto& uses = program[i].uses;
    needed[i] = std::any_of(uses.begin(), uses.end(), [&](const Use& use) { return touched.conflicts(use); });
    if (needed[i]) touched = {};
    for (const Use& use : uses) touched.add(use);
  }
  return needed;
}

std::vector<Piece> Cutter::next(double budget, size_t most, double* work) {
  std::vector<Piece> pieces;
  *work = 0;
  while (!done() && pieces.size() < most) {
    const Dispatch& dispatch = program_[next_];
    const auto side = static_cast<size_t>(std::max_element(dispatch.groups.begin(), dispatch.groups.end()) - dispatch.groups.begin());
    const uint32_t whole = dispatch.groups[side], left = whole - cut_;
    const double each = dispatch.work / whole, rest = each * left;
    const bool fits = *work + rest <= budget;
    if (!fits && !pieces.empty() && rest <= budget) break;  // it is short enough for the next submission
    uint32_t take = left;
    if (!fits) take = static_cast<uint32_t>(std::clamp((budget - *work) / each, 1.0, double(left)));
    Piece piece{static_cast<uint32_t>(next_), cut_ == 0 && barriers_[next_], {}, dispatch.groups};
    piece.base[side] = cut_, piece.count[side] = take;
    pieces.push_back(piece);
    *work += each * take;
    cut_ += take;
    if (cut_ == whole) ++next_, cut_ = 0;
    if (*work >= budget) break;
  }
  return pieces;
}

void Pacing::took(double work, double ms) {
  if (work <= 0 || ms <= 0) return;
  const double seen = work / ms;
  if (seen > rate_) rate_ = std::min(seen, 2 * rate_);  // one look proves little: caches, clocks
  else if (ms > target_ms / 2) rate_ = seen;            // a short submission measures its overhead
}

}  // namespace hearth::vulkan
