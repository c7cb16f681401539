// Whether a sanitizer watches every access of this build, which makes it ten to fifty times as slow. Long tests then take fewer rows or
// rounds, as long as each border and each path that they are about is still crossed. What is expected stays the same.
#pragma once

namespace hearth {

#ifdef HEARTH_SANITIZED
inline constexpr bool watched = true;
#else
inline constexpr bool watched = false;
#endif

template <typename T>
T unless_watched(T whole, T less) {
  return watched ? less : whole;
}

}  // namespace hearth
