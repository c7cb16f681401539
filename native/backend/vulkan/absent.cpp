// What a build without Vulkan says. Compiled where headers or a shader compiler were missing; see ../../CMakeLists.txt.
#include "backend/vulkan/vulkan.h"
#include "hearth/error.h"

namespace hearth {

VulkanDevices vulkan_devices(const std::string&) { return {{}, {"This build of Hearth has no Vulkan: graphics cards are not looked for."}}; }

std::unique_ptr<Backend> make_vulkan_backend(const VulkanOptions&) {
  throw Error(ErrorCode::invalid_request, "This build of Hearth has no Vulkan.");
}

VulkanRates vulkan_rates(const VulkanOptions&) { throw Error(ErrorCode::invalid_request, "This build of Hearth has no Vulkan."); }

uint32_t vulkan_validation_messages() { return 0; }
bool vulkan_validation_on() { return false; }

}  // namespace hearth
