// From the logits of one row to one token: penalties, bias, bans and mask, temperature, top-k, top-p, min-p, draw.
// A pure function of its arguments: randomness comes from (seed, position), so replay and resume give the same token.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "hearth/engine.h"

namespace hearth {

/// What the penalties know of a sequence: for each token seen, how often it is in the output.
class SeenTokens {
 public:
  void add_prompt(TokenId token) { output_count_.try_emplace(token, 0); }
  void add_output(TokenId token) { ++output_count_[token]; }
  const std::unordered_map<TokenId, uint32_t>& output_counts() const { return output_count_; }

 private:
  std::unordered_map<TokenId, uint32_t> output_count_;  // 0: in the prompt only
};

struct SampleInput {
  const float* logits = nullptr;  // [vocabulary], raw
  uint32_t vocabulary = 0;
  const Sampling* sampling = nullptr;
  const SeenTokens* seen = nullptr;             // may be null where no penalty is set
  const std::vector<TokenId>* banned = nullptr; // may be null
  const std::vector<uint32_t>* mask = nullptr;  // bit set: allowed; null or empty: all
  uint64_t position = 0;                        // absolute position of the token to be drawn
};

struct Sampled {
  TokenId token = -1;
  std::optional<float> logprob;   // with sampling->logprobs >= 0, from the softmax of the raw logits
  std::vector<TokenLogprob> top;  // the n most likely, descending
};

/// Memory that is reused from row to row.
struct SamplerScratch {
  std::vector<float> values;         // [vocabulary], adjusted logits
  std::vector<float> all_weights;    // [vocabulary], relative to the most likely one's 1
  std::vector<uint32_t> candidates;  // token ids, where a filter is set
  std::vector<float> weights;        // of candidates, unnormalised
};

/// Throws Error{numeric_error} when a logit is NaN or infinite, Error{invalid_request} when mask and bans leave nothing.
Sampled sample(const SampleInput& input, SamplerScratch& scratch);

/// The logprob of `token` and of the `n` most likely tokens, from the softmax of raw logits. Throws as sample().
Sampled score(const float* logits, uint32_t vocabulary, TokenId token, uint32_t n);

/// Throws Error{invalid_request} naming the parameter that is out of range.
void validate(const Sampling& sampling, uint32_t vocabulary);

}  // namespace hearth
