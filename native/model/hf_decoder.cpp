// Decoders from Hugging Face folders whose layers are plain attention and a plain or routed MLP: llama, mistral (also
// inside mistral3), qwen2, qwen3, qwen3_moe, gemma3 (also inside its picture model), phi3, smollm3.
// Keys, defaults and tensor names: transformers' configuration and model classes. Rotation pairs are half-split here.
#include <cmath>
#include <string_view>

#include "model/families.h"
#include "model/hf_common.h"
#include "model/words.h"

namespace hearth {

namespace {

enum class Window {
  none,
  every_layer,        // sliding_window, which may be null
  when_asked,         // use_sliding_window, from max_window_layers on
  every_layer_asked,  // use_sliding_window, all layers
  five_of_six,
  unrotated_asked,    // use_sliding_window, the layers without rotation
};

struct Family {
  std::string_view type, class_name;
  HfDefaults defaults;
  Window window = Window::none;
  bool qkv_bias = false;        // always; else where attention_bias says so, and then o has one too
  bool qk_norm = false, experts = false;
  bool gemma = false;           // GeGLU, norms of the form 1 + w on both sides, scaled embeddings
  bool phi = false;             // partial rotation, LongRoPE
  bool unrotated_layers = false;
};

constexpr Family families[] = {
    {.type = "llama", .class_name = "LlamaForCausalLM", .defaults = {}},
    {.type = "mistral", .class_name = "MistralForCausalLM", .defaults = {.kv_heads = 8}, .window = Window::every_layer},
    {.type = "qwen2", .class_name = "Qwen2ForCausalLM", .defaults = {}, .window = Window::when_asked, .qkv_bias = true},
    {.type = "qwen3", .class_name = "Qwen3ForCausalLM", .defaults = {.head_dim = 128}, .window = Window::when_asked, .qk_norm = true},
    {.type = "qwen3_moe", .class_name = "Qwen3MoeForCausalLM", .defaults = {.kv_heads = 4}, .window = Window::every_layer_asked,
     .qk_norm = true, .experts = true},
    {.type = "gemma3_text", .class_name = "Gemma3ForCausalLM",
     .defaults = {.heads = 8, .kv_heads = 4, .head_dim = 256, .vocabulary = 262208, .context = 131072, .theta = 1e6},
     .window = Window::five_of_six, .qk_norm = true, .gemma = true},
    {.type = "phi3", .class_name = "Phi3ForCausalLM", .defaults = {.norm_eps = 1e-5}, .window = Window::every_layer, .phi = true},
    {.type = "smollm3", .class_name = "SmolLM3ForCausalLM", .defaults = {.kv_heads = 4, .theta = 2e6},
     .window = Window::unrotated_asked, .unrotated_layers = true},
};

const Family& family_of(const HfConfig& config, std::string_view otherwise) {
  auto classes = config.texts("architectures");
  std::string name = config.text("model_type").value_or(classes && !classes->empty() ? classes->front() : std::string(otherwise));
  for (const Family& family : families) {
    if (name == family.type || name == family.class_name) return family;
  }
  std::string missing = missing_for(name);
  fail(ErrorCode::unsupported_architecture, config.file(), ": the text model is of the architecture ", shown(name),
       missing.empty() ? ", which Hearth does not know" : ", which needs " + missing + "; Hearth has none");
}

/// How the tensors of a text model are called, alone or inside a model that sees pictures.
struct Names {
  std::string root = "model.", head = "lm_head.weight";
};

Names names_in(const Binder& binder) {
  if (binder.has("language_model.model.embed_tokens.weight")) return {"language_model.model.", "language_model.lm_head.weight"};
  if (binder.has("model.language_model.embed_tokens.weight")) return {"model.language_model.", "lm_head.weight"};
  return {};
}

void refuse_unknown_mathematics(const HfConfig& config, const Family& family) {
  const std::string activation = config.text(family.gemma ? "hidden_activation" : "hidden_act").value_or(family.gemma ? "gelu_pytorch_tanh" : "silu");
  const bool known = family.gemma ? activation == "gelu_pytorch_tanh" : activation == "silu" || activation == "swish";
  if (!known) {
    fail(ErrorCode::unsupported_architecture, config.file(), ": the activation ", shown(activation), " is not supported for ",
         family.type);
  }
  for (const char* key : {"attn_logit_softcapping", "final_logit_softcapping"}) {
    if (config.has(key)) fail(ErrorCode::unsupported_architecture, config.file(), ": key ", key, " is not supported");
  }
  if (config.boolean("use_bidirectional_attention").value_or(false)) {
    fail(ErrorCode::unsupported_architecture, config.file(), ": use_bidirectional_attention is not supported");
  }
}

void read_windows(const HfConfig& config, const Family& family, DecoderShape& shape) {
  const bool asked = config.boolean("use_sliding_window").value_or(false);
  const bool needs_asking = family.window == Window::when_asked || family.window == Window::every_layer_asked ||
                            family.window == Window::unrotated_asked;
  if (family.window == Window::none || (needs_asking && !asked) || config.is_null("sliding_window")) return;
  const bool has_default = family.type != "phi3" && family.type != "smollm3";
  if (!has_default && !config.has("sliding_window")) return;
  shape.window = static_cast<uint32_t>(config.integer("sliding_window", 1, bounds::context).value_or(4096));
  if (family.window == Window::every_layer || family.window == Window::every_layer_asked) {
    shape.window_layers.assign(shape.layers, true);
    return;
  }
  shape.window_layers = read_hf_windows(config, shape.layers);
  if (!shape.window_layers.empty()) return;
  const uint64_t first = config.integer("max_window_layers", 0, bounds::context).value_or(28);
  const uint64_t period = config.integer("sliding_window_pattern", 1, bounds::layers).value_or(6);
  for (uint32_t i = 0; i < shape.layers; ++i) {
    shape.window_layers.push_back(family.window == Window::when_asked      ? i >= first
                                  : family.window == Window::five_of_six ? (i + 1) % period != 0
                                                                           : bool(shape.unrotated_layers.at(i)));
  }
}

/// no_rope_layers has a 1 for every layer that IS rotated.
std::vector<bool> read_unrotated(const HfConfig& config, uint32_t layers) {
  std::vector<bool> out;
  const std::vector<uint64_t> rotated = config.integer_list("no_rope_layers", 1);
  if (!rotated.empty() && rotated.size() != layers) {
    fail(ErrorCode::bad_file, config.file(), ": key no_rope_layers has ", rotated.size(), " items for ", layers, " layers");
  }
  const uint64_t interval = config.integer("no_rope_layer_interval", 1, bounds::layers).value_or(4);
  for (uint32_t i = 0; i < layers; ++i) out.push_back(rotated.empty() ? (i + 1) % interval == 0 : rotated[i] == 0);
  return out;
}

void read_experts(const HfConfig& config, DecoderShape& shape) {
  shape.experts = static_cast<uint32_t>(
      config.need_integer(config.has("num_experts") ? "num_experts" : "num_local_experts", 1, bounds::experts));
  shape.experts_used = static_cast<uint32_t>(config.integer("num_experts_per_tok", 1, shape.experts).value_or(8));
  if (shape.experts_used > shape.experts) fail(ErrorCode::bad_file, config.file(), ": key num_experts_per_tok is missing");
  shape.intermediate = static_cast<uint32_t>(config.need_integer("moe_intermediate_size", 1, bounds::intermediate));
  if (!config.boolean("norm_topk_prob").value_or(false)) shape.softmax = RouterSoftmax::all;
  const bool dense_layers = !config.integer_list("mlp_only_layers", bounds::layers).empty();
  if (dense_layers || config.integer("decoder_sparse_step", 0, bounds::layers).value_or(1) != 1) {
    fail(ErrorCode::unsupported_architecture, config.file(), ": dense layers among layers of experts are not supported");
  }
}

DecoderShape read_shape(const HfConfig& config, const Family& family, ModelSpec& spec) {
  DecoderShape shape;
  shape.layers = read_hf_base(config, family.defaults, spec);
  shape.out_bias = config.boolean("attention_bias").value_or(false);
  shape.qkv_bias = shape.out_bias || family.qkv_bias;
  if (family.qkv_bias) shape.out_bias = false;
  shape.mlp_bias = config.boolean("mlp_bias").value_or(false);
  shape.qk_norm = family.qk_norm;
  if (family.experts) read_experts(config, shape);
  else shape.intermediate = static_cast<uint32_t>(config.need_integer("intermediate_size", 1, bounds::intermediate));
  if (family.unrotated_layers) shape.unrotated_layers = read_unrotated(config, shape.layers);
  read_windows(config, family, shape);
  shape.rope = read_hf_rope(config, spec, {.theta = family.defaults.theta, .partial = family.phi, .yarn_is_longrope = family.phi});
  shape.window_rope = shape.rope;
  if (!family.gemma) return shape;
  shape.window_rope = read_hf_window_rope(config, spec, {.theta = 10000.0});
  shape.activation = Activation::gelu_tanh;
  shape.post_norms = true;
  shape.scale = 1.0 / std::sqrt(config.real("query_pre_attn_scalar", 1e-3, 1e9).value_or(256.0));
  spec.embedding_scale = std::sqrt(static_cast<double>(spec.hidden));
  return shape;
}

void bind_mlp(Binder& binder, const std::string& at, const ModelSpec& spec, const DecoderShape& shape, LayerWeights& out) {
  uint64_t inner = shape.intermediate, hidden = spec.hidden;
  if (binder.has(at + "gate_proj.weight") || !binder.has(at + "gate_up_proj.weight")) {
    out.gate = binder.matrix(at + "gate_proj.weight", inner, hidden);
    out.up = binder.matrix(at + "up_proj.weight", inner, hidden);
  } else {  // phi3: gate above up in one matrix
    Matrix both = binder.matrix(at + "gate_up_proj.weight", 2 * inner, hidden);
    out.gate = rows_of(both, 0, shape.intermediate);
    out.up = rows_of(both, shape.intermediate, shape.intermediate);
  }
  out.down = binder.matrix(at + "down_proj.weight", hidden, inner);
  if (!shape.mlp_bias) return;
  out.gate_bias = binder.vector(at + "gate_proj.bias", {inner});
  out.up_bias = binder.vector(at + "up_proj.bias", {inner});
  out.down_bias = binder.vector(at + "down_proj.bias", {hidden});
}

void bind_experts(Binder& binder, const std::string& at, const ModelSpec& spec, const DecoderShape& shape, LayerWeights& out) {
  auto each = [&](const char* name) {
    std::vector<std::string> names;
    for (uint32_t e = 0; e < shape.experts; ++e) names.push_back(say(at, "experts.", e, ".", name, ".weight"));
    return names;
  };
  out.router = binder.matrix(at + "gate.weight", shape.experts, spec.hidden);
  out.gate = binder.scattered_experts(each("gate_proj"), shape.intermediate, spec.hidden);
  out.up = binder.scattered_experts(each("up_proj"), shape.intermediate, spec.hidden);
  out.down = binder.scattered_experts(each("down_proj"), spec.hidden, shape.intermediate);
}

void add_one(Vector& norm) {
  for (float& weight : norm) weight += 1.0f;
}

void bind_layer(Binder& binder, const std::string& at, const ModelSpec& spec, const Family& family, const DecoderShape& shape,
                LayerWeights& out) {
  bind_hf_attention(binder, at, spec, shape.qkv_bias, shape.out_bias, out);
  if (shape.qk_norm) {
    out.q_norm = binder.vector(at + "self_attn.q_norm.weight", {spec.head_dim});
    out.k_norm = binder.vector(at + "self_attn.k_norm.weight", {spec.head_dim});
  }
  if (family.gemma) {
    out.attention_post_norm = std::move(out.mlp_norm);  // here the name means what it says
    out.mlp_norm = binder.vector(at + "pre_feedforward_layernorm.weight", {spec.hidden});
    out.mlp_post_norm = binder.vector(at + "post_feedforward_layernorm.weight", {spec.hidden});
    for (Vector* norm : {&out.attention_norm, &out.attention_post_norm, &out.mlp_norm, &out.mlp_post_norm, &out.q_norm, &out.k_norm})
      add_one(*norm);
  }
  if (shape.experts) bind_experts(binder, at + "mlp.", spec, shape, out);
  else bind_mlp(binder, at + "mlp.", spec, shape, out);
}

}  // namespace

void read_hf_decoder(const HfConfig& whole, Binder& binder, const OpenOptions&, ModelFile& out) {
  refuse_quantised(whole);
  const std::string outer = whole.text("model_type").value_or("");
  const HfConfig config = whole.child("text_config").value_or(whole);
  const Family& family = family_of(config, outer == "gemma3" ? "gemma3_text" : "mistral");
  refuse_unknown_mathematics(config, family);
  ModelSpec& spec = out.spec;
  spec.architecture = family.gemma ? "gemma3" : family.experts ? "qwen3moe" : std::string(family.type);
  DecoderShape shape = read_shape(config, family, spec);
  fill_layers(shape, spec);
  const Names names = names_in(binder);
  out.weights.layers.resize(shape.layers);
  for (uint32_t i = 0; i < shape.layers; ++i) {
    bind_layer(binder, say(names.root, "layers.", i, "."), spec, family, shape, out.weights.layers[i]);
  }
  const bool outer_tie = !config.has("tie_word_embeddings") && whole.has("tie_word_embeddings");
  bind_hf_ends(outer_tie ? whole : config, binder, spec, out.weights, names.root, names.head);
  if (family.gemma) add_one(out.weights.output_norm);
  refuse_unread(binder, names.root + "layers.");
}

}  // namespace hearth
