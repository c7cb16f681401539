// What the readers of Hugging Face folders share: the general keys of config.json, rope scaling, q|k|v, both ends.
#pragma once

#include <string>

#include "backend/rope.h"
#include "model/binder.h"
#include "model/hf_config.h"
#include "model/spec.h"

namespace hearth {

/// What stands for keys that a config.json leaves out: the defaults of the family's class in transformers. 0: the key
/// must be there (kv_heads: as many as heads; head_dim: hidden / heads).
struct HfDefaults {
  uint32_t heads = 0, kv_heads = 0, head_dim = 0, vocabulary = 0, context = 0;
  double norm_eps = 1e-6, theta = 10000.0;
};

/// Refuses weights quantised in ways that are not read here.
void refuse_quantised(const HfConfig& config);

/// Returns the number of layers; fills hidden, heads, kv_heads, head_dim, vocabulary, context, norm_eps.
uint32_t read_hf_base(const HfConfig& config, const HfDefaults& defaults, ModelSpec& spec);

/// How a family rotates, beside what config.json says.
struct HfRope {
  double theta = 10000.0;
  bool truncate = true;           // where YaRN's key is absent
  bool partial = false;           // knows partial_rotary_factor
  bool yarn_is_longrope = false;  // early phi3 files call it so
};

/// rope_parameters (or what it has for full layers), or rope_scaling and rope_theta (older files).
RopeSpec read_hf_rope(const HfConfig& config, const ModelSpec& spec, const HfRope& family);
/// The rotation of window layers where they have their own: rope_parameters.sliding_attention or rope_local_base_freq.
RopeSpec read_hf_window_rope(const HfConfig& config, const ModelSpec& spec, const HfRope& family);

/// Which layers see a window only, from layer_types; empty without the key.
std::vector<bool> read_hf_windows(const HfConfig& config, uint32_t layers);

/// Norms, q, k, v (fused in qkv_proj or not) and o; `layer` is "model.layers.N."
void bind_hf_attention(Binder& binder, const std::string& layer, const ModelSpec& spec, bool qkv_bias, bool out_bias,
                       LayerWeights& out);
/// Embedding, final norm, output. `root` is what stands before "embed_tokens", `head` the output's name.
void bind_hf_ends(const HfConfig& config, Binder& binder, ModelSpec& spec, ModelWeights& weights,
                  const std::string& root = "model.", const std::string& head = "lm_head.weight");

}  // namespace hearth
