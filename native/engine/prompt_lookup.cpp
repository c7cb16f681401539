// Implements the lookup: one backward scan when a guess was wrong, none while guesses are right.
#include "engine/prompt_lookup.h"

namespace hearth {

uint32_t find_continuation(const std::vector<TokenId>& tokens, uint32_t least_match) {
  constexpr uint32_t enough = 16;  // a longer match says no more
  const auto size = static_cast<uint32_t>(tokens.size());
  if (size < least_match + 1) return 0;
  const TokenId last = tokens.back();
  uint32_t best = 0, best_length = least_match - 1;
  for (uint32_t end = size - 1; end >= least_match && best_length < enough; --end) {
    if (tokens[end - 1] != last) continue;
    uint32_t length = 1;
    while (length < enough && length < end && tokens[end - 1 - length] == tokens[size - 1 - length]) ++length;
    if (length <= best_length) continue;
    best = end;
    best_length = length;
  }
  return best;
}

void PromptLookup::observe(const std::vector<TokenId>& tokens) {
  bool right = false;
  if (source_ > 0 && source_ + 1 < tokens.size()) {
    right = tokens[source_] == tokens.back();
    hits_ = hits_ * memory + (right ? 1.0 : 0.0);
    trials_ = trials_ * memory + 1.0;
  }
  source_ = right ? source_ + 1 : find_continuation(tokens, least_match);
}

std::vector<TokenId> PromptLookup::propose(const std::vector<TokenId>& tokens, uint32_t count) const {
  std::vector<TokenId> guesses;
  if (source_ == 0) return guesses;
  // Behind the text's end its repetition goes on with what was just proposed.
  for (uint32_t i = 0; i < count; ++i) {
    const size_t at = size_t(source_) + i;
    guesses.push_back(at < tokens.size() ? tokens[at] : guesses[at - tokens.size()]);
  }
  return guesses;
}

}  // namespace hearth
