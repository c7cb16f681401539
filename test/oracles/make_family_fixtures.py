#!/usr/bin/env python3
"""Makes test/fixtures/oracles/FAMILY for the families below: a tiny random model in both file formats, and its logits by
transformers (float32, eager attention). Needs torch, transformers, safetensors.

The folder has the tensor names of published checkpoints. The GGUF follows llama.cpp's converter: pairwise rows of q and k
for llama and smollm3, norms as 1 + w for gemma3, experts stacked, what phi3 fuses left fused.

Usage: python make_family_fixtures.py [FAMILY...]
"""
import json
import os
import sys

import numpy as np
import torch
import transformers
from safetensors.torch import save_file

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from expected import LENGTHS, write_expected
from gguf_writer import GgufWriter, bf16

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures", "oracles")
VOCABULARY, CONTEXT, ORIGINAL = 96, 1024, 64
# Divisors of LongRoPE for 6 pairs; contexts of more than ORIGINAL use the long ones.
SHORT, LONG = [1.0, 1.05, 1.1, 1.2, 1.3, 1.5], [1.0, 1.5, 2.5, 5.0, 9.0, 14.0]

COMMON = dict(vocab_size=VOCABULARY, hidden_size=32, intermediate_size=48, num_attention_heads=4, num_key_value_heads=2,
              max_position_embeddings=CONTEXT, bos_token_id=1, eos_token_id=2, pad_token_id=0, attn_implementation="eager")


def rope(theta, **more):
    return dict(rope_type="default", rope_theta=theta, **more) if "rope_type" not in more else dict(rope_theta=theta, **more)


FAMILIES = {
    "qwen2": dict(kind="Qwen2", arch="qwen2", config=dict(num_hidden_layers=2, rms_norm_eps=1e-6, tie_word_embeddings=True,
        rope_parameters=rope(1e6, rope_type="yarn", factor=16.0, original_max_position_embeddings=ORIGINAL))),
    "qwen3": dict(kind="Qwen3", arch="qwen3", config=dict(num_hidden_layers=2, head_dim=16, rms_norm_eps=1e-6,
        tie_word_embeddings=False, rope_parameters=rope(1e6))),
    "qwen3moe": dict(kind="Qwen3Moe", arch="qwen3moe", config=dict(num_hidden_layers=2, head_dim=16, rms_norm_eps=1e-6,
        tie_word_embeddings=False, rope_parameters=rope(1e6), num_experts=8, num_experts_per_tok=3, moe_intermediate_size=32,
        norm_topk_prob=True)),
    "mistral": dict(kind="Mistral", arch="llama", config=dict(num_hidden_layers=2, head_dim=16, rms_norm_eps=1e-5,
        tie_word_embeddings=False, rope_parameters=rope(1e4), sliding_window=24)),
    "gemma3": dict(kind="Gemma3", arch="gemma3", config=dict(num_hidden_layers=6, head_dim=16, rms_norm_eps=1e-6,
        tie_word_embeddings=True, sliding_window=20, query_pre_attn_scalar=12, rope_parameters=dict(
            sliding_attention=rope(1e4), full_attention=rope(1e6, rope_type="linear", factor=8.0)))),
    "phi3": dict(kind="Phi3", arch="phi3", config=dict(num_hidden_layers=2, hidden_size=64, rms_norm_eps=1e-5,
        tie_word_embeddings=False, sliding_window=50, original_max_position_embeddings=ORIGINAL, rope_parameters=rope(
            1e4, rope_type="longrope", short_factor=SHORT, long_factor=LONG, partial_rotary_factor=0.75,
            original_max_position_embeddings=ORIGINAL))),
    "smollm3": dict(kind="SmolLM3", arch="smollm3", config=dict(num_hidden_layers=4, rms_norm_eps=1e-6,
        tie_word_embeddings=True, rope_parameters=rope(5e6))),
}

