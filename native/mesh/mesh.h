// Several backends that run one model together, as the one device that an engine sees: a thread for each, one numbering of blocks, one
// outcome of a step. What each computes, and where they meet, is in the op lists; the mesh decides neither.
#pragma once

#include <memory>
#include <vector>

#include "backend/backend.h"

namespace hearth {

struct MeshRank {
  std::unique_ptr<Backend> backend;
  KvShape kv;  // of its own layers and heads; no layers: it keeps no keys and values
};

/// Columns that lie on several ranks side by side, rank after rank.
struct JoinedPart {
  uint32_t rank = 0;
  Buffer buffer;
  uint32_t cols = 0;
};

class Mesh : public StepDevice {
 public:
  /// Bytes that a block takes, of all ranks.
  virtual uint64_t kv_block_bytes() const = 0;
  /// Bytes that read_kv_block() gives of it.
  virtual uint64_t kv_copy_bytes() const = 0;
  /// Set-up, where ranks add up: the bytes of the largest sum, of a step's rows.
  virtual void plan_sums([[maybe_unused]] uint64_t most_bytes) {}
  /// A handle for read().
  virtual Buffer join(std::vector<JoinedPart> parts) = 0;
  /// A list that leaves no output. Of ranks in a row: rows of which none is wanted go from rank to rank in pieces (pieces.h), by this list.
  /// Where prompts are handed over: for a rank whose rows have no output.
  virtual void pipeline(const OpList& without_outputs) = 0;
};

/// Prompts are read by the first, answers written by the second; each has the whole model and all keys and values of prompts. A list has
/// an OnRank before each of the two; `join` takes both outputs.
std::unique_ptr<Mesh> make_handover(MeshRank reads, MeshRank writes);

/// Sets the ranks' comm and KV shapes. `submit` takes a list with an OnRank before the part of each rank.
std::unique_ptr<Mesh> make_mesh(std::vector<MeshRank> ranks);

}  // namespace hearth
