// Implements the KV transaction of a sequence over its block tables.
#include "cache/sequence_kv.h"

#include <utility>

#include "backend/step_inputs.h"

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
  advance();
  drop_unreachable(pool);
}

void SequenceKv::advance() {
  committed_ += pending_;
  pending_ = 0;
}

void SequenceKv::drop_unreachable(BlockPool& pool) {
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

void SequenceKv::adopt(BlockPool& pool, std::vector<std::vector<uint32_t>> blocks, uint32_t positions) {
  for (size_t g = 0; g < tables_.size(); ++g) tables_[g].adopt(pool, std::move(blocks[g]));
  committed_ = positions;
}

uint32_t SequenceKv::shared(const BlockPool& pool) const {
  uint32_t blocks = 0;
  for (const BlockTable& table : tables_) {
    for (uint32_t block : table.entries()) blocks += block != null_block && pool.references(block) > 1 ? 1 : 0;
  }
  return blocks;
}

uint32_t SequenceKv::held() const {
  uint32_t blocks = 0;
  for (const BlockTable& table : tables_) blocks += table.held();
  return blocks;
}

}  // namespace hearth
