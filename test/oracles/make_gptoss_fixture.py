#!/usr/bin/env python3
"""Makes test/fixtures/oracles/gptoss: a tiny random gpt-oss model in both file formats, and its logits by transformers.

The weights are drawn here: bf16 for dense tensors, random MXFP4 codes for experts. Both files hold the same values;
transformers' GptOss (float32, eager attention) gets the experts dequantised. Needs torch, transformers, safetensors.

With `--second MODULE.py` (a file with functions load(path), kvs(path) and forward(weights, metadata, tokens, truncate)
that reads GGUF and computes in float64 without torch) its logits of the same GGUF are written too.

Usage: python make_gptoss_fixture.py [--second MODULE.py]
"""
import argparse
import importlib.util
import json
import os
import sys

import numpy as np
import torch
from safetensors.torch import save_file
from transformers import GptOssConfig, GptOssForCausalLM

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import byte_vocabulary
from expected import LENGTHS, write_expected
from gguf_writer import TYPE_MXFP4, GgufWriter, bf16

OUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures", "oracles", "gptoss")
LAYERS, HIDDEN, INNER, HEADS, KV_HEADS, HEAD_DIM = 4, 64, 96, 8, 2, 32
EXPERTS, CHOSEN, WINDOW, VOCABULARY = 8, 4, 16, 288
THETA, FACTOR, ORIGINAL, CONTEXT, EPS = 150000.0, 32.0, 4096, 131072, 1e-5
FP4 = np.array([0, .5, 1, 1.5, 2, 3, 4, 6, -0., -.5, -1, -1.5, -2, -3, -4, -6], np.float32)


