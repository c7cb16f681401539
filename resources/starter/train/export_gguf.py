"""Write a checkpoint as GGUF: arch gpt-oss, experts MXFP4, matrices Q8_0, the rest F32.
Owns: the container and the packing of blocks. Refuses: changing weights beyond the rounding of model.py.
Usage: python export_gguf.py CHECKPOINT TOKENIZER OUT.gguf"""
from __future__ import annotations

import struct
import sys

import numpy as np
import torch

from model import Config, mxfp4_exponent
from tokenizer import SPECIALS, Tokenizer, byte_chars

F32, Q8_0, MXFP4 = 0, 8, 39
U32, I32, FLOAT, BOOL, STR, ARR = 4, 5, 6, 7, 8, 9
ALIGN = 32
NAME = 'Hearth starter'

CHAT_TEMPLATE = (
    "{%- set first = messages[0] if messages and messages[0].role in ['system', 'developer'] else none -%}"
    "<|start|>system<|message|>You are ChatGPT, a large language model trained by OpenAI.\nKnowledge cutoff: 2024-06\n\n"
    "Reasoning: {{ reasoning_effort or 'medium' }}\n\n"
    "# Valid channels: analysis, commentary, final. Channel must be included for every message.<|end|>"
    "{%- if first -%}<|start|>developer<|message|># Instructions\n\n{{ first.content }}<|end|>{%- endif -%}"
    "{%- for m in messages -%}"
    "{%- if m.role == 'user' -%}<|start|>user<|message|>{{ m.content }}<|end|>"
    "{%- elif m.role == 'assistant' -%}<|start|>assistant<|channel|>final<|message|>{{ m.content }}<|end|>{%- endif -%}"
    "{%- endfor -%}"
    "{%- if add_generation_prompt -%}<|start|>assistant{%- endif -%}")


# ---------------------------------------------------------------- metadata
def text(s) -> bytes:
    b = s.encode('utf-8')
    return struct.pack('<Q', len(b)) + b


def kv(key: str, kind: int, value) -> bytes:
    out = text(key) + struct.pack('<I', kind)
    return out + (text(value) if kind == STR else struct.pack({U32: '<I', FLOAT: '<f', BOOL: '<?'}[kind], value))


def kv_array(key: str, kind: int, values) -> bytes:
    body = b''.join(text(v) for v in values) if kind == STR else np.asarray(values, '<i4').tobytes()
    return text(key) + struct.pack('<IIQ', ARR, kind, len(values)) + body


def metadata(c: Config, tok: Tokenizer) -> list[bytes]:
    chars = byte_chars()
    show = lambda b: ''.join(chars[x] for x in b)
    a, sp = 'gpt-oss.', tok.special
    return [
        kv('general.architecture', STR, 'gpt-oss'), kv('general.type', STR, 'model'), kv('general.name', STR, NAME),
        kv('general.license', STR, 'apache-2.0'),
        kv('general.description', STR, 'A very small model that ships with Hearth; trained by the Hearth project on text it wrote itself.'),
        kv('general.file_type', U32, 38), kv('general.quantization_version', U32, 2),
        kv(a + 'block_count', U32, c.layers), kv(a + 'context_length', U32, c.context), kv(a + 'embedding_length', U32, c.hidden),
        kv(a + 'feed_forward_length', U32, c.ffn), kv(a + 'expert_feed_forward_length', U32, c.ffn),
        kv(a + 'attention.head_count', U32, c.heads), kv(a + 'attention.head_count_kv', U32, c.kv_heads),
        kv(a + 'attention.key_length', U32, c.head_dim), kv(a + 'attention.value_length', U32, c.head_dim),
        kv(a + 'attention.layer_norm_rms_epsilon', FLOAT, c.eps), kv(a + 'attention.sliding_window', U32, c.window),
        kv(a + 'expert_count', U32, c.experts), kv(a + 'expert_used_count', U32, c.top_k),
        kv(a + 'rope.freq_base', FLOAT, c.rope_theta), kv(a + 'rope.scaling.type', STR, 'yarn'),
        kv(a + 'rope.scaling.factor', FLOAT, c.yarn_factor), kv(a + 'rope.scaling.original_context_length', U32, c.original_context),
        kv('tokenizer.ggml.model', STR, 'gpt2'), kv('tokenizer.ggml.pre', STR, 'gpt-4o'),
        kv_array('tokenizer.ggml.tokens', STR, [show(t) for t in tok.tokens] + SPECIALS),
        kv_array('tokenizer.ggml.token_type', I32, [1] * len(tok.tokens) + [3] * len(SPECIALS)),
        kv_array('tokenizer.ggml.merges', STR, [f'{show(x)} {show(y)}' for x, y in tok.merges]),
        kv('tokenizer.ggml.bos_token_id', U32, sp['<|startoftext|>']), kv('tokenizer.ggml.eos_token_id', U32, sp['<|return|>']),
        kv('tokenizer.ggml.padding_token_id', U32, sp['<|endoftext|>']), kv('tokenizer.ggml.add_bos_token', BOOL, False),
        kv('tokenizer.chat_template', STR, CHAT_TEMPLATE)]


