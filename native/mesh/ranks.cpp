// Implements what meshes have in common.
#include "mesh/ranks.h"

#include <algorithm>
#include <numeric>

#include "hearth/error.h"

namespace hearth {
namespace {

template <typename Of>
uint64_t sum(const std::vector<MeshRank>& ranks, const Of& of) {
  uint64_t total = 0;
  for (const MeshRank& rank : ranks) total += of(*rank.backend);
  return total;
}

}  // namespace

std::vector<OpList> by_rank(const OpList& ops, size_t ranks) {
  std::vector<OpList> lists(ranks);
  OpList* list = nullptr;
  for (const Op& op : ops) {
    if (const auto* begin = std::get_if<OnRank>(&op)) {
      list = &lists.at(begin->rank);
      continue;
    }
    if (!list) throw Error(ErrorCode::internal, "An op that belongs to no rank.");
    list->push_back(op);
  }
  return lists;
}

MeshOfRanks::MeshOfRanks(std::vector<MeshRank> ranks) : ranks_(std::move(ranks)) {
  for (MeshRank& rank : ranks_) {
    block_bytes_.push_back(rank.backend->kv_block_bytes(rank.kv));
    if (block_bytes_.back() > 0) rank.backend->set_kv_shape(rank.kv);
  }
}

std::string MeshOfRanks::name() const {
  std::string names;
  for (const MeshRank& rank : ranks_) names += (names.empty() ? "" : " + ") + rank.backend->name();
  return names;
}

std::vector<std::string> MeshOfRanks::notes() const {
  std::vector<std::string> notes;
  for (const MeshRank& rank : ranks_) {
    for (const std::string& note : rank.backend->notes()) {
      if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(note);
    }
  }
  return notes;
}

bool MeshOfRanks::any_far(const std::vector<std::vector<JoinedPart>>& joined) const {
  return std::ranges::any_of(joined, [this](const std::vector<JoinedPart>& parts) {
    return std::ranges::any_of(parts, [this](const JoinedPart& part) { return ranks_[part.rank].backend->far_logits(); });
  });
}

uint64_t MeshOfRanks::kv_block_bytes() const { return std::accumulate(block_bytes_.begin(), block_bytes_.end(), uint64_t(0)); }

void MeshOfRanks::resize_kv(uint32_t blocks) {
  size_t done = 0;
  try {
    for (; done < ranks_.size(); ++done) resize(done, blocks);
  } catch (...) {
    for (size_t r = 0; r < done && blocks > blocks_; ++r) resize(r, blocks_);
    throw;
  }
  blocks_ = blocks;
}

void MeshOfRanks::resize(size_t rank, uint32_t blocks) {
  if (block_bytes_[rank] > 0) ranks_[rank].backend->resize_kv(blocks);
}

uint64_t MeshOfRanks::scratch_bytes() const {
  return sum(ranks_, [](const Backend& each) { return each.scratch_bytes(); });
}
uint64_t MeshOfRanks::device_bytes() const {
  return sum(ranks_, [](const Backend& each) { return each.device_bytes(); });
}
uint64_t MeshOfRanks::over_budget() const {
  return sum(ranks_, [](const Backend& each) { return each.over_budget(); });
}

Backend& MeshOfRanks::widest() const {
  const auto by_threads = [](const MeshRank& a, const MeshRank& b) { return a.backend->threads() < b.backend->threads(); };
  return *std::max_element(ranks_.begin(), ranks_.end(), by_threads)->backend;
}

}  // namespace hearth
