// Looking without loading: what a file is, what this machine has. The only reader of model files outside a load.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hearth/engine.h"

namespace hearth {

/// Everything that the prompt side needs to know, as the file says it. Strings are raw bytes.
struct TokenizerData {
  std::string model;                     // "gpt2" or "llama" (GGUF); "" when `tokenizer_json` is the source
  std::string pre;                       // pre-tokeniser name (GGUF)
  std::vector<std::string> tokens;
  std::vector<std::string> merges;
  std::vector<float> scores;
  std::vector<int32_t> types;            // 1 normal, 2 unknown, 3 control, 4 user defined, 5 unused, 6 byte
  int32_t bos = -1, eos = -1, unknown = -1, padding = -1;
  std::vector<int32_t> eos_ids;          // further end ids, where the file names them
  bool add_bos = false, add_eos = false, add_space_prefix = true;
  std::string chat_template;
  std::string tokenizer_json;            // path of tokenizer.json for Hugging Face folders, else ""
};

/// One tensor of a file, for `doctor`, tests and planners.
struct TensorInfo {
  std::string name, type;
  std::vector<uint64_t> shape;           // slowest dimension first
  uint64_t bytes = 0;
};

struct Inspection {
  ModelInfo model;
  TokenizerData tokenizer;
  std::vector<TensorInfo> tensors;
  uint64_t kv_bytes_per_token = 0;       // growth per token in `fast` precision at long contexts
  std::vector<std::string> warnings;
};

/// Reads headers and metadata only: no weights are touched, time and memory are bounded by the header's own size.
/// Throws Error{file_not_found | bad_file | incomplete_model | unsupported_architecture | unsupported_type}.
Inspection inspect(const std::string& path);

/// The architecture check and tensor list of `inspect`, without the tokenizer (cheap enough for a folder scan).
ModelInfo identify(const std::string& path);

/// What a load with these options takes of the memory, before it is tried. Of the conversation, blocks of `block_tokens` positions are
/// held for each layer group; a window group keeps those that the window still reaches, while `prefill_rows` rows are read.
struct MemoryPlan {
  ModelInfo model;
  std::vector<TensorInfo> tensors;
  uint64_t weight_bytes = 0;             // mapped, not held
  uint64_t scratch_bytes = 0;            // of a full step on the CPU
  uint32_t block_tokens = 0, prefill_rows = 0;
  uint64_t device_scratch_bytes = 0;     // of a full step on a graphics device that has the whole model
  uint64_t row_scratch_bytes = 0;        // of one behind the first in a row of devices
  uint64_t share_scratch_bytes = 0;      // of one with a part of every layer, however small; the rest up to the whole goes by its share
  std::vector<uint32_t> windows;         // of each layer group; 0: everything
  std::vector<uint32_t> layer_groups;    // of each layer: which of the groups it is in
  uint64_t block_bytes_f16 = 0, block_bytes_q8 = 0;
  uint32_t most_shares = 0;              // devices that a layer can be shared out over, at least; 0 or 1: it cannot
};

/// Reads the header, as `inspect`. Throws as it does.
MemoryPlan plan_memory(const EngineOptions& options);

struct DeviceHeap {
  uint64_t bytes = 0, budget = 0, used = 0;  // budget: what this process may use of it; used: by this process
  bool local = false;                    // the device's own
};

struct DeviceOff {
  std::string feature, reason;           // what the device could do and is not used, and why
};

/// What only a graphics device has.
struct Graphics {
  std::string type;                      // "discrete" | "integrated" | "virtual" | "software" | "other"
  std::string uuid, pci;                 // pci: "0000:01:00.0", empty where the driver does not tell
  std::string driver;                    // name and version, as it calls itself
  uint32_t api_major = 0, api_minor = 0;
  bool unified = false;                  // its memory is the machine's
  bool budget_known = false;             // the driver tells what others take; else memory_free is a guess
  std::vector<DeviceHeap> heaps;
  std::vector<DeviceOff> off;
};

struct Device {
  std::string id, name, kind;            // kind: "cpu" | "gpu"; id: "cpu", or one that stays the same across restarts
  uint64_t memory_total = 0, memory_free = 0;
  std::vector<std::string> features;     // in use, e.g. "avx2", "avx512f", "memory_budget"
  uint32_t cores = 0;
  std::optional<Graphics> graphics;
};

struct Devices {
  std::vector<Device> devices;
  std::vector<std::string> notes;        // why something is not in the list
};
/// `kernel_cache`: as in EngineOptions; what self-tests said of kernels is kept there.
Devices devices(const std::string& kernel_cache = {});

/// What a graphics device does at most, measured now: it takes about a second of the device.
struct DeviceRates {
  double bytes_per_second = 0;           // of its memory, read and written together
  double operations_per_second = 0;      // multiply and add count as two; of matrix units where it has them
  std::string units;                     // what was timed: "float32" or "matrix"
};
/// Throws Error{invalid_request} where there is no such device, else out_of_vram or device_lost.
DeviceRates device_rates(const std::string& device);

/// Git describe and build type; part of every answer's receipt.
std::string engine_build();

}  // namespace hearth
