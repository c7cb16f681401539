// Shared parts of the Hugging Face readers; see hf_common.h. Key names and defaults: the public transformers configs.
#include "model/hf_common.h"

#include <cmath>
#include <numbers>
#include <optional>

#include "model/families.h"
#include "model/words.h"

namespace hearth {

namespace {

/// `otherwise` stands for a key that is absent; 0: it must be there.
uint32_t need32(const HfConfig& config, const char* key, uint64_t least, uint64_t most, uint32_t otherwise = 0) {
  if (otherwise && !config.has(key)) return otherwise;
  return static_cast<uint32_t>(config.need_integer(key, least, most));
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
  rope.attention_factor = scaling.real("attention_factor", 0.0, 1e6).value_or(0.0);
  for (const char* key : {"mscale", "mscale_all_dim", "llama_4_scaling_beta"}) {
    if (scaling.has(key)) fail(ErrorCode::unsupported_architecture, config.file(), ": YaRN with ", key, " is not supported");
  }
}

std::vector<float> read_divisors(const HfConfig& scaling, const char* key, const RopeSpec& rope) {
  auto values = scaling.reals(key, 1e-6, 1e9);
  if (!values || values->size() != rope.dims / 2) {
    fail(ErrorCode::bad_file, scaling.file(), ": key ", key, " must hold ", rope.dims / 2, " numbers");
  }
  return {values->begin(), values->end()};
}

/// LongRoPE: two sets of divisors, and one factor on cos and sin for both.
void read_longrope(const HfConfig& config, const HfConfig& scaling, RopeSpec& rope) {
  for (const char* key : {"short_mscale", "long_mscale"}) {
    if (scaling.has(key)) fail(ErrorCode::unsupported_architecture, config.file(), ": LongRoPE with ", key, " is not supported");
  }
  constexpr const char* key = "original_max_position_embeddings";
  auto original = scaling.integer(key, 2, bounds::context);
  if (!original) original = config.need_integer(key, 2, bounds::context);
  const double context = static_cast<double>(config.need_integer("max_position_embeddings", 1, bounds::context));
  rope.short_context = static_cast<uint32_t>(*original);
  rope.frequency_divisors = read_divisors(scaling, "short_factor", rope);
  rope.long_divisors = read_divisors(scaling, "long_factor", rope);
  const double factor = scaling.real("factor", 1e-3, bounds::factor).value_or(context / rope.short_context);
  rope.attention_factor =
      scaling.real("attention_factor", 1e-3, 1e6).value_or(longrope_attention(factor * rope.short_context, rope.short_context));
}

uint32_t rotated_dims(const HfConfig& config, const std::optional<HfConfig>& parameters, const ModelSpec& spec, bool known) {
  auto partial = config.real("partial_rotary_factor", 0.0, 1.0);
  if (parameters && parameters->has("partial_rotary_factor")) partial = parameters->real("partial_rotary_factor", 0.0, 1.0);
  const double factor = partial.value_or(1.0);
  if (factor == 1.0) return spec.head_dim;
  if (!known) {
    fail(ErrorCode::unsupported_architecture, config.file(), ": partial_rotary_factor is not supported for this family");
  }
  const auto dims = static_cast<uint32_t>(spec.head_dim * factor);
  if (dims < 2 || dims % 2 != 0) {
    fail(ErrorCode::bad_file, config.file(), ": partial_rotary_factor leaves ", dims, " of ", spec.head_dim, " dimensions");
  }
  return dims;
}

/// `scaling` may be absent (no scaling); theta and dims are set in `rope` already.
void read_scaling(const HfConfig& config, const std::optional<HfConfig>& scaling, const HfRope& family, RopeSpec& rope) {
  if (!scaling) return;
  auto type = scaling->text("rope_type");
  if (!type) type = scaling->text("type");
  const std::string kind = type.value_or("default");
  const double factor = scaling->real("factor", 1e-3, bounds::factor).value_or(1.0);
  if (kind == "longrope" || kind == "su" || (kind == "yarn" && family.yarn_is_longrope)) {
    read_longrope(config, *scaling, rope);
  } else if (kind == "linear") {
    rope.linear_factor = factor;
  } else if (kind == "llama3") {
    rope.frequency_divisors = llama3_divisors(*scaling, rope, factor);
  } else if (kind == "yarn") {
    read_yarn(config, *scaling, factor, family.truncate, rope);
  } else if (kind != "default") {
    fail(ErrorCode::unsupported_architecture, config.file(), ": rope scaling of type ", shown(kind), " is not supported");
  }
}

}  // namespace

void refuse_quantised(const HfConfig& config) {
  auto quantised = config.child("quantization_config");
  if (!quantised) return;
  std::string method = quantised->text("quant_method").value_or("?");
  if (method != "mxfp4") {
    fail(ErrorCode::unsupported_type, config.file(), ": weights quantised by ", shown(method),
         " cannot be read; MXFP4 can");
  }
}

uint32_t read_hf_base(const HfConfig& config, const HfDefaults& defaults, ModelSpec& spec) {
  spec.hidden = need32(config, "hidden_size", 1, bounds::hidden);
  spec.heads = need32(config, "num_attention_heads", 1, bounds::heads, defaults.heads);
  const uint32_t kv_heads = defaults.kv_heads && !config.is_null("num_key_value_heads") ? defaults.kv_heads : spec.heads;
  spec.kv_heads = static_cast<uint32_t>(config.integer("num_key_value_heads", 1, spec.heads).value_or(kv_heads));
  if (spec.heads % spec.kv_heads != 0) {
    fail(ErrorCode::bad_file, config.file(), ": ", spec.heads, " attention heads cannot share ", spec.kv_heads,
         " KV heads");
  }
  uint32_t head_dim = defaults.head_dim ? defaults.head_dim : spec.hidden / spec.heads;
  spec.head_dim = static_cast<uint32_t>(config.integer("head_dim", 2, bounds::head_dim).value_or(head_dim));
  if (spec.head_dim < 2 || spec.head_dim > bounds::head_dim || spec.head_dim % 2 != 0) {
    fail(ErrorCode::bad_file, config.file(), ": heads of ", spec.head_dim, " dimensions are not possible");
  }
  spec.vocabulary = need32(config, "vocab_size", 1, bounds::vocabulary, defaults.vocabulary);
  spec.context = need32(config, "max_position_embeddings", 1, bounds::context, defaults.context);
  spec.norm_eps = config.real("rms_norm_eps", 0.0, 1.0).value_or(defaults.norm_eps);
  return need32(config, "num_hidden_layers", 1, bounds::layers);
}

RopeSpec read_hf_rope(const HfConfig& config, const ModelSpec& spec, const HfRope& family) {
  auto parameters = config.child("rope_parameters");
  if (parameters && parameters->has("full_attention")) parameters = parameters->child("full_attention");
  RopeSpec rope;
  rope.layout = RopeLayout::half_split;
  rope.dims = rotated_dims(config, parameters, spec, family.partial);
  auto theta = config.real("rope_theta", 1.0001, bounds::theta);
  if (parameters) {
    auto inner = parameters->real("rope_theta", 1.0001, bounds::theta);
    if (inner) theta = inner;
  }
  rope.theta = theta.value_or(family.theta);
  read_scaling(config, parameters ? parameters : config.child("rope_scaling"), family, rope);
  return rope;
}

RopeSpec read_hf_window_rope(const HfConfig& config, const ModelSpec& spec, const HfRope& family) {
  RopeSpec rope;
  rope.layout = RopeLayout::half_split;
  rope.dims = spec.head_dim;
  rope.theta = config.real("rope_local_base_freq", 1.0001, bounds::theta).value_or(family.theta);
  auto parameters = config.child("rope_parameters");
  if (parameters) parameters = parameters->child("sliding_attention");
  if (!parameters) return rope;
  rope.theta = parameters->real("rope_theta", 1.0001, bounds::theta).value_or(rope.theta);
  read_scaling(config, parameters, family, rope);
  return rope;
}

std::vector<bool> read_hf_windows(const HfConfig& config, uint32_t layers) {
  std::vector<bool> out;
  auto types = config.texts("layer_types");
  if (!types) return out;
  if (types->size() != layers) {
    fail(ErrorCode::bad_file, config.file(), ": key layer_types has ", types->size(), " items for ", layers, " layers");
  }
  for (const std::string& type : *types) {
    if (type != "sliding_attention" && type != "full_attention") {
      fail(ErrorCode::unsupported_architecture, config.file(), ": layers of type ", shown(type), " are not supported");
    }
    out.push_back(type == "sliding_attention");
  }
  return out;
}

void bind_hf_attention(Binder& binder, const std::string& layer, const ModelSpec& spec, bool qkv_bias, bool out_bias,
                       LayerWeights& out) {
  const std::string at = layer + "self_attn.";
  uint64_t q = uint64_t(spec.heads) * spec.head_dim, kv = uint64_t(spec.kv_heads) * spec.head_dim;
  out.attention_norm = binder.vector(layer + "input_layernorm.weight", {spec.hidden});
  if (binder.has(at + "q_proj.weight") || !binder.has(at + "qkv_proj.weight")) {
    out.q = binder.matrix(at + "q_proj.weight", q, spec.hidden);
    out.k = binder.matrix(at + "k_proj.weight", kv, spec.hidden);
    out.v = binder.matrix(at + "v_proj.weight", kv, spec.hidden);
  } else {
    Matrix all = binder.matrix(at + "qkv_proj.weight", q + 2 * kv, spec.hidden);
    out.q = rows_of(all, 0, static_cast<uint32_t>(q));
    out.k = rows_of(all, static_cast<uint32_t>(q), static_cast<uint32_t>(kv));
    out.v = rows_of(all, static_cast<uint32_t>(q + kv), static_cast<uint32_t>(kv));
  }
  out.o = binder.matrix(at + "o_proj.weight", spec.hidden, q);
  if (qkv_bias) {
    out.q_bias = binder.vector(at + "q_proj.bias", {q});
    out.k_bias = binder.vector(at + "k_proj.bias", {kv});
    out.v_bias = binder.vector(at + "v_proj.bias", {kv});
  }
  if (out_bias) out.o_bias = binder.vector(at + "o_proj.bias", {spec.hidden});
  out.mlp_norm = binder.vector(layer + "post_attention_layernorm.weight", {spec.hidden});
}

void bind_hf_ends(const HfConfig& config, Binder& binder, ModelSpec& spec, ModelWeights& weights,
                  const std::string& root, const std::string& head) {
  weights.embedding = binder.matrix(root + "embed_tokens.weight", spec.vocabulary, spec.hidden);
  weights.output_norm = binder.vector(root + "norm.weight", {spec.hidden});
  spec.tied_embedding = config.boolean("tie_word_embeddings").value_or(!binder.has(head));
  if (spec.tied_embedding) {
    binder.use(head);  // some writers store the copy
    weights.output = weights.embedding;
  } else {
    weights.output = binder.matrix(head, spec.vocabulary, spec.hidden);
  }
}

}  // namespace hearth
