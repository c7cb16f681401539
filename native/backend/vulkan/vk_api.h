// Vulkan's names for the files of this folder, through volk: the loader is opened at run time, nothing is linked.
// Functions of a device are called through its own table, so that several drivers live side by side and tests can replace them.
#pragma once

#ifndef VK_NO_PROTOTYPES
#define VK_NO_PROTOTYPES
#endif
#include <volk.h>

#include <string>

#include "hearth/device_error.h"

namespace hearth::vulkan {

/// A device in an error: by its id, and in words.
struct Culprit {
  std::string id, title;
};

/// Throws what a result means: device_lost, out_of_vram, out_of_ram, else internal. `what` names the call.
void check(VkResult result, const char* what, const Culprit& device = {});

}  // namespace hearth::vulkan
