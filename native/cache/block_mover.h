// Moves blocks between the pool and the tiers below it, in small portions between steps: what was computed goes down, what
// a waiting prompt needs comes up and is parked, where the prefix cache finds it. It decides nothing about requests.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cache/disk_tier.h"
#include "cache/host_tier.h"
#include "cache/prefix_cache.h"

namespace hearth {

struct TierOptions {
  uint64_t block_bytes = 0;
  uint64_t host_bytes = 0;           // 0: no tier in plain memory
  std::filesystem::path disk_folder;
  uint64_t disk_bytes = 0;           // 0, or no folder: no tier on disk
  uint32_t least_blocks = 16;        // shorter texts are not worth a file
};

class BlockMover {
 public:
  using Deadline = std::chrono::steady_clock::time_point;
  /// Copies a block's bytes out of the pool's memory, and into it.
  using Read = std::function<void(uint32_t block, std::byte* out)>;
  using Write = std::function<void(uint32_t block, const std::byte* in)>;

  /// `room`: called from another thread when store() can go on.
  BlockMover(const TierOptions& options, BlockPool& pool, PrefixCache& cache, Read read, Write write, std::function<void()> room);

  bool enabled() const { return disk_ || host_.enabled(); }
  /// Brings up blocks that make the hit of at most `most` blocks longer. True: there are none, or they are up.
  bool fetch(const BlockKeys& keys, uint32_t most, Deadline deadline);
  /// Whether fetch() would have something to bring up.
  bool pending(const BlockKeys& keys, uint32_t most);
  /// Notes blocks [from, to) of a sequence as worth storing: those that a later hit at its end or at a cut would need.
  void note(const BlockKeys& keys, uint32_t from, uint32_t to, const std::vector<uint32_t>& cuts, const std::string& scope);
  /// The sequence ends here: its window is worth storing too.
  void note_end(const BlockKeys& keys, uint32_t blocks, const std::string& scope);
  /// Hands noted blocks down. True: something was done, and there may be more to do now.
  bool store(Deadline deadline);
  /// Stores what is noted and waits for the disk, at most until the deadline.
  void flush(Deadline deadline);

  uint64_t fetched() const { return fetched_; }
  uint64_t stored() const { return stored_; }
  uint64_t host_bytes() const { return host_.bytes(); }
  uint64_t disk_bytes() const { return disk_ ? disk_->bytes() : 0; }

 private:
  struct Noted {
    BlockName name;
    uint32_t depth = 0;
    std::string scope;
  };
  struct Wanted {
    BlockName name;
    uint32_t depth = 0;
  };

  bool below(const BlockName& name) const { return host_.has(name) || (disk_ && disk_->has(name)); }
  std::vector<Wanted> wanted(const BlockKeys& keys, uint32_t most);
  bool read_below(const Wanted& wanted);
  bool bring_up(const Wanted& wanted);
  void note_one(const BlockName& name, uint32_t depth, const std::string& scope);
  void on_evicted(uint32_t block, const BlockName& name);

  const TierOptions options_;
  BlockPool& pool_;
  PrefixCache& cache_;
  const Read read_;
  const Write write_;
  HostTier host_;
  std::unique_ptr<DiskTier> disk_;
  std::deque<Noted> noted_;
  std::vector<std::byte> bytes_, leaving_;  // one on its way; one evicted while another is on its way up
  uint64_t fetched_ = 0, stored_ = 0;
};

}  // namespace hearth
