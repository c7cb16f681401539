// A step as the device will run it: dispatches in order, each with what it reads and writes. Plain data, made from the op
// list; where barriers go and where it is cut into submissions is decided here. Nothing here calls Vulkan.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace hearth::vulkan {

class Memory;

inline constexpr size_t most_uses = 8;     // every kernel has the same eight bindings; a free one is bound to something
inline constexpr size_t push_words = 32;   // 128 bytes: what every device has

struct Use {
  const Memory* memory = nullptr;
  bool write = false;
};

struct Dispatch {
  std::string shader;                // a name of shaders/, with its weight type
  std::vector<uint32_t> constants;   // specialization constants from 0 on
  std::array<Use, most_uses> uses{};
  std::array<uint32_t, push_words> push{};
  std::array<uint32_t, 3> groups{1, 1, 1};
  double work = 0;                   // multiplications, roughly: what its time is guessed from
};

using Program = std::vector<Dispatch>;

/// For each dispatch whether it must wait for those before it: it touches what one since the last barrier has written, or
/// writes what one has read. The first never: a submission begins with a barrier of its own.
std::vector<bool> barriers(const Program& program);

/// A dispatch, or the part of its grid from `base` on.
struct Piece {
  uint32_t dispatch = 0;
  bool barrier = false;
  std::array<uint32_t, 3> base{}, count{};
};

/// Hands a program out in submissions of about `budget` work. Groups of a grid do not depend on each other, so a dispatch
/// that is too long is cut along its longest side.
class Cutter {
 public:
  explicit Cutter(const Program& program) : program_(program), barriers_(barriers(program)) {}
  bool done() const { return next_ == program_.size(); }
  /// At least one piece, at most `most`; `work` becomes their sum.
  std::vector<Piece> next(double budget, size_t most, double* work);

 private:
  const Program& program_;
  std::vector<bool> barriers_;
  size_t next_ = 0;
  uint32_t cut_ = 0;  // groups of the longest side of the next dispatch that are handed out already
};

/// Learns how much work this device does in the time that a submission may take. Short submissions keep the watchdogs of
/// drivers quiet and the desktop alive.
class Pacing {
 public:
  static constexpr double target_ms = 75, longest_ms = 150;
  double budget() const { return rate_ * target_ms; }
  void took(double work, double ms);

 private:
  double rate_ = 2e5;  // work per millisecond: the slowest software device, until something is known
};

}  // namespace hearth::vulkan
