"""Oracle for a Llama-family GGUF: Hugging Face's LlamaForCausalLM over the file's weights as the gguf package dequantises them.

usage: smollm2_logits.py MODEL_GGUF TOKENS_JSON OUT
Writes the logits of every position as little-endian float32 [tokens, vocabulary] to OUT. Needs gguf, numpy, torch, transformers.
"""
import json, sys

import gguf
import numpy as np
import torch
from transformers import LlamaConfig, LlamaForCausalLM


def halves_from_pairs(weight, heads):
    """GGUF interleaves the two halves that a rotation turns; transformers keeps them apart."""
    rows, columns = weight.shape
    return weight.reshape(heads, rows // heads // 2, 2, columns).transpose(1, 2).reshape(rows, columns)


def state(weights, layers, heads, kv_heads):
    out = {
        "model.embed_tokens.weight": weights["token_embd.weight"],
        "model.norm.weight": weights["output_norm.weight"],
        "lm_head.weight": weights.get("output.weight", weights["token_embd.weight"]),
    }
    same = {
        "attn_v": "self_attn.v_proj",
        "attn_output": "self_attn.o_proj",
        "ffn_gate": "mlp.gate_proj",
        "ffn_up": "mlp.up_proj",
        "ffn_down": "mlp.down_proj",
        "attn_norm": "input_layernorm",
        "ffn_norm": "post_attention_layernorm",
    }
    for layer in range(layers):
        theirs, ours = "model.layers.%d." % layer, "blk.%d." % layer
        out[theirs + "self_attn.q_proj.weight"] = halves_from_pairs(weights[ours + "attn_q.weight"], heads)
        out[theirs + "self_attn.k_proj.weight"] = halves_from_pairs(weights[ours + "attn_k.weight"], kv_heads)
        for name, module in same.items():
            out[theirs + module + ".weight"] = weights[ours + name + ".weight"]
    return out


def load(path):
    reader = gguf.GGUFReader(path)
    get = lambda name: reader.fields["llama." + name].contents()
    weights = {
        tensor.name: torch.tensor(gguf.quants.dequantize(tensor.data, tensor.tensor_type).astype(np.float32))
        for tensor in reader.tensors
    }
    heads, kv_heads, layers = get("attention.head_count"), get("attention.head_count_kv"), get("block_count")
    config = LlamaConfig(
        hidden_size=get("embedding_length"),
        intermediate_size=get("feed_forward_length"),
        num_hidden_layers=layers,
        num_attention_heads=heads,
        num_key_value_heads=kv_heads,
        vocab_size=weights["token_embd.weight"].shape[0],
        rms_norm_eps=get("attention.layer_norm_rms_epsilon"),
        rope_parameters={"rope_type": "default", "rope_theta": get("rope.freq_base")},
        tie_word_embeddings="output.weight" not in weights,
        max_position_embeddings=get("context_length"),
        attn_implementation="eager",
    )
    model = LlamaForCausalLM(config).float().eval()
    model.load_state_dict(state(weights, layers, heads, kv_heads), strict=True)
    return model


def main():
    path, tokens, out = sys.argv[1:4]
    model = load(path)
    with torch.no_grad():
        logits = model(torch.tensor([json.load(open(tokens))])).logits[0]
    logits.numpy().astype("<f4").tofile(out)


main()
