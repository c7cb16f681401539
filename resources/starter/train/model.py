"""The starter model in PyTorch: the published gpt-oss mathematics, small.
Owns: parameters, forward pass, quantisation-aware rounding of the weights as the GGUF stores them.
Refuses: tokenising, training schedule, files."""
from __future__ import annotations

import math
from dataclasses import asdict, dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass(frozen=True)
class Config:
    vocab: int = 4096
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


def straight_through(w: torch.Tensor, rounder) -> torch.Tensor:
    with torch.no_grad():
        delta = rounder(w) - w
    return w + delta


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
    """x [B, heads, T, head_dim]; element i pairs with i + head_dim/2."""
    a, b = x.chunk(2, -1)
    return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)


def rms_norm(x: torch.Tensor, weight: torch.Tensor, eps: float) -> torch.Tensor:
    return F.rms_norm(x, (x.shape[-1],), weight, eps)


# ---------------------------------------------------------------- layers
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

    def forward(self, x, cos, sin, mask, quant):
        """x [B, T, hidden] -> the same; mask [T, T] additive."""
        c, (B, T, _) = self.c, x.shape
        wqkv, wout = quant.dense(self.qkv), quant.dense(self.out)
        q, kv = c.heads * c.head_dim, c.kv_heads * c.head_dim
        y = F.linear(x, wqkv, self.qkv_bias)
        part = lambda a, b, n: y[..., a:b].reshape(B, T, n, c.head_dim).transpose(1, 2)
        qs = rotate(part(0, q, c.heads), cos, sin)
        ks = rotate(part(q, q + kv, c.kv_heads), cos, sin)
        vs = part(q + kv, q + 2 * kv, c.kv_heads)
        group = c.heads // c.kv_heads
        qs = qs.reshape(B, c.kv_heads, group * T, c.head_dim)          # heads of one kv group side by side
        s = torch.matmul(qs, ks.transpose(2, 3)).float().view(B, c.heads, T, T) * c.head_dim ** -0.5 + mask
        sink = self.sinks.view(1, -1, 1, 1).expand(B, c.heads, T, 1)
        p = torch.cat([s, sink], -1).softmax(-1)[..., :T]              # the sink takes a share and has no value
        o = torch.matmul(p.reshape(B, c.kv_heads, group * T, T).to(vs.dtype), vs)
        o = o.view(B, c.heads, T, c.head_dim).transpose(1, 2).reshape(B, T, q)
        return F.linear(o, wout, self.out_bias)


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

    def forward(self, x, quant):
        """x [N, hidden] -> ([N, hidden], balance loss). Rows are grouped by expert; nothing is dropped."""
        c = self.c
        up, down = quant.experts(self.up).unbind(0), quant.experts(self.down).unbind(0)
        up_bias, down_bias = self.up_bias.unbind(0), self.down_bias.unbind(0)
        with torch.autocast('cpu', enabled=False):
            logits = F.linear(x.float(), self.router, self.router_bias)
            top, index = logits.topk(c.top_k, -1)
            weight = top.softmax(-1)
            share = F.one_hot(index, c.experts).sum((0, 1)).float() / index.numel()
            balance = c.experts * (share * logits.softmax(-1).mean(0)).sum()
        order = torch.argsort(index.flatten(), stable=True)
        counts = torch.bincount(index.flatten(), minlength=c.experts).tolist()
        rows = order // c.top_k
        out = []
        for e, xe in enumerate(x[rows].split(counts)):
            if xe.shape[0] == 0:
                continue
            gate, lin = F.linear(xe, up[e], up_bias[e]).chunk(2, -1)
            gate = gate.clamp(max=c.swiglu_limit)
            lin = lin.clamp(-c.swiglu_limit, c.swiglu_limit)
            act = gate * torch.sigmoid(1.702 * gate) * (lin + 1)
            out.append(F.linear(act, down[e], down_bias[e]))
        y = torch.cat(out).float() * weight.flatten()[order][:, None]
        return torch.zeros(x.shape, dtype=torch.float32).index_add(0, rows, y), balance


class Quantiser:
    """Decides what the forward pass sees: the float weights, or the values that the file will hold.
    While `stale` is set, the rounding errors of an earlier step are used again (rounding costs a tenth of a step)."""

    def __init__(self, experts: bool, dense: bool):
        self.on_experts, self.on_dense = experts, dense
        self.stale, self.delta = False, {}

    def experts(self, w):
        if not self.on_experts:
            return w
        if not self.stale or id(w) not in self.delta:
            with torch.no_grad():
                self.delta[id(w)] = mxfp4_round(w) - w
        return w + self.delta[id(w)]

    def dense(self, w):
        return straight_through(w, q8_round) if self.on_dense else w


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
        self.quant = Quantiser(False, False)
        cos, sin = yarn_tables(c, 2048)
        self.register_buffer('cos', cos, persistent=False)
        self.register_buffer('sin', sin, persistent=False)

    def hidden_states(self, ids: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """ids [B, T] -> (normed hidden [B, T, hidden], mean balance loss)."""
        c, (B, T) = self.c, ids.shape
        pos = torch.arange(T)
        distance = pos[:, None] - pos[None, :]
        full = torch.where(distance >= 0, 0.0, -1e9)
        window = torch.where((distance >= 0) & (distance < c.window), 0.0, -1e9)
        cos, sin = self.cos[:T], self.sin[:T]
        x = F.embedding(ids, self.quant.dense(self.embed))
        total = 0.0
        for i in range(c.layers):
            h = rms_norm(x, self.attn_norm[i], c.eps)
            x = x + self.attn[i](h, cos, sin, window if self.attn[i].sliding else full, self.quant)
            h = rms_norm(x, self.mlp_norm[i], c.eps).reshape(B * T, c.hidden)
            y, balance = self.mlp[i](h, self.quant)
            x = x + y.reshape(B, T, c.hidden)
            total = total + balance
        return rms_norm(x, self.norm, c.eps), total / c.layers

    def logits(self, h: torch.Tensor) -> torch.Tensor:
        """hidden [..., hidden] -> [..., vocab] in float32."""
        return F.linear(h, self.quant.dense(self.output)).float()

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return self.logits(self.hidden_states(ids)[0])
