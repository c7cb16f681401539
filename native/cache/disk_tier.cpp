// Implements the tier on disk. A file: a header of 64 bytes (magic, size, key, group, checksum), then the block.
#include "cache/disk_tier.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <new>
#include <optional>

#ifdef __linux__
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace hearth {
namespace {

namespace fs = std::filesystem;

constexpr char version[] = "v1";
constexpr std::array<char, 8> magic = {'H', 'R', 'T', 'H', 'K', 'V', '0', '1'};
constexpr int most_failures = 8;  // in a row: a full or failing disk is left alone

struct Header {
  std::array<char, 8> magic;
  uint64_t bytes;
  BlockKey key;
  uint64_t group;
  uint64_t checksum;
};
static_assert(sizeof(Header) == 64);

/// Four lanes of multiply and rotate over words of eight bytes: finds torn and altered files, proves nothing.
uint64_t checksum(std::span<const std::byte> bytes) {
  constexpr uint64_t prime = 0x9E3779B97F4A7C15ull;
  uint64_t lanes[4] = {1, 2, 3, bytes.size()};
  for (size_t i = 0; i < bytes.size(); i += 32) {
    uint64_t words[4] = {};
    std::memcpy(words, bytes.data() + i, std::min<size_t>(32, bytes.size() - i));
    for (int l = 0; l < 4; ++l) {
      lanes[l] = (lanes[l] ^ words[l]) * prime;
      lanes[l] ^= lanes[l] >> 29;
    }
  }
  uint64_t sum = 0;
  for (uint64_t lane : lanes) sum = (sum ^ lane) * prime, sum ^= sum >> 32;
  return sum;
}

std::string file_name(const BlockName& name) {
  std::string text;
  for (std::byte each : name.key) {
    for (int shift : {4, 0}) text += "0123456789abcdef"[(std::to_integer<int>(each) >> shift) & 15];
  }
  return text + "-" + std::to_string(name.group) + ".kv";
}

int hex_digit(char c) { return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1; }

std::optional<BlockName> block_name(const std::string& file) {
  BlockName name;
  if (file.size() < 69 || file[64] != '-' || file.substr(file.size() - 3) != ".kv") return std::nullopt;
  for (size_t i = 0; i < 32; ++i) {
    const int high = hex_digit(file[2 * i]), low = hex_digit(file[2 * i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    name.key[i] = static_cast<std::byte>(high * 16 + low);
  }
  for (size_t i = 65; i < file.size() - 3; ++i) {
    if (file[i] < '0' || file[i] > '9' || name.group > 1000) return std::nullopt;
    name.group = name.group * 10 + uint32_t(file[i] - '0');
  }
  return file_name(name) == file ? std::optional(name) : std::nullopt;
}

fs::file_time_type now(uint32_t depth) { return fs::file_time_type::clock::now() - std::chrono::microseconds(depth); }

/// Not a text in the system's encoding: no file of ours.
std::string plain(const fs::path& name) {
  try {
    return name.string();
  } catch (const std::exception&) {
    return {};
  }
}

void lower_priority() {
#ifdef __linux__
  setpriority(PRIO_PROCESS, static_cast<id_t>(syscall(SYS_gettid)), 19);
#endif
}

}  // namespace

DiskTier::DiskTier(DiskTierOptions options) : options_(std::move(options)), root_(options_.folder / version) {
  std::error_code ignored;
  fs::create_directories(root_, ignored);
  fs::permissions(root_, fs::perms::owner_all, ignored);
  list();
  make_room();
  writer_ = std::thread([this] { write_all(); });
}

DiskTier::~DiskTier() {
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
    queue_.clear();
    changed_.notify_all();
  }
  writer_.join();
}

/// The tree as it is: whole files by name and size. What an ended writer or another version left is removed.
void DiskTier::list() {
  std::error_code error;
  for (fs::directory_iterator each(options_.folder, error), end; !error && each != end; each.increment(error)) {
    const std::string name = plain(each->path().filename());
    const bool numbered = name.size() > 1 && name[0] == 'v' && name.find_first_not_of("0123456789", 1) == std::string::npos;
    std::error_code ignored;
    if (numbered && name != version) fs::remove_all(each->path(), ignored);
  }
  const auto options = fs::directory_options::skip_permission_denied;
  for (fs::recursive_directory_iterator each(root_, options, error), end; !error && each != end; each.increment(error)) {
    std::error_code bad;
    if (each.depth() != 1 || !each->is_regular_file(bad) || bad) continue;
    const auto name = block_name(plain(each->path().filename()));
    const uint64_t size = each->file_size(bad);
    const auto used = each->last_write_time(bad);
    const std::string scope = plain(each->path().parent_path().filename());
    const bool known = name && entries_.count(*name);  // of a copied folder one file is enough
    if (!name || bad || scope.empty() || known) fs::remove(each->path(), bad);
    else add(*name, {scope, size, used});
  }
}

bool DiskTier::has(const BlockName& name) const {
  std::lock_guard lock(mutex_);
  return entries_.count(name) > 0;
}

bool DiskTier::read(const BlockName& name, uint32_t depth, std::span<std::byte> out) {
  fs::path path;
  {
    std::lock_guard lock(mutex_);
    const auto found = entries_.find(name);
    if (found == entries_.end()) return false;
    path = path_of(name, found->second.scope);
  }
  Header header{};
  std::ifstream file(path, std::ios::binary);
  file.read(reinterpret_cast<char*>(&header), sizeof header);
  file.read(reinterpret_cast<char*>(out.data()), static_cast<std::streamsize>(out.size()));
  const bool whole = file && file.peek() == std::ifstream::traits_type::eof() && header.magic == magic &&
                     header.bytes == out.size() && header.key == name.key && header.group == name.group &&
                     header.checksum == checksum(out);
  std::lock_guard lock(mutex_);
  if (!whole) {
    forget(name, true);
    return false;
  }
  const auto found = entries_.find(name);
  if (found == entries_.end()) return true;
  Entry entry = found->second;
  entry.used = now(depth);
  std::error_code ignored;
  fs::last_write_time(path, entry.used, ignored);
  forget(name, false);
  add(name, std::move(entry));
  return true;
}

bool DiskTier::offer(const BlockName& name, const std::string& scope, uint32_t depth, std::span<const std::byte> bytes) {
  std::lock_guard lock(mutex_);
  if (stop_ || failures_ >= most_failures || entries_.count(name) || queued_.count(name)) return true;
  if (!queue_.empty() && queued_bytes_ + bytes.size() > options_.queue_bytes) {
    refused_ = true;
    return false;
  }
  Job job{name, scope, now(depth), {}};
  try {
    job.file.resize(sizeof(Header) + bytes.size());
  } catch (const std::bad_alloc&) {
    return true;  // as on a full disk: it is not kept
  }
  const Header header{magic, bytes.size(), name.key, name.group, 0};
  std::memcpy(job.file.data(), &header, sizeof header);
  std::copy(bytes.begin(), bytes.end(), job.file.begin() + sizeof header);
  queued_bytes_ += bytes.size();
  queued_.insert(name);
  queue_.push_back(std::move(job));
  changed_.notify_all();
  return true;
}

/// The writer gives way to everybody: on a busy machine it would store nothing in time.
void DiskTier::flush(std::chrono::milliseconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  std::unique_lock lock(mutex_);
  while (!queue_.empty() && std::chrono::steady_clock::now() < deadline) write_next(lock);
  changed_.wait_until(lock, deadline, [this] { return queue_.empty() && writing_ == 0; });
}

uint64_t DiskTier::bytes() const {
  std::lock_guard lock(mutex_);
  return bytes_;
}

void DiskTier::write_all() {
  lower_priority();
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stop_ || !queue_.empty(); });
    if (stop_) return;
    write_next(lock);
  }
}

