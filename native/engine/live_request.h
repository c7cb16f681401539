// What a request has become since it was submitted: its tokens, its KV, what it waits for, and which events follow
// from a new token. It draws no token and runs no step.
#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <optional>
#include <vector>

#include "cache/prefix_cache.h"
#include "engine/loop_detector.h"
#include "engine/prompt_lookup.h"
#include "engine/sampler.h"
#include "engine/scheduler.h"
#include "engine/token_chain.h"
#include "hearth/engine.h"

namespace hearth {

/// An event together with the submission that it belongs to (ids may be used again after a request has ended).
struct SerialEvent {
  uint64_t serial = 0;
  Event event;
};

class LiveRequest {
 public:
  /// `serial` counts submissions. Takes the resume tokens as output already given; `start()` tells what follows.
  LiveRequest(Request request, uint64_t serial, uint32_t context, const std::vector<GroupReach>& groups, TokenChain chain);

  RequestId id() const { return request.id; }
  uint32_t outputs() const { return static_cast<uint32_t>(tokens.size()) - prompt_size; }
  bool ended() const { return reason_ != FinishReason::none; }
  bool paused() const { return paused_; }
  /// Most draft tokens that could follow now: none across a pause, the end, or before the first token.
  uint32_t draft_room() const;
  /// Keeps the logits of the last token's row until the host's word comes.
  void hold(const float* logits, uint32_t vocabulary) { held.assign(logits, logits + vocabulary); }
  /// The word has come, and the logits are here.
  bool can_draw() const { return !ended() && !paused_ && !held.empty(); }
  ScheduledRequest scheduled() const;

  /// The events of the very beginning: paused, or finished when the resume tokens already ended it.
  void start(std::vector<SerialEvent>& events);
  /// The host's word. Ignored unless the request is paused at that index.
  void guide(const Guide& guide, std::vector<SerialEvent>& events);
  /// `rows` more positions are committed: prefill progress.
  void progressed(std::vector<SerialEvent>& events);
  /// Whether its next rows of logits are looked at as a whole, whatever is best of them.
  bool wants_whole_rows() const;
  bool scores_prompt_at(uint32_t position) const { return scores_prompt() && position == prompt_scored_; }
  /// Scores prompt token `position + 1` with the logits of the row at `position`, where that is asked for.
  void score_prompt(uint32_t position, const float* logits, uint32_t vocabulary);
  /// The sampled token that follows all tokens so far.
  void take(const Sampled& sampled, std::vector<SerialEvent>& events);
  void finish(FinishReason reason, std::vector<SerialEvent>& events);
  void fail(ErrorCode code, const std::string& message, std::vector<SerialEvent>& events);
  void fail(const std::exception& thrown, std::vector<SerialEvent>& events);

  const uint64_t serial;
  const std::chrono::steady_clock::time_point since = std::chrono::steady_clock::now();
  const Request request;
  const uint32_t prompt_size;
  std::vector<TokenId> tokens;      // prompt, then output
  std::vector<uint32_t> mask;       // of the next output token; empty: none
  SeenTokens seen;
  PromptLookup lookup;
  std::vector<TokenId> drafts;      // of the step under way
  std::vector<float> held;          // logits of the last token's row; empty: not computed, or not waited for
  SequenceKv kv;
  bool running = false;             // holds a place in the scheduler's sense

  // What the prefix cache is asked with, and what it found.
  /// Names of the full blocks of all tokens; none where the request does not want the cache.
  const BlockKeys& keys();
  /// Most blocks that may come from the cache: rows whose logits are needed are computed.
  uint32_t most_cached() const { return scheduled().logits_from / block_size_; }
  const std::vector<uint32_t>& cuts() const { return cuts_; }
  /// It begins with this hit; counted only the first time, not after a preemption. True: that was now.
  bool begin_with(const CacheHit& hit, CacheMiss miss);
  TokenChain chain;
  bool fetching = false;            // waits for blocks from the tiers below the pool
  uint32_t noted = 0;               // blocks noted for storing
  CacheHit hit;                     // while it waits: as of `hit_version`
  uint64_t hit_version = 0;
  uint32_t cached = 0;              // prompt tokens that came from the cache
  CacheMiss cache_miss = CacheMiss::none;

 private:
  Event event(Event::Kind kind) const;
  void append(TokenId token, bool forced, const Sampled* sampled, std::vector<SerialEvent>& events);
  void pause_if_due(std::vector<SerialEvent>& events);
  FinishReason verdict(TokenId token, bool loops) const;
  bool scores_prompt() const { return request.prompt_logprobs && prompt_scored_ + 1 < prompt_size; }

  void place_cuts();

  const uint32_t context_, block_size_;
  std::vector<uint32_t> cuts_;      // in blocks, ascending
  bool begun_ = false;
  LoopDetector loops_;
  std::optional<uint32_t> pause_at_;
  bool paused_ = false;
  FinishReason reason_ = FinishReason::none;
  uint32_t prefill_reported_ = 0;
  uint32_t prompt_scored_ = 0;      // also after a preemption: nothing is scored twice
  std::vector<TokenLogprob> prompt_logprobs_;
  std::vector<std::vector<TokenLogprob>> prompt_top_;
};

}  // namespace hearth
