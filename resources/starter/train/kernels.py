"""The costly pieces of a training step by hand: attention in blocks, experts, norm, and the loss over the vocabulary.
Owns: forward and backward of each, in the order that walks least through memory. Refuses: parameters, layers, deciding what is trained.
Each is a plain autograd.Function of tensors; check_model.py holds them to the same mathematics written plainly."""
from __future__ import annotations

from functools import lru_cache

import torch
import torch.nn.functional as F
from torch.autograd import Function

BLOCK = 64           # queries at a time: a block meets only the keys that it may see
ROWS = 256           # rows of logits at a time
ALPHA = 1.702        # of the clamped SwiGLU
hardtanh_backward = torch.ops.aten.hardtanh_backward


# ---------------------------------------------------------------- norm
class RmsNorm(Function):
    @staticmethod
    def forward(ctx, x, weight, eps):
        r = torch.linalg.vector_norm(x, dim=-1, keepdim=True).square_().div_(x.shape[-1]).add_(eps).rsqrt_()
        ctx.save_for_backward(x, weight, r)
        return (x * r).mul_(weight)

    @staticmethod
    def backward(ctx, grad):
        x, weight, r = ctx.saved_tensors
        n = x.shape[-1]
        gx = grad * x
        pull = (gx @ weight)[..., None].mul_(r * r * r).div_(n)
        dx = (grad * weight).mul_(r).addcmul_(x, pull, value=-1)
        return dx, r.reshape(1, -1).mm(gx.reshape(-1, n))[0], None


# ---------------------------------------------------------------- attention
@lru_cache(maxsize=256)
def hidden_keys(n: int, before: int, group: int, window: int) -> torch.Tensor:
    """0 or -inf for n queries (each in `group` rows) at the end of n + before keys; window 0 sees all that came before."""
    distance = (before + torch.arange(n))[:, None] - torch.arange(before + n)[None]
    seen = (distance >= 0) & ((distance < window) if window else True)
    return torch.zeros(n, before + n).masked_fill_(~seen, -torch.inf).repeat_interleave(group, 0)


def turned(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, out: torch.Tensor) -> None:
    """Rope into `out`; with -sin it turns back."""
    (a, b), (c, d) = x.chunk(2, -1), out.chunk(2, -1)
    torch.mul(a, cos, out=c).addcmul_(b, sin, value=-1)
    torch.mul(b, cos, out=d).addcmul_(a, sin)


class Attend(Function):
    """y [B, T, (heads + 2 kv) dim] as it leaves the projection -> [B, T, heads dim]: rope, causal softmax with sinks, values.
    The rows of one KV head's queries lie together, position by position, so that a block of queries is one matrix."""

    @staticmethod
    def blocks(T: int, window: int):
        for s in range(0, T, BLOCK):
            yield s, min(s + BLOCK, T), max(0, s - window + 1) if window else 0

    @staticmethod
    def parts(y, kv: int, group: int, dim: int):
        """Views of q [B, kv, T, group, dim], k and v [B, kv, T, dim] in y."""
        B, T, _ = y.shape
        q, n = kv * group * dim, kv * dim
        head = lambda a: y[..., a:a + n].view(B, T, kv, dim).transpose(1, 2)
        return y[..., :q].view(B, T, kv, group, dim).transpose(1, 2), head(q), head(q + n)

    @staticmethod
    def forward(ctx, y, sinks, cos, sin, kv: int, window: int):
        (B, T, wide), dim = y.shape, 2 * cos.shape[-1]
        heads = wide // dim - 2 * kv
        g = heads // kv
        yq, yk, yv = Attend.parts(y, kv, g, dim)
        q, k, v = y.new_empty(B, kv, T, g, dim), y.new_empty(B, kv, T, dim), yv.contiguous().view(B * kv, T, dim)
        turned(yq, cos[:, None], sin[:, None], q)
        turned(yk, cos, sin, k)
        q, k = q.view(B * kv, T * g, dim).mul_(dim ** -0.5), k.view(B * kv, T, dim)
        o, shares, chances = torch.empty_like(q), [], []
        for s, e, lo in Attend.blocks(T, window):
            p = torch.bmm(q[:, s * g:e * g], k[:, lo:e].transpose(1, 2))
            if window:
                p.add_(hidden_keys(e - s, s - lo, g, window))
            else:
                p[..., s:].add_(hidden_keys(e - s, 0, g, 0))
            sink = sinks.view(1, kv, 1, g).expand(B, kv, e - s, g).reshape(B * kv, -1, 1)
            top = torch.maximum(p.amax(-1, keepdim=True), sink)
            p.sub_(top).exp_()
            share = (sink - top).exp_()
            scale = (p.sum(-1, keepdim=True) + share).reciprocal_()
            p.mul_(scale)
            o[:, s * g:e * g] = torch.bmm(p, v[:, lo:e])
            chances.append(p)
            shares.append(share.mul_(scale))
        ctx.save_for_backward(q, k, v, o, cos, sin, torch.cat(shares, 1), *chances)
        ctx.shape = B, T, kv, g, dim, window
        return o.view(B, kv, T, g, dim).transpose(1, 2).reshape(B, T, heads * dim)

    @staticmethod
    def backward(ctx, grad):
        q, k, v, o, cos, sin, shares, *chances = ctx.saved_tensors
        B, T, kv, g, dim, window = ctx.shape
        do = grad.view(B, T, kv, g, dim).transpose(1, 2).reshape(B * kv, T * g, dim)
        mean = (do * o).sum(-1, keepdim=True)
        dq, dk, dv = torch.empty_like(q), torch.zeros_like(k), torch.zeros_like(v)
        for (s, e, lo), p in zip(Attend.blocks(T, window), chances):
            rows = slice(s * g, e * g)
            dv[:, lo:e] += torch.bmm(p.transpose(1, 2), do[:, rows])
            ds = torch.bmm(do[:, rows], v[:, lo:e].transpose(1, 2)).sub_(mean[:, rows]).mul_(p)
            dq[:, rows] = torch.bmm(ds, k[:, lo:e])
            dk[:, lo:e] += torch.bmm(ds.transpose(1, 2), q[:, rows])
        dy = grad.new_empty(B, T, (kv * g + 2 * kv) * dim)
        yq, yk, yv = Attend.parts(dy, kv, g, dim)
        turned(dq.mul_(dim ** -0.5).view(B, kv, T, g, dim), cos[:, None], -sin[:, None], yq)
        turned(dk.view(B, kv, T, dim), cos, -sin, yk)
        yv.copy_(dv.view(B, kv, T, dim))
        d_sinks = (shares * mean).view(B, kv, T, g).sum((0, 2)).neg_().view(-1)
        return dy, d_sinks, None, None, None, None