# ---------------------------------------------------------------- blocks
def pack_q8(w: torch.Tensor) -> bytes:
    b = w.float().reshape(-1, 32)
    d = (b.abs().amax(1, keepdim=True) / 127).to(torch.float16)
    f = d.float()
    q = torch.where(f > 0, torch.round(b / f.clamp_min(1e-30)), 0.0).clamp(-127, 127).to(torch.int8)
    out = np.empty((b.shape[0], 34), np.uint8)
    out[:, :2] = d.numpy().view(np.uint8).reshape(-1, 2)
    out[:, 2:] = q.numpy().view(np.uint8)
    return out.tobytes()


def pack_mxfp4(w: torch.Tensor) -> bytes:
    """Byte 0 the exponent (E8M0), then 16 bytes: low nibble element j, high nibble element j + 16."""
    b = w.float().reshape(-1, 32)
    e = mxfp4_exponent(b.abs().amax(1, keepdim=True)).clamp(-127, 127)
    x = b / torch.exp2(e)
    grid = torch.tensor([0, 0.5, 1, 1.5, 2, 3, 4, 6])
    step = torch.where(x.abs() < 2, 0.5, torch.where(x.abs() < 4, 1.0, 2.0))
    value = (torch.round(x.clamp(-6, 6) / step) * step).clamp(-6, 6)
    code = torch.searchsorted(grid, value.abs().contiguous()).to(torch.uint8) | ((value < 0).to(torch.uint8) << 3)
    out = np.empty((b.shape[0], 17), np.uint8)
    out[:, 0] = (e[:, 0] + 127).numpy().astype(np.uint8)
    c = code.numpy()
    out[:, 1:] = c[:, :16] | (c[:, 16:] << 4)
    return out.tobytes()


PACK = {F32: lambda w: w.float().contiguous().numpy().astype('<f4').tobytes(), Q8_0: pack_q8, MXFP4: pack_mxfp4}


def tensors(c: Config, sd: dict):
    """(name, type, tensor with the row-major shape [.., out, in])."""
    q, kv_rows, f = c.heads * c.head_dim, c.kv_heads * c.head_dim, c.ffn
    yield 'token_embd.weight', Q8_0, sd['embed']
    yield 'output_norm.weight', F32, sd['norm']
    yield 'output.weight', Q8_0, sd['output']
    for i in range(c.layers):
        p, at, mo = f'blk.{i}.', f'attn.{i}.', f'mlp.{i}.'
        yield p + 'attn_norm.weight', F32, sd[f'attn_norm.{i}']
        w, b = sd[at + 'qkv'], sd[at + 'qkv_bias']
        for n, lo, hi in (('q', 0, q), ('k', q, q + kv_rows), ('v', q + kv_rows, q + 2 * kv_rows)):
            yield f'{p}attn_{n}.weight', Q8_0, w[lo:hi]
            yield f'{p}attn_{n}.bias', F32, b[lo:hi]
        yield p + 'attn_output.weight', Q8_0, sd[at + 'out']
        yield p + 'attn_output.bias', F32, sd[at + 'out_bias']
        yield p + 'attn_sinks.weight', F32, sd[at + 'sinks']
        yield p + 'post_attention_norm.weight', F32, sd[f'mlp_norm.{i}']
        yield p + 'ffn_gate_inp.weight', F32, sd[mo + 'router']
        yield p + 'ffn_gate_inp.bias', F32, sd[mo + 'router_bias']
        for n, lo, hi in (('gate', 0, f), ('up', f, 2 * f)):
            yield f'{p}ffn_{n}_exps.weight', MXFP4, sd[mo + 'up'][:, lo:hi]
            yield f'{p}ffn_{n}_exps.bias', F32, sd[mo + 'up_bias'][:, lo:hi]
        yield p + 'ffn_down_exps.weight', MXFP4, sd[mo + 'down']
        yield p + 'ffn_down_exps.bias', F32, sd[mo + 'down_bias']


def write(checkpoint: str, tokenizer: str, out: str) -> None:
    ck = torch.load(checkpoint, weights_only=False)
    c, tok = Config(**ck['config']), Tokenizer.load(tokenizer)
    info, blobs, offset = [], [], 0
    for name, kind, w in tensors(c, ck['model']):
        data = PACK[kind](w)
        dims = tuple(reversed(w.shape))
        info.append(text(name) + struct.pack('<I', len(dims)) + b''.join(struct.pack('<Q', d) for d in dims) + struct.pack('<IQ', kind, offset))
        data += b'\0' * (-len(data) % ALIGN)
        blobs.append(data)
        offset += len(data)
    kvs = metadata(c, tok)
    head = b'GGUF' + struct.pack('<IQQ', 3, len(info), len(kvs)) + b''.join(kvs) + b''.join(info)
    head += b'\0' * (-len(head) % ALIGN)
    with open(out, 'wb') as f:
        f.write(head)
        f.writelines(blobs)
    print(f'{out}: {len(info)} tensors, {(len(head) + offset) / 1e6:.2f} MB, step {ck["step"]}')


if __name__ == '__main__':
    write(*sys.argv[1:4])
