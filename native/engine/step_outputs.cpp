// The second half of a step: from computed rows to committed KV, tokens and events. Part of StepLoop; see step_loop.h.
// Requests are read side by side on the backend's idle threads; what they share is touched before and after.
#include <algorithm>
#include <iterator>
#include <utility>

#include "engine/shortlist_sampler.h"
#include "engine/step_loop.h"
#include "hearth/error.h"

namespace hearth {

/// The rows were computed: commit them, then read what their logits say, on all threads.
void StepLoop::absorb(const std::vector<PlannedRows>& rows) {
  std::vector<LiveRequest*> lives;
  std::vector<uint32_t> first_output(1, 0);
  for (const PlannedRows& each : rows) {
    lives.push_back(&live(each.id));
    first_output.push_back(first_output.back() + each.outputs);
    if (each.drafts == 0) commit(*lives.back());
  }
  std::vector<std::vector<SerialEvent>> events(rows.size());
  device_.for_each(static_cast<uint32_t>(rows.size()), [&](uint32_t thread, uint32_t i) {
    try {
      read_outputs(*lives[i], rows[i], first_output[i], events[i], scratch_[thread]);
    } catch (const std::exception& thrown) {
      lives[i]->fail(thrown, events[i]);
    }
  });
  for (size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].drafts > 0) settle_drafts(*lives[i], rows[i]);
    std::move(events[i].begin(), events[i].end(), std::back_inserter(events_));
  }
}

/// Scores the prompt, draws the next token, and those after it for as long as they are what was guessed.
void StepLoop::read_outputs(LiveRequest& live, const PlannedRows& rows, uint32_t first_output,
                            std::vector<SerialEvent>& events, SamplerScratch& scratch) const {
  const uint32_t end = rows.first + rows.rows;
  const auto row = [&](uint32_t position) { return first_output + position - (end - rows.outputs); };
  for (uint32_t p = end - rows.outputs; p < end - rows.drafts; ++p) {
    if (live.scores_prompt_at(p)) live.score_prompt(p, runner_.logits(row(p)), options_.vocabulary);
  }
  live.progressed(events);
  uint32_t p = end - rows.drafts - 1;
  if (rows.outputs == 0 || p + 1 != live.tokens.size()) return;
  if (live.paused()) return live.hold(runner_.logits(row(p)), options_.vocabulary);
  draw(live, row(p), events, scratch);
  for (uint32_t i = 0; i < rows.drafts && !live.ended() && !live.paused() && live.tokens.back() == live.drafts[i]; ++i) {
    draw(live, row(++p), events, scratch);
  }
}

/// By the best of a row where they prove what the whole row would give, else by the whole row.
void StepLoop::draw(LiveRequest& live, uint32_t row, std::vector<SerialEvent>& events, SamplerScratch& scratch) const {
  SampleInput input = input_of(live);
  const Shortlist* best = runner_.shortlist(row);
  if (const auto sampled = best ? sample_shortlist(*best, input, scratch) : std::nullopt) return live.take(*sampled, events);
  input.logits = runner_.logits(row);
  live.take(sample(input, scratch), events);
}

SampleInput StepLoop::input_of(const LiveRequest& live) const {
  SampleInput input;
  input.vocabulary = options_.vocabulary;
  input.sampling = &live.request.sampling;
  input.seen = &live.seen;
  input.banned = &live.request.banned_tokens;
  input.mask = &live.mask;
  input.position = live.tokens.size();
  return input;
}

/// The mask of a row that was computed earlier has come.
void StepLoop::draw_held(LiveRequest& live) {
  const std::vector<float> logits = std::exchange(live.held, {});
  try {
    SampleInput input = input_of(live);
    input.logits = logits.data();
    live.take(sample(input, scratch_[0]), events_);
  } catch (const Error& error) {
    live.fail(error, events_);
  }
}

/// The blocks that are full now can be found again, and are worth storing.
void StepLoop::commit(LiveRequest& live) {
  cache_.commit(live.kv, live.keys(), live.cuts());
  note_stored(live);
}

/// Rows behind the first wrong guess did not happen.
void StepLoop::settle_drafts(LiveRequest& live, const PlannedRows& rows) {
  const auto drawn = static_cast<uint32_t>(live.tokens.size()) - rows.first - 1;
  live.kv.keep(pool_, std::max(drawn, 1u));
  commit(live);
  std::lock_guard lock(stats_mutex_);
  stats_.drafted += rows.drafts;
  stats_.accepted += drawn > 0 ? drawn - 1 : 0;
  decode_rate_.add(0.0, drawn > 0 ? drawn - 1 : 0);
}

}  // namespace hearth
