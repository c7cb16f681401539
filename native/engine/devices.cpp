// What this machine has to compute with: the processor and its memory, on Linux, macOS and Windows, and the graphics devices
// that Vulkan's drivers offer. Nothing is chosen here.
#include <algorithm>
#include <cstring>
#include <fstream>
#include <limits>
#include <sstream>

#include "engine/devices.h"

#include "backend/cpu/cpu_features.h"
#include "backend/vulkan/vulkan.h"
#include "hearth/probe.h"

#if defined(_WIN32)
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
#elif defined(__APPLE__)
#include <mach/mach.h>
#include <sys/sysctl.h>
#endif
#if defined(__x86_64__) || defined(_M_X64)
#define HEARTH_X86 1
#if defined(_MSC_VER)
#include <intrin.h>
#else
#include <cpuid.h>
#endif
#endif

namespace hearth {

namespace {

struct Memory {
  uint64_t total = 0, free = 0;
};

std::string trimmed(std::string text) {
  text.erase(std::find(text.begin(), text.end(), '\0'), text.end());
  auto inked = [](unsigned char c) { return c > ' '; };
  text.erase(std::find_if(text.rbegin(), text.rend(), inked).base(), text.end());
  text.erase(text.begin(), std::find_if(text.begin(), text.end(), inked));
  return text;
}

#if HEARTH_X86
/// The 48 characters of leaves 0x80000002 to 0x80000004.
std::string brand() {
  char text[49] = {};
  for (uint32_t leaf = 0; leaf < 3; ++leaf) {
    uint32_t r[4] = {};
#if defined(_MSC_VER)
    __cpuid(reinterpret_cast<int*>(r), static_cast<int>(0x80000002u + leaf));
#else
    if (!__get_cpuid(0x80000002u + leaf, &r[0], &r[1], &r[2], &r[3])) break;
#endif
    std::memcpy(text + 16 * leaf, r, sizeof r);
  }
  return trimmed(text);
}
#elif defined(__APPLE__)
std::string brand() {
  char text[128] = {};
  size_t size = sizeof text - 1;
  sysctlbyname("machdep.cpu.brand_string", text, &size, nullptr, 0);
  return trimmed(text);
}
#else
std::string brand() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("model name") || line.starts_with("Model")) return trimmed(line.substr(line.find(':') + 1));
  }
  return "";
}
#endif

#if defined(_WIN32)
Memory memory() {
  MEMORYSTATUSEX status = {};
  status.dwLength = sizeof status;
  if (!GlobalMemoryStatusEx(&status)) return {};
  return {status.ullTotalPhys, status.ullAvailPhys};
}
#elif defined(__APPLE__)
Memory memory() {
  Memory out;
  size_t size = sizeof out.total;
  sysctlbyname("hw.memsize", &out.total, &size, nullptr, 0);
  vm_statistics64_data_t pages = {};
  mach_msg_type_number_t count = HOST_VM_INFO64_COUNT;
  if (host_statistics64(mach_host_self(), HOST_VM_INFO64, reinterpret_cast<host_info64_t>(&pages), &count) ==
      KERN_SUCCESS) {
    out.free = (uint64_t(pages.free_count) + pages.inactive_count + pages.purgeable_count) * vm_kernel_page_size;
  }
  return out;
}
#else
/// A number in a file of its own; `otherwise` when absent or "max".
uint64_t number_in(const char* path, uint64_t otherwise) {
  uint64_t value = 0;
  return std::ifstream(path) >> value ? value : otherwise;
}

/// The value after `key` in lines of "key value".
uint64_t entry_in(const char* path, const std::string& key) {
  std::ifstream in(path);
  std::string word;
  for (std::string line; std::getline(in, line);) {
    std::istringstream fields(line);
    uint64_t value = 0;
    if (fields >> word >> value && word == key) return value;
  }
  return 0;
}

/// Lowers `out` to what a container may use: limits of control groups, version 2, then 1.
void apply_limits(Memory& out) {
  constexpr uint64_t none = std::numeric_limits<uint64_t>::max();
  struct Files {
    const char *limit, *used, *stat, *cache;
  };
  constexpr Files versions[] = {
      {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current", "/sys/fs/cgroup/memory.stat", "inactive_file"},
      {"/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes",
       "/sys/fs/cgroup/memory/memory.stat", "total_inactive_file"}};
  for (const Files& files : versions) {
    const uint64_t limit = number_in(files.limit, none);
    if (limit >= out.total) continue;
    const uint64_t used = number_in(files.used, 0), cache = entry_in(files.stat, files.cache);
    const uint64_t held = used - std::min(used, cache);  // cached files give way
    out.total = limit;
    out.free = std::min(out.free, limit - std::min(limit, held));
  }
}

Memory memory() {
  Memory out{entry_in("/proc/meminfo", "MemTotal:") * 1024, entry_in("/proc/meminfo", "MemAvailable:") * 1024};
  apply_limits(out);
  return out;
}
#endif

Device graphics_device(const VulkanDevice& from) {
  Device device;
  device.id = from.id, device.kind = "gpu", device.name = from.name;
  device.memory_total = from.memory_total, device.memory_free = from.memory_free;
  device.features = from.features;
  Graphics& graphics = device.graphics.emplace();
  graphics.type = from.type == "cpu" ? "software" : from.type;
  graphics.uuid = from.uuid, graphics.pci = from.pci, graphics.unified = from.unified;
  graphics.driver = from.driver + (from.driver_info.empty() ? "" : " ") + from.driver_info;
  graphics.api_major = from.api_version >> 22 & 0x7f, graphics.api_minor = from.api_version >> 12 & 0x3ff;
  graphics.budget_known = std::find(from.features.begin(), from.features.end(), "memory_budget") != from.features.end();
  for (const VulkanHeap& heap : from.heaps) graphics.heaps.push_back({heap.bytes, heap.budget, heap.used, heap.device_local});
  for (const VulkanOff& off : from.off) graphics.off.push_back({off.feature, off.reason});
  return device;
}

}  // namespace

Device this_cpu() {
  Device cpu;
  cpu.id = "cpu";
  cpu.kind = "cpu";
  cpu.name = brand();
  if (cpu.name.empty()) cpu.name = "CPU";
  const Memory ram = memory();
  cpu.memory_total = ram.total;
  cpu.memory_free = ram.free;
  cpu.features = cpu::feature_names();
  cpu.cores = cpu::physical_cores();
  return cpu;
}

Devices devices(const std::string& kernel_cache) {
  Devices out;
  out.devices.push_back(this_cpu());
  const char* folder = std::getenv("HEARTH_VULKAN_CACHE");
  VulkanDevices found = vulkan_devices(kernel_cache.empty() && folder ? folder : kernel_cache);
  out.notes = std::move(found.notes);
  // Software too, marked as such: it is good for tests, and whoever names it shall have it.
  for (const VulkanDevice& each : found.devices) {
    out.devices.push_back(graphics_device(each));
    for (const std::string& sentence : each.refused) out.notes.push_back(each.name + ": " + sentence);
  }
  return out;
}

DeviceRates device_rates(const std::string& device) {
  VulkanOptions options;
  options.device = device;
  const VulkanRates rates = vulkan_rates(options);
  const bool matrix = rates.matrix_multiply_adds > rates.multiply_adds;
  return {rates.copy, 2 * std::max(rates.matrix_multiply_adds, rates.multiply_adds), matrix ? "matrix" : "float32"};
}

}  // namespace hearth
