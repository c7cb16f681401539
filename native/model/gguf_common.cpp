// Shared parts of the GGUF readers; see gguf_common.h. Key names: the public GGUF specification.
#include "model/gguf_common.h"

#include <algorithm>

#include "model/families.h"
#include "model/words.h"

namespace hearth {

namespace {

/// head_count_kv is a number, or an array with one number per layer; layers that differ are not known here.
uint64_t read_kv_heads(const GgufMeta& meta, const std::string& key, uint64_t heads) {
  if (!meta.has(key)) return heads;
  if (!meta.is_array(key)) return meta.need_integer(key, 1, heads);
  std::vector<int64_t> each = *meta.integers(key);
  if (each.empty() || each[0] < 1 || static_cast<uint64_t>(each[0]) > heads) {
    fail(ErrorCode::bad_file, meta.file(), ": key ", key, " must hold numbers from 1 to ", heads);
  }
  if (std::any_of(each.begin(), each.end(), [&](int64_t n) { return n != each[0]; })) {
    fail(ErrorCode::unsupported_architecture, meta.file(), ": layers with different numbers of KV heads (", key,
         ") are not supported");
  }
  return static_cast<uint64_t>(each[0]);
}

void check_vocabulary(const GgufMeta& meta, const std::string& prefix, uint64_t rows) {
  std::string key = prefix + "vocab_size";
  auto stated = meta.integer(key, 1, bounds::vocabulary);
  if (stated && *stated != rows) {
    fail(ErrorCode::bad_file, meta.file(), ": key ", key, " is ", *stated, ", but token_embd.weight has ", rows,
         " rows");
  }
  if (meta.array_size("tokenizer.ggml.tokens") > rows) {
    fail(ErrorCode::bad_file, meta.file(), ": tokenizer.ggml.tokens has ", meta.array_size("tokenizer.ggml.tokens"),
         " tokens, but token_embd.weight has only ", rows, " rows");
  }
}

constexpr const char* long_factors = "rope_factors_long.weight";

/// One divisor of a frequency per pair; empty where the file has no such tensor (or weights are not read).
std::vector<float> read_divisors(Binder& binder, const char* name, const RopeSpec& rope) {
  Vector divisors = binder.vector_if(name, {rope.dims / 2});
  for (float divisor : divisors) {
    if (!(divisor >= 1e-6f && divisor <= 1e9f)) {
      fail(ErrorCode::bad_file, binder.model(), ": tensor ", name, " holds ", divisor, ", no divisor of a frequency");
    }
  }
  return divisors;
}

/// LongRoPE: two sets of divisors, and one factor on cos and sin for both.
void read_longrope(const GgufMeta& meta, const std::string& prefix, Binder& binder, const ModelSpec& spec, RopeSpec& rope) {
  const std::string key = prefix + "rope.scaling.original_context_length";
  rope.short_context = static_cast<uint32_t>(meta.need_integer(key, 2, bounds::context));
  rope.frequency_divisors = read_divisors(binder, "rope_factors_short.weight", rope);
  rope.long_divisors = read_divisors(binder, long_factors, rope);
  if (rope.attention_factor == 0.0) rope.attention_factor = longrope_attention(spec.context, rope.short_context);
}

void read_yarn(const GgufMeta& meta, const std::string& prefix, double factor, bool truncate, RopeSpec& rope) {
  rope.yarn = true;
  rope.yarn_factor = factor;
  rope.yarn_beta_fast = meta.real(prefix + "rope.scaling.yarn_beta_fast", 1e-3, 1e6).value_or(32.0);
  rope.yarn_beta_slow = meta.real(prefix + "rope.scaling.yarn_beta_slow", 1e-3, 1e6).value_or(1.0);
  rope.yarn_original_context =
      static_cast<uint32_t>(meta.need_integer(prefix + "rope.scaling.original_context_length", 1, bounds::context));
  rope.yarn_truncate = truncate;
}

/// The scaling that keys tell of. With LongRoPE's tensors there is none beside them.
void read_scaling(const GgufMeta& meta, const std::string& prefix, const Binder& binder, bool truncate,
                  const char* unnamed, RopeSpec& rope) {
  auto factor = meta.real(prefix + "rope.scaling.factor", 0.0, bounds::factor);
  auto linear = meta.real(prefix + "rope.scale_linear", 0.0, bounds::factor);  // files before scaling.type
  double scale = factor.value_or(linear.value_or(1.0));
  if (scale <= 0.0) scale = 1.0;  // 0 stands for "none" in old files
  std::string type = meta.text(prefix + "rope.scaling.type")
                         .value_or(scale == 1.0 ? "none"
                                   : linear     ? "linear"
                                                : unnamed);
  const bool longrope = binder.has(long_factors);
  if (type == "linear" && !longrope) {
    rope.linear_factor = scale;
  } else if (type == "yarn" && !longrope) {
    read_yarn(meta, prefix, scale, truncate, rope);
  } else if (type != "none" && !(type == "longrope" && longrope)) {
    fail(ErrorCode::unsupported_architecture, meta.file(), ": rope scaling of type ", shown(type), " is not supported",
         longrope ? " together with rope_factors_long" : "");
  }
  auto attention = meta.real(prefix + "rope.scaling.attn_factor", 0.0, 1e6).value_or(1.0);
  if (longrope) rope.attention_factor = meta.has(prefix + "rope.scaling.attn_factor") ? attention : 0.0;
  for (const char* key : {"rope.scaling.attn_factor", "rope.scaling.yarn_attn_factor", "rope.scaling.yarn_ext_factor"}) {
    auto value = meta.real(prefix + key, -1e6, 1e6);
    const bool understood = longrope && key == std::string_view("rope.scaling.attn_factor");
    if (value && *value != 1.0 && *value != -1.0 && !understood) {
      fail(ErrorCode::unsupported_architecture, meta.file(), ": key ", prefix, key, " = ", *value, " is not supported");
    }
  }
}

}  // namespace

uint32_t read_gguf_base(const GgufMeta& meta, const std::string& prefix, Binder& binder, ModelSpec& spec) {
  spec.name = meta.text("general.name").value_or("");
  spec.license = meta.text("general.license").value_or("");
  uint64_t layers = meta.need_integer(prefix + "block_count", 1, bounds::layers);
  spec.context = static_cast<uint32_t>(meta.need_integer(prefix + "context_length", 1, bounds::context));
  spec.hidden = static_cast<uint32_t>(meta.need_integer(prefix + "embedding_length", 1, bounds::hidden));
  spec.heads = static_cast<uint32_t>(meta.need_integer(prefix + "attention.head_count", 1, bounds::heads));
  spec.kv_heads = static_cast<uint32_t>(read_kv_heads(meta, prefix + "attention.head_count_kv", spec.heads));
  if (spec.heads % spec.kv_heads != 0) {
    fail(ErrorCode::bad_file, meta.file(), ": ", spec.heads, " attention heads cannot share ", spec.kv_heads,
         " KV heads");
  }
  spec.norm_eps = meta.need_real(prefix + "attention.layer_norm_rms_epsilon", 0.0, 1.0);
  const Tensor& embedding = binder.tensor("token_embd.weight");
  uint64_t rows = embedding.shape.size() == 2 ? embedding.shape[0] : 0;
  if (rows < 1 || rows > bounds::vocabulary || embedding.shape[1] != spec.hidden) {
    fail(ErrorCode::bad_file, meta.file(), ": tensor token_embd.weight has the shape ", shape_words(embedding.shape),
         ", the model needs [vocabulary, ", spec.hidden, "]");
  }
  spec.vocabulary = static_cast<uint32_t>(rows);
  check_vocabulary(meta, prefix, rows);
  return static_cast<uint32_t>(layers);
}

uint32_t read_gguf_head_dim(const GgufMeta& meta, const std::string& prefix) {
  auto key_length = meta.integer(prefix + "attention.key_length", 2, bounds::head_dim);
  auto value_length = meta.integer(prefix + "attention.value_length", 2, bounds::head_dim);
  if (key_length && value_length && *key_length != *value_length) {
    fail(ErrorCode::unsupported_architecture, meta.file(), ": keys of ", *key_length, " and values of ", *value_length,
         " dimensions per head are not supported together");
  }
  if (key_length && *key_length % 2 != 0) {
    fail(ErrorCode::bad_file, meta.file(), ": key ", prefix, "attention.key_length is ", *key_length,
         ", it must be even");
  }
  return static_cast<uint32_t>(key_length.value_or(0));
}

RopeSpec read_gguf_rope(const GgufMeta& meta, const std::string& prefix, Binder& binder, const ModelSpec& spec,
                        RopeLayout layout, bool truncate, const char* unnamed) {
  RopeSpec rope;
  rope.layout = layout;
  uint64_t dims = meta.integer(prefix + "rope.dimension_count", 2, spec.head_dim).value_or(spec.head_dim);
  if (dims % 2 != 0) {
    fail(ErrorCode::bad_file, meta.file(), ": key ", prefix, "rope.dimension_count is ", dims, ", it must be even");
  }
  rope.dims = static_cast<uint32_t>(dims);
  rope.theta = meta.real(prefix + "rope.freq_base", 1.0001, bounds::theta).value_or(10000.0);
  read_scaling(meta, prefix, binder, truncate, unnamed, rope);
  rope.frequency_divisors = read_divisors(binder, "rope_freqs.weight", rope);
  if (binder.has(long_factors)) read_longrope(meta, prefix, binder, spec, rope);
  return rope;
}

std::vector<bool> read_gguf_windows(const GgufMeta& meta, const std::string& prefix, uint32_t layers, uint32_t period) {
  std::string key = prefix + "attention.sliding_window_pattern";
  std::vector<bool> out(layers, true);
  if (meta.is_array(key)) {
    std::vector<int64_t> each = *meta.integers(key);
    if (each.size() < layers) {
      fail(ErrorCode::bad_file, meta.file(), ": key ", key, " has ", each.size(), " items for ", layers, " layers");
    }
    for (uint32_t i = 0; i < layers; ++i) out[i] = each[i] != 0;
    return out;
  }
  uint64_t every = meta.integer(key, 1, bounds::layers).value_or(period);
  for (uint32_t i = 0; every && i < layers; ++i) out[i] = i % every < every - 1;
  return out;
}

void bind_gguf_qkv(Binder& binder, const std::string& block, const ModelSpec& spec, bool bias, LayerWeights& layer) {
  uint32_t q = spec.heads * spec.head_dim, kv = spec.kv_heads * spec.head_dim;
  if (!binder.has(block + "attn_q.weight") && binder.has(block + "attn_qkv.weight")) {
    Matrix all = binder.matrix(block + "attn_qkv.weight", uint64_t(q) + 2 * uint64_t(kv), spec.hidden);
    layer.q = rows_of(all, 0, q);
    layer.k = rows_of(all, q, kv);
    layer.v = rows_of(all, q + kv, kv);
    if (!bias) return;
    Vector b = binder.vector(block + "attn_qkv.bias", {uint64_t(q) + 2 * uint64_t(kv)});
    if (b.empty()) return;
    layer.q_bias.assign(b.begin(), b.begin() + q);
    layer.k_bias.assign(b.begin() + q, b.begin() + q + kv);
    layer.v_bias.assign(b.begin() + q + kv, b.end());
    return;
  }
  layer.q = binder.matrix(block + "attn_q.weight", q, spec.hidden);
  layer.k = binder.matrix(block + "attn_k.weight", kv, spec.hidden);
  layer.v = binder.matrix(block + "attn_v.weight", kv, spec.hidden);
  if (!bias) return;
  layer.q_bias = binder.vector(block + "attn_q.bias", {q});
  layer.k_bias = binder.vector(block + "attn_k.bias", {kv});
  layer.v_bias = binder.vector(block + "attn_v.bias", {kv});
}

void bind_gguf_ends(Binder& binder, ModelSpec& spec, ModelWeights& weights) {
  weights.embedding = binder.matrix("token_embd.weight", spec.vocabulary, spec.hidden);
  weights.output_norm = binder.vector("output_norm.weight", {spec.hidden});
  spec.tied_embedding = !binder.has("output.weight");
  weights.output =
      spec.tied_embedding ? weights.embedding : binder.matrix("output.weight", spec.vocabulary, spec.hidden);
}

}  // namespace hearth
