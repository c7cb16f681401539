// Tokens per second over the last seconds of work of one kind: idle time does not count.
#pragma once

#include <cstdint>
#include <deque>

namespace hearth {

class RateMeter {
 public:
  void add(double seconds, uint64_t tokens) {
    spans_.push_back({seconds, tokens});
    seconds_ += seconds;
    tokens_ += tokens;
    while (spans_.size() > 1 && seconds_ - spans_.front().seconds > span_seconds) {
      seconds_ -= spans_.front().seconds;
      tokens_ -= spans_.front().tokens;
      spans_.pop_front();
    }
  }
  double per_second() const { return seconds_ > 0.0 ? double(tokens_) / seconds_ : 0.0; }

 private:
  static constexpr double span_seconds = 3.0;
  struct Span {
    double seconds;
    uint64_t tokens;
  };
  std::deque<Span> spans_;
  double seconds_ = 0.0;
  uint64_t tokens_ = 0;
};

}  // namespace hearth
