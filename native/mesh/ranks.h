// What every kind of mesh has in common: its ranks with one numbering of blocks, and what is told of all of them together. It runs no step.
#pragma once

#include <vector>

#include "mesh/mesh.h"

namespace hearth {

/// The part of a list that belongs to each of `ranks`. Throws Error{internal} where an op belongs to none.
std::vector<OpList> by_rank(const OpList& ops, size_t ranks);

class MeshOfRanks : public Mesh {
 public:
  explicit MeshOfRanks(std::vector<MeshRank> ranks);

  std::string name() const override;
  std::vector<std::string> notes() const override;
  Precision precision() const override { return ranks_[0].backend->precision(); }
  KvType kv_type() const override { return ranks_[0].backend->kv_type(); }

  uint64_t kv_block_bytes() const override;
  /// Where one refuses, the others go back: ids mean the same everywhere.
  void resize_kv(uint32_t blocks) override;

  uint64_t scratch_bytes() const override;
  uint64_t device_bytes() const override;
  uint64_t over_budget() const override;
  uint32_t threads() const override { return widest().threads(); }
  void for_each(uint32_t count, const std::function<void(uint32_t, uint32_t)>& body) override { widest().for_each(count, body); }

 protected:
  Backend& backend(size_t rank) { return *ranks_[rank].backend; }
  const KvShape& kv_shape(size_t rank) const { return ranks_[rank].kv; }
  size_t ranks() const { return ranks_.size(); }
  /// Whether a rank that has some of what is joined is far from the host.
  bool any_far(const std::vector<std::vector<JoinedPart>>& joined) const;
  /// 0: this rank keeps no keys and values.
  uint64_t block_bytes(size_t rank) const { return block_bytes_[rank]; }

 private:
  Backend& widest() const;
  void resize(size_t rank, uint32_t blocks);

  std::vector<MeshRank> ranks_;
  std::vector<uint64_t> block_bytes_;  // by rank
  uint32_t blocks_ = 0;
};

}  // namespace hearth
