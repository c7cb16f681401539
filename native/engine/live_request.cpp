// Implements the life of a request between submission and its finished event.
#include "engine/live_request.h"

#include <algorithm>
#include <utility>

#include "engine/shortlist_sampler.h"
#include "hearth/device_error.h"

namespace hearth {
namespace {

constexpr uint32_t cut_every = 4096;  // tokens: a history that is edited anywhere is read again from here at worst

}  // namespace

LiveRequest::LiveRequest(Request submitted, uint64_t serial, uint32_t context, const std::vector<GroupReach>& groups,
                         TokenChain chain)
    : serial(serial), request(std::move(submitted)), prompt_size(static_cast<uint32_t>(request.prompt.size())),
      tokens(request.prompt), kv(groups), chain(std::move(chain)), context_(context), block_size_(groups[0].block_size),
      pause_at_(request.pause_at) {
  for (TokenId token : request.prompt) seen.add_prompt(token);
  place_cuts();
}

/// A cut inside a block counts as one at the block's start.
void LiveRequest::place_cuts() {
  for (uint32_t at : request.cut_points) {
    if (at <= prompt_size) cuts_.push_back(at / block_size_);
  }
  cuts_.push_back(prompt_size / block_size_);
  for (uint32_t at = cut_every; at < context_; at += cut_every) cuts_.push_back(at / block_size_);
  std::sort(cuts_.begin(), cuts_.end());
  cuts_.erase(std::unique(cuts_.begin(), cuts_.end()), cuts_.end());
}

const BlockKeys& LiveRequest::keys() { return request.use_cache ? chain.extend(tokens) : chain.keys(); }

bool LiveRequest::begin_with(const CacheHit& found, CacheMiss miss) {
  if (found.matched > found.blocks) {  // a place where texts part, without a window kept before it: keep one this time
    cuts_.insert(std::lower_bound(cuts_.begin(), cuts_.end(), found.matched), found.matched);
  }
  if (begun_) return false;
  begun_ = true;
  cached = std::min(found.blocks * block_size_, prompt_size);
  cache_miss = miss;
  return true;
}

void LiveRequest::start(std::vector<SerialEvent>& events) {
  for (TokenId token : request.resume_tokens) {
    tokens.push_back(token);
    seen.add_output(token);
    loops_.add(token);  // a loop that was let through before is judged again at the next sampled token
    const FinishReason reason = verdict(token, false);
    if (reason != FinishReason::none) return finish(reason, events);
  }
  pause_if_due(events);
}

ScheduledRequest LiveRequest::scheduled() const {
  ScheduledRequest r;
  r.id = request.id;
  r.priority = request.priority;
  r.arrival = serial;
  r.tokens = static_cast<uint32_t>(tokens.size());
  r.committed = kv.committed();
  r.logits_from = scores_prompt() ? prompt_scored_ : r.tokens - 1;
  r.age = std::chrono::duration<double>(std::chrono::steady_clock::now() - since).count();
  r.running = running;
  r.paused = paused_;
  return r;
}

uint32_t LiveRequest::draft_room() const {
  if (ended() || paused_ || outputs() == 0 || !lookup.has_guess()) return 0;
  const auto below = [](uint64_t bound, uint64_t value) { return static_cast<uint32_t>(bound > value + 1 ? bound - value - 1 : 0); };
  uint32_t room = below(context_, tokens.size());
  if (pause_at_) room = std::min(room, below(*pause_at_, outputs()));
  if (request.max_tokens > 0) room = std::min(room, below(request.max_tokens, outputs()));
  return room;
}

bool LiveRequest::wants_whole_rows() const {
  return paused_ || !mask.empty() || scores_prompt() || wants_whole_row(request.sampling, most_top);
}

Event LiveRequest::event(Event::Kind kind) const {
  Event e;
  e.id = request.id;
  e.kind = kind;
  return e;
}

void LiveRequest::guide(const Guide& guide, std::vector<SerialEvent>& events) {
  if (ended() || !paused_ || guide.index != outputs()) return;
  paused_ = false;
  pause_at_ = guide.pause_at;
  mask = guide.mask;
  for (TokenId token : guide.forced) {
    append(token, true, nullptr, events);
    if (ended()) return;
  }
  if (!guide.forced.empty()) pause_if_due(events);  // without, the token of this index comes first
}

void LiveRequest::progressed(std::vector<SerialEvent>& events) {
  const uint32_t read = std::min(kv.committed(), prompt_size);
  if (read <= prefill_reported_) return;
  prefill_reported_ = read;
  Event e = event(Event::Kind::prefill);
  e.index = read;
  e.total = prompt_size;
  e.cached = cached;
  e.cache_miss = cache_miss;
  if (read == prompt_size) {
    e.prompt_logprobs = std::move(prompt_logprobs_);
    e.prompt_top = std::move(prompt_top_);
  }
  events.push_back({serial, std::move(e)});
}

void LiveRequest::score_prompt(uint32_t position, const float* logits, uint32_t vocabulary) {
  if (!scores_prompt_at(position)) return;
  const TokenId token = tokens[position + 1];
  Sampled scored = score(logits, vocabulary, token, static_cast<uint32_t>(std::max(request.sampling.logprobs, 0)));
  prompt_logprobs_.push_back({token, *scored.logprob});
  prompt_top_.push_back(std::move(scored.top));
  ++prompt_scored_;
}

void LiveRequest::take(const Sampled& sampled, std::vector<SerialEvent>& events) {
  mask.clear();
  append(sampled.token, false, &sampled, events);
  if (!ended()) pause_if_due(events);
}

void LiveRequest::append(TokenId token, bool forced, const Sampled* sampled, std::vector<SerialEvent>& events) {
  Event e = event(Event::Kind::token);
  e.index = outputs();
  e.token = token;
  e.forced = forced;
  if (sampled) {
    e.logprob = sampled->logprob;
    e.top = sampled->top;
  }
  events.push_back({serial, std::move(e)});
  tokens.push_back(token);
  std::vector<float>().swap(held);  // its memory too: how many are held is bounded
  seen.add_output(token);
  lookup.observe(tokens);
  const bool loops = loops_.add(token);
  const FinishReason reason = verdict(token, loops && !forced);
  if (reason != FinishReason::none) finish(reason, events);
}

FinishReason LiveRequest::verdict(TokenId token, bool loops) const {
  const auto& stops = request.stop_tokens;
  if (std::find(stops.begin(), stops.end(), token) != stops.end()) return FinishReason::stop;
  if (request.max_tokens > 0 && outputs() >= request.max_tokens) return FinishReason::length;
  if (tokens.size() >= context_) return FinishReason::length;
  return loops ? FinishReason::repetition : FinishReason::none;
}

void LiveRequest::pause_if_due(std::vector<SerialEvent>& events) {
  if (!pause_at_ || outputs() < *pause_at_) return;
  paused_ = true;
  Event e = event(Event::Kind::paused);
  e.index = outputs();
  events.push_back({serial, std::move(e)});
}

void LiveRequest::finish(FinishReason reason, std::vector<SerialEvent>& events) {
  if (ended()) return;
  reason_ = reason;
  Event e = event(Event::Kind::finished);
  e.reason = reason;
  e.total = outputs();
  e.cached = cached;
  e.cache_miss = cache_miss;
  events.push_back({serial, std::move(e)});
}

void LiveRequest::fail(ErrorCode code, const std::string& message, std::vector<SerialEvent>& events) {
  if (ended()) return;
  finish(FinishReason::error, events);
  events.back().event.error = code;
  events.back().event.message = message;
}

void LiveRequest::fail(const std::exception& thrown, std::vector<SerialEvent>& events) {
  if (ended()) return;
  const auto* error = dynamic_cast<const Error*>(&thrown);
  fail(error ? error->code : ErrorCode::internal, thrown.what(), events);
  events.back().event.device = failed_device(thrown);
}

}  // namespace hearth
