// The engine's build, as it stands in every answer's receipt. The build system says which commit it is.
#include "hearth/probe.h"

#ifndef HEARTH_BUILD_ID
#define HEARTH_BUILD_ID "dev"
#endif

namespace hearth {

std::string engine_build() {
#ifdef NDEBUG
  return HEARTH_BUILD_ID " release";
#else
  return HEARTH_BUILD_ID " debug";
#endif
}

}  // namespace hearth
