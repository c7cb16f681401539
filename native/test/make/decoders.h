// Tiny whole GGUF models of the families that gguf_decoder.cpp reads: the tensors that each must have, values from a counter.
#pragma once

#include <string>

#include "test/make/models.h"

namespace hearth::make {

struct DecoderSize {
  uint32_t layers = 1, hidden = 32, inner = 64, heads = 2, head_dim = 8, experts = 4, used = 2;
};

inline Gguf decoder_keys(const std::string& architecture, const DecoderSize& size = {}) {
  Gguf g;
  const std::string p = architecture + ".";
  g.str("general.architecture", architecture).str("general.name", "tiny " + architecture);
  g.u32(p + "block_count", size.layers).u32(p + "context_length", 4096).u32(p + "embedding_length", size.hidden);
  g.u32(p + "attention.head_count", size.heads).u32(p + "attention.head_count_kv", 1);
  g.u32(p + "attention.key_length", size.head_dim).u32(p + "attention.value_length", size.head_dim);
  g.f32(p + "attention.layer_norm_rms_epsilon", 1e-6f);
  if (architecture != "qwen3moe") return g.u32(p + "feed_forward_length", size.inner);
  g.u32(p + "expert_count", size.experts).u32(p + "expert_used_count", size.used);
  return g.u32(p + "expert_feed_forward_length", size.inner);
}

inline Gguf& decoder_tensors(Gguf& g, const std::string& architecture, const DecoderSize& size = {}) {
  const uint32_t hidden = size.hidden, inner = size.inner, q = size.heads * size.head_dim, kv = size.head_dim;
  const bool gemma = architecture == "gemma3", phi = architecture == "phi3", moe = architecture == "qwen3moe";
  f32_tensor(g, "token_embd.weight", {8, hidden});
  f32_tensor(g, "output_norm.weight", {hidden});
  for (uint32_t i = 0; i < size.layers; ++i) {
    const std::string b = "blk." + std::to_string(i) + ".";
    for (const char* norm : {"attn_norm.weight", "ffn_norm.weight"}) f32_tensor(g, b + norm, {hidden});
    if (gemma) {
      for (const char* norm : {"post_attention_norm.weight", "post_ffw_norm.weight"}) f32_tensor(g, b + norm, {hidden});
    }
    if (gemma || architecture.starts_with("qwen3")) {
      for (const char* norm : {"attn_q_norm.weight", "attn_k_norm.weight"}) f32_tensor(g, b + norm, {size.head_dim});
    }
    if (phi) {
      f32_tensor(g, b + "attn_qkv.weight", {q + 2 * kv, hidden});
    } else {
      f32_tensor(g, b + "attn_q.weight", {q, hidden});
      f32_tensor(g, b + "attn_k.weight", {kv, hidden});
      f32_tensor(g, b + "attn_v.weight", {kv, hidden});
    }
    f32_tensor(g, b + "attn_output.weight", {hidden, q});
    if (moe) {
      f32_tensor(g, b + "ffn_gate_inp.weight", {size.experts, hidden});
      f32_tensor(g, b + "ffn_gate_exps.weight", {size.experts, inner, hidden});
      f32_tensor(g, b + "ffn_up_exps.weight", {size.experts, inner, hidden});
      f32_tensor(g, b + "ffn_down_exps.weight", {size.experts, hidden, inner});
      continue;
    }
    if (!phi) f32_tensor(g, b + "ffn_gate.weight", {inner, hidden});
    f32_tensor(g, b + "ffn_up.weight", {phi ? 2 * inner : inner, hidden});
    f32_tensor(g, b + "ffn_down.weight", {hidden, inner});
  }
  return g;
}

}  // namespace hearth::make
