// The engine as the outside sees it: one loaded model that turns token ids into token ids.
// It knows no text, no templates and no HTTP; nobody above this header sees a tensor.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hearth/error.h"

namespace hearth {

using TokenId = int32_t;
using RequestId = uint64_t;

enum class Precision {
  exact,  // float32 activations and KV, weights dequantised tile by tile
  fast,   // int8/f16 activations, f16 KV
};

/// What keys and values are kept in. q8: int8 with one scale for 32 values, about half of f16.
enum class KvType { automatic, f32, f16, q8 };  // automatic: f32 in exact, f16 in fast

/// How several devices, the ranks, share a model.
enum class RankSplit {
  tensor,  // every layer, by heads, columns and vocabulary, in proportion to `share`
  layers,  // whole layers in a row: `layers` of them on each, or in proportion to `share`
  handover,  // two that have all of it: the first reads prompts and hands them over, the second writes
};

struct RankOptions {
  std::string device = "cpu";  // as EngineOptions::device
  uint32_t threads = 0;        // of a processor; 0: the options'
  double share = 1.0;          // of the work, beside the others'
  uint32_t layers = 0;         // RankSplit::layers: so many; 0 on every rank: by share
};

/// A layer whose experts (or MLP) the processor has in the machine's memory, beside the ranks: all of them, or those of a list.
struct ServedExperts {
  uint32_t layer = 0;
  std::optional<std::vector<uint32_t>> experts;
};

struct EngineOptions {
  std::string model_path;        // a .gguf file (any part of a split one), a .safetensors folder, or a file in it
  std::string device = "cpu";    // "cpu", "reference", or the id of a graphics device, as devices() gives it
  std::vector<RankOptions> ranks;  // several devices instead of that one
  RankSplit split = RankSplit::layers;
  std::vector<ServedExperts> served;
  Precision precision = Precision::fast;
  KvType kv_type = KvType::automatic;  // exact keeps f32: another type is refused there
  uint32_t threads = 0;          // 0: every physical core
  uint32_t context = 0;          // tokens a sequence may hold; 0: the model's own, bounded by kv_bytes
  uint64_t kv_bytes = 0;         // upper bound of the KV pool in bytes; 0: a quarter of free memory
  uint32_t prefill_chunk = 512;  // most prompt rows in one step; results do not depend on it
  uint32_t max_sequences = 8;    // most sequences in one step
  uint32_t max_waiting = 256;    // most requests besides those; more are refused with queue_full
  uint32_t stream_gap_ms = 1000; // how long somebody's prompt may hold up the streams of others in a step
  bool prompt_lookup = true;     // speculative decoding from a text's own repetitions, where it pays; exact
  bool yarn_truncate = false;    // round the YaRN correction range as ggml does
  bool prefix_cache = true;      // find the beginnings of prompts again; results do not depend on it
  uint64_t host_cache_bytes = 0; // blocks that leave the pool stay in plain memory up to this; no use on the CPU
  std::string disk_cache_path;   // a folder for blocks that a restart shall find; empty: none
  uint64_t disk_cache_bytes = 0; // bound of that folder
  std::string kernel_cache_path; // a folder for what graphics drivers have compiled; empty: HEARTH_VULKAN_CACHE, else none
};

/// Progress of a load: phase is "open", "weights" or "warmup"; fraction 0..1 over the whole load.
using LoadProgress = std::function<void(const char* phase, double fraction)>;

struct Sampling {
  float temperature = 1.0f;        // 0: the most likely token
  uint32_t top_k = 0;              // 0: off
  float top_p = 1.0f;
  float min_p = 0.0f;
  float repetition_penalty = 1.0f; // divides positive and multiplies negative logits of tokens seen in prompt or output
  float frequency_penalty = 0.0f;  // subtracted per occurrence in the output
  float presence_penalty = 0.0f;   // subtracted once per token seen in the output
  std::vector<std::pair<TokenId, float>> logit_bias;
  uint64_t seed = 0;               // the draw is a function of seed and absolute position alone
  int32_t logprobs = -1;           // -1: none; n: the chosen token's and the n most likely ones' (n <= 20)
};

/// What a request asks for. Tokens are prompt followed by `resume_tokens`, which count as output already given.
struct Request {
  RequestId id = 0;
  std::vector<TokenId> prompt;
  std::vector<TokenId> resume_tokens;
  Sampling sampling;
  uint32_t max_tokens = 0;               // most output tokens, resume_tokens included; 0: until the context is full
  std::vector<TokenId> stop_tokens;      // ends the request with reason `stop`; the stop token itself is emitted
  std::vector<TokenId> banned_tokens;    // never sampled (reserved ids)
  std::optional<uint32_t> pause_at;      // before output token `pause_at` the row waits for guide() (see Guide)
  bool prompt_logprobs = false;          // score the prompt too (legacy completions with echo)
  int32_t priority = 0;                  // higher first
  bool use_cache = true;                 // false: nothing is found in the prefix cache, and nothing kept for others
  std::string cache_scope;               // prompts are found again only within a scope
  std::vector<uint32_t> cut_points;      // prompt lengths, ascending, at which later prompts may go another way
};

/// The host's word on the next output token of a paused request. Exactly one of `forced` and `mask` may be set;
/// with neither, the row is sampled freely. Afterwards the row runs on until output index `pause_at` (none: never).
struct Guide {
  uint32_t index = 0;                    // the output index that the row is paused at; another index is ignored
  std::vector<TokenId> forced;           // emitted as if sampled, in order
  std::vector<uint32_t> mask;            // bit t set: token t is allowed; (vocabulary+31)/32 words
  std::optional<uint32_t> pause_at;
};

struct TokenLogprob {
  TokenId token;
  float logprob;
};

/// Why not more of a prompt was found in the cache.
enum class CacheMiss {
  none,         // all that could be
  too_short,    // less than one block, besides the token that is always computed
  no_entry,     // these tokens have not been seen
  other_scope,  // seen, but in another scope
  window_gone,  // seen, but the windows before this point are no longer there
  evicted,      // seen, and given up for something else
  not_wanted,   // switched off, or every position has to be computed
};
inline constexpr std::array<const char*, 7> cache_miss_names = {"none", "too_short", "no_entry", "other_scope",
                                                                "window_gone", "evicted", "not_wanted"};

enum class FinishReason { none, stop, length, repetition, cancelled, error };

/// One thing that happened to a request. Batched per step.
struct Event {
  enum class Kind { prefill, token, paused, finished };
  RequestId id = 0;
  Kind kind = Kind::token;
  uint32_t index = 0;                    // token, paused: output index; prefill: prompt tokens read so far
  uint32_t total = 0;                    // prefill: prompt tokens in all; finished: output tokens
  uint32_t cached = 0;                   // prefill, finished: prompt tokens found in the cache
  CacheMiss cache_miss = CacheMiss::none;  // prefill, finished: why not more
  std::chrono::steady_clock::time_point at{};  // when its step ended: a host that looks late still knows
  TokenId token = -1;
  bool forced = false;
  std::optional<float> logprob;
  std::vector<TokenLogprob> top;
  FinishReason reason = FinishReason::none;
  std::optional<ErrorCode> error;
  std::string message;
  std::string device;                    // finished: the device whose failure ended it, else empty
  // prompt_logprobs: for prompt token i >= 1 its logprob and alternatives, in order, on the last prefill event
  std::vector<TokenLogprob> prompt_logprobs;
  std::vector<std::vector<TokenLogprob>> prompt_top;
};

struct EngineStats {
  uint64_t weight_bytes = 0;             // mapped or held
  uint64_t kv_bytes_used = 0, kv_bytes_total = 0;
  uint64_t scratch_bytes = 0;
  uint64_t device_bytes = 0;             // taken of a graphics device's memory, weights and KV included
  uint64_t spilled_bytes = 0;            // of those, what the driver has moved to the machine's memory
  // Used: in the tables of running sequences. Cached: in nobody's use, can be found again or taken. Free: the rest.
  uint32_t blocks_used = 0, blocks_cached = 0, blocks_free = 0;
  uint64_t blocks_fetched = 0, blocks_stored = 0;            // from the tiers below the pool, and down to them
  uint64_t host_cache_bytes = 0, disk_cache_bytes = 0;       // held there
  uint64_t cached_tokens = 0;            // prompt tokens that were found in the cache; not part of prompt_tokens
  std::array<uint64_t, cache_miss_names.size()> cache_misses{};  // requests by why not more was found, by CacheMiss
  uint32_t running = 0, waiting = 0;
  uint64_t prompt_tokens = 0, output_tokens = 0, requests = 0;
  uint64_t drafted = 0, accepted = 0;    // speculative rows computed, and those that became tokens
  uint64_t logits_bytes = 0;             // of logits, or the best of them, read from the device
  uint64_t preemptions = 0;              // times that a request gave its KV up and was computed again
  double prefill_tps = 0, decode_tps = 0;  // of the last seconds in which there was such work; 0 before
};

/// How often experts were chosen since the load, in layers whose choice reaches the host: those that a processor chooses for, or has
/// experts of.
struct ExpertUses {
  uint32_t layers = 0, experts = 0;      // no experts: the model has none
  std::vector<uint64_t> uses;            // [layers][experts]
  std::vector<uint64_t> rows;            // [layers]: for so many rows experts were chosen
};

struct ModelInfo {
  std::string path, model_id;            // model_id: model/identity.h
  std::string architecture, name, license;
  uint64_t parameters = 0, file_bytes = 0;
  std::string quantization;              // the type that holds most bytes, e.g. "MXFP4"
  uint32_t layers = 0, hidden = 0, vocabulary = 0, context = 0, experts = 0, experts_used = 0;
};

class Engine {
 public:
  /// Maps the model and starts the engine thread. Throws Error. `cancel` may be set by another thread.
  static std::unique_ptr<Engine> load(const EngineOptions& options, const LoadProgress& progress,
                                      const std::atomic<bool>* cancel = nullptr);
  virtual ~Engine() = default;

