// The Vulkan backend's door: devices as plain data, and a backend made on one of them. No type of Vulkan's crosses it.
// It holds in builds without Vulkan, too: then there are no devices, and a reason.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "backend/backend.h"

namespace hearth {

struct VulkanHeap {
  uint64_t bytes = 0;
  uint64_t budget = 0;  // what this process may use of it, as the driver says; without VK_EXT_memory_budget an estimate
  uint64_t used = 0;    // by this process, as the driver says
  bool device_local = false;
};

/// Bytes of the device's own memory that this process uses beyond its budgets: another program took what was promised, or nothing could be
/// refused in time. The driver moves as much to the machine's memory.
inline uint64_t over_budget(const std::vector<VulkanHeap>& heaps) {
  uint64_t over = 0;
  for (const VulkanHeap& heap : heaps) over += heap.device_local && heap.used > heap.budget ? heap.used - heap.budget : 0;
  return over;
}

struct VulkanLimits {
  uint64_t binding_bytes = 0;     // most of a buffer that a shader may see at once
  uint64_t allocation_bytes = 0;  // most of one piece of device memory
  uint32_t offset_alignment = 1;  // of what is bound within a buffer
  uint32_t shared_bytes = 0, group_threads = 0, group_count = 0, subgroup = 0;
  uint32_t matrix_m = 0, matrix_n = 0, matrix_k = 0;  // of cooperative matrices; 0: none
};

/// Something that a device or driver could do and Hearth does not use, with the reason in words.
struct VulkanOff {
  std::string feature, reason;
};

struct VulkanDevice {
  std::string id;    // "vulkan:" and the driver's UUID of the device: the same across restarts, unlike an index
  std::string uuid;  // 32 hex digits
  std::string pci;   // "0000:01:00.0"; empty where the driver does not tell
  std::string name, type;  // type: "discrete" | "integrated" | "virtual" | "cpu" | "other"
  std::string driver, driver_info;
  uint32_t api_version = 0, driver_version = 0, driver_id = 0, vendor = 0, device = 0;
  std::vector<VulkanHeap> heaps;
  uint64_t memory_total = 0, memory_free = 0;  // of the device-local heaps that are worth counting
  bool unified = false;                        // device memory is the machine's memory
  VulkanLimits limits;
  std::vector<std::string> features;  // in use: see quirks.h for the names
  std::vector<VulkanOff> off;
  std::vector<std::string> refused;  // a sentence for each kernel that failed its self-test here and was replaced
};

struct VulkanDevices {
  std::vector<VulkanDevice> devices;  // also those of type "cpu": software, good for tests only
  std::vector<std::string> notes;     // why there is none, or why something is not among them
};

/// Opens the loader and asks every driver; takes some tens of milliseconds. Never throws: trouble becomes a note.
/// `cache_folder` as in VulkanOptions: what self-tests said is kept there.
VulkanDevices vulkan_devices(const std::string& cache_folder = {});

struct VulkanOptions {
  std::string device;  // an id of vulkan_devices(); "vulkan": the best that is no software
  Precision precision = Precision::fast;  // products are float32 in both; `fast` keeps keys and values in f16
  KvType kv_type = KvType::automatic;
  std::vector<std::string> without;  // features that are not to be used, besides those that HEARTH_VULKAN_WITHOUT names
  std::string cache_folder;          // for compiled pipelines and what the self-test said; empty: nothing is kept
  bool deterministic = false;        // without kernels whose bytes depend on company; `exact` is always without
  double self_test_seconds = 8;      // how long faster kernels may be tried before their first use; 0: they are taken untried
  double most_work = 0;              // of a submission, as program.h counts it, for tests of the cuts; 0: what the pacing finds
};

/// Throws Error{invalid_request} where there is no such device, else out_of_vram, out_of_ram or device_lost.
std::unique_ptr<Backend> make_vulkan_backend(const VulkanOptions& options);

/// What a device does at most, each for a moment; 0: it has no such units.
struct VulkanRates {
  double copy = 0;                  // bytes read and written a second
  double multiply_adds = 0;         // of float32, a second
  double matrix_multiply_adds = 0;  // of matrix units: 16-bit inputs, float32 sums
};
VulkanRates vulkan_rates(const VulkanOptions& options);

/// Messages of the validation layer in this process so far. HEARTH_VULKAN_VALIDATION=core or sync switches the layer on.
uint32_t vulkan_validation_messages();
/// Whether that layer is there and on; asks the loader.
bool vulkan_validation_on();

}  // namespace hearth
