// Implements the tier in plain memory.
#include "cache/host_tier.h"

#include <algorithm>

namespace hearth {

bool HostTier::read(const BlockName& name, std::span<std::byte> out) {
  const auto found = index_.find(name);
  if (found == index_.end() || found->second->bytes.size() != out.size()) return false;
  std::copy(found->second->bytes.begin(), found->second->bytes.end(), out.begin());
  entries_.splice(entries_.begin(), entries_, found->second);
  return true;
}

void HostTier::put(const BlockName& name, std::span<const std::byte> bytes) {
  if (bytes.size() > most_bytes_) return;
  if (const auto found = index_.find(name); found != index_.end()) {
    entries_.splice(entries_.begin(), entries_, found->second);
    return;
  }
  while (bytes_ + bytes.size() > most_bytes_) {
    bytes_ -= entries_.back().bytes.size();
    index_.erase(entries_.back().name);
    entries_.pop_back();
  }
  std::list<Entry> entry;  // linked in when nothing can fail any more
  entry.push_front({name, {bytes.begin(), bytes.end()}});
  index_[name] = entry.begin();
  entries_.splice(entries_.begin(), entry);
  bytes_ += bytes.size();
}

}  // namespace hearth
