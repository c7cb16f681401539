// Implements the checked file.
#include "backend/vulkan/cache_file.h"

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace hearth::vulkan {
namespace {

struct Header {
  char magic[8];
  uint64_t bytes, checksum;
};
constexpr char magic[8] = {'h', 'e', 'a', 'r', 't', 'h', 'v', '1'};
constexpr uint64_t most_bytes = uint64_t(256) << 20;

/// FNV-1a: against accidents, not against enemies.
uint64_t checksum(const std::vector<std::byte>& data) {
  uint64_t hash = 14695981039346656037u;
  for (std::byte b : data) hash = (hash ^ uint64_t(b)) * 1099511628211u;
  return hash;
}

}  // namespace

std::string device_file(const std::string& folder, const VulkanDevice& device, const std::string& ending) {
  char name[96];
  std::snprintf(name, sizeof name, "vulkan-%s-%x-%x", device.uuid.c_str(), device.driver_id, device.driver_version);
  return (std::filesystem::path(folder) / (name + ending)).string();
}

std::vector<std::byte> read_cache_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  Header header;
  if (!in.read(reinterpret_cast<char*>(&header), sizeof header) || std::memcmp(header.magic, magic, sizeof magic) != 0) return {};
  if (header.bytes > most_bytes) return {};
  std::vector<std::byte> data(header.bytes);
  if (!in.read(reinterpret_cast<char*>(data.data()), static_cast<std::streamsize>(data.size())) || checksum(data) != header.checksum) return {};
  return data;
}

bool write_cache_file(const std::string& path, const std::vector<std::byte>& data) {
  std::error_code failed;
  const std::filesystem::path target(path), beside(path + ".new");
  std::filesystem::create_directories(target.parent_path(), failed);
  {
    Header header{{}, data.size(), checksum(data)};
    std::memcpy(header.magic, magic, sizeof magic);
    std::ofstream out(beside, std::ios::binary | std::ios::trunc);
    out.write(reinterpret_cast<const char*>(&header), sizeof header);
    out.write(reinterpret_cast<const char*>(data.data()), static_cast<std::streamsize>(data.size()));
    if (!out.flush()) return false;
  }
  std::filesystem::rename(beside, target, failed);
  return !failed;
}

}  // namespace hearth::vulkan