  virtual const ModelInfo& model() const = 0;
  /// Tokens that one sequence may hold here (prompt and output together).
  virtual uint32_t context() const = 0;
  /// "cpu/avx512", "cpu/avx2", "cpu/scalar", "reference": the kernels in use.
  virtual std::string kernels() const = 0;
  /// A sentence for each kernel that failed its self-test on this device and was replaced by a safer one.
  virtual std::vector<std::string> notes() const = 0;

  /// Queues a request. Throws Error{context_length_exceeded | invalid_request | queue_full} before any work.
  virtual void submit(Request request) = 0;
  virtual void guide(RequestId id, Guide guide) = 0;
  /// Takes effect within one step; a `finished` event with reason `cancelled` follows. Unknown ids are ignored.
  virtual void cancel(RequestId id) = 0;

  /// Calls back on the engine thread, at most once until the events have been taken with drain().
  virtual void on_events(std::function<void()> wake) = 0;
  virtual std::vector<Event> drain() = 0;

  /// The KV pool may hold so many bytes from now on, at most what it was loaded with. Cached blocks are given up and
  /// their memory returned at once; requests that run keep theirs, and are preempted when they need more.
  virtual void set_kv_grant(uint64_t bytes) = 0;

  /// Logits [vocabulary] after the last of `tokens`, float32, computed synchronously on an otherwise idle engine.
  virtual std::vector<float> logits(const std::vector<TokenId>& tokens) = 0;
  /// All rows: [tokens.size() * vocabulary].
  virtual std::vector<float> all_logits(const std::vector<TokenId>& tokens) = 0;
  virtual EngineStats stats() const = 0;
  virtual ExpertUses expert_uses() const = 0;

  /// Ends every request as cancelled, makes logits() under way throw Error{cancelled}, and joins the engine thread
  /// (<= 300 ms). May be called twice; submit() throws afterwards. The destructor does it too.
  virtual void stop() = 0;
};

}  // namespace hearth
