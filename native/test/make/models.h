// Tiny whole models for tests, in both containers: shapes like the real families, values from a counter.
#pragma once

#include <string>

#include "test/make/files.h"

namespace hearth::make {

/// The header of a small llama: one layer, hidden 32, two heads, eight tokens.
inline Gguf llama_keys() {
  Gguf g;
  g.str("general.architecture", "llama").str("general.name", "tiny llama").str("general.license", "apache-2.0");
  g.u32("llama.block_count", 1).u32("llama.context_length", 64).u32("llama.embedding_length", 32);
  g.u32("llama.feed_forward_length", 64).u32("llama.attention.head_count", 2);
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

/// The tensors of llama_keys(), with one KV head per head; tied.
inline Gguf& llama_tensors(Gguf& g) {
  f32_tensor(g, "token_embd.weight", {8, 32});
  f32_tensor(g, "output_norm.weight", {32});
  for (const char* name : {"attn_q", "attn_k", "attn_v", "attn_output"}) {
    f32_tensor(g, std::string("blk.0.") + name + ".weight", {32, 32});
  }
  f32_tensor(g, "blk.0.attn_norm.weight", {32});
  f32_tensor(g, "blk.0.ffn_norm.weight", {32});
  f32_tensor(g, "blk.0.ffn_gate.weight", {64, 32});
  f32_tensor(g, "blk.0.ffn_up.weight", {64, 32});
  return f32_tensor(g, "blk.0.ffn_down.weight", {32, 64});
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

/// gpt-oss with `layers` layers: hidden 64, two heads of 16 on one KV head, four experts of width 32, two used.
inline Gguf gpt_oss_keys(uint32_t layers, const std::string& name = "gpt-oss") {
  Gguf g;
  std::string p = name + ".";
  g.str("general.architecture", name).str("general.name", "tiny gpt-oss");
  g.u32(p + "block_count", layers).u32(p + "context_length", 131072).u32(p + "embedding_length", 64);
  g.u32(p + "attention.head_count", 2).u32(p + "attention.head_count_kv", 1);
  g.u32(p + "attention.key_length", 16).u32(p + "attention.value_length", 16);
  g.f32(p + "attention.layer_norm_rms_epsilon", 1e-5f).u32(p + "attention.sliding_window", 128);
  g.u32(p + "expert_count", 4).u32(p + "expert_used_count", 2).u32(p + "expert_feed_forward_length", 32);
  g.f32(p + "rope.freq_base", 150000.0f).str(p + "rope.scaling.type", "yarn").f32(p + "rope.scaling.factor", 32.0f);
  return g.u32(p + "rope.scaling.original_context_length", 4096);
}

inline Gguf& gpt_oss_tensors(Gguf& g, uint32_t layers) {
  f32_tensor(g, "token_embd.weight", {8, 64});
  f32_tensor(g, "output_norm.weight", {64});
  f32_tensor(g, "output.weight", {8, 64});
  for (uint32_t i = 0; i < layers; ++i) {
    std::string b = "blk." + std::to_string(i) + ".";
    f32_tensor(g, b + "attn_norm.weight", {64});
    f32_tensor(g, b + "attn_q.weight", {32, 64});
    f32_tensor(g, b + "attn_k.weight", {16, 64});
    f32_tensor(g, b + "attn_v.weight", {16, 64});
    f32_tensor(g, b + "attn_q.bias", {32});
    f32_tensor(g, b + "attn_k.bias", {16});
    f32_tensor(g, b + "attn_v.bias", {16});
    f32_tensor(g, b + "attn_output.weight", {64, 32});
    f32_tensor(g, b + "attn_output.bias", {64});
    f32_tensor(g, b + "attn_sinks.weight", {2});
    f32_tensor(g, b + "post_attention_norm.weight", {64});
    f32_tensor(g, b + "ffn_gate_inp.weight", {4, 64});
    f32_tensor(g, b + "ffn_gate_inp.bias", {4});
    g.tensor(b + "ffn_gate_exps.weight", {4, 32, 64}, T_MXFP4, mxfp4(4 * 32 * 2));
    f32_tensor(g, b + "ffn_gate_exps.bias", {4, 32});
    g.tensor(b + "ffn_up_exps.weight", {4, 32, 64}, T_MXFP4, mxfp4(4 * 32 * 2));
    f32_tensor(g, b + "ffn_up_exps.bias", {4, 32});
    g.tensor(b + "ffn_down_exps.weight", {4, 64, 32}, T_MXFP4, mxfp4(4 * 64));
    f32_tensor(g, b + "ffn_down_exps.bias", {4, 64});
  }
  return g;
}

/// config.json of the same gpt-oss in Hugging Face form; `more` goes in front of the closing brace.
inline std::string hf_gpt_oss_config(uint32_t layers, const std::string& more = "") {
  return R"({"model_type":"gpt_oss","architectures":["GptOssForCausalLM"],"hidden_size":64,"num_hidden_layers":)" +
         std::to_string(layers) +
         R"(,"num_attention_heads":2,"num_key_value_heads":1,"head_dim":16,"intermediate_size":32,"num_local_experts":4,)"
         R"("num_experts_per_tok":2,"vocab_size":8,"sliding_window":128,"max_position_embeddings":131072,"rms_norm_eps":1e-05,)"
         R"("rope_theta":150000,"rope_scaling":{"rope_type":"yarn","factor":32.0,"beta_fast":32.0,"beta_slow":1.0,)"
         R"("truncate":false,"original_max_position_embeddings":4096},"tie_word_embeddings":false,"eos_token_id":2)" +
         more + "}";
}

inline Safetensors& hf_attention(Safetensors& s, uint32_t layer, const std::string& type) {
  std::string b = "model.layers." + std::to_string(layer) + ".";
  auto add = [&](const std::string& name, const std::vector<uint64_t>& shape) {
    uint64_t n = 1;
    for (uint64_t size : shape) n *= size;
    s.tensor(b + name, type, shape, values(n, type));
  };
  add("input_layernorm.weight", {64});
  add("self_attn.q_proj.weight", {32, 64});
  add("self_attn.k_proj.weight", {16, 64});
  add("self_attn.v_proj.weight", {16, 64});
  add("self_attn.q_proj.bias", {32});
  add("self_attn.k_proj.bias", {16});
  add("self_attn.v_proj.bias", {16});
  add("self_attn.o_proj.weight", {64, 32});
  add("self_attn.o_proj.bias", {64});
  add("self_attn.sinks", {2});
  add("post_attention_layernorm.weight", {64});
  add("mlp.router.weight", {4, 64});
  add("mlp.router.bias", {4});
  add("mlp.experts.gate_up_proj_bias", {4, 64});
  add("mlp.experts.down_proj_bias", {4, 64});
  return s;
}

/// Experts as MXFP4 planes: gate_up [4, 64 rows, 2 groups, 16] and down [4, 64 rows, 1 group, 16].
inline Safetensors& hf_packed_experts(Safetensors& s, uint32_t layer) {
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
  s.tensor(b + "gate_up_proj_blocks", "U8", {4, 64, 2, 16}, bytes(4 * 64 * 32, 37));
  s.tensor(b + "gate_up_proj_scales", "U8", {4, 64, 2}, scales(4 * 64 * 2));
  s.tensor(b + "down_proj_blocks", "U8", {4, 64, 1, 16}, bytes(4 * 64 * 16, 91));
  return s.tensor(b + "down_proj_scales", "U8", {4, 64, 1}, scales(4 * 64));
}

/// The same unpacked: gate_up_proj [4, 64 in, 64 out], down_proj [4, 32 in, 64 out].
inline Safetensors& hf_plain_experts(Safetensors& s, uint32_t layer, const std::string& type) {
  std::string b = "model.layers." + std::to_string(layer) + ".mlp.experts.";
  s.tensor(b + "gate_up_proj", type, {4, 64, 64}, values(4 * 64 * 64, type));
  return s.tensor(b + "down_proj", type, {4, 32, 64}, values(4 * 32 * 64, type));
}

inline Safetensors& hf_ends(Safetensors& s, const std::string& type) {
  s.tensor("model.embed_tokens.weight", type, {8, 64}, values(8 * 64, type));
  s.tensor("model.norm.weight", type, {64}, values(64, type));
  return s.tensor("lm_head.weight", type, {8, 64}, values(8 * 64, type));
}

}  // namespace hearth::make
