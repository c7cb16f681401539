// The processor alone, for those who must not wake a graphics driver. All devices: hearth/probe.h.
#pragma once

#include "hearth/probe.h"

namespace hearth {

Device this_cpu();

}  // namespace hearth
