// What the GGUF readers of all families share: the general keys, the shape of attention, rope scaling, windows, q|k|v.
// What a key or tensor means for one family alone is that family's reader's business.
#pragma once

#include <string>
#include <vector>

#include "backend/rope.h"
#include "model/binder.h"
#include "model/gguf_meta.h"
#include "model/spec.h"

namespace hearth {

/// `prefix` is the architecture with a dot, e.g. "gpt-oss.". Returns the number of layers; fills name, licence, hidden,
/// heads, kv_heads, context, norm_eps and (from the embedding's shape) vocabulary. head_dim stays for the family.
uint32_t read_gguf_base(const GgufMeta& meta, const std::string& prefix, Binder& binder, ModelSpec& spec);

/// key_length, which must equal value_length and be even; 0 when the key is absent.
uint32_t read_gguf_head_dim(const GgufMeta& meta, const std::string& prefix);

/// rope.* and the tensors of divisors; spec.head_dim and spec.context are known. `truncate` says how YaRN's range is cut
/// for this family, `unnamed` what kind of scaling a factor without a named type is.
RopeSpec read_gguf_rope(const GgufMeta& meta, const std::string& prefix, Binder& binder, const ModelSpec& spec,
                        RopeLayout layout, bool truncate, const char* unnamed);

/// Which layers see a window only, from attention.sliding_window_pattern: an array names the kind of each layer, a number
/// is the period (its last layer is full). Without the key `period` stands for it; 0: all layers do.
std::vector<bool> read_gguf_windows(const GgufMeta& meta, const std::string& prefix, uint32_t layers, uint32_t period);

/// q, k, v and their biases of one layer, separate or fused in attn_qkv.
void bind_gguf_qkv(Binder& binder, const std::string& block, const ModelSpec& spec, bool bias, LayerWeights& layer);

/// Embedding, final norm, output (a view of the embedding where the file has no output.weight).
void bind_gguf_ends(Binder& binder, ModelSpec& spec, ModelWeights& weights);

}  // namespace hearth
