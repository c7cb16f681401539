// Implements the decision: greedy, since each further row of a sequence is worth less than the one before.
#include "engine/draft_plan.h"

#include <algorithm>
#include <cmath>

namespace hearth {
namespace {

constexpr double margin = 1.05;  // predictions err: what gains less is left alone

}  // namespace

void plan_drafts(const CostModel& cost, const StepWork& decodes, uint32_t most_rows, std::vector<DraftCandidate>& candidates) {
  for (DraftCandidate& each : candidates) each.drafts = 0;
  if (decodes.rows == 0 || cost.predict(decodes) <= 0.0) return;
  StepWork work = decodes;
  double tokens = decodes.rows, seconds = cost.predict(work);
  const double plain = seconds > 0.0 ? tokens / seconds : 0.0;
  // The first rows may gain nothing and the later ones much (a step that reads nearly all experts reads few more):
  // go on while rows are likely, remember the best.
  std::vector<uint32_t> best(candidates.size(), 0);
  double best_rate = plain * margin;
  for (uint32_t row = 0; row < most_rows; ++row) {
    size_t next = candidates.size();
    double gain = 0.0;
    for (size_t i = 0; i < candidates.size(); ++i) {
      const DraftCandidate& c = candidates[i];
      const double likely = c.drafts < c.available ? std::pow(c.acceptance, c.drafts + 1) : 0.0;
      if (likely > gain) gain = likely, next = i;
    }
    if (gain < 0.1) break;
    DraftCandidate& c = candidates[next];
    work.attended += cost.model().attended(c.position + c.drafts, 1);
    ++c.drafts, ++work.rows, ++work.outputs;
    tokens += gain;
    seconds = cost.predict(work);
    if (tokens <= best_rate * seconds) continue;
    best_rate = tokens / seconds;
    for (size_t i = 0; i < candidates.size(); ++i) best[i] = candidates[i].drafts;
  }
  for (size_t i = 0; i < candidates.size(); ++i) candidates[i].drafts = best[i];
}

}  // namespace hearth
