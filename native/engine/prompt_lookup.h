// Guesses how a text goes on from what it said before: where its last tokens occurred, what followed there is proposed.
// It also watches how often such guesses are right, whether or not anybody acts on them. It computes and draws nothing.
#pragma once

#include <cstdint>
#include <vector>

#include "hearth/engine.h"

namespace hearth {

class PromptLookup {
 public:
  static constexpr uint32_t least_match = 3;  // tokens that must have occurred together before

  /// Takes the tokens so far, of which the last is new, and judges the guess that was there for it.
  void observe(const std::vector<TokenId>& tokens);
  /// `count` tokens that may follow `tokens`, which were observed last; none where nothing was found.
  std::vector<TokenId> propose(const std::vector<TokenId>& tokens, uint32_t count) const;
  bool has_guess() const { return source_ > 0; }
  /// How likely it is that the next guess is right, from the guesses so far; near zero until there were some.
  double acceptance() const { return hits_ / (trials_ + doubt); }

 private:
  static constexpr double memory = 0.96, doubt = 4.0;

  uint32_t source_ = 0;  // position of the guess for the next token; 0: none
  double hits_ = 0.0, trials_ = 0.0;
};

/// Where the longest match of the last tokens is followed by something: that position, the latest of equals; 0: nowhere.
uint32_t find_continuation(const std::vector<TokenId>& tokens, uint32_t least_match);

}  // namespace hearth