void DiskTier::write_next(std::unique_lock<std::mutex>& lock) {
  const Job job = std::move(queue_.front());
  queue_.pop_front();
  ++writing_;
  lock.unlock();
  bool written = false;
  try {
    written = write(job);
  } catch (const std::exception&) {
    // No memory: not kept, like all that fails here. On the writer's thread nobody else would catch it.
  }
  lock.lock();
  --writing_;
  queued_.erase(job.name);
  queued_bytes_ -= job.file.size() - sizeof(Header);
  failures_ = written ? 0 : failures_ + 1;
  if (written) {
    forget(job.name, false);
    add(job.name, {job.scope, job.file.size(), job.used});
    make_room();
  }
  changed_.notify_all();
  if (!refused_ || queued_bytes_ > options_.queue_bytes / 2) return;
  refused_ = false;
  lock.unlock();
  if (options_.drained) options_.drained();
  lock.lock();
}

/// Written under another name first: a file that has its name is whole, or the system lost power, which the checksum tells.
bool DiskTier::write(const Job& job) {
  const fs::path path = path_of(job.name, job.scope);
  fs::path temporary = path;
  temporary += ".part";
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  fs::permissions(path.parent_path(), fs::perms::owner_all, error);
  Header header;
  std::memcpy(&header, job.file.data(), sizeof header);
  const auto block = std::span(job.file).subspan(sizeof header);
  header.checksum = checksum(block);
  {
    std::ofstream file(temporary, std::ios::binary | std::ios::trunc);
    fs::permissions(temporary, fs::perms::owner_read | fs::perms::owner_write, error);
    if (!error) {
      file.write(reinterpret_cast<const char*>(&header), sizeof header);
      file.write(reinterpret_cast<const char*>(block.data()), static_cast<std::streamsize>(block.size()));
      file.close();
      if (!file) error = std::make_error_code(std::errc::io_error);
    }
  }
  if (!error) fs::last_write_time(temporary, job.used, error);
  if (!error) fs::rename(temporary, path, error);
  std::error_code ignored;
  if (error) fs::remove(temporary, ignored);
  return !error;
}

void DiskTier::add(const BlockName& name, Entry entry) {
  const std::string file = file_name(name);
  order_.emplace(entry.used, file);
  names_[file] = name;
  bytes_ += entry.bytes;
  entries_[name] = std::move(entry);
}

void DiskTier::forget(const BlockName& name, bool remove) {
  const auto found = entries_.find(name);
  if (found == entries_.end()) return;
  const std::string file = file_name(name);
  std::error_code ignored;
  if (remove) fs::remove(path_of(name, found->second.scope), ignored);
  order_.erase({found->second.used, file});
  names_.erase(file);
  bytes_ -= found->second.bytes;
  entries_.erase(found);
}

void DiskTier::make_room() {
  while (!order_.empty() && (bytes_ > options_.most_bytes || entries_.size() > options_.most_files)) {
    forget(BlockName(names_.at(order_.begin()->second)), true);
  }
}

std::filesystem::path DiskTier::path_of(const BlockName& name, const std::string& scope) const {
  return root_ / scope / file_name(name);
}

}  // namespace hearth
