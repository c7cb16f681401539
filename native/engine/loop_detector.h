// Notices that a model repeats itself for ever: the tail of the output is one pattern of at most 64 tokens, over and over.
// It only counts; ending the request is the engine's decision.
#pragma once

#include <array>
#include <cstdint>

namespace hearth {

class LoopDetector {
 public:
  static constexpr uint32_t longest_period = 64;
  /// Length of the periodic tail, in tokens, at which a text counts as a loop.
  static constexpr uint32_t limit = 200;

  /// Takes the next output token. True: the last `limit` tokens repeat with one period.
  bool add(int32_t token) {
    bool loop = false;
    for (uint32_t period = 1; period <= longest_period; ++period) {
      const bool same = count_ >= period && recent_[(count_ - period) % longest_period] == token;
      matches_[period - 1] = same ? matches_[period - 1] + 1 : 0;
      // `matches` tokens equal the one a period before: the periodic tail begins one period earlier.
      loop = loop || (same && matches_[period - 1] + period >= limit);
    }
    recent_[count_ % longest_period] = token;
    ++count_;
    return loop;
  }

 private:
  std::array<int32_t, longest_period> recent_{};
  std::array<uint32_t, longest_period> matches_{};
  uint64_t count_ = 0;
};

}  // namespace hearth
