// Shared parts of the Hugging Face readers; see hf_common.h. Key names and defaults: the public transformers configs.
#include "model/hf_common.h"

#include <cmath>
#include <numbers>

#include "model/families.h"
#include "model/words.h"

namespace hearth {

namespace {

uint32_t need32(const HfConfig& config, const char* key, uint64_t least, uint64_t most) {
  return static_cast<uint32_t>(config.need_integer(key, least, most));
}

void refuse_quantised(const HfConfig& config) {
  auto quantised = config.child("quantization_config");
  if (!quantised) return;
  std::string method = quantised->text("quant_method").value_or("?");
  if (method != "mxfp4") {
    fail(ErrorCode::unsupported_type, config.file(), ": weights quantised by ", shown(method),
         " cannot be read; MXFP4 can");
  }
}

/// Wavelengths longer than the original context are slowed down by `factor`, short ones kept, those between blended
/// (the "llama3" scaling of transformers). One divisor per pair.
std::vector<float> llama3_divisors(const HfConfig& scaling, const RopeSpec& rope, double factor) {
  double original = static_cast<double>(scaling.need_integer("original_max_position_embeddings", 1, bounds::context));
  double low = scaling.real("low_freq_factor", 1e-3, 1e6).value_or(1.0);
  double high = scaling.real("high_freq_factor", 1e-3, 1e6).value_or(4.0);
  if (high <= low) fail(ErrorCode::bad_file, scaling.file(), ": high_freq_factor must be greater than low_freq_factor");
  std::vector<float> out;
  for (uint32_t i = 0; i < rope.dims / 2; ++i) {
    double wavelength = 2.0 * std::numbers::pi * std::pow(rope.theta, 2.0 * i / rope.dims);
    double divisor = 1.0;
    if (wavelength > original / low) {
      divisor = factor;
    } else if (wavelength >= original / high) {
      double smooth = (original / wavelength - low) / (high - low);
      divisor = 1.0 / ((1.0 - smooth) / factor + smooth);
    }
    out.push_back(static_cast<float>(divisor));
  }
  return out;
}

void read_yarn(const HfConfig& config, const HfConfig& scaling, double factor, bool truncate, RopeSpec& rope) {
  rope.yarn = true;
  rope.yarn_factor = factor;
  rope.yarn_beta_fast = scaling.real("beta_fast", 1e-3, 1e6).value_or(32.0);
  rope.yarn_beta_slow = scaling.real("beta_slow", 1e-3, 1e6).value_or(1.0);
  uint64_t context = config.need_integer("max_position_embeddings", 1, bounds::context);
  rope.yarn_original_context =
      static_cast<uint32_t>(scaling.integer("original_max_position_embeddings", 1, bounds::context).value_or(context));
  rope.yarn_truncate = scaling.boolean("truncate").value_or(truncate);
  double usual = factor > 1.0 ? 0.1 * std::log(factor) + 1.0 : 1.0;
  double attention = scaling.real("attention_factor", 0.0, 1e6).value_or(usual);
  if (std::abs(attention - usual) > 1e-4 || scaling.has("mscale") || scaling.has("mscale_all_dim")) {
    fail(ErrorCode::unsupported_architecture, config.file(),
         ": YaRN with its own attention_factor or mscale is not supported");
  }
}

}  // namespace

uint32_t read_hf_base(const HfConfig& config, uint32_t default_head_dim, ModelSpec& spec) {
  refuse_quantised(config);
  spec.hidden = need32(config, "hidden_size", 1, bounds::hidden);
  spec.heads = need32(config, "num_attention_heads", 1, bounds::heads);
  spec.kv_heads = static_cast<uint32_t>(config.integer("num_key_value_heads", 1, spec.heads).value_or(spec.heads));
  if (spec.heads % spec.kv_heads != 0) {
    fail(ErrorCode::bad_file, config.file(), ": ", spec.heads, " attention heads cannot share ", spec.kv_heads,
         " KV heads");
  }
  uint32_t head_dim = default_head_dim ? default_head_dim : spec.hidden / spec.heads;
  spec.head_dim = static_cast<uint32_t>(config.integer("head_dim", 2, bounds::head_dim).value_or(head_dim));
  if (spec.head_dim < 2 || spec.head_dim > bounds::head_dim || spec.head_dim % 2 != 0) {
    fail(ErrorCode::bad_file, config.file(), ": heads of ", spec.head_dim, " dimensions are not possible");
  }
  spec.vocabulary = need32(config, "vocab_size", 1, bounds::vocabulary);
  spec.context = need32(config, "max_position_embeddings", 1, bounds::context);
  spec.norm_eps = config.real("rms_norm_eps", 0.0, 1.0).value_or(1e-5);
  return need32(config, "num_hidden_layers", 1, bounds::layers);
}

RopeSpec read_hf_rope(const HfConfig& config, const ModelSpec& spec, double default_theta, bool truncate) {
  RopeSpec rope;
  rope.layout = RopeLayout::half_split;
  rope.dims = spec.head_dim;
  auto parameters = config.child("rope_parameters");
  auto scaling = parameters ? parameters : config.child("rope_scaling");
  auto theta = config.real("rope_theta", 1.0001, bounds::theta);
  if (parameters) {
    auto inner = parameters->real("rope_theta", 1.0001, bounds::theta);
    if (inner) theta = inner;
  }
  rope.theta = theta.value_or(default_theta);
  if (config.real("partial_rotary_factor", 0.0, 1.0).value_or(1.0) != 1.0) {
    fail(ErrorCode::unsupported_architecture, config.file(),
         ": partial_rotary_factor is not supported for this family");
  }
  if (!scaling) return rope;
  auto type = scaling->text("rope_type");
  if (!type) type = scaling->text("type");
  std::string kind = type.value_or("default");
  if (kind == "default") return rope;
  double factor = scaling->real("factor", 1e-3, bounds::factor).value_or(1.0);
  if (kind == "linear") {
    rope.linear_factor = factor;
  } else if (kind == "llama3") {
    rope.frequency_divisors = llama3_divisors(*scaling, rope, factor);
  } else if (kind == "yarn") {
    read_yarn(config, *scaling, factor, truncate, rope);
  } else {
    fail(ErrorCode::unsupported_architecture, config.file(), ": rope scaling of type ", shown(kind),
         " is not supported");
  }
  return rope;
}

void bind_hf_attention(Binder& binder, const std::string& layer, const ModelSpec& spec, bool qkv_bias, bool out_bias,
                       LayerWeights& out) {
  const std::string at = layer + "self_attn.";
  uint64_t q = uint64_t(spec.heads) * spec.head_dim, kv = uint64_t(spec.kv_heads) * spec.head_dim;
  out.attention_norm = binder.vector(layer + "input_layernorm.weight", {spec.hidden});
  out.q = binder.matrix(at + "q_proj.weight", q, spec.hidden);
  out.k = binder.matrix(at + "k_proj.weight", kv, spec.hidden);
  out.v = binder.matrix(at + "v_proj.weight", kv, spec.hidden);
  out.o = binder.matrix(at + "o_proj.weight", spec.hidden, q);
  if (qkv_bias) {
    out.q_bias = binder.vector(at + "q_proj.bias", {q});
    out.k_bias = binder.vector(at + "k_proj.bias", {kv});
    out.v_bias = binder.vector(at + "v_proj.bias", {kv});
  }
  if (out_bias) out.o_bias = binder.vector(at + "o_proj.bias", {spec.hidden});
  out.mlp_norm = binder.vector(layer + "post_attention_layernorm.weight", {spec.hidden});
}

void bind_hf_ends(const HfConfig& config, Binder& binder, ModelSpec& spec, ModelWeights& weights) {
  weights.embedding = binder.matrix("model.embed_tokens.weight", spec.vocabulary, spec.hidden);
  weights.output_norm = binder.vector("model.norm.weight", {spec.hidden});
  spec.tied_embedding = config.boolean("tie_word_embeddings").value_or(!binder.has("lm_head.weight"));
  if (spec.tied_embedding) {
    binder.use("lm_head.weight");  // some writers store the copy
    weights.output = weights.embedding;
  } else {
    weights.output = binder.matrix("lm_head.weight", spec.vocabulary, spec.hidden);
  }
}

}  // namespace hearth