def draw(rng):
    """name -> array; experts as (codes [experts, rows, cols], scales [experts, rows, cols / 32])."""
    def normal(shape, std, mean=0.0):
        x = (rng.standard_normal(shape) * std + mean).astype(np.float32)
        return (bf16(x).astype("<u4") << 16).view("<f4")  # what bf16 can hold

    def experts(rows, cols, std):
        codes = rng.integers(0, 16, (EXPERTS, rows, cols), dtype=np.uint8)
        spread = np.sqrt(np.mean(FP4 ** 2))
        middle = int(round(np.log2(std / spread))) + 127
        scales = (middle + rng.integers(-1, 2, (EXPERTS, rows, cols // 32))).astype(np.uint8)
        return codes, scales

    w = {"embedding": normal((VOCABULARY, HIDDEN), 1.0), "output_norm": normal((HIDDEN,), 0.1, 1.0),
         "output": normal((VOCABULARY, HIDDEN), 3 / np.sqrt(HIDDEN))}
    for i in range(LAYERS):
        w[i] = dict(
            attention_norm=normal((HIDDEN,), 0.1, 1.0), mlp_norm=normal((HIDDEN,), 0.1, 1.0),
            q=normal((HEADS * HEAD_DIM, HIDDEN), 1.5 / np.sqrt(HIDDEN)), q_bias=normal((HEADS * HEAD_DIM,), 0.2),
            k=normal((KV_HEADS * HEAD_DIM, HIDDEN), 1.5 / np.sqrt(HIDDEN)), k_bias=normal((KV_HEADS * HEAD_DIM,), 0.2),
            v=normal((KV_HEADS * HEAD_DIM, HIDDEN), 1 / np.sqrt(HIDDEN)), v_bias=normal((KV_HEADS * HEAD_DIM,), 0.2),
            o=normal((HIDDEN, HEADS * HEAD_DIM), 1.5 / np.sqrt(HEADS * HEAD_DIM)), o_bias=normal((HIDDEN,), 0.1),
            sinks=normal((HEADS,), 1.0, 0.5),
            router=normal((EXPERTS, HIDDEN), 1.5 / np.sqrt(HIDDEN)), router_bias=normal((EXPERTS,), 0.2),
            gate=experts(INNER, HIDDEN, 2 / np.sqrt(HIDDEN)), gate_bias=normal((EXPERTS, INNER), 0.2),
            up=experts(INNER, HIDDEN, 2 / np.sqrt(HIDDEN)), up_bias=normal((EXPERTS, INNER), 0.2),
            down=experts(HIDDEN, INNER, 0.5 / np.sqrt(INNER)), down_bias=normal((EXPERTS, HIDDEN), 0.1))
    return w


def values(experts):
    codes, scales = experts
    return FP4[codes] * np.exp2(np.repeat(scales, 32, axis=2).astype(np.float32) - 127)


def interleave(gate, up):
    """Rows g0 u0 g1 u1 ..., along axis 1."""
    return np.stack([gate, up], axis=2).reshape(gate.shape[0], -1, *gate.shape[2:])


def to_planes(codes):
    """Byte b of a group: element 2b low, 2b + 1 high. [experts, rows, groups, 16]"""
    pairs = codes.reshape(*codes.shape[:2], -1, 16, 2)
    return pairs[..., 0] | pairs[..., 1] << 4


def to_blocks(experts):
    """ggml: the scale, then byte j with element j low and j + 16 high."""
    codes, scales = experts
    halves = codes.reshape(*codes.shape[:2], -1, 2, 16)
    nibbles = halves[..., 0, :] | halves[..., 1, :] << 4
    return np.concatenate([scales[..., None], nibbles], axis=-1).tobytes()


def write_hf(w, config, folder):
    os.makedirs(folder, exist_ok=True)
    t, bits = {}, lambda x: torch.from_numpy(x.copy()).to(torch.bfloat16)
    t["model.embed_tokens.weight"], t["lm_head.weight"] = bits(w["embedding"]), bits(w["output"])
    t["model.norm.weight"] = bits(w["output_norm"])
    for i in range(LAYERS):
        at, l = "model.layers.%d." % i, w[i]
        t[at + "input_layernorm.weight"] = bits(l["attention_norm"])
        t[at + "post_attention_layernorm.weight"] = bits(l["mlp_norm"])
        for name in "qkvo":
            t[at + "self_attn.%s_proj.weight" % name] = bits(l[name])
            t[at + "self_attn.%s_proj.bias" % name] = bits(l[name + "_bias"])
        t[at + "self_attn.sinks"] = bits(l["sinks"])
        t[at + "mlp.router.weight"], t[at + "mlp.router.bias"] = bits(l["router"]), bits(l["router_bias"])
        codes = interleave(l["gate"][0], l["up"][0])
        scales = interleave(l["gate"][1], l["up"][1])
        t[at + "mlp.experts.gate_up_proj_blocks"] = torch.from_numpy(to_planes(codes))
        t[at + "mlp.experts.gate_up_proj_scales"] = torch.from_numpy(scales)
        t[at + "mlp.experts.gate_up_proj_bias"] = bits(interleave(l["gate_bias"], l["up_bias"]))
        t[at + "mlp.experts.down_proj_blocks"] = torch.from_numpy(to_planes(l["down"][0]))
        t[at + "mlp.experts.down_proj_scales"] = torch.from_numpy(l["down"][1])
        t[at + "mlp.experts.down_proj_bias"] = bits(l["down_bias"])
    save_file({k: v.contiguous() for k, v in t.items()}, os.path.join(folder, "model.safetensors"), {"format": "pt"})
    byte_vocabulary.write_tokenizer_json(os.path.join(folder, "tokenizer.json"))
    document = config.to_dict()
    document["architectures"] = ["GptOssForCausalLM"]
    document["eos_token_id"] = byte_vocabulary.END
    document["quantization_config"] = {"quant_method": "mxfp4"}
    with open(os.path.join(folder, "config.json"), "w") as file:
        json.dump(document, file, indent=2, sort_keys=True)


def write_gguf(w, path):
    g, a = GgufWriter(), "gpt-oss."
    g.string("general.architecture", "gpt-oss")
    g.string("general.name", "tiny random gpt-oss")
    for key, value in [("block_count", LAYERS), ("context_length", CONTEXT), ("embedding_length", HIDDEN),
                       ("feed_forward_length", INNER), ("expert_feed_forward_length", INNER),
                       ("attention.head_count", HEADS), ("attention.head_count_kv", KV_HEADS),
                       ("attention.key_length", HEAD_DIM), ("attention.value_length", HEAD_DIM),
                       ("attention.sliding_window", WINDOW), ("expert_count", EXPERTS), ("expert_used_count", CHOSEN),
                       ("rope.scaling.original_context_length", ORIGINAL)]:
        g.u32(a + key, value)
    g.f32(a + "attention.layer_norm_rms_epsilon", EPS)
    g.f32(a + "rope.freq_base", THETA)
    g.f32(a + "rope.scaling.factor", FACTOR)
    g.string(a + "rope.scaling.type", "yarn")
    byte_vocabulary.write_metadata(g)
    g.bf16_tensor("token_embd.weight", w["embedding"])
    g.f32_tensor("output_norm.weight", w["output_norm"])
    g.bf16_tensor("output.weight", w["output"])
    for i in range(LAYERS):
        at, l = "blk.%d." % i, w[i]
        g.f32_tensor(at + "attn_norm.weight", l["attention_norm"])
        g.f32_tensor(at + "post_attention_norm.weight", l["mlp_norm"])
        for name, file_name in [("q", "attn_q"), ("k", "attn_k"), ("v", "attn_v"), ("o", "attn_output")]:
            g.bf16_tensor(at + file_name + ".weight", l[name])
            g.f32_tensor(at + file_name + ".bias", l[name + "_bias"])
        g.f32_tensor(at + "attn_sinks.weight", l["sinks"])
        g.f32_tensor(at + "ffn_gate_inp.weight", l["router"])
        g.f32_tensor(at + "ffn_gate_inp.bias", l["router_bias"])
        for name in ("gate", "up", "down"):
            g.tensor(at + "ffn_%s_exps.weight" % name, l[name][0].shape, TYPE_MXFP4, to_blocks(l[name]))
            g.f32_tensor(at + "ffn_%s_exps.bias" % name, l[name + "_bias"])
    g.write(path)


def torch_model(w, config):
    model = GptOssForCausalLM(config).eval()
    t = {"model.embed_tokens.weight": w["embedding"], "lm_head.weight": w["output"], "model.norm.weight": w["output_norm"]}
    for i in range(LAYERS):
        at, l = "model.layers.%d." % i, w[i]
        t[at + "input_layernorm.weight"], t[at + "post_attention_layernorm.weight"] = l["attention_norm"], l["mlp_norm"]
        for name in "qkvo":
            t[at + "self_attn.%s_proj.weight" % name] = l[name]
            t[at + "self_attn.%s_proj.bias" % name] = l[name + "_bias"]
        t[at + "self_attn.sinks"] = l["sinks"]
        t[at + "mlp.router.weight"], t[at + "mlp.router.bias"] = l["router"], l["router_bias"]
        # This class keeps experts transposed: [experts, in, out].
        t[at + "mlp.experts.gate_up_proj"] = interleave(values(l["gate"]), values(l["up"])).transpose(0, 2, 1)
        t[at + "mlp.experts.gate_up_proj_bias"] = interleave(l["gate_bias"], l["up_bias"])
        t[at + "mlp.experts.down_proj"] = values(l["down"]).transpose(0, 2, 1)
        t[at + "mlp.experts.down_proj_bias"] = l["down_bias"]
    model.load_state_dict({k: torch.from_numpy(np.ascontiguousarray(v)) for k, v in t.items()}, strict=True)
    return model


def second_oracle(module_path, gguf_path, tokens):
    spec = importlib.util.spec_from_file_location("second_oracle", module_path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    weights, metadata = module.load(gguf_path), module.kvs(gguf_path)
    return {n: module.forward(weights, metadata, tokens[:n], truncate=False) for n in LENGTHS}


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--second")
    second = arguments.parse_args().second
    os.makedirs(OUT, exist_ok=True)
    rng = np.random.default_rng(20261129)
    w = draw(rng)
    tokens = [int(t) for t in rng.integers(0, VOCABULARY, max(LENGTHS))]
    config = GptOssConfig(
        num_hidden_layers=LAYERS, hidden_size=HIDDEN, intermediate_size=INNER, num_attention_heads=HEADS,
        num_key_value_heads=KV_HEADS, head_dim=HEAD_DIM, num_local_experts=EXPERTS, num_experts_per_tok=CHOSEN,
        sliding_window=WINDOW, vocab_size=VOCABULARY, max_position_embeddings=CONTEXT, rms_norm_eps=EPS,
        rope_parameters={"rope_type": "yarn", "rope_theta": THETA, "factor": FACTOR, "beta_fast": 32.0, "beta_slow": 1.0,
                         "truncate": False, "original_max_position_embeddings": ORIGINAL},
        tie_word_embeddings=False, attn_implementation="eager")
    write_hf(w, config, os.path.join(OUT, "hf"))
    gguf_path = os.path.join(OUT, "tiny.gguf")
    write_gguf(w, gguf_path)
    model, rows = torch_model(w, config), {}
    with torch.no_grad():
        for n in LENGTHS:
            rows[n] = model(torch.tensor([tokens[:n]]), use_cache=False).logits[0, -1].numpy()
    write_expected(os.path.join(OUT, "transformers.txt"),
                   "transformers GptOssForCausalLM, float32, eager attention; by make_gptoss_fixture.py", tokens, rows)
    for n in LENGTHS:
        print("%4d tokens: std %.3f, argmax %d" % (n, rows[n].std(), rows[n].argmax()))
    if second:
        other = second_oracle(second, gguf_path, tokens)
        write_expected(os.path.join(OUT, "numpy64.txt"),
                       "an independent float64 numpy forward of tiny.gguf; by make_gptoss_fixture.py --second", tokens, other)
        for n in LENGTHS:
            print("%4d tokens: the two oracles differ by %.2e at most" % (n, np.abs(other[n] - rows[n]).max()))


if __name__ == "__main__":
    main()
