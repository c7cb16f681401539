#!/usr/bin/env python3
"""Makes test/fixtures/oracles/llama: a tiny random llama (grouped queries, tied embedding) in both file formats, and its
logits by transformers' LlamaForCausalLM (float32, eager). Needs torch, transformers, safetensors.

The GGUF has the rows of q and k in the pairwise order of that format (interleaved rotation); the folder has them split
in halves.

Usage: python make_llama_fixture.py
"""
import json
import os
import sys

import numpy as np
import torch
from safetensors.torch import save_file
from transformers import LlamaConfig, LlamaForCausalLM

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import byte_vocabulary
from expected import LENGTHS, write_expected
from gguf_writer import GgufWriter, bf16

OUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures", "oracles", "llama")
LAYERS, HIDDEN, INNER, HEADS, KV_HEADS, HEAD_DIM, VOCABULARY = 2, 64, 96, 4, 2, 16, 288
THETA, CONTEXT, EPS = 10000.0, 2048, 1e-5
NAMES = [("self_attn.q_proj", "attn_q", HEADS * HEAD_DIM, HIDDEN, 1.5), ("self_attn.k_proj", "attn_k", KV_HEADS * HEAD_DIM, HIDDEN, 1.5),
         ("self_attn.v_proj", "attn_v", KV_HEADS * HEAD_DIM, HIDDEN, 1.0), ("self_attn.o_proj", "attn_output", HIDDEN, HEADS * HEAD_DIM, 1.0),
         ("mlp.gate_proj", "ffn_gate", INNER, HIDDEN, 1.5), ("mlp.up_proj", "ffn_up", INNER, HIDDEN, 1.5),
         ("mlp.down_proj", "ffn_down", HIDDEN, INNER, 1.0)]
NORMS = [("input_layernorm", "attn_norm"), ("post_attention_layernorm", "ffn_norm")]


def draw(rng):
    def normal(shape, std, mean=0.0):
        x = (rng.standard_normal(shape) * std + mean).astype(np.float32)
        return (bf16(x).astype("<u4") << 16).view("<f4")

    w = {"model.embed_tokens.weight": normal((VOCABULARY, HIDDEN), 0.5), "model.norm.weight": normal((HIDDEN,), 0.1, 1.0)}
    for i in range(LAYERS):
        for name, _ in NORMS:
            w["model.layers.%d.%s.weight" % (i, name)] = normal((HIDDEN,), 0.1, 1.0)
        for name, _, rows, cols, std in NAMES:
            w["model.layers.%d.%s.weight" % (i, name)] = normal((rows, cols), std / np.sqrt(cols))
    return w


def pairwise(x, heads):
    """Rows of each head from halves to pairs: i and i + d/2 become 2i and 2i + 1."""
    return x.reshape(heads, 2, HEAD_DIM // 2, -1).swapaxes(1, 2).reshape(x.shape)


def write_gguf(w, path):
    g = GgufWriter()
    g.string("general.architecture", "llama")
    g.string("general.name", "tiny random llama")
    for key, value in [("block_count", LAYERS), ("context_length", CONTEXT), ("embedding_length", HIDDEN),
                       ("feed_forward_length", INNER), ("attention.head_count", HEADS), ("attention.head_count_kv", KV_HEADS),
                       ("rope.dimension_count", HEAD_DIM), ("vocab_size", VOCABULARY)]:
        g.u32("llama." + key, value)
    g.f32("llama.attention.layer_norm_rms_epsilon", EPS)
    g.f32("llama.rope.freq_base", THETA)
    byte_vocabulary.write_metadata(g)
    g.bf16_tensor("token_embd.weight", w["model.embed_tokens.weight"])
    g.f32_tensor("output_norm.weight", w["model.norm.weight"])
    for i in range(LAYERS):
        for name, file_name in NORMS:
            g.f32_tensor("blk.%d.%s.weight" % (i, file_name), w["model.layers.%d.%s.weight" % (i, name)])
        for name, file_name, _, _, _ in NAMES:
            x = w["model.layers.%d.%s.weight" % (i, name)]
            if file_name in ("attn_q", "attn_k"):
                x = pairwise(x, HEADS if file_name == "attn_q" else KV_HEADS)
            g.bf16_tensor("blk.%d.%s.weight" % (i, file_name), x)
    g.write(path)


def write_hf(w, config, folder):
    os.makedirs(folder, exist_ok=True)
    tensors = {k: torch.from_numpy(v.copy()).to(torch.bfloat16) for k, v in w.items()}
    save_file(tensors, os.path.join(folder, "model.safetensors"), {"format": "pt"})
    byte_vocabulary.write_tokenizer_json(os.path.join(folder, "tokenizer.json"))
    document = config.to_dict()
    document["architectures"] = ["LlamaForCausalLM"]
    document["eos_token_id"] = byte_vocabulary.END
    with open(os.path.join(folder, "config.json"), "w") as file:
        json.dump(document, file, indent=2, sort_keys=True)


def main():
    os.makedirs(OUT, exist_ok=True)
    rng = np.random.default_rng(2611)
    w = draw(rng)
    tokens = [int(t) for t in rng.integers(0, VOCABULARY, max(LENGTHS))]
    config = LlamaConfig(num_hidden_layers=LAYERS, hidden_size=HIDDEN, intermediate_size=INNER, num_attention_heads=HEADS,
                         num_key_value_heads=KV_HEADS, head_dim=HEAD_DIM, vocab_size=VOCABULARY, max_position_embeddings=CONTEXT,
                         rms_norm_eps=EPS, rope_parameters={"rope_type": "default", "rope_theta": THETA},
                         tie_word_embeddings=True, attn_implementation="eager")
    write_hf(w, config, os.path.join(OUT, "hf"))
    write_gguf(w, os.path.join(OUT, "tiny.gguf"))
    model, rows = LlamaForCausalLM(config).eval(), {}
    state = {k: torch.from_numpy(v.copy()) for k, v in w.items()}
    state["lm_head.weight"] = state["model.embed_tokens.weight"]
    model.load_state_dict(state, strict=True)
    with torch.no_grad():
        for n in LENGTHS:
            rows[n] = model(torch.tensor([tokens[:n]]), use_cache=False).logits[0, -1].numpy()
            print("%4d tokens: std %.3f, argmax %d" % (n, rows[n].std(), rows[n].argmax()))
    write_expected(os.path.join(OUT, "transformers.txt"),
                   "transformers LlamaForCausalLM, float32, eager attention; by make_llama_fixture.py", tokens, rows)


if __name__ == "__main__":
    main()
