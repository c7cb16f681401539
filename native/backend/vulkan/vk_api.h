// Vulkan's names for the files of this folder, through volk: the loader is opened at run time, nothing is linked.
// Functions of a device are called through its own table, so that several drivers live side by side and tests can replace them.
#pragma once

#ifndef VK_NO_PROTOTYPES
#define VK_NO_PROTOTYPES
#endif
#include <volk.h>

#include <string>

#include "hearth/error.h"

namespace hearth::vulkan {

/// Throws what a result means: device_lost, out_of_vram, out_of_ram, else internal. `what` names the call, `device` the device.
void check(VkResult result, const char* what, const std::string& device = {});

}  // namespace hearth::vulkan
