// The op interface: what the model needs of a device, and nothing of how. See design.md for the contract.
// A backend owns weights layout, scratch, barriers, KV memory and the splitting of submissions; callers own meaning.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "backend/comm.h"
#include "backend/ops.h"
#include "backend/route_counts.h"
#include "backend/rope.h"
#include "backend/step_inputs.h"
#include "backend/weights.h"
#include "hearth/engine.h"

namespace hearth {

/// Shape of the paged KV: one numbering of blocks over all groups; a block holds `block_size` positions of one group
/// (keys and values of all its layers). Bytes per block are the largest group's.
struct KvShape {
  uint32_t block_size = 16;  // positions
  uint32_t kv_heads = 0, head_dim = 0;
  std::vector<uint32_t> layers_per_group;
};

/// In which order a backend keeps a head's keys (or values) of a block.
enum class KvForm {
  rows,         // [slot][head_dim]; scales behind all, [slot][group]
  keys_across,  // keys [head_dim][slot], values [slot][head_dim]; scales behind all, [group][slot]
  words,        // [slot]: head_dim values in whole words of 32 bits, then their scales
};

/// A submitted op list. `wait` blocks until it ran or was given up; true: it ran to its end. Errors are thrown here.
class Ticket {
 public:
  virtual ~Ticket() = default;
  virtual bool wait() = 0;
};

/// What runs steps and keeps their keys and values: one backend, or several that share a model (mesh/). All that an engine sees.
class StepDevice {
 public:
  virtual ~StepDevice() = default;

  /// e.g. "reference", "cpu/avx512"
  virtual std::string name() const = 0;
  /// Sentences on how it computes that a user should see, e.g. a kernel that failed its self-test and was replaced.
  virtual std::vector<std::string> notes() const { return {}; }
  virtual Precision precision() const = 0;
  /// What keys and values are kept in; never `automatic`.
  virtual KvType kv_type() const = 0;

  /// Grows or shrinks the pool to `blocks` (shrinking frees the highest ids, which must be unused). New blocks are zero.
  /// Throws Error{out_of_ram | out_of_vram}.
  virtual void resize_kv(uint32_t blocks) = 0;
  /// Copies the bytes of one block out or in, as this device lays them out: they mean something only to one of the same name,
  /// precision and KV type. Not while a ticket is in flight. An id beyond the pool is Error{internal}.
  virtual void read_kv_block(uint32_t block, std::byte* out) = 0;
  virtual void write_kv_block(uint32_t block, const std::byte* in) = 0;

  /// Runs `ops` in order over `inputs` (both are copied or consumed before return). When `abandon` becomes true the
  /// device stops at the next op or submission boundary and wait() returns false; buffers are then undefined, KV of
  /// positions not yet committed too.
  virtual std::unique_ptr<Ticket> submit(const OpList& ops, const StepInputs& inputs, const std::atomic<bool>* abandon) = 0;

  /// Whether rows of logits are far from the host, so that a TopLogits behind them is worth its time; else they are where it reads.
  virtual bool far_logits() const { return false; }

  /// Copies rows [first, first + rows) of a buffer out. Only after the ticket that wrote it, and one at a time, from any thread.
  virtual void read(Buffer buffer, uint32_t first, uint32_t rows, float* out) = 0;

  virtual uint64_t scratch_bytes() const = 0;
  /// Taken of a device's own memory, all together; 0 where that is the process's.
  virtual uint64_t device_bytes() const { return 0; }
  /// Device memory in use beyond what its driver grants this process by now: so much has gone to the machine's memory, and everything is
  /// slower. From any thread.
  virtual uint64_t over_budget() const { return 0; }

  /// Runs body(thread, item) for every item < count on the threads that are idle between two steps. body must not throw.
  virtual uint32_t threads() const { return 1; }
  virtual void for_each(uint32_t count, const std::function<void(uint32_t thread, uint32_t item)>& body) {
    for (uint32_t item = 0; item < count; ++item) body(0, item);
  }
};

/// One device, with what a model is put together from.
class Backend : public StepDevice {
 public:
  // Set-up, before the first submit. The views must outlive the backend where it says that it maps (cpu, reference).
  virtual WeightRef add_weight(const Matrix& matrix) = 0;
  virtual VectorRef add_vector(const Vector& vector) = 0;
  virtual RopeRef add_rope(const RopeTable& table) = 0;
  virtual Buffer add_buffer(std::string_view name, uint32_t cols, uint32_t max_rows) = 0;
  virtual Buffer add_routes(uint32_t k, uint32_t max_rows) = 0;
  /// Makes this backend one rank of several: `comm` performs the ops between them, and outlives the backend's last step.
  virtual void set_comm(Comm* comm) = 0;
  /// Counts the experts that it chooses there, where its choice reaches the host. `counts` outlives the backend's last step.
  virtual void set_route_counts([[maybe_unused]] RouteCounts* counts) {}

  /// Bytes of one block of this shape in this backend's KV type.
  virtual uint64_t kv_block_bytes(const KvShape& shape) const = 0;
  virtual KvForm kv_form() const { return KvForm::rows; }
  /// Once, before resize_kv.
  virtual void set_kv_shape(const KvShape& shape) = 0;
  /// Bytes that KV may still take, where they are not the machine's own memory.
  virtual std::optional<uint64_t> memory_free() const { return std::nullopt; }

  /// Routing of the last step for tests and statistics: experts [rows * k], weights [rows * k].
  virtual void read_routes(Buffer routes, uint32_t rows, int32_t* experts, float* weights) = 0;
};

struct CpuOptions {
  Precision precision = Precision::fast;
  uint32_t threads = 0;       // 0: every physical core
  std::string isa;            // a name of the table in cpu/design.md, e.g. "avx2"; "": the best that this processor has
  KvType kv_type = KvType::automatic;
};

std::unique_ptr<Backend> make_reference_backend(KvType kv_type = KvType::f32);
std::unique_ptr<Backend> make_cpu_backend(const CpuOptions& options);

}  // namespace hearth
