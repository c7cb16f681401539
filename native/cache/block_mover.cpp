// Implements the way of blocks down to the tiers and up again.
#include "cache/block_mover.h"

#include <algorithm>
#include <utility>

namespace hearth {
namespace {

constexpr size_t most_noted = 1u << 17;

}  // namespace

BlockMover::BlockMover(const TierOptions& options, BlockPool& pool, PrefixCache& cache, Read read, Write write,
                       std::function<void()> room)
    : options_(options), pool_(pool), cache_(cache), read_(std::move(read)), write_(std::move(write)), host_(options.host_bytes),
      bytes_(options.block_bytes), leaving_(options.block_bytes) {
  if (options.disk_bytes > 0 && !options.disk_folder.empty()) {
    DiskTierOptions disk;
    disk.folder = options.disk_folder;
    disk.most_bytes = options.disk_bytes;
    disk.drained = std::move(room);
    disk_ = std::make_unique<DiskTier>(std::move(disk));
  }
  if (host_.enabled()) cache_.on_evicted([this](uint32_t block, const BlockName& name) { on_evicted(block, name); });
}

bool BlockMover::fetch(const BlockKeys& keys, uint32_t most, Deadline deadline) {
  if (!enabled() || keys.empty() || most == 0) return true;
  for (bool lost = true; lost;) {
    lost = false;
    for (const Wanted& each : wanted(keys, most)) {
      lost = !read_below(each);
      if (lost) break;  // a file that was not whole is forgotten: the hit is another one then
      if (!bring_up(each)) return true;  // no room: what is up is what there is
      if (std::chrono::steady_clock::now() >= deadline) return false;
    }
  }
  return true;
}

bool BlockMover::pending(const BlockKeys& keys, uint32_t most) {
  return enabled() && !keys.empty() && most > 0 && !wanted(keys, most).empty();
}

/// What is missing of the longest hit that pool and tiers have together; nothing where it would not fit.
std::vector<BlockMover::Wanted> BlockMover::wanted(const BlockKeys& keys, uint32_t most) {
  const auto anywhere = [this](const BlockName& name) { return cache_.has(name) || below(name); };
  const uint32_t blocks = cache_.longest(keys, most, anywhere);
  std::vector<Wanted> missing;
  uint32_t parked = 0;
  pool_.tick();
  for (uint32_t g = 0; g < cache_.groups().size(); ++g) {
    for (uint32_t i = cache_.first_needed(g, blocks); i < blocks; ++i) {
      const BlockName name{keys[i], g};
      if (!cache_.has(name)) missing.push_back({name, i});
      else parked += cache_.touch(name) ? 1 : 0;
    }
  }
  if (missing.size() + parked > pool_.available()) missing.clear();
  return missing;
}

bool BlockMover::read_below(const Wanted& wanted) {
  return host_.read(wanted.name, bytes_) || (disk_ && disk_->read(wanted.name, wanted.depth, bytes_));
}

bool BlockMover::bring_up(const Wanted& wanted) {
  const auto block = pool_.take();
  if (!block) return false;
  write_(*block, bytes_.data());
  cache_.insert(*block, wanted.name, wanted.depth);
  pool_.release(*block);
  ++fetched_;
  return true;
}

void BlockMover::note(const BlockKeys& keys, uint32_t from, uint32_t to, const std::vector<uint32_t>& cuts,
                      const std::string& scope) {
  if (!disk_) return;
  for (uint32_t i = from; i < to; ++i) {
    for (uint32_t g = 0; g < cache_.groups().size(); ++g) {
      if (cache_.kept_for(g, i, cuts)) note_one({keys[i], g}, i, scope);
    }
  }
}

void BlockMover::note_end(const BlockKeys& keys, uint32_t blocks, const std::string& scope) {
  if (!disk_ || blocks < options_.least_blocks) return;
  for (uint32_t g = 0; g < cache_.groups().size(); ++g) {
    if (cache_.groups()[g].window == 0) continue;
    for (uint32_t i = cache_.first_needed(g, blocks - 1); i < blocks; ++i) note_one({keys[i], g}, i, scope);
  }
}

void BlockMover::note_one(const BlockName& name, uint32_t depth, const std::string& scope) {
  if (disk_->has(name)) return;
  noted_.push_back({name, depth, scope});
  if (noted_.size() > most_noted) noted_.pop_front();
}

bool BlockMover::store(Deadline deadline) {
  bool done = false;
  while (!noted_.empty() && std::chrono::steady_clock::now() < deadline) {
    const Noted& next = noted_.front();
    if (const auto block = cache_.block_of(next.name); block && !disk_->has(next.name)) {
      read_(*block, bytes_.data());
      if (!disk_->offer(next.name, next.scope, next.depth, bytes_)) return done;
      ++stored_;
    }
    noted_.pop_front();
    done = true;
  }
  return done;
}

void BlockMover::flush(Deadline deadline) {
  if (!disk_) return;
  const auto left = [deadline] {
    const auto time = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    return std::max(time, std::chrono::milliseconds(0));
  };
  while (left().count() > 0 && !noted_.empty()) {
    if (!store(deadline)) disk_->flush(std::min(left(), std::chrono::milliseconds(10)));
  }
  disk_->flush(left());
}

void BlockMover::on_evicted(uint32_t block, const BlockName& name) {
  if (host_.has(name)) return;
  read_(block, leaving_.data());
  host_.put(name, leaving_);
}

}  // namespace hearth
