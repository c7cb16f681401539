// A cache on disk that is whole or not there: a checksum in front, written beside and moved into place. Drivers trust what
// they are given, so what was cut short or changed must not reach them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "backend/vulkan/vulkan.h"

namespace hearth::vulkan {

/// A file of one device and driver version within `folder`: what another one wrote is never shown to a driver.
std::string device_file(const std::string& folder, const VulkanDevice& device, const std::string& ending);

/// Empty where there is no file, or not the one that was written.
std::vector<std::byte> read_cache_file(const std::string& path);
/// False where it could not be written; the old file is then still there.
bool write_cache_file(const std::string& path, const std::vector<std::byte>& data);

}  // namespace hearth::vulkan
