// Implements the opening of loader and instance. The one file with volk's own code in it.
#define VOLK_IMPLEMENTATION
#include "backend/vulkan/vk_instance.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "backend/vulkan/vulkan.h"

namespace hearth {
namespace vulkan {
namespace {

constexpr const char* layer = "VK_LAYER_KHRONOS_validation";
std::atomic<uint32_t> messages{0};
std::mutex opening;  // volk's table of the loader's functions is one for the process

std::string_view validation() {
  const char* wanted = std::getenv("HEARTH_VULKAN_VALIDATION");
  return wanted ? wanted : "";
}

VKAPI_ATTR VkBool32 VKAPI_CALL on_message(VkDebugUtilsMessageSeverityFlagBitsEXT, VkDebugUtilsMessageTypeFlagsEXT,
                                          const VkDebugUtilsMessengerCallbackDataEXT* data, void*) {
  ++messages;
  std::fprintf(stderr, "Vulkan validation: %s\n", data->pMessage);
  return VK_FALSE;
}

bool layer_is_there() {
  uint32_t count = 0;
  if (vkEnumerateInstanceLayerProperties(&count, nullptr) != VK_SUCCESS) return false;
  std::vector<VkLayerProperties> layers(count);
  vkEnumerateInstanceLayerProperties(&count, layers.data());
  for (const VkLayerProperties& each : layers) {
    if (std::strcmp(each.layerName, layer) == 0) return true;
  }
  return false;
}

bool extension_is_there(const char* name) {
  uint32_t count = 0;
  if (vkEnumerateInstanceExtensionProperties(nullptr, &count, nullptr) != VK_SUCCESS) return false;
  std::vector<VkExtensionProperties> extensions(count);
  vkEnumerateInstanceExtensionProperties(nullptr, &count, extensions.data());
  for (const VkExtensionProperties& each : extensions) {
    if (std::strcmp(each.extensionName, name) == 0) return true;
  }
  return false;
}

bool loader_is_there(std::string* reason) {
  if (volkInitialize() != VK_SUCCESS) {
    *reason = "There is no Vulkan loader on this machine: no graphics driver is installed, or it came without Vulkan.";
    return false;
  }
  const uint32_t version = volkGetInstanceVersion();
  if (version < VK_API_VERSION_1_2) {
    *reason = "The Vulkan loader on this machine is older than Vulkan 1.2.";
    return false;
  }
  return true;
}

VkDebugUtilsMessengerCreateInfoEXT messenger_info() {
  VkDebugUtilsMessengerCreateInfoEXT info{VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT};
  info.messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT;
  info.messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_TYPE_PERFORMANCE_BIT_EXT;
  info.pfnUserCallback = on_message;
  return info;
}

VkResult create(VkInstance* instance, bool validating) {
  VkApplicationInfo application{VK_STRUCTURE_TYPE_APPLICATION_INFO};
  application.pApplicationName = "Hearth";
  application.apiVersion = VK_API_VERSION_1_2;
  VkInstanceCreateInfo info{VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO};
  info.pApplicationInfo = &application;
  std::vector<const char*> extensions;
#ifdef VK_KHR_portability_enumeration
  if (extension_is_there(VK_KHR_PORTABILITY_ENUMERATION_EXTENSION_NAME)) {  // else MoltenVK stays hidden
    extensions.push_back(VK_KHR_PORTABILITY_ENUMERATION_EXTENSION_NAME);
    info.flags |= VK_INSTANCE_CREATE_ENUMERATE_PORTABILITY_BIT_KHR;
  }
#endif
  const VkValidationFeatureEnableEXT synchronisation = VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT;
  VkValidationFeaturesEXT features{VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT};
  features.enabledValidationFeatureCount = validation() == "sync" ? 1 : 0;
  features.pEnabledValidationFeatures = &synchronisation;
  VkDebugUtilsMessengerCreateInfoEXT messenger = messenger_info();
  messenger.pNext = &features;
  if (validating) {
    extensions.push_back(VK_EXT_DEBUG_UTILS_EXTENSION_NAME);
    info.enabledLayerCount = 1, info.ppEnabledLayerNames = &layer;
    info.pNext = &messenger;
  }
  info.enabledExtensionCount = static_cast<uint32_t>(extensions.size());
  info.ppEnabledExtensionNames = extensions.data();
  return vkCreateInstance(&info, nullptr, instance);
}

std::string why_not(VkResult result) {
  if (result == VK_ERROR_INCOMPATIBLE_DRIVER || result == VK_ERROR_INITIALIZATION_FAILED) {
    return "There is no Vulkan driver on this machine that could be loaded.";
  }
  return "Vulkan could not be started (result " + std::to_string(result) + ").";
}

}  // namespace

std::shared_ptr<Instance> Instance::open(std::string* reason) {
  const std::lock_guard lock(opening);
  if (!loader_is_there(reason)) return nullptr;
  const bool validating = !validation().empty() && layer_is_there();
  std::shared_ptr<Instance> opened(new Instance);
  const VkResult result = create(&opened->instance_, validating);
  if (result != VK_SUCCESS) {
    opened->instance_ = VK_NULL_HANDLE;
    *reason = why_not(result);
    return nullptr;
  }
  volkLoadInstanceOnly(opened->instance_);
  if (validating) {
    const VkDebugUtilsMessengerCreateInfoEXT info = messenger_info();
    vkCreateDebugUtilsMessengerEXT(opened->instance_, &info, nullptr, &opened->messenger_);
  }
  return opened;
}

Instance::~Instance() {
  if (!instance_) return;
  const std::lock_guard lock(opening);
  if (messenger_) vkDestroyDebugUtilsMessengerEXT(instance_, messenger_, nullptr);
  vkDestroyInstance(instance_, nullptr);
}

std::vector<VkPhysicalDevice> Instance::devices() const {
  uint32_t count = 0;
  if (vkEnumeratePhysicalDevices(instance_, &count, nullptr) != VK_SUCCESS) return {};
  std::vector<VkPhysicalDevice> devices(count);
  const VkResult result = vkEnumeratePhysicalDevices(instance_, &count, devices.data());
  if (result != VK_SUCCESS && result != VK_INCOMPLETE) return {};
  devices.resize(count);
  return devices;
}

void check(VkResult result, const char* what, const Culprit& device) {
  if (result == VK_SUCCESS) return;
  const std::string place = device.title.empty() ? "" : " (" + device.title + ")";
  const auto fail = [&](ErrorCode code, const std::string& sentence) { throw DeviceError(code, device.id, sentence + place + "."); };
  switch (result) {
    case VK_ERROR_DEVICE_LOST: return fail(ErrorCode::device_lost, "The graphics device stopped working");
    case VK_ERROR_OUT_OF_DEVICE_MEMORY: return fail(ErrorCode::out_of_vram, "The graphics device has no memory left");
    case VK_ERROR_OUT_OF_HOST_MEMORY: return fail(ErrorCode::out_of_ram, "There is no memory left for the graphics driver");
    default: return fail(ErrorCode::internal, std::string(what) + " failed with result " + std::to_string(result));
  }
}

}  // namespace vulkan

uint32_t vulkan_validation_messages() { return vulkan::messages; }

bool vulkan_validation_on() {
  const std::lock_guard lock(vulkan::opening);
  return !vulkan::validation().empty() && volkInitialize() == VK_SUCCESS && vulkan::layer_is_there();
}

}  // namespace hearth
