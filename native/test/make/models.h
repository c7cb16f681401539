// Tiny whole models for tests, in both containers: shapes like the real families, values from a counter.
#pragma once

#include <string>

#include "test/make/files.h"

namespace hearth::make {

/// A llama with one layer, as many KV heads as heads, eight tokens.
struct LlamaSize {
  uint32_t hidden = 32, inner = 64, heads = 2;
};

inline Gguf llama_keys(const LlamaSize& size = {}) {
  Gguf g;
  g.str("general.architecture", "llama").str("general.name", "tiny llama").str("general.license", "apache-2.0");
  g.u32("llama.block_count", 1).u32("llama.context_length", 64).u32("llama.embedding_length", size.hidden);
  g.u32("llama.feed_forward_length", size.inner).u32("llama.attention.head_count", size.heads);
  g.f32("llama.attention.layer_norm_rms_epsilon", 1e-5f).str("tokenizer.ggml.model", "llama");
  g.strs("tokenizer.ggml.tokens", {"<unk>", "<s>", "</s>", "a", "b", "c", "d", "e"});
  g.array<float>("tokenizer.ggml.scores", F32, std::vector<float>(8, 0.0f));
  g.array<int32_t>("tokenizer.ggml.token_type", I32, {2, 3, 3, 1, 1, 1, 1, 1});
  return g.u32("tokenizer.ggml.bos_token_id", 1).u32("tokenizer.ggml.eos_token_id", 2);
}

inline Gguf& f32_tensor(Gguf& g, const std::string& name, const std::vector<uint64_t>& shape) {
  uint64_t n = 1;
  for (uint64_t size : shape) n *= size;
  return g.tensor(name, shape, T_F32, values(n, "F32"));
}

/// The tensors of llama_keys(); tied.
inline Gguf& llama_tensors(Gguf& g, const LlamaSize& size = {}) {
  f32_tensor(g, "token_embd.weight", {8, size.hidden});
  f32_tensor(g, "output_norm.weight", {size.hidden});
  for (const char* name : {"attn_q", "attn_k", "attn_v", "attn_output"}) {
    f32_tensor(g, std::string("blk.0.") + name + ".weight", {size.hidden, size.hidden});
  }
  f32_tensor(g, "blk.0.attn_norm.weight", {size.hidden});
  f32_tensor(g, "blk.0.ffn_norm.weight", {size.hidden});
  f32_tensor(g, "blk.0.ffn_gate.weight", {size.inner, size.hidden});
  f32_tensor(g, "blk.0.ffn_up.weight", {size.inner, size.hidden});
  return f32_tensor(g, "blk.0.ffn_down.weight", {size.hidden, size.inner});
}

/// `count` MXFP4 blocks of ggml, scale 1, nibbles from a counter.
inline std::string mxfp4(uint64_t count) {
  std::string out;
  for (uint64_t i = 0; i < count; ++i) {
    out += char(127);
    for (uint64_t j = 0; j < 16; ++j) out += char((i * 7 + j * 13) & 255);
  }
  return out;
}

/// A gpt-oss with one KV head and eight tokens. hidden and inner are multiples of 32.
struct GptOssSize {
  uint32_t layers = 1, hidden = 64, inner = 32, heads = 2, head_dim = 16, experts = 4, used = 2;
};

inline Gguf gpt_oss_keys(const GptOssSize& size, const std::string& name = "gpt-oss") {
  Gguf g;
  std::string p = name + ".";
  g.str("general.architecture", name).str("general.name", "tiny gpt-oss");
  g.u32(p + "block_count", size.layers).u32(p + "context_length", 131072).u32(p + "embedding_length", size.hidden);
  g.u32(p + "attention.head_count", size.heads).u32(p + "attention.head_count_kv", 1);
  g.u32(p + "attention.key_length", size.head_dim).u32(p + "attention.value_length", size.head_dim);
  g.f32(p + "attention.layer_norm_rms_epsilon", 1e-5f).u32(p + "attention.sliding_window", 128);
  g.u32(p + "expert_count", size.experts).u32(p + "expert_used_count", size.used);
  g.u32(p + "expert_feed_forward_length", size.inner);
  g.f32(p + "rope.freq_base", 150000.0f).str(p + "rope.scaling.type", "yarn").f32(p + "rope.scaling.factor", 32.0f);
  return g.u32(p + "rope.scaling.original_context_length", 4096);
}

inline Gguf& gpt_oss_tensors(Gguf& g, const GptOssSize& size) {
  const uint32_t hidden = size.hidden, inner = size.inner, experts = size.experts, q = size.heads * size.head_dim;
  f32_tensor(g, "token_embd.weight", {8, hidden});
  f32_tensor(g, "output_norm.weight", {hidden});
  f32_tensor(g, "output.weight", {8, hidden});
  for (uint32_t i = 0; i < size.layers; ++i) {
    std::string b = "blk." + std::to_string(i) + ".";
    f32_tensor(g, b + "attn_norm.weight", {hidden});
    f32_tensor(g, b + "attn_q.weight", {q, hidden});
    f32_tensor(g, b + "attn_k.weight", {size.head_dim, hidden});
    f32_tensor(g, b + "attn_v.weight", {size.head_dim, hidden});
    f32_tensor(g, b + "attn_q.bias", {q});
    f32_tensor(g, b + "attn_k.bias", {size.head_dim});
    f32_tensor(g, b + "attn_v.bias", {size.head_dim});
    f32_tensor(g, b + "attn_output.weight", {hidden, q});
    f32_tensor(g, b + "attn_output.bias", {hidden});
    f32_tensor(g, b + "attn_sinks.weight", {size.heads});
    f32_tensor(g, b + "post_attention_norm.weight", {hidden});
    f32_tensor(g, b + "ffn_gate_inp.weight", {experts, hidden});
    f32_tensor(g, b + "ffn_gate_inp.bias", {experts});
    g.tensor(b + "ffn_gate_exps.weight", {experts, inner, hidden}, T_MXFP4, mxfp4(experts * inner * hidden / 32));
    f32_tensor(g, b + "ffn_gate_exps.bias", {experts, inner});
    g.tensor(b + "ffn_up_exps.weight", {experts, inner, hidden}, T_MXFP4, mxfp4(experts * inner * hidden / 32));
    f32_tensor(g, b + "ffn_up_exps.bias", {experts, inner});
    g.tensor(b + "ffn_down_exps.weight", {experts, hidden, inner}, T_MXFP4, mxfp4(experts * hidden * inner / 32));
    f32_tensor(g, b + "ffn_down_exps.bias", {experts, hidden});
  }
  return g;
}

/// config.json of such a gpt-oss in Hugging Face form; `more` goes in front of the closing brace.
inline std::string hf_gpt_oss_config(const GptOssSize& size, const std::string& more = "") {
  auto key = [](const char* name, uint32_t value) { return std::string(",\"") + name + "\":" + std::to_string(value); };
  return R"({"model_type":"gpt_oss","architectures":["GptOssForCausalLM"])" + key("hidden_size", size.hidden) +
         key("num_hidden_layers", size.layers) + key("num_attention_heads", size.heads) +
         key("num_key_value_heads", 1) + key("head_dim", size.head_dim) + key("intermediate_size", size.inner) +
         key("num_local_experts", size.experts) + key("num_experts_per_tok", size.used) +
         R"(,"vocab_size":8,"sliding_window":128,"max_position_embeddings":131072,"rms_norm_eps":1e-05,)"
         R"("rope_theta":150000,"rope_scaling":{"rope_type":"yarn","factor":32.0,"beta_fast":32.0,"beta_slow":1.0,)"
         R"("truncate":false,"original_max_position_embeddings":4096},"tie_word_embeddings":false,"eos_token_id":2)" +
         more + "}";
}

/// Everything of one layer but its experts' matrices.
inline Safetensors& hf_attention(Safetensors& s, uint32_t layer, const std::string& type, const GptOssSize& size = {}) {
  std::string b = "model.layers." + std::to_string(layer) + ".";
  const uint32_t hidden = size.hidden, q = size.heads * size.head_dim, kv = size.head_dim;
  auto add = [&](const std::string& name, const std::vector<uint64_t>& shape) {
    uint64_t n = 1;
    for (uint64_t each : shape) n *= each;
    s.tensor(b + name, type, shape, values(n, type));
  };
  add("input_layernorm.weight", {hidden});
  add("self_attn.q_proj.weight", {q, hidden});
  add("self_attn.k_proj.weight", {kv, hidden});
  add("self_attn.v_proj.weight", {kv, hidden});
  add("self_attn.q_proj.bias", {q});
  add("self_attn.k_proj.bias", {kv});
  add("self_attn.v_proj.bias", {kv});
  add("self_attn.o_proj.weight", {hidden, q});
  add("self_attn.o_proj.bias", {hidden});
  add("self_attn.sinks", {size.heads});
  add("post_attention_layernorm.weight", {hidden});
  add("mlp.router.weight", {size.experts, hidden});
  add("mlp.router.bias", {size.experts});
  add("mlp.experts.gate_up_proj_bias", {size.experts, 2 * size.inner});
  add("mlp.experts.down_proj_bias", {size.experts, hidden});
  return s;
}

/// Experts as MXFP4 planes: gate_up [experts, 2*inner rows, hidden/32, 16] and down [experts, hidden rows, inner/32,
/// 16].
inline Safetensors& hf_packed_experts(Safetensors& s, uint32_t layer, const GptOssSize& size = {}) {
  std::string b = "model.layers." + std::to_string(layer) + ".mlp.experts.";
  auto bytes = [](uint64_t n, uint64_t step) {
    std::string out;
    for (uint64_t i = 0; i < n; ++i) out += char((i * step) & 255);
    return out;
  };
  auto scales = [](uint64_t n) {
    std::string out;
    for (uint64_t i = 0; i < n; ++i) out += char(120 + i % 9);
    return out;
  };
  const uint64_t experts = size.experts, rows = 2 * size.inner, hidden = size.hidden, groups = hidden / 32;
  s.tensor(b + "gate_up_proj_blocks", "U8", {experts, rows, groups, 16}, bytes(experts * rows * groups * 16, 37));
  s.tensor(b + "gate_up_proj_scales", "U8", {experts, rows, groups}, scales(experts * rows * groups));
  s.tensor(b + "down_proj_blocks", "U8", {experts, hidden, size.inner / 32, 16},
           bytes(experts * hidden * size.inner / 2, 91));
  return s.tensor(b + "down_proj_scales", "U8", {experts, hidden, size.inner / 32},
                  scales(experts * hidden * size.inner / 32));
}

/// The same unpacked: gate_up_proj [experts, hidden, 2*inner], down_proj [experts, inner, hidden].
inline Safetensors& hf_plain_experts(Safetensors& s, uint32_t layer, const std::string& type,
                                     const GptOssSize& size = {}) {
  std::string b = "model.layers." + std::to_string(layer) + ".mlp.experts.";
  const uint64_t experts = size.experts, inner = size.inner, hidden = size.hidden;
  s.tensor(b + "gate_up_proj", type, {experts, hidden, 2 * inner}, values(experts * hidden * 2 * inner, type));
  return s.tensor(b + "down_proj", type, {experts, inner, hidden}, values(experts * inner * hidden, type));
}

inline Safetensors& hf_ends(Safetensors& s, const std::string& type, const GptOssSize& size = {}) {
  s.tensor("model.embed_tokens.weight", type, {8, size.hidden}, values(8 * size.hidden, type));
  s.tensor("model.norm.weight", type, {size.hidden}, values(size.hidden, type));
  return s.tensor("lm_head.weight", type, {8, size.hidden}, values(8 * size.hidden, type));
}

}  // namespace hearth::make
