// A Vulkan layer between the loader and a driver that makes the driver's device fail while a program runs: the program has no part in it.
// Files in the folder that HEARTH_FAULTS names are orders; the process that submits next takes one by deleting it, and keeps that fault.
//   lost-at-submit, lost-at-wait   the device is lost, found out at a submission or while one is waited for
//   memory                         a submission, and every piece of memory after it, finds no device memory
//   hang                           nothing that is submitted ever ends; time goes a hundred times as fast, so that nobody waits for minutes
// Where HEARTH_FAULT_DEVICE names a device, by a part of its name, the others never fail.
// It is for tests (scripts/long/gpu-faults.mjs) and no part of the product. The loader finds it through VK_ADD_LAYER_PATH and VK_INSTANCE_LAYERS.
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <thread>

#include <vulkan/vk_layer.h>
#include <vulkan/vulkan.h>

namespace {

enum class Fault { none, lost_at_submit, lost_at_wait, memory, hang };
std::atomic<Fault> fault{Fault::none};

/// What comes after this layer, by the pointer with which every handle of an instance or device begins.
struct NextInstance {
  PFN_vkGetInstanceProcAddr get;
  PFN_vkDestroyInstance destroy;
  PFN_vkGetPhysicalDeviceProperties properties;
};
struct NextDevice {
  bool fails;  // is one that may be ordered to
  PFN_vkGetDeviceProcAddr get;
  PFN_vkDestroyDevice destroy;
  PFN_vkQueueSubmit submit;
  PFN_vkWaitForFences wait;
  PFN_vkAllocateMemory allocate;
};
std::mutex guard;
std::map<void*, NextInstance> instances;
std::map<void*, NextDevice> devices;

void* key(const void* handle) { return *static_cast<void* const*>(handle); }
NextDevice next_of(const void* handle) {
  const std::lock_guard lock(guard);
  return devices[key(handle)];
}

/// Takes the order of that name, where there is one.
bool ordered(const char* name) {
  const char* folder = std::getenv("HEARTH_FAULTS");
  return folder && ::unlink((std::string(folder) + "/" + name).c_str()) == 0;
}

Fault current(bool fails) {
  if (!fails) return Fault::none;
  if (fault == Fault::none) {
    if (ordered("lost-at-submit")) fault = Fault::lost_at_submit;
    else if (ordered("lost-at-wait")) fault = Fault::lost_at_wait;
    else if (ordered("memory")) fault = Fault::memory;
    else if (ordered("hang")) fault = Fault::hang;
  }
  return fault;
}

VKAPI_ATTR VkResult VKAPI_CALL submit(VkQueue queue, uint32_t count, const VkSubmitInfo* infos, VkFence fence) {
  static std::atomic<bool> found_out{false};
  const NextDevice next = next_of(queue);
  switch (current(next.fails)) {
    case Fault::lost_at_submit: return VK_ERROR_DEVICE_LOST;
    case Fault::memory: return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    case Fault::hang: return VK_SUCCESS;  // and the fence is never signalled
    case Fault::lost_at_wait:
      if (found_out.exchange(true)) return VK_ERROR_DEVICE_LOST;
      break;
    case Fault::none: break;
  }
  return next.submit(queue, count, infos, fence);
}

VKAPI_ATTR VkResult VKAPI_CALL wait(VkDevice device, uint32_t count, const VkFence* fences, VkBool32 all, uint64_t timeout) {
  const NextDevice next = next_of(device);
  if (!next.fails) return next.wait(device, count, fences, all, timeout);
  if (fault == Fault::hang) {
    std::this_thread::sleep_for(std::chrono::nanoseconds(timeout / 100));
    return VK_TIMEOUT;
  }
  const VkResult result = next.wait(device, count, fences, all, timeout);
  return fault == Fault::lost_at_wait || fault == Fault::lost_at_submit ? VK_ERROR_DEVICE_LOST : result;
}

VKAPI_ATTR VkResult VKAPI_CALL allocate(VkDevice device, const VkMemoryAllocateInfo* info, const VkAllocationCallbacks* callbacks, VkDeviceMemory* memory) {
  const NextDevice next = next_of(device);
  if (next.fails && fault == Fault::memory) return VK_ERROR_OUT_OF_DEVICE_MEMORY;
  return next.allocate(device, info, callbacks, memory);
}

VKAPI_ATTR void VKAPI_CALL destroy_device(VkDevice device, const VkAllocationCallbacks* callbacks) {
  const NextDevice next = next_of(device);
  {
    const std::lock_guard lock(guard);
    devices.erase(key(device));
  }
  next.destroy(device, callbacks);
}

VKAPI_ATTR void VKAPI_CALL destroy_instance(VkInstance instance, const VkAllocationCallbacks* callbacks) {
  PFN_vkDestroyInstance destroy = nullptr;
  {
    const std::lock_guard lock(guard);
    destroy = instances[key(instance)].destroy;
    instances.erase(key(instance));
  }
  destroy(instance, callbacks);
}

/// The loader's link in the chain of a creation; the chain is moved on to the layer behind this one.
template <typename Link>
Link* link_of(const void* chain, VkStructureType type) {
  for (auto* each = static_cast<const VkBaseInStructure*>(chain); each; each = each->pNext) {
    auto* link = reinterpret_cast<Link*>(const_cast<VkBaseInStructure*>(each));
    if (each->sType == type && link->function == VK_LAYER_LINK_INFO) return link;
  }
  return nullptr;
}

VKAPI_ATTR VkResult VKAPI_CALL create_instance(const VkInstanceCreateInfo* info, const VkAllocationCallbacks* callbacks, VkInstance* instance) {
  auto* link = link_of<VkLayerInstanceCreateInfo>(info->pNext, VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO);
  if (!link) return VK_ERROR_INITIALIZATION_FAILED;
  const PFN_vkGetInstanceProcAddr get = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
  link->u.pLayerInfo = link->u.pLayerInfo->pNext;
  const auto create = reinterpret_cast<PFN_vkCreateInstance>(get(VK_NULL_HANDLE, "vkCreateInstance"));
  const VkResult result = create(info, callbacks, instance);
  if (result != VK_SUCCESS) return result;
  const std::lock_guard lock(guard);
  instances[key(*instance)] = {get, reinterpret_cast<PFN_vkDestroyInstance>(get(*instance, "vkDestroyInstance")),
                               reinterpret_cast<PFN_vkGetPhysicalDeviceProperties>(get(*instance, "vkGetPhysicalDeviceProperties"))};
  return result;
}

/// Whether it is the device that fails, or any may.
bool may_fail(VkPhysicalDevice physical) {
  const char* named = std::getenv("HEARTH_FAULT_DEVICE");
  if (!named) return true;
  VkPhysicalDeviceProperties properties;
  instances[key(physical)].properties(physical, &properties);
  return std::strstr(properties.deviceName, named) != nullptr;
}

VKAPI_ATTR VkResult VKAPI_CALL create_device(VkPhysicalDevice physical, const VkDeviceCreateInfo* info, const VkAllocationCallbacks* callbacks, VkDevice* device) {
  auto* link = link_of<VkLayerDeviceCreateInfo>(info->pNext, VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO);
  if (!link) return VK_ERROR_INITIALIZATION_FAILED;
  const PFN_vkGetInstanceProcAddr get_instance = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
  const PFN_vkGetDeviceProcAddr get = link->u.pLayerInfo->pfnNextGetDeviceProcAddr;
  link->u.pLayerInfo = link->u.pLayerInfo->pNext;
  const auto create = reinterpret_cast<PFN_vkCreateDevice>(get_instance(VK_NULL_HANDLE, "vkCreateDevice"));
  const VkResult result = create(physical, info, callbacks, device);
  if (result != VK_SUCCESS) return result;
  const auto entry = [&](const char* name) { return get(*device, name); };
  const std::lock_guard lock(guard);
  devices[key(*device)] = {may_fail(physical), get, reinterpret_cast<PFN_vkDestroyDevice>(entry("vkDestroyDevice")), reinterpret_cast<PFN_vkQueueSubmit>(entry("vkQueueSubmit")),
                           reinterpret_cast<PFN_vkWaitForFences>(entry("vkWaitForFences")),
                           reinterpret_cast<PFN_vkAllocateMemory>(entry("vkAllocateMemory"))};
  return result;
}

PFN_vkVoidFunction own_device_entry(const char* name) {
  const auto is = [&](const char* wanted) { return std::strcmp(name, wanted) == 0; };
  if (is("vkQueueSubmit")) return reinterpret_cast<PFN_vkVoidFunction>(submit);
  if (is("vkWaitForFences")) return reinterpret_cast<PFN_vkVoidFunction>(wait);
  if (is("vkAllocateMemory")) return reinterpret_cast<PFN_vkVoidFunction>(allocate);
  if (is("vkDestroyDevice")) return reinterpret_cast<PFN_vkVoidFunction>(destroy_device);
  return nullptr;
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_device_entry(VkDevice device, const char* name) {
  if (std::strcmp(name, "vkGetDeviceProcAddr") == 0) return reinterpret_cast<PFN_vkVoidFunction>(get_device_entry);
  if (const PFN_vkVoidFunction own = own_device_entry(name)) return own;
  return next_of(device).get(device, name);
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_instance_entry(VkInstance instance, const char* name) {
  const auto is = [&](const char* wanted) { return std::strcmp(name, wanted) == 0; };
  if (is("vkGetInstanceProcAddr")) return reinterpret_cast<PFN_vkVoidFunction>(get_instance_entry);
  if (is("vkGetDeviceProcAddr")) return reinterpret_cast<PFN_vkVoidFunction>(get_device_entry);
  if (is("vkCreateInstance")) return reinterpret_cast<PFN_vkVoidFunction>(create_instance);
  if (is("vkDestroyInstance")) return reinterpret_cast<PFN_vkVoidFunction>(destroy_instance);
  if (is("vkCreateDevice")) return reinterpret_cast<PFN_vkVoidFunction>(create_device);
  if (const PFN_vkVoidFunction own = own_device_entry(name)) return own;
  if (!instance) return nullptr;
  PFN_vkGetInstanceProcAddr get = nullptr;
  {
    const std::lock_guard lock(guard);
    get = instances[key(instance)].get;
  }
  return get ? get(instance, name) : nullptr;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) VKAPI_ATTR VkResult VKAPI_CALL
vkNegotiateLoaderLayerInterfaceVersion(VkNegotiateLayerInterface* interface) {
  interface->loaderLayerInterfaceVersion = 2;
  interface->pfnGetInstanceProcAddr = get_instance_entry;
  interface->pfnGetDeviceProcAddr = get_device_entry;
  interface->pfnGetPhysicalDeviceProcAddr = nullptr;
  return VK_SUCCESS;
}
