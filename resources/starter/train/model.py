"""The starter model in PyTorch: the published gpt-oss mathematics, small.
Owns: parameters, forward pass with and without a cache, rounding of the weights as the GGUF stores them.
Refuses: tokenising, training schedule, files. All float32: on the processors this is trained on bfloat16 is slower."""
from __future__ import annotations

import math
from contextlib import contextmanager
from dataclasses import asdict, dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F

from kernels import Attend, Mixture, RmsNorm


@dataclass(frozen=True)
class Config:
    vocab: int = 5120
    layers: int = 6
    hidden: int = 256
    heads: int = 4
    kv_heads: int = 2
    head_dim: int = 64
    experts: int = 8
    top_k: int = 2
    ffn: int = 256
    window: int = 64
    context: int = 4096
    rope_theta: float = 150000.0
    yarn_factor: float = 8.0
    original_context: int = 512
    eps: float = 1e-5
    swiglu_limit: float = 7.0

    def as_dict(self) -> dict:
        return asdict(self)


# ---------------------------------------------------------------- rounding to the stored formats (straight-through)
def mxfp4_exponent(amax: torch.Tensor) -> torch.Tensor:
    """Power of two per block of 32 so that the largest value lands on the FP4 grid (max 6) with little clipping."""
    e = torch.floor(torch.log2(amax.clamp_min(2.0 ** -100)))
    mantissa = amax / torch.exp2(e)
    return torch.where(mantissa > 1.75, e + 1, e) - 2     # 1.75 * 4 = 7 would clip to 6: one step coarser is closer


def mxfp4_round(w: torch.Tensor) -> torch.Tensor:
    """Nearest MXFP4 value (E2M1 times a shared power of two, blocks of 32 along the last dimension)."""
    b = w.reshape(-1, 32)
    scale = torch.exp2(mxfp4_exponent(b.abs().amax(1, keepdim=True)))
    x = (b / scale).clamp_(-6, 6)
    step = torch.where(x.abs() < 2, 0.5, torch.where(x.abs() < 4, 1.0, 2.0))
    return (torch.round(x / step) * step * scale).reshape(w.shape)


def q8_round(w: torch.Tensor) -> torch.Tensor:
    """Nearest Q8_0 value: 32 int8 with one float16 scale."""
    b = w.reshape(-1, 32)
    d = (b.abs().amax(1, keepdim=True) / 127).to(torch.float16).float()
    q = torch.where(d > 0, torch.round(b / d.clamp_min(1e-30)), 0.0).clamp_(-127, 127)
    return (q * d).reshape(w.shape)


# ---------------------------------------------------------------- rope
def yarn_tables(c: Config, length: int) -> tuple[torch.Tensor, torch.Tensor]:
    """cos, sin [length, head_dim/2] in float32, untruncated YaRN with its concentration factor."""
    half = c.head_dim // 2
    i = torch.arange(half, dtype=torch.float64)
    base = c.rope_theta ** (-2.0 * i / c.head_dim)
    corr = lambda r: c.head_dim * math.log(c.original_context / (r * 2 * math.pi)) / (2 * math.log(c.rope_theta))
    low, high = max(corr(32.0), 0.0), min(corr(1.0), c.head_dim - 1.0)
    ramp = ((i - low) / (high - low)).clamp(0, 1)
    freq = base / c.yarn_factor * ramp + base * (1 - ramp)
    m = 0.1 * math.log(c.yarn_factor) + 1.0
    angle = torch.arange(length, dtype=torch.float64)[:, None] * freq
    return (torch.cos(angle) * m).float(), (torch.sin(angle) * m).float()


def rotate(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """x [B, heads, T, head_dim], cos and sin broadcast to it; element i pairs with i + head_dim/2."""
    a, b = x.chunk(2, -1)
    return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)


# ---------------------------------------------------------------- layers
PAD = 8      # columns added to a head so that the sink can be a key like any other; eight keep rows aligned


def attend(q, k, v, sinks, mask):
    """q [B, heads, T, d], k and v [B, kv, S, d], mask [B or 1, 1, T, S + 1] additive, its first column the sink's.
    The sink takes a share of the softmax and has no value: a key before all others that only an extra column of ones meets."""
    B, heads, T, dim = q.shape
    group = heads // k.shape[1]
    key = F.pad(k, (0, PAD, 1, 0)).repeat_interleave(group, 1)
    at = F.pad((sinks * dim ** 0.5).view(1, heads, 1, 1), (dim, PAD - 1)).expand(B, heads, 1, dim + PAD)
    key = torch.cat([at, key[:, :, 1:]], 2)
    value = F.pad(v, (0, PAD, 1, 0)).repeat_interleave(group, 1)
    query = torch.cat([q, torch.ones(B, heads, T, 1), torch.zeros(B, heads, T, PAD - 1)], -1)
    return F.scaled_dot_product_attention(query, key, value, attn_mask=mask, scale=dim ** -0.5)[..., :dim]