RENAMED = {"self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v", "self_attn.o_proj": "attn_output",
           "self_attn.qkv_proj": "attn_qkv", "self_attn.q_norm": "attn_q_norm", "self_attn.k_norm": "attn_k_norm",
           "input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm", "mlp.gate_proj": "ffn_gate",
           "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down", "mlp.gate_up_proj": "ffn_up", "mlp.gate": "ffn_gate_inp"}
SANDWICH = {"post_attention_layernorm": "post_attention_norm", "pre_feedforward_layernorm": "ffn_norm",
            "post_feedforward_layernorm": "post_ffw_norm"}


def draw(rng, name, shape, gemma):
    """Values that bf16 can hold, of a size that keeps every part of the model heard."""
    if name.endswith("norm.weight") or "layernorm" in name:
        x = rng.standard_normal(shape) * 0.2 + (0.0 if gemma else 1.0)
    elif name.endswith(".bias"):
        x = rng.standard_normal(shape) * 0.3
    elif "embed_tokens" in name:
        x = rng.standard_normal(shape) * 0.5
    else:
        x = rng.standard_normal(shape) * (1.5 / np.sqrt(shape[-1]))
    return (bf16(x.astype(np.float32)).astype("<u4") << 16).view("<f4")


def folder_tensors(state, experts):
    """As published: every expert's matrices are tensors of their own."""
    out = {}
    for name, x in state.items():
        if ".mlp.experts." not in name:
            out[name] = x
            continue
        at = name[:name.index("experts.") + len("experts.")]
        for e in range(experts):
            if name.endswith("gate_up_proj"):
                half = x.shape[1] // 2
                out["%s%d.gate_proj.weight" % (at, e)], out["%s%d.up_proj.weight" % (at, e)] = x[e, :half], x[e, half:]
            else:
                out["%s%d.down_proj.weight" % (at, e)] = x[e]
    return out


def write_folder(state, config, family, folder):
    os.makedirs(folder, exist_ok=True)
    experts = family["config"].get("num_experts", 0)
    tensors = {k: torch.from_numpy(np.array(v)).to(torch.bfloat16) for k, v in folder_tensors(state, experts).items()}
    save_file(tensors, os.path.join(folder, "model.safetensors"), {"format": "pt"})
    document = config.to_dict()
    document["architectures"] = [family["kind"] + "ForCausalLM"]
    with open(os.path.join(folder, "config.json"), "w") as file:
        json.dump(document, file, indent=1, sort_keys=True)