# ---------------------------------------------------------------- experts
def swiglu(y: torch.Tensor, limit: float) -> torch.Tensor:
    """y [n, 2 f], gate then up -> [n, f]."""
    gate, up = y.chunk(2, -1)
    return F.silu(gate.clamp(max=limit).mul_(ALPHA), inplace=True).mul_(up.clamp(-limit, limit).add_(1)).div_(ALPHA)


def swiglu_backward(y: torch.Tensor, grad: torch.Tensor, limit: float) -> tuple[torch.Tensor, torch.Tensor]:
    """(what swiglu gave, gradient of y)."""
    gate, up = y.chunk(2, -1)
    a, u = gate.clamp(max=limit).mul_(ALPHA), up.clamp(-limit, limit).add_(1)
    swish = F.silu(a).div_(ALPHA)
    out = torch.empty_like(y)
    d_gate, d_up = out.chunk(2, -1)
    d_up.copy_(hardtanh_backward(grad * swish, up, -limit, limit))
    torch.mul(torch.ops.aten.silu_backward(grad * u, a), gate <= limit, out=d_gate)
    return swish.mul_(u), out


class Mixture(Function):
    """x [N, hidden], the chosen experts `index` and their `weight` [N, k] -> [N, hidden]. Rows are grouped by expert; nothing is dropped."""

    @staticmethod
    def forward(ctx, x, weight, up, up_bias, down, down_bias, index, limit: float):
        (N, hidden), k = x.shape, index.shape[1]
        order = torch.argsort(index.flatten(), stable=True)
        rows, back = order // k, torch.argsort(order)
        counts = torch.bincount(index.flatten(), minlength=up.shape[0]).tolist()
        xs = x.index_select(0, rows)
        y, z, at = x.new_empty(N * k, up.shape[1]), torch.empty_like(xs), 0
        for e, n in enumerate(counts):
            s = slice(at, at + n)
            at += n
            torch.addmm(up_bias[e], xs[s], up[e].t(), out=y[s])
            torch.addmm(down_bias[e], swiglu(y[s], limit), down[e].t(), out=z[s])
        ctx.save_for_backward(xs, y, z, weight, up, down, order, rows, back)
        ctx.counts, ctx.limit = counts, limit
        return torch.bmm(weight[:, None], z.index_select(0, back).view(N, k, hidden))[:, 0]

    @staticmethod
    def backward(ctx, grad):
        xs, y, z, weight, up, down, order, rows, back = ctx.saved_tensors
        N, k = weight.shape
        g = grad.index_select(0, rows)
        d_weight = (g * z).sum(-1).index_select(0, back).view(N, k)
        g.mul_(weight.flatten()[order][:, None])
        d_up, d_down, at = torch.zeros_like(up), torch.zeros_like(down), 0
        d_up_bias, d_down_bias, d_xs = up.new_zeros(up.shape[:2]), down.new_zeros(down.shape[:2]), torch.empty_like(xs)
        for e, n in enumerate(ctx.counts):
            s = slice(at, at + n)
            at += n
            h, dy = swiglu_backward(y[s], g[s] @ down[e], ctx.limit)
            torch.mm(g[s].t(), h, out=d_down[e])
            torch.mm(dy.t(), xs[s], out=d_up[e])
            torch.mm(dy, up[e], out=d_xs[s])
            torch.sum(g[s], 0, out=d_down_bias[e])
            torch.sum(dy, 0, out=d_up_bias[e])
        return d_xs.index_select(0, back).view(N, k, -1).sum(1), d_weight, d_up, d_up_bias, d_down, d_down_bias, None, None


# ---------------------------------------------------------------- loss
class WordLoss(Function):
    """Sum of weight * cross entropy of h [n, hidden] against `target`. The gradients are made on the way, while the logits of a few rows are at hand."""

    @staticmethod
    def forward(ctx, h, words, target, weight):
        dh, d_words, total = torch.empty_like(h), torch.zeros_like(words), h.new_zeros(())
        for s in range(0, h.shape[0], ROWS):
            e = min(s + ROWS, h.shape[0])
            p, t, w = h[s:e] @ words.t(), target[s:e, None], weight[s:e, None]
            top = p.amax(-1, keepdim=True)
            right = p.gather(1, t)
            p.sub_(top).exp_()
            sums = p.sum(-1, keepdim=True)
            total += (w * (sums.log() + top - right)).sum()
            p.mul_(w / sums).scatter_add_(1, t, -w)
            torch.mm(p, words, out=dh[s:e])
            d_words.addmm_(p.t(), h[s:e])
        ctx.save_for_backward(dh, d_words)
        return total

    @staticmethod
    def backward(ctx, grad):
        dh, d_words = ctx.saved_tensors
        return dh * grad, d_words * grad, None, None
