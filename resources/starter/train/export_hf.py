"""The same model as a Hugging Face folder, made from the GGUF alone: config.json, model.safetensors, tokenizer.json.
Owns: names, layouts and the repacking of MXFP4. Refuses: rounding anything: experts keep their bits, the rest is float32 with the values that
the file holds (the published gpt-oss has bfloat16 there), so that whatever reads the folder must give the file's own logits.
Usage: python export_hf.py MODEL.gguf FOLDER"""
from __future__ import annotations

import json
import os
import sys

import numpy as np
from safetensors.numpy import save_file

import gguf_numpy
from tokenizer import PATTERN

MXFP4 = 39


def raw_experts(d: bytes, at: int, kind: int, dims):
    """As gguf_numpy reads it, but MXFP4 as (nibbles [experts, rows, groups, 32], scales [experts, rows, groups])."""
    if kind != MXFP4:
        return gguf_numpy.decode(d, at, kind, dims)
    cols, rows, experts = dims
    b = np.frombuffer(d, np.uint8, experts * rows * cols // 32 * 17, at).reshape(experts, rows, cols // 32, 17)
    return np.concatenate([b[..., 1:] & 15, b[..., 1:] >> 4], -1), b[..., 0]


def planes(nibbles: np.ndarray) -> np.ndarray:
    """Byte b of a group: element 2 b low, 2 b + 1 high."""
    return nibbles[..., 0::2] | nibbles[..., 1::2] << 4


def in_turns(gate: np.ndarray, up: np.ndarray) -> np.ndarray:
    """Rows g0 u0 g1 u1 …, along axis 1."""
    return np.stack([gate, up], 2).reshape(gate.shape[0], -1, *gate.shape[2:])


def tensors(w: dict, layers: int) -> dict[str, np.ndarray]:
    out = {'model.embed_tokens.weight': w['token_embd.weight'], 'model.norm.weight': w['output_norm.weight'], 'lm_head.weight': w['output.weight']}
    for i in range(layers):
        t = lambda n: w[f'blk.{i}.{n}']
        a, e = f'model.layers.{i}.', f'model.layers.{i}.mlp.experts.'
        out[a + 'input_layernorm.weight'], out[a + 'post_attention_layernorm.weight'] = t('attn_norm.weight'), t('post_attention_norm.weight')
        for mine, theirs in (('q', 'q'), ('k', 'k'), ('v', 'v'), ('o', 'output')):
            for part in ('weight', 'bias'):
                out[f'{a}self_attn.{mine}_proj.{part}'] = t(f'attn_{theirs}.{part}')
        out[a + 'self_attn.sinks'] = t('attn_sinks.weight')
        out[a + 'mlp.router.weight'], out[a + 'mlp.router.bias'] = t('ffn_gate_inp.weight'), t('ffn_gate_inp.bias')
        gate, up, down = (t(f'ffn_{n}_exps.weight') for n in ('gate', 'up', 'down'))
        out[e + 'gate_up_proj_blocks'], out[e + 'gate_up_proj_scales'] = planes(in_turns(gate[0], up[0])), in_turns(gate[1], up[1])
        out[e + 'gate_up_proj_bias'] = in_turns(t('ffn_gate_exps.bias'), t('ffn_up_exps.bias'))
        out[e + 'down_proj_blocks'], out[e + 'down_proj_scales'], out[e + 'down_proj_bias'] = planes(down[0]), down[1], t('ffn_down_exps.bias')
    return {k: np.ascontiguousarray(v) for k, v in out.items()}


def config(meta: dict) -> dict:
    g = lambda k: meta['gpt-oss.' + k]
    real = lambda k: float(f'{g(k):.7g}')              # 1e-05, not what float32 makes of it
    layers = g('block_count')
    return dict(
        architectures=['GptOssForCausalLM'], model_type='gpt_oss', dtype='float32', vocab_size=len(meta['tokenizer.ggml.tokens']),
        num_hidden_layers=layers, hidden_size=g('embedding_length'), intermediate_size=g('expert_feed_forward_length'), head_dim=g('attention.key_length'),
        num_attention_heads=g('attention.head_count'), num_key_value_heads=g('attention.head_count_kv'), attention_bias=True, attention_dropout=0.0,
        num_local_experts=g('expert_count'), num_experts_per_tok=g('expert_used_count'), sliding_window=g('attention.sliding_window'),
        layer_types=['full_attention' if i % 2 else 'sliding_attention' for i in range(layers)], hidden_act='silu', swiglu_limit=7.0,
        max_position_embeddings=g('context_length'), rms_norm_eps=real('attention.layer_norm_rms_epsilon'), rope_theta=real('rope.freq_base'),
        rope_scaling=dict(rope_type='yarn', factor=real('rope.scaling.factor'), beta_fast=32.0, beta_slow=1.0, truncate=False,
                          original_max_position_embeddings=g('rope.scaling.original_context_length')),
        tie_word_embeddings=False, eos_token_id=meta['tokenizer.ggml.eos_token_id'], pad_token_id=meta['tokenizer.ggml.padding_token_id'],
        quantization_config=dict(quant_method='mxfp4', modules_to_not_convert=['model.layers.*.self_attn', 'model.layers.*.mlp.router', 'model.embed_tokens', 'lm_head']))


def tokenizer(meta: dict) -> dict:
    tokens, kinds = meta['tokenizer.ggml.tokens'], meta['tokenizer.ggml.token_type']
    special = lambda i: dict(id=i, content=tokens[i], single_word=False, lstrip=False, rstrip=False, normalized=False, special=True)
    level = lambda: dict(type='ByteLevel', add_prefix_space=False, trim_offsets=True, use_regex=False)
    split = dict(type='Split', pattern=dict(Regex=PATTERN.pattern), behavior='Isolated', invert=False)
    plain = {t: i for i, (t, k) in enumerate(zip(tokens, kinds)) if k == 1}
    model = dict(type='BPE', dropout=None, unk_token=None, continuing_subword_prefix=None, end_of_word_suffix=None, fuse_unk=False, byte_fallback=False,
                 ignore_merges=False, vocab=plain, merges=[m.split(' ') for m in meta['tokenizer.ggml.merges']])
    return dict(version='1.0', truncation=None, padding=None, added_tokens=[special(i) for i, k in enumerate(kinds) if k == 3], normalizer=None,
                pre_tokenizer=dict(type='Sequence', pretokenizers=[split, level()]), post_processor=None, decoder=level(), model=model)


def write(path: str, folder: str) -> None:
    meta, w = gguf_numpy.read(path, raw_experts)
    os.makedirs(folder, exist_ok=True)
    save_file(tensors(w, meta['gpt-oss.block_count']), os.path.join(folder, 'model.safetensors'), {'format': 'pt'})
    stops = [meta['tokenizer.ggml.tokens'].index(t) for t in ('<|return|>', '<|endoftext|>', '<|call|>')]
    beside = {'config.json': config(meta), 'generation_config.json': dict(eos_token_id=stops, pad_token_id=meta['tokenizer.ggml.padding_token_id']),
              'tokenizer.json': tokenizer(meta), 'tokenizer_config.json': dict(tokenizer_class='PreTrainedTokenizerFast', eos_token='<|return|>', pad_token='<|endoftext|>', chat_template=meta['tokenizer.chat_template'])}
    for name, document in beside.items():
        with open(os.path.join(folder, name), 'w', encoding='utf-8') as f:
            json.dump(document, f, ensure_ascii=False, indent=1)


if __name__ == '__main__':
    write(*sys.argv[1:3])
    print(f'{sys.argv[2]}: {sum(os.path.getsize(os.path.join(sys.argv[2], n)) for n in os.listdir(sys.argv[2])) / 1e6:.2f} MB')