def pairwise(x, heads):
    """Rows of each head from halves to pairs: i and i + d/2 become 2i and 2i + 1."""
    return x.reshape(heads, 2, x.shape[0] // heads // 2, -1).swapaxes(1, 2).reshape(x.shape)


def write_keys(g, config, arch):
    a, c = arch + ".", config
    head_dim = getattr(c, "head_dim", None) or c.hidden_size // c.num_attention_heads
    parameters = c.rope_parameters.get("full_attention", c.rope_parameters)
    for key, value in [("block_count", c.num_hidden_layers), ("context_length", CONTEXT), ("embedding_length", c.hidden_size),
                       ("feed_forward_length", c.intermediate_size), ("attention.head_count", c.num_attention_heads),
                       ("attention.head_count_kv", c.num_key_value_heads)]:
        g.u32(a + key, value)
    g.f32(a + "attention.layer_norm_rms_epsilon", c.rms_norm_eps)
    g.f32(a + "rope.freq_base", parameters["rope_theta"])
    if head_dim * c.num_attention_heads != c.hidden_size:
        g.u32(a + "attention.key_length", head_dim)
        g.u32(a + "attention.value_length", head_dim)
    g.u32(a + "rope.dimension_count", int(head_dim * parameters.get("partial_rotary_factor", 1.0)))
    kind = parameters["rope_type"]
    if kind in ("yarn", "linear"):
        g.string(a + "rope.scaling.type", kind)
        g.f32(a + "rope.scaling.factor", parameters["factor"])
    if kind in ("yarn", "longrope"):
        g.u32(a + "rope.scaling.original_context_length", ORIGINAL)
    if kind == "longrope":
        g.f32(a + "rope.scaling.attn_factor", np.sqrt(1 + np.log(CONTEXT / ORIGINAL) / np.log(ORIGINAL)))
    if getattr(c, "sliding_window", None):
        g.u32(a + "attention.sliding_window", c.sliding_window)
    if arch == "gemma3":
        g.f32(a + "attention.scale", c.query_pre_attn_scalar ** -0.5)
    if arch == "qwen3moe":
        g.u32(a + "expert_count", c.num_experts)
        g.u32(a + "expert_used_count", c.num_experts_per_tok)
        g.u32(a + "expert_feed_forward_length", c.moe_intermediate_size)


def write_gguf(state, config, arch, path):
    g = GgufWriter()
    g.string("general.architecture", arch)
    g.string("general.name", "tiny random " + arch)
    write_keys(g, config, arch)
    names = dict(RENAMED, **(SANDWICH if arch == "gemma3" else {}))
    for name, x in state.items():
        if name.endswith("norm.weight"):
            x = x + (1.0 if arch == "gemma3" else 0.0)
        if name == "lm_head.weight":
            g.bf16_tensor("output.weight", x)
        elif not name.startswith("model.layers."):
            g.tensor_as("token_embd.weight" if "embed" in name else "output_norm.weight", x)
        else:
            _, _, layer, rest = name.split(".", 3)
            at = "blk.%s." % layer
            if rest.startswith("mlp.experts."):
                half = x.shape[1] // 2
                parts = {"gate": x[:, :half], "up": x[:, half:]} if rest.endswith("gate_up_proj") else {"down": x}
                for part, value in parts.items():
                    g.bf16_tensor(at + "ffn_%s_exps.weight" % part, value)
                continue
            base, suffix = rest.rsplit(".", 1)
            if arch in ("llama", "smollm3") and base in ("self_attn.q_proj", "self_attn.k_proj"):
                x = pairwise(x, config.num_attention_heads if base.endswith("q_proj") else config.num_key_value_heads)
            g.tensor_as(at + names[base] + "." + suffix, x)
    if arch == "phi3":
        g.f32_tensor("rope_factors_short.weight", np.array(SHORT, np.float32))
        g.f32_tensor("rope_factors_long.weight", np.array(LONG, np.float32))
    g.write(path)


def make(name, family):
    folder = os.path.join(ROOT, name)
    os.makedirs(folder, exist_ok=True)
    rng = np.random.default_rng(sum(map(ord, name)))
    config_class = getattr(transformers, family["kind"] + ("TextConfig" if name == "gemma3" else "Config"))
    config = config_class(**{**COMMON, **family["config"]})
    model = getattr(transformers, family["kind"] + "ForCausalLM")(config).eval()
    state = {}
    for key, value in model.state_dict().items():
        if key == "lm_head.weight" and config.tie_word_embeddings:
            continue
        state[key] = draw(rng, key, tuple(value.shape), name == "gemma3")
    loaded = {k: torch.from_numpy(np.array(v)) for k, v in state.items()}
    if config.tie_word_embeddings:
        loaded["lm_head.weight"] = loaded["model.embed_tokens.weight"]
    model.load_state_dict(loaded, strict=True)
    write_folder(state, config, family, os.path.join(folder, "hf"))
    write_gguf(state, config, family["arch"], os.path.join(folder, "tiny.gguf"))
    tokens, rows = [int(t) for t in rng.integers(0, VOCABULARY, max(LENGTHS))], {}
    with torch.no_grad():
        for n in LENGTHS:
            rows[n] = model(torch.tensor([tokens[:n]]), use_cache=False).logits[0, -1].numpy()
            print("%s, %4d tokens: std %.3f, argmax %d" % (name, n, rows[n].std(), rows[n].argmax()))
    write_expected(os.path.join(folder, "transformers.txt"),
                   "transformers %sForCausalLM, float32, eager attention; by make_family_fixtures.py" % family["kind"], tokens, rows)


if __name__ == "__main__":
    for wanted in sys.argv[1:] or FAMILIES:
        make(wanted, FAMILIES[wanted])
