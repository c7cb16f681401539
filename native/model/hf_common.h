// What the readers of Hugging Face folders share: the general keys of config.json, rope scaling, q|k|v, both ends.
#pragma once

#include <string>

#include "backend/rope.h"
#include "model/binder.h"
#include "model/hf_config.h"
#include "model/spec.h"

namespace hearth {

/// Returns the number of layers; fills hidden, heads, kv_heads, head_dim, vocabulary, context, norm_eps.
/// `default_head_dim` 0: hidden / heads. Refuses weights quantised in ways that are not read here.
uint32_t read_hf_base(const HfConfig& config, uint32_t default_head_dim, ModelSpec& spec);

/// rope_parameters, or rope_scaling and rope_theta (older files). `truncate` stands where YaRN's key is absent.
RopeSpec read_hf_rope(const HfConfig& config, const ModelSpec& spec, double default_theta, bool truncate);

/// `layer` is "model.layers.N."
void bind_hf_attention(Binder& binder, const std::string& layer, const ModelSpec& spec, bool qkv_bias, bool out_bias,
                       LayerWeights& out);
void bind_hf_ends(const HfConfig& config, Binder& binder, ModelSpec& spec, ModelWeights& weights);

}  // namespace hearth
