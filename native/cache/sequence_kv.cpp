// Implements the KV transaction of a sequence over its block tables.
#include "cache/sequence_kv.h"

namespace hearth {

SequenceKv::SequenceKv(const std::vector<GroupReach>& groups) {
  for (const GroupReach& reach : groups) tables_.emplace_back(reach);
}

bool SequenceKv::begin(BlockPool& pool, uint32_t rows) {
  pending_ = rows;
  for (BlockTable& table : tables_) {
    if (table.extend(pool, committed_ + rows)) continue;
    roll_back(pool);
    return false;
  }
  return true;
}

void SequenceKv::keep(BlockPool& pool, uint32_t rows) {
  pending_ = rows;
  for (BlockTable& table : tables_) table.truncate(pool, committed_ + rows);
}

void SequenceKv::commit(BlockPool& pool) {
  committed_ += pending_;
  pending_ = 0;
  for (BlockTable& table : tables_) table.drop_unreachable(pool, committed_);
}

void SequenceKv::roll_back(BlockPool& pool) {
  pending_ = 0;
  for (BlockTable& table : tables_) table.truncate(pool, committed_);
}

void SequenceKv::release(BlockPool& pool) {
  committed_ = pending_ = 0;
  for (BlockTable& table : tables_) table.truncate(pool, 0);
}

uint32_t SequenceKv::held() const {
  uint32_t blocks = 0;
  for (const BlockTable& table : tables_) blocks += table.held();
  return blocks;
}

}  // namespace hearth