class Attention(nn.Module):
    def __init__(self, c: Config, sliding: bool):
        super().__init__()
        self.c, self.sliding = c, sliding
        q, kv = c.heads * c.head_dim, c.kv_heads * c.head_dim
        self.qkv = nn.Parameter(torch.randn(q + 2 * kv, c.hidden) * c.hidden ** -0.5)
        self.qkv_bias = nn.Parameter(torch.zeros(q + 2 * kv))
        self.out = nn.Parameter(torch.randn(c.hidden, q) * (q * 2 * c.layers) ** -0.5)
        self.out_bias = nn.Parameter(torch.zeros(c.hidden))
        self.sinks = nn.Parameter(torch.zeros(c.heads))

    def whole(self, x, cos, sin, rows: int, shared: int):
        """x [shared + rows * others, hidden] -> the same: every row has the `shared` positions first, then its own."""
        c, y = self.c, F.linear(x, self.qkv, self.qkv_bias)
        y = torch.cat([y[:shared].expand(rows, -1, -1), y[shared:].view(rows, -1, y.shape[-1])], 1)
        o = Attend.apply(y, self.sinks, cos, sin, c.kv_heads, c.window if self.sliding else 0)
        return F.linear(torch.cat([o[0, :shared], o[:, shared:].flatten(0, 1)]), self.out, self.out_bias)

    def forward(self, x, cos, sin, mask, memory):
        """x [B, T, hidden] -> the same. `memory` (keys and values of earlier positions) is a list that grows."""
        c, (B, T, _) = self.c, x.shape
        q, kv = c.heads * c.head_dim, c.kv_heads * c.head_dim
        y = F.linear(x, self.qkv, self.qkv_bias)
        part = lambda a, b, n: y[..., a:b].reshape(B, T, n, c.head_dim).transpose(1, 2)
        qs, ks, vs = rotate(part(0, q, c.heads), cos, sin), rotate(part(q, q + kv, c.kv_heads), cos, sin), part(q + kv, q + 2 * kv, c.kv_heads)
        if memory:
            ks, vs = torch.cat([memory[0], ks], 2), torch.cat([memory[1], vs], 2)
        memory[:] = [ks, vs]
        o = attend(qs, ks, vs, self.sinks, mask)
        return F.linear(o.transpose(1, 2).reshape(B, T, q), self.out, self.out_bias)


class Experts(nn.Module):
    def __init__(self, c: Config):
        super().__init__()
        self.c = c
        self.router = nn.Parameter(torch.randn(c.experts, c.hidden) * c.hidden ** -0.5)
        self.router_bias = nn.Parameter(torch.zeros(c.experts))
        self.up = nn.Parameter(torch.randn(c.experts, 2 * c.ffn, c.hidden) * c.hidden ** -0.5)   # rows: gate, then up
        self.up_bias = nn.Parameter(torch.zeros(c.experts, 2 * c.ffn))
        self.down = nn.Parameter(torch.randn(c.experts, c.hidden, c.ffn) * (c.ffn * 2 * c.layers) ** -0.5)
        self.down_bias = nn.Parameter(torch.zeros(c.experts, c.hidden))

    def forward(self, x):
        """x [N, hidden] -> ([N, hidden], balance loss)."""
        c = self.c
        logits = F.linear(x, self.router, self.router_bias)
        top, index = logits.topk(c.top_k, -1)
        counts = torch.bincount(index.flatten(), minlength=c.experts)
        balance = c.experts * ((counts / index.numel()) * logits.softmax(-1).mean(0)).sum()
        return Mixture.apply(x, top.softmax(-1), self.up, self.up_bias, self.down, self.down_bias, index, c.swiglu_limit), balance


