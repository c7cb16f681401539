// What the CPU backend's ops share: kernels, threads, KV, buffers, scratch. Ops are free functions over a Step.
#pragma once

#include <atomic>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

#include "backend/cpu/kernels.h"
#include "backend/cpu/thread_pool.h"
#include "backend/kv_pool.h"
#include "backend/resources.h"

namespace hearth::cpu {

/// Memory that only grows, 64-byte aligned; contents are lost when it grows. Warm steps therefore allocate nothing.
class Arena {
 public:
  std::byte* need(size_t bytes) {
    if (bytes > size_) {
      memory_.reset();
      size_ = 0;
      const size_t room = (bytes + bytes / 8 + 4095) / 4096 * 4096;
      memory_.reset(static_cast<std::byte*>(::operator new(room, std::align_val_t(64))));  // may throw bad_alloc
      size_ = room;
    }
    return memory_.get();
  }
  template <typename T>
  T* need_as(size_t count) { return reinterpret_cast<T*>(need(count * sizeof(T))); }
  /// What need() made room for.
  template <typename T>
  T* as() const { return reinterpret_cast<T*>(memory_.get()); }
  size_t bytes() const { return size_; }

 private:
  struct Free { void operator()(std::byte* p) const { ::operator delete(p, std::align_val_t(64)); } };
  std::unique_ptr<std::byte, Free> memory_;
  size_t size_ = 0;
};

/// Rows of one buffer in int8, kept until the buffer is written again. With two planes, record 2r is the row and record
/// 2r + 1 what its rounding left over, in int8 as well.
struct QuantisedRows {
  Arena memory;
  uint32_t rows = 0, cols = 0, planes = 1;  // rows == 0: nothing
  QuantRow row(uint32_t r);
};

/// Activation rows made ready for one kind of kernel, in groups (one per expert, or one for a dense matmul).
/// Float rows are pointed at; int8 rows are packed into tiles.
struct PreparedRows {
  struct Group { uint32_t begin, count, tile_begin, tile_count; };
  std::vector<Group> groups;
  std::vector<const float*> rows;  // float: [all rows of all groups]
  std::vector<QuantTile> tiles;    // int8
  std::vector<uint32_t> tile_rows; // int8: first record of each tile
  uint32_t planes = 1;             // int8: records a row
};

/// Cosines and sines of a step's rows for one rope table, concentration included.
struct RopeAngles {
  std::vector<float> cosine, sine;  // [rows][dims / 2]
  bool ready = false;
};

/// Consecutive rows of one sequence, and the splits that any of them sees.
struct AttentionTile { uint32_t row, rows, first_split, splits; };

struct ThreadScratch {
  Arena strip, out, part, attention;  // part: one strip of a panel
};

struct CpuState {
  CpuState(const Kernels& kernels, uint32_t threads, Precision precision, KvType kv_type)
      : kernels(kernels), pool(threads), precision(precision), kv_type(kv_type), scratch(pool.threads()) {}

  const Kernels& kernels;
  ThreadPool pool;
  const Precision precision;
  const KvType kv_type;
  Resources resources;
  KvPool kv;
  std::vector<ThreadScratch> scratch;       // [threads]
  std::vector<QuantisedRows> quantised;     // [buffers]
  std::vector<RopeAngles> angles;           // [ropes]
  PreparedRows float_rows, int8_rows;       // of the matmul that runs
  std::vector<uint32_t> order, counts;      // of prepare_grouped: row numbers, and how many each group has
  std::vector<uint32_t> records;            // of prepare_grouped: the same as records of QuantisedRows
  std::vector<uint32_t> slots, active, expert_begin;  // of the experts: routes sorted by expert, experts in use, ends
  std::vector<AttentionTile> attention_tiles;
  Arena tiles, temporary, partial;

  uint64_t scratch_bytes() const;
};

/// The kernels of this backend's KV type.
inline const AttentionKernels::Kv& kv_kernels(const CpuState& cpu) {
  const AttentionKernels& k = cpu.kernels.attention;
  return cpu.kv_type == KvType::q8 ? k.q8 : cpu.kv_type == KvType::f16 ? k.f16 : k.f32;
}

/// What an op sees.
struct Step {
  CpuState& cpu;
  const StepInputs& inputs;
  OpRows rows;
  const std::atomic<bool>* stop;

  /// Gives every thread room for strips of `cols` columns and `results` floats: loop bodies must not allocate.
  void reserve(uint32_t cols, size_t results) const {
    for (ThreadScratch& t : cpu.scratch) {
      t.strip.need(strip_scratch_bytes(cols));
      t.out.need(2 * results * sizeof(float));  // two planes
      t.part.need(results * sizeof(float));
    }
  }

  /// Runs body(thread, item); small loops stay on the calling thread. `work` is about the float operations in all.
  template <typename Body>
  void parallel(uint32_t count, uint32_t grain, double work, const Body& body) const {
    cpu.pool.run(count, work < 5e4 ? count : grain, stop, body);
  }
};

void run(Step& s, const Embed& op);
void run(Step& s, const Norm& op);
void run(Step& s, const QkvRopeStore& op);
void run(Step& s, const Attention& op);
void run(Step& s, const LinearResidual& op);
void run(Step& s, const Router& op);
void run(Step& s, const GateUp& op);
void run(Step& s, const ExpertsGateUp& op);
void run(Step& s, const ExpertsDown& op);
void run(Step& s, const SelectRows& op);
void run(Step& s, const Logits& op);
void run(Step& s, const TopLogits& op);

}  // namespace hearth::cpu
