"""Run an exported file token by token in numpy, straight from its bytes: a second, independent forward pass.
Owns: reading the GGUF, decoding blocks, incremental inference. Refuses: training code (it imports none of it)."""
from __future__ import annotations

import math
import struct

import numpy as np

FP4 = np.array([0, .5, 1, 1.5, 2, 3, 4, 6, -0., -.5, -1, -1.5, -2, -3, -4, -6], np.float32)
PLAIN = {4: '<I', 5: '<i', 6: '<f', 7: '<?', 10: '<Q'}


def read(path: str, as_what=None) -> tuple[dict, dict]:
    """(metadata, tensors as float32 with row-major shape, or as `as_what` makes them of (bytes, place, type, dimensions))."""
    d = open(path, 'rb').read()
    assert d[:4] == b'GGUF'
    _, n_tensors, n_kv = struct.unpack_from('<IQQ', d, 4)
    p = 24

    def string():
        nonlocal p
        n, = struct.unpack_from('<Q', d, p)
        p += 8 + n
        return d[p - n:p].decode('utf-8')

    def value(kind):
        nonlocal p
        if kind == 8:
            return string()
        if kind == 9:
            inner, n = struct.unpack_from('<IQ', d, p)
            p += 12
            return [value(inner) for _ in range(n)]
        v, = struct.unpack_from(PLAIN[kind], d, p)
        p += struct.calcsize(PLAIN[kind])
        return v

    meta = {}
    for _ in range(n_kv):
        key = string()
        p += 4
        meta[key] = value(struct.unpack_from('<I', d, p - 4)[0])
    infos = []
    for _ in range(n_tensors):
        name = string()
        rank, = struct.unpack_from('<I', d, p)
        dims = struct.unpack_from(f'<{rank}Q', d, p + 4)
        kind, offset = struct.unpack_from('<IQ', d, p + 4 + 8 * rank)
        p += 16 + 8 * rank
        infos.append((name, dims, kind, offset))
    base = -(-p // 32) * 32
    return meta, {n: (as_what or decode)(d, base + o, k, dims) for n, dims, k, o in infos}


def decode(d: bytes, at: int, kind: int, dims) -> np.ndarray:
    n = math.prod(dims)
    if kind == 0:
        out = np.frombuffer(d, '<f4', n, at)
    elif kind == 8:
        b = np.frombuffer(d, np.uint8, n // 32 * 34, at).reshape(-1, 34)
        out = b[:, 2:].copy().view(np.int8) * b[:, :2].copy().view('<f2').astype(np.float32)
    elif kind == 39:
        b = np.frombuffer(d, np.uint8, n // 32 * 17, at).reshape(-1, 17)
        out = np.concatenate([FP4[b[:, 1:] & 15], FP4[b[:, 1:] >> 4]], 1) * np.exp2(b[:, :1].astype(np.float32) - 127)
    else:
        raise ValueError(f'type {kind}')
    return np.ascontiguousarray(out, np.float32).reshape(dims[::-1])


class Engine:
    """One sequence; step(id) returns the logits of the next position."""

    def __init__(self, path: str):
        self.meta, self.w = read(path)
        g = lambda k: self.meta['gpt-oss.' + k]
        self.layers, self.heads, self.kv_heads = g('block_count'), g('attention.head_count'), g('attention.head_count_kv')
        self.dim, self.k, self.window, self.eps = g('attention.key_length'), g('expert_used_count'), g('attention.sliding_window'), g('attention.layer_norm_rms_epsilon')
        theta, factor, orig = g('rope.freq_base'), g('rope.scaling.factor'), g('rope.scaling.original_context_length')
        i = np.arange(self.dim // 2)
        corr = lambda turns: self.dim * math.log(orig / (turns * 2 * math.pi)) / (2 * math.log(theta))
        ramp = np.clip((i - corr(32)) / (corr(1) - corr(32)), 0, 1)
        plain = theta ** (-2.0 * i / self.dim)
        self.freq, self.scale = plain / factor * ramp + plain * (1 - ramp), 0.1 * math.log(factor) + 1
        self.reset()

    def reset(self) -> None:
        self.keys, self.values, self.pos = [[] for _ in range(self.layers)], [[] for _ in range(self.layers)], 0

    def norm(self, x, w):
        return x / np.sqrt((x * x).mean() + self.eps) * w

    def rope(self, x):
        c, s = np.cos(self.pos * self.freq) * self.scale, np.sin(self.pos * self.freq) * self.scale
        a, b = np.split(x, 2, -1)
        return np.concatenate([a * c - b * s, b * c + a * s], -1).astype(np.float32)

    def attention(self, layer, x, w):
        part = lambda n, heads: (w(f'attn_{n}.weight') @ x + w(f'attn_{n}.bias')).reshape(heads, self.dim)
        q = self.rope(part('q', self.heads))
        self.keys[layer].append(self.rope(part('k', self.kv_heads)))
        self.values[layer].append(part('v', self.kv_heads))
        lo = max(0, self.pos + 1 - self.window) if layer % 2 == 0 else 0
        keys, values = np.stack(self.keys[layer][lo:], 1), np.stack(self.values[layer][lo:], 1)
        out = []
        for h in range(self.heads):
            kv = h // (self.heads // self.kv_heads)
            s = np.append(keys[kv] @ q[h] / math.sqrt(self.dim), w('attn_sinks.weight')[h])
            e = np.exp(s - s.max())
            out.append((e / e.sum())[:-1] @ values[kv])
        return w('attn_output.weight') @ np.concatenate(out) + w('attn_output.bias')

    def experts(self, x, w):
        r = w('ffn_gate_inp.weight') @ x + w('ffn_gate_inp.bias')
        top = np.argsort(-r, kind='stable')[:self.k]
        p = np.exp(r[top] - r[top].max())
        total = 0
        for e, share in zip(top, p / p.sum()):
            gate = np.minimum(w('ffn_gate_exps.weight')[e] @ x + w('ffn_gate_exps.bias')[e], 7)
            up = np.clip(w('ffn_up_exps.weight')[e] @ x + w('ffn_up_exps.bias')[e], -7, 7)
            act = gate / (1 + np.exp(-1.702 * gate)) * (up + 1)
            total = total + share * (w('ffn_down_exps.weight')[e] @ act + w('ffn_down_exps.bias')[e])
        return total

    def step(self, token: int) -> np.ndarray:
        x = self.w['token_embd.weight'][token]
        for layer in range(self.layers):
            w = lambda n: self.w[f'blk.{layer}.{n}']
            x = x + self.attention(layer, self.norm(x, w('attn_norm.weight')), w)
            x = x + self.experts(self.norm(x, w('post_attention_norm.weight')), w)
        self.pos += 1
        return self.w['output.weight'] @ self.norm(x, self.w['output_norm.weight'])

    def generate(self, ids: list[int], stop: set[int], limit: int = 300) -> list[int]:
        """Greedy continuation, ending with a stop token or at the limit."""
        self.reset()
        for t in ids:
            logits = self.step(t)
        out = []
        while len(out) < limit:
            out.append(int(logits.argmax()))
            if out[-1] in stop:
                break
            logits = self.step(out[-1])
        return out
