// Blocks as files, so that a text read once need not be read again after a restart. See design.md for the layout.
// Whatever is wrong with a file makes it a miss, never an error. Files are written by a thread of its own.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "cache/block_key.h"

namespace hearth {

struct DiskTierOptions {
  std::filesystem::path folder;
  uint64_t most_bytes = 0;            // of all files together
  uint32_t most_files = 50'000;
  uint64_t queue_bytes = 64u << 20;   // not yet written
  std::function<void()> drained;      // there is room again after offer() was refused; called on the writer's thread
};

class DiskTier {
 public:
  /// Lists what is there; reads no file. Throws nothing: a folder that cannot be made leaves the tier empty.
  explicit DiskTier(DiskTierOptions options);
  /// Ends after the file in hand.
  ~DiskTier();

  bool has(const BlockName& name) const;
  /// Copies the block out and counts it as just used. False: it is not here, or the file is not whole and is forgotten.
  bool read(const BlockName& name, uint32_t depth, std::span<std::byte> out);
  /// Takes a copy to be written into the scope's folder. False: try again later. Of two blocks used at the same time the
  /// deeper one counts as the older.
  bool offer(const BlockName& name, const std::string& scope, uint32_t depth, std::span<const std::byte> bytes);
  /// Helps the writer until all that was offered is written, at most so long.
  void flush(std::chrono::milliseconds limit);
  uint64_t bytes() const;

 private:
  using Clock = std::filesystem::file_time_type;
  struct Entry {
    std::string scope;
    uint64_t bytes = 0;
    Clock used;
  };
  struct Job {
    BlockName name;
    std::string scope;
    Clock used;
    std::vector<std::byte> file;
  };

  void list();
  void write_all();
  /// Writes the first of the queue. The lock is held before and after, not meanwhile.
  void write_next(std::unique_lock<std::mutex>& lock);
  bool write(const Job& job);
  void add(const BlockName& name, Entry entry);
  void forget(const BlockName& name, bool remove);
  void make_room();
  std::filesystem::path path_of(const BlockName& name, const std::string& scope) const;

  const DiskTierOptions options_;
  const std::filesystem::path root_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::unordered_map<BlockName, Entry, BlockNameHash> entries_;
  std::set<std::pair<Clock, std::string>> order_;  // by last use; the name as a file's
  std::unordered_map<std::string, BlockName> names_;
  std::deque<Job> queue_;
  std::unordered_set<BlockName, BlockNameHash> queued_;  // of the queue, and of the files in hand
  uint64_t bytes_ = 0, queued_bytes_ = 0;
  bool refused_ = false, stop_ = false;
  uint32_t writing_ = 0;  // files in hand
  int failures_ = 0;
  std::thread writer_;
};

}  // namespace hearth
