// The engine thread's loop: take mail, plan, run, sample, emit (see design.md). It owns the live requests and the KV pool.
// It decides nothing that the scheduler, the sampler or LiveRequest could decide.
#pragma once

#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "cache/block_mover.h"
#include "cache/block_pool.h"
#include "cache/prefix_cache.h"
#include "engine/cost_model.h"
#include "engine/live_request.h"
#include "engine/mailbox.h"
#include "engine/rate_meter.h"
#include "engine/sampler.h"
#include "engine/scheduler.h"
#include "engine/step_runner.h"

namespace hearth {

struct LoopOptions {
  SchedulerLimits limits;
  uint32_t context = 0, vocabulary = 0;
  uint32_t blocks = 0, slab = 0;  // of the KV pool
  uint64_t block_bytes = 0;
  uint32_t held_rows = 64;          // most rows whose logits are kept until a mask comes
  ModelCost cost;
  bool prefix_cache = true;
  bool cache_answers = true;        // false: a prompt would be read to other bytes than an answer was written to
  std::string cache_salt;           // what the bytes of a block depend on besides its tokens
  TierOptions tiers;
};

class StepLoop {
 public:
  StepLoop(const LoopOptions& options, StepDevice& device, StepRunner& runner, Mailbox& mailbox);

  /// Runs until the mailbox says stop.
  void run();
  /// One step over one row that nobody asked for: touches what a first request would have to wait for.
  void warm_up(const std::atomic<bool>* abandon);
  EngineStats stats() const;

 private:
  using Live = std::unordered_map<uint64_t, LiveRequest>;

  void take(Mail mail);
  bool step();
  SchedulerLimits limits_now() const;
  SchedulerState state();
  void propose_drafts(SchedulerState& state) const;
  StepWork work_of(const std::vector<PlannedRows>& rows) const;
  void fetch_cached();
  void note_stored(LiveRequest& live);
  void commit(LiveRequest& live);
  const CacheHit& look_up(LiveRequest& live);
  void begin_cached(LiveRequest& live);
  void let_go(LiveRequest& live);
  void preempt(LiveRequest& live);
  void run_rows(const std::vector<PlannedRows>& rows);
  std::optional<double> compute(const std::vector<PlannedRows>& rows);
  bool has_to_fetch(LiveRequest& live);
  void absorb(const std::vector<PlannedRows>& rows);
  void read_outputs(LiveRequest& live, const PlannedRows& rows, uint32_t first_output, std::vector<SerialEvent>& events,
                    SamplerScratch& scratch) const;
  void draw(LiveRequest& live, uint32_t row, std::vector<SerialEvent>& events, SamplerScratch& scratch) const;
  SampleInput input_of(const LiveRequest& live) const;
  void draw_held(LiveRequest& live);
  void settle_drafts(LiveRequest& live, const PlannedRows& rows);
  void measure(const std::vector<PlannedRows>& rows, double seconds);
  void fail_all(const std::string& why);
  void sweep();
  void publish();

  std::vector<float> answer(const LogitsJob& job);
  void compute_logits(const LogitsJob& job, SequenceKv& kv, std::vector<float>& out);

  LiveRequest& live(RequestId serial) { return live_.at(serial); }
  const LiveRequest& live(RequestId serial) const { return live_.at(serial); }

  const LoopOptions options_;
  StepDevice& device_;
  StepRunner& runner_;
  Mailbox& mailbox_;
  BlockPool pool_;
  PrefixCache cache_;
  BlockMover mover_;
  Live live_;  // by serial; the scheduler's ids are serials
  std::vector<SerialEvent> events_;
  std::vector<SamplerScratch> scratch_;  // by thread
  CostModel cost_;

  mutable std::mutex stats_mutex_;
  EngineStats stats_;
  RateMeter prefill_rate_, decode_rate_;
};

}  // namespace hearth
