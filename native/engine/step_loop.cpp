// Implements the engine thread's loop. A step is a transaction: only what ran to its end is committed.
#include "engine/step_loop.h"

#include <algorithm>
#include <new>
#include <utility>

#include "engine/draft_plan.h"
#include "hearth/error.h"

namespace hearth {
namespace {

constexpr const char* no_room = "There is not enough memory for the keys and values of this request.";
constexpr auto moving_limit = std::chrono::milliseconds(30);  // of blocks up or down, between two steps
constexpr auto flush_limit = std::chrono::milliseconds(120);  // for the disk, when the engine stops

}  // namespace

StepLoop::StepLoop(const LoopOptions& options, StepDevice& device, StepRunner& runner, Mailbox& mailbox)
    : options_(options), device_(device), runner_(runner), mailbox_(mailbox),
      pool_(options.blocks, options.slab, [this](uint32_t blocks) {
        try {
          device_.resize_kv(blocks);
          return true;
        } catch (const Error&) {
          return false;  // the pool stays as it is; requests wait, or end when nobody can make room
        } catch (const std::bad_alloc&) {
          return false;
        }
      }),
      cache_(pool_, options.limits.groups),
      mover_(options.tiers, pool_, cache_, [this](uint32_t block, std::byte* out) { device_.read_kv_block(block, out); },
             [this](uint32_t block, const std::byte* in) { device_.write_kv_block(block, in); }, [this] { mailbox_.nudge(); }),
      scratch_(device.threads()), cost_(options.cost) {}

void StepLoop::run() {
  bool idle = true;
  while (auto mail = mailbox_.take(idle)) {
    try {
      take(std::move(*mail));
      idle = !step();
    } catch (const std::exception& error) {
      fail_all(error.what());  // out of memory outside a step, or a bug: the requests end, the thread does not
      idle = live_.empty();
    }
  }
  try {
    for (auto& [serial, live] : live_) let_go(live);
    mover_.flush(std::chrono::steady_clock::now() + flush_limit);
  } catch (const std::exception&) {
    // What is not stored is a miss later.
  }
}

void StepLoop::fail_all(const std::string& why) {
  try {
    for (auto& [serial, live] : live_) live.fail(ErrorCode::internal, why, events_);
    publish();  // first of all: who waits is told
    mailbox_.fail_taken(why);  // whose mail was lost on the way
    sweep();
  } catch (const std::exception&) {
    // Still short of memory: the next turn of the loop sweeps and publishes what is left.
  }
}

void StepLoop::take(Mail mail) {
  if (mail.kv_grant && options_.block_bytes > 0) {
    pool_.set_limit(static_cast<uint32_t>(std::min<uint64_t>(*mail.kv_grant / options_.block_bytes, options_.blocks)));
  }
  for (uint64_t serial : mail.cancelled) {
    const auto found = live_.find(serial);
    if (found == live_.end()) continue;
    let_go(found->second);
    live_.erase(found);
  }
  for (auto& [serial, request] : mail.requests) {
    const size_t kept = options_.cache_answers ? SIZE_MAX : request.prompt.size();
    TokenChain chain(options_.cache_salt, request.cache_scope, options_.limits.groups[0].block_size, kept);
    request.use_cache = request.use_cache && options_.prefix_cache;
    auto& live = live_.try_emplace(serial, std::move(request), serial, options_.context, options_.limits.groups, std::move(chain))
                     .first->second;
    live.start(events_);
    live.fetching = has_to_fetch(live);
    if (peak_blocks(options_.limits, static_cast<uint32_t>(live.tokens.size())) > pool_.limit()) {
      live.fail(ErrorCode::out_of_ram, no_room, events_);
    }
  }
  for (auto& [serial, guide] : mail.guides) {
    const auto found = live_.find(serial);
    if (found == live_.end()) continue;
    found->second.guide(guide, events_);
    if (found->second.can_draw()) draw_held(found->second);
  }
  sweep();
  publish();
  for (auto& job : mail.jobs) {
    try {
      job->result.set_value(answer(*job));
    } catch (...) {
      job->result.set_exception(std::current_exception());
    }
  }
}

/// False: there is nothing that could be computed now.
bool StepLoop::step() {
  const bool stored = mover_.store(std::chrono::steady_clock::now() + moving_limit);
  if (live_.empty()) return stored;
  fetch_cached();
  const StepPlan plan = plan_step(limits_now(), cost_, state());
  for (RequestId serial : plan.preempted) preempt(live(serial));
  for (RequestId serial : plan.stuck) {
    if (live(serial).outputs() > 0) live(serial).finish(FinishReason::length, events_);  // it outgrew what there is
    else live(serial).fail(ErrorCode::out_of_ram, no_room, events_);
  }
  for (const PlannedRows& each : plan.rows) begin_cached(live(each.id));  // before a step can take what they found
  if (!plan.rows.empty()) run_rows(plan.rows);
  sweep();
  publish();
  const bool fetching = std::any_of(live_.begin(), live_.end(), [](const auto& each) { return each.second.fetching; });
  return !plan.rows.empty() || !plan.stuck.empty() || !plan.preempted.empty() || fetching || stored;
}

/// Until prompts were measured, a first one is read in pieces of ordinary size: a guess of their time would be far off.
SchedulerLimits StepLoop::limits_now() const {
  SchedulerLimits limits = options_.limits;
  if (!cost_.knows({limits.prefill_rows + limits.max_sequences, 0, 0.0})) {
    limits.prefill_rows = std::min(limits.prefill_rows, 512u);
    limits.progress = 1e9;
  }
  return limits;
}

SchedulerState StepLoop::state() {
  SchedulerState state;
  state.blocks_available = pool_.available();
  for (auto& [serial, live] : live_) {
    if (live.fetching) continue;  // admitted when what it waits for is in the pool
    ScheduledRequest request = live.scheduled();
    request.id = serial;
    if (live.running) {
      request.shared = live.kv.shared(pool_);
    } else {
      const CacheHit& hit = look_up(live);
      for (const GroupReach& g : options_.limits.groups) request.shared += g.held(hit.blocks * g.block_size);
      request.shared -= hit.parked;
      request.committed = hit.blocks * options_.limits.groups[0].block_size;
    }
    state.requests.push_back(request);
  }
  // The row of a paused request is computed with the others and its logits are kept, for as many as may be kept.
  auto held = static_cast<uint32_t>(std::count_if(live_.begin(), live_.end(), [](const auto& each) { return !each.second.held.empty(); }));
  for (ScheduledRequest& each : state.requests) {
    if (each.paused && live(each.id).held.empty() && held < options_.held_rows) each.paused = false, ++held;
    else if (each.paused && !live(each.id).held.empty()) each.paused = false;
  }
  propose_drafts(state);
  return state;
}

/// How many guesses each stream would like to try, where that pays.
void StepLoop::propose_drafts(SchedulerState& state) const {
  if (options_.limits.draft_rows == 0) return;
  StepWork decodes;
  std::vector<DraftCandidate> candidates;
  std::vector<ScheduledRequest*> of;
  for (ScheduledRequest& each : state.requests) {
    if (!each.running || each.committed + 1 != each.tokens) continue;
    ++decodes.rows, ++decodes.outputs;
    decodes.attended += options_.cost.attended(each.committed, 1);
    const uint32_t room = live(each.id).draft_room();
    if (room == 0) continue;
    candidates.push_back({live(each.id).lookup.acceptance(), room, each.tokens, 0});
    of.push_back(&each);
  }
  plan_drafts(cost_, decodes, options_.limits.draft_rows, candidates);
  for (size_t i = 0; i < of.size(); ++i) of[i]->drafts = candidates[i].drafts;
}

bool StepLoop::has_to_fetch(LiveRequest& live) {
  return live.request.use_cache && mover_.enabled() && mover_.pending(live.keys(), live.most_cached());
}

/// Brings blocks up for the waiting requests in a portion that running streams do not notice. As of a step the next in turn gets
/// three quarters of it, and the shortest of the others comes next: a note does not wait for a book.
void StepLoop::fetch_cached() {
  if (!mover_.enabled()) return;
  std::vector<LiveRequest*> waiting;
  for (auto& [serial, live] : live_) {
    if (live.fetching) waiting.push_back(&live);
  }
  std::sort(waiting.begin(), waiting.end(), [](const LiveRequest* a, const LiveRequest* b) {
    return a->request.priority != b->request.priority ? a->request.priority > b->request.priority : a->serial < b->serial;
  });
  if (waiting.size() > 1) {
    const auto shortest = std::min_element(waiting.begin() + 1, waiting.end(), [](const LiveRequest* a, const LiveRequest* b) {
      return a->most_cached() < b->most_cached();
    });
    std::iter_swap(waiting.begin() + 1, shortest);
  }
  const auto begin = std::chrono::steady_clock::now();
  for (size_t i = 0; i < waiting.size(); ++i) {
    LiveRequest& live = *waiting[i];
    const bool shares = i == 0 && waiting.size() > 1;
    live.fetching = !mover_.fetch(live.keys(), live.most_cached(), begin + (shares ? moving_limit * 3 / 4 : moving_limit));
    if (live.fetching && !shares) return;
  }
}

/// What the last step completed is worth storing.
void StepLoop::note_stored(LiveRequest& live) {
  const BlockKeys& keys = live.keys();
  const uint32_t full = cache_.full_blocks(live.kv, keys);
  if (full < options_.tiers.least_blocks || full <= live.noted) return;
  mover_.note(keys, live.noted, full, live.cuts(), live.chain.scope_name());
  live.noted = full;
}

/// What a waiting request would begin with now.
const CacheHit& StepLoop::look_up(LiveRequest& live) {
  if (live.hit_version != cache_.version()) {
    live.hit = cache_.find(live.keys(), live.most_cached());
    live.hit_version = cache_.version();
  }
  return live.hit;
}

/// A request that the plan admits takes what the plan counted on.
void StepLoop::begin_cached(LiveRequest& live) {
  if (live.running) return;
  const CacheHit hit = live.hit;
  const BlockKeys& keys = live.keys();
  if (hit.blocks > 0) cache_.adopt(live.kv, keys, hit.blocks);
  live.running = true;
  CacheMiss miss = live.request.use_cache ? hit.miss : CacheMiss::not_wanted;
  if (!keys.empty()) {
    const BlockKey anywhere = live.chain.first_without_scope(live.tokens);
    if (miss == CacheMiss::no_entry && hit.blocks == 0 && cache_.other_scope_has(anywhere, keys[0])) miss = CacheMiss::other_scope;
    cache_.note_first(anywhere, keys[0]);
  }
  if (!live.begin_with(hit, miss)) return;
  std::lock_guard lock(stats_mutex_);
  stats_.cached_tokens += live.cached;
  ++stats_.cache_misses[static_cast<size_t>(live.cache_miss)];
}

/// Its blocks are nobody's, and can be found again.
void StepLoop::let_go(LiveRequest& live) {
  const BlockKeys& keys = live.keys();
  mover_.note_end(keys, cache_.full_blocks(live.kv, keys), live.chain.scope_name());
  cache_.release(live.kv, keys);
}

void StepLoop::preempt(LiveRequest& live) {
  if (!live.running) return;  // given a place and displaced in the same plan
  let_go(live);
  live.running = false;
  live.fetching = has_to_fetch(live);
  std::lock_guard lock(stats_mutex_);
  ++stats_.preemptions;
}

/// Runs the rows together; where that fails, one by one, so that only the request at fault ends.
/// What follows from their results is not repeated.
void StepLoop::run_rows(const std::vector<PlannedRows>& rows) {
  std::optional<double> seconds;
  try {
    seconds = compute(rows);
  } catch (const std::exception& exception) {
    if (rows.size() > 1) {
      for (const PlannedRows& each : rows) run_rows({each});
      return;
    }
    return live(rows[0].id).fail(exception, events_);
  }
  if (!seconds) return;
  absorb(rows);
  measure(rows, *seconds);
}

/// Seconds that the rows took; nothing: they were given up, and all is as before.
std::optional<double> StepLoop::compute(const std::vector<PlannedRows>& rows) {
  std::vector<StepRows> step;
  std::vector<uint64_t> serials;
  const auto roll_back = [&] {
    for (const PlannedRows& each : rows) live(each.id).kv.roll_back(pool_);
  };
  for (const PlannedRows& each : rows) {
    LiveRequest& request = live(each.id);
    if (!request.kv.begin(pool_, each.rows)) {
      // Growing the pool was refused after the plan was made; the next plan knows.
      roll_back();
      return std::nullopt;
    }
    request.running = true;
    request.drafts = request.lookup.propose(request.tokens, each.drafts);
    step.push_back({&request.tokens, &request.kv, each.first, each.rows, each.outputs, &request.drafts, request.prompt_size,
                    request.wants_whole_rows()});
    serials.push_back(each.id);
  }
  const auto begin = std::chrono::steady_clock::now();
  try {
    if (!mailbox_.begin_step(serials) || !runner_.run(step, mailbox_.abandon())) {
      roll_back();
      return std::nullopt;
    }
  } catch (...) {
    roll_back();
    throw;
  }
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

StepWork StepLoop::work_of(const std::vector<PlannedRows>& rows) const {
  StepWork work;
  for (const PlannedRows& each : rows) {
    work.rows += each.rows;
    work.outputs += each.outputs;
    work.attended += options_.cost.attended(each.first, each.rows);
  }
  return work;
}

void StepLoop::measure(const std::vector<PlannedRows>& rows, double seconds) {
  cost_.observe(work_of(rows), seconds);
  uint64_t prompt_rows = 0, tokens = 0;
  for (const PlannedRows& each : rows) {
    if (each.rows - each.drafts > 1 || each.first < live(each.id).prompt_size) prompt_rows += each.rows;
    else ++tokens;
  }
  std::lock_guard lock(stats_mutex_);
  if (prompt_rows > 0) prefill_rate_.add(seconds, prompt_rows);
  if (tokens > 0) decode_rate_.add(seconds, tokens);
  stats_.prompt_tokens += prompt_rows;
}

/// Ended requests give everything back.
void StepLoop::sweep() {
  for (auto each = live_.begin(); each != live_.end();) {
    if (each->second.ended()) {
      let_go(each->second);
      each = live_.erase(each);
    } else {
      ++each;
    }
  }
  pool_.trim();
}

void StepLoop::publish() {
  {
    std::lock_guard lock(stats_mutex_);
    for (const SerialEvent& each : events_) {
      stats_.output_tokens += each.event.kind == Event::Kind::token ? 1 : 0;
      stats_.requests += each.event.kind == Event::Kind::finished ? 1 : 0;
    }
    stats_.running = stats_.waiting = 0;
    for (const auto& [serial, live] : live_) ++(live.running ? stats_.running : stats_.waiting);
    stats_.blocks_used = pool_.used();
    stats_.blocks_cached = pool_.parked();
    stats_.blocks_free = pool_.available() - std::min(pool_.available(), pool_.parked());
    stats_.kv_bytes_used = uint64_t(pool_.used()) * options_.block_bytes;
    stats_.kv_bytes_total = uint64_t(pool_.size()) * options_.block_bytes;
    stats_.blocks_fetched = mover_.fetched();
    stats_.blocks_stored = mover_.stored();
    stats_.host_cache_bytes = mover_.host_bytes();
    stats_.disk_cache_bytes = mover_.disk_bytes();
    stats_.scratch_bytes = device_.scratch_bytes();
    stats_.device_bytes = device_.device_bytes();
    stats_.logits_bytes = runner_.bytes_read();
    stats_.prefill_tps = prefill_rate_.per_second();
    stats_.decode_tps = decode_rate_.per_second();
  }
  mailbox_.publish(std::exchange(events_, {}));
}

EngineStats StepLoop::stats() const {
  std::lock_guard lock(stats_mutex_);
  return stats_;
}

std::vector<float> StepLoop::answer(const LogitsJob& job) {
  SequenceKv kv(options_.limits.groups);
  std::vector<float> out;
  try {
    compute_logits(job, kv, out);
  } catch (...) {
    kv.roll_back(pool_);
    kv.release(pool_);
    throw;
  }
  kv.release(pool_);
  return out;
}

void StepLoop::compute_logits(const LogitsJob& job, SequenceKv& kv, std::vector<float>& out) {
  const auto total = static_cast<uint32_t>(job.tokens.size());
  const uint32_t chunk = job.all_rows ? std::min(options_.limits.prefill_rows, options_.limits.output_rows)
                                      : options_.limits.prefill_rows;
  while (kv.committed() < total) {
    const uint32_t first = kv.committed(), rows = std::min(chunk, total - first);
    const uint32_t outputs = job.all_rows ? rows : (first + rows == total ? 1 : 0);
    if (!kv.begin(pool_, rows)) throw Error(ErrorCode::out_of_ram, "The engine is busy: no room for these tokens.");
    if (!mailbox_.begin_step({}) || !runner_.run({{&job.tokens, &kv, first, rows, outputs}}, mailbox_.abandon())) {
      throw Error(ErrorCode::cancelled, "The model has been unloaded.");
    }
    kv.commit(pool_);
    if (outputs > 0) out.insert(out.end(), runner_.logits(0), runner_.logits(outputs));
  }
}

void StepLoop::warm_up(const std::atomic<bool>* abandon) {
  const std::vector<TokenId> tokens{0};
  SequenceKv kv(options_.limits.groups);
  if (!kv.begin(pool_, 1)) throw Error(ErrorCode::out_of_ram, "There is no memory for keys and values.", options_.block_bytes, 0);
  StepRows row{&tokens, &kv, 0, 1, 1};
  row.whole = false;
  runner_.run({row}, abandon);
  kv.roll_back(pool_);
  publish();
}

}  // namespace hearth
