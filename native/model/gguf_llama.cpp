// llama from GGUF: Llama 2 and 3, SmolLM2, Mistral and others that files name "llama".
// Query and key rows are stored for interleaved rotation here, unlike in Hugging Face files: llama.cpp's
// converter permutes them.
#include "model/families.h"
#include "model/gguf_common.h"
#include "model/words.h"

namespace hearth {

namespace {

/// Keys that would change the mathematics in ways this reader does not know.
void refuse_unknown_mathematics(const GgufMeta& meta) {
  if (meta.integer("llama.expert_count", 0, bounds::experts).value_or(0) > 0) {
    fail(ErrorCode::unsupported_architecture, meta.file(),
         ": the architecture llama with experts (Mixtral) is not supported");
  }
  for (const char* key : {"llama.attn_logit_softcapping", "llama.final_logit_softcapping", "llama.logit_scale",
                          "llama.embedding_scale", "llama.residual_scale"}) {
    double value = meta.real(key, -1e30, 1e30).value_or(0.0);
    if (value != 0.0 && value != 1.0) {
      fail(ErrorCode::unsupported_architecture, meta.file(), ": key ", key, " = ", value, " is not supported");
    }
  }
}

/// rope_freqs.weight: one divisor per pair (the long-context scaling of Llama 3.1).
void read_divisors(Binder& binder, bool read, RopeSpec& rope) {
  if (!binder.has("rope_freqs.weight")) return;
  Vector divisors = binder.vector("rope_freqs.weight", {rope.dims / 2});
  if (!read) return;
  for (float divisor : divisors) {
    if (!(divisor >= 1e-6f && divisor <= 1e9f)) {
      fail(ErrorCode::bad_file, binder.model(), ": tensor rope_freqs.weight holds ", divisor,
           ", no divisor of a frequency");
    }
  }
  rope.frequency_divisors = std::move(divisors);
}

void bind_layer(Binder& binder, const std::string& block, const ModelSpec& spec, const LlamaShape& shape,
                LayerWeights& out) {
  uint64_t hidden = spec.hidden, inner = shape.intermediate;
  out.attention_norm = binder.vector(block + "attn_norm.weight", {hidden});
  bind_gguf_qkv(binder, block, spec, shape.qkv_bias, out);
  out.o = binder.matrix(block + "attn_output.weight", hidden, uint64_t(spec.heads) * spec.head_dim);
  if (shape.out_bias) out.o_bias = binder.vector(block + "attn_output.bias", {hidden});
  out.mlp_norm = binder.vector(block + "ffn_norm.weight", {hidden});
  out.gate = binder.matrix(block + "ffn_gate.weight", inner, hidden);
  out.up = binder.matrix(block + "ffn_up.weight", inner, hidden);
  out.down = binder.matrix(block + "ffn_down.weight", hidden, inner);
  if (!shape.mlp_bias) return;
  out.gate_bias = binder.vector(block + "ffn_gate.bias", {inner});
  out.up_bias = binder.vector(block + "ffn_up.bias", {inner});
  out.down_bias = binder.vector(block + "ffn_down.bias", {hidden});
}

}  // namespace

void read_gguf_llama(const GgufMeta& meta, Binder& binder, const OpenOptions& options, ModelFile& out) {
  ModelSpec& spec = out.spec;
  spec.architecture = "llama";
  refuse_unknown_mathematics(meta);
  LlamaShape shape;
  shape.layers = read_gguf_base(meta, "llama.", binder, spec);
  spec.head_dim = read_gguf_head_dim(meta, "llama.");
  if (spec.head_dim == 0) {
    if (spec.hidden % spec.heads != 0 || spec.hidden / spec.heads % 2 != 0 ||
        spec.hidden / spec.heads > bounds::head_dim) {
      fail(ErrorCode::bad_file, meta.file(), ": ", spec.hidden, " hidden values do not divide into ", spec.heads,
           " attention heads of an even size, and key llama.attention.key_length is missing");
    }
    spec.head_dim = spec.hidden / spec.heads;
  }
  shape.intermediate = static_cast<uint32_t>(meta.need_integer("llama.feed_forward_length", 1, bounds::intermediate));
  shape.scale = meta.real("llama.attention.scale", 0.0, 1e6).value_or(0.0);
  shape.qkv_bias = binder.has("blk.0.attn_q.bias") || binder.has("blk.0.attn_qkv.bias");
  shape.out_bias = binder.has("blk.0.attn_output.bias");
  shape.mlp_bias = binder.has("blk.0.ffn_gate.bias");
  // Files of this family were made for ggml, which rounds YaRN's range; so it is rounded here whatever the switch says.
  shape.rope = read_gguf_rope(meta, "llama.", spec, RopeLayout::interleaved, true, "linear");
  read_divisors(binder, options.weights, shape.rope);
  fill_llama(shape, spec);

  out.weights.layers.resize(shape.layers);
  for (uint32_t i = 0; i < shape.layers; ++i)
    bind_layer(binder, say("blk.", i, "."), spec, shape, out.weights.layers[i]);
  bind_gguf_ends(binder, spec, out.weights);
}

}  // namespace hearth