class Starter(nn.Module):
    def __init__(self, c: Config):
        super().__init__()
        self.c = c
        self.embed = nn.Parameter(torch.randn(c.vocab, c.hidden) * 0.2)
        self.attn_norm = nn.ParameterList([nn.Parameter(torch.ones(c.hidden)) for _ in range(c.layers)])
        self.attn = nn.ModuleList([Attention(c, sliding=i % 2 == 0) for i in range(c.layers)])
        self.mlp_norm = nn.ParameterList([nn.Parameter(torch.ones(c.hidden)) for _ in range(c.layers)])
        self.mlp = nn.ModuleList([Experts(c) for _ in range(c.layers)])
        self.norm = nn.Parameter(torch.ones(c.hidden))
        self.output = nn.Parameter(torch.randn(c.vocab, c.hidden) * 0.5 * c.hidden ** -0.5)
        cos, sin = yarn_tables(c, 2048)
        self.register_buffer('cos', cos, persistent=False)
        self.register_buffer('sin', sin, persistent=False)

    @contextmanager
    def as_stored(self):
        """Within, the experts hold the values that the file will hold. A gradient taken there counts for the weights themselves (straight through)."""
        kept = [(w, w.data) for m in self.mlp for w in (m.up, m.down)]
        try:
            for w, _ in kept:
                w.data = torch.stack([mxfp4_round(x) for x in w.data])
            yield
        finally:
            for w, data in kept:
                w.data = data

    def hidden_states(self, ids: torch.Tensor, keep: torch.Tensor | None = None, shared: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
        """ids [B, T] whose first `shared` columns are alike, and then computed once -> (normed hidden [rows, hidden], mean balance loss).
        The rows are the shared positions, then the others of each row in turn; only those in `keep`, which spares the last layer's experts the rest."""
        c, (B, T) = self.c, ids.shape
        cos, sin = self.cos[:T], self.sin[:T]
        x, total = F.embedding(torch.cat([ids[0, :shared], ids[:, shared:].reshape(-1)]), self.embed), 0.0
        for i in range(c.layers):
            x = x + self.attn[i].whole(RmsNorm.apply(x, self.attn_norm[i], c.eps), cos, sin, B, shared)
            if keep is not None and i == c.layers - 1:
                x = x.index_select(0, keep)
            y, balance = self.mlp[i](RmsNorm.apply(x, self.mlp_norm[i], c.eps))
            x, total = x + y, total + balance
        return RmsNorm.apply(x, self.norm, c.eps), total / c.layers

    def go_on(self, ids: torch.Tensor, memory: list, left: torch.Tensor) -> torch.Tensor:
        """ids [B, T] that follow on what `memory` (a list per layer) holds -> normed hidden [B, T, hidden]. `left` [B]: positions of padding before each row."""
        c, (B, T) = self.c, ids.shape
        before = memory[0][0].shape[2] if memory[0] else 0
        q, k = torch.arange(before, before + T), torch.arange(before + T)
        distance = q[:, None] - k[None, :]
        seen = (distance >= 0) & (k >= left[:, None, None, None])
        additive = lambda ok: F.pad(torch.zeros(ok.shape).masked_fill(~ok, -1e9), (1, 0))
        full, window = additive(seen), additive(seen & (distance < c.window))
        place = (q[None] - left[:, None]).clamp(min=0)
        cos, sin = self.cos[place][:, None], self.sin[place][:, None]
        x = F.embedding(ids, self.embed)
        for i in range(c.layers):
            a = self.attn[i]
            x = x + a(RmsNorm.apply(x, self.attn_norm[i], c.eps), cos, sin, window if a.sliding else full, memory[i])
            y, _ = self.mlp[i](RmsNorm.apply(x, self.mlp_norm[i], c.eps).reshape(B * T, c.hidden))
            x = x + y.reshape(B, T, c.hidden)
        return RmsNorm.apply(x, self.norm, c.eps)

    def logits(self, h: torch.Tensor) -> torch.Tensor:
        """hidden [..., hidden] -> [..., vocab]."""
        return F.linear(h, self.output)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return self.logits(self.hidden_states(ids)[0]).view(*ids.shape, -1)


@torch.no_grad()
def generate(model: Starter, prompts: list[list[int]], stop: set[int], limit: int = 200) -> list[list[int]]:
    """Greedy continuations of many prompts at once, each with its stop token where it reached one."""
    longest = max(map(len, prompts))
    left = torch.tensor([longest - len(p) for p in prompts])
    ids = torch.tensor([[0] * (longest - len(p)) + p for p in prompts])
    memory, out, going = [[] for _ in range(model.c.layers)], [[] for _ in prompts], set(range(len(prompts)))
    for _ in range(limit):
        h = model.go_on(ids, memory, left)
        ids = model.logits(h[:, -1]).argmax(-1, keepdim=True)
        for b in list(going):
            out[b].append(int(ids[b]))
            if out[b][-1] in stop:
                going.discard(b)
        if not going or longest + len(out[0]) >= 2000:
            break
    return out
