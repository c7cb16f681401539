"""Hold the hand-written pieces of kernels.py to the same mathematics written plainly, values and gradients, in float64.
Owns: the plain forms. Refuses: the exported file (check_export.py). Usage: python check_model.py"""
from __future__ import annotations

import torch
import torch.nn.functional as F

from kernels import ALPHA, Attend, Mixture, RmsNorm, WordLoss
from model import Config, Starter, rotate, yarn_tables

TOLERANCE = 1e-9


def norm(x, weight, eps):
    return x / (x.square().mean(-1, keepdim=True) + eps).sqrt() * weight


def attention(y, sinks, cos, sin, kv, window):
    B, T, wide = y.shape
    dim = 2 * cos.shape[-1]
    heads = wide // dim - 2 * kv
    q, k, v = (x.view(B, T, -1, dim).transpose(1, 2) for x in y.split([heads * dim, kv * dim, kv * dim], -1))
    k, v = (x.repeat_interleave(heads // kv, 1) for x in (rotate(k, cos, sin), v))
    score = rotate(q, cos, sin) @ k.transpose(2, 3) / dim ** 0.5
    distance = torch.arange(T)[:, None] - torch.arange(T)
    score = score.masked_fill((distance < 0) | ((distance >= window) if window else False), -torch.inf)
    chance = torch.cat([score, sinks.view(1, -1, 1, 1).expand(B, heads, T, 1)], -1).softmax(-1)
    return (chance[..., :-1] @ v).transpose(1, 2).reshape(B, T, heads * dim)


def mixture(x, weight, up, up_bias, down, down_bias, index, limit):
    y = torch.einsum('nh,efh->nef', x, up) + up_bias
    gate, value = y.chunk(2, -1)
    gate, value = gate.clamp(max=limit), value.clamp(-limit, limit)
    z = torch.einsum('nef,ehf->neh', gate * torch.sigmoid(ALPHA * gate) * (value + 1), down) + down_bias
    return (z.gather(1, index[..., None].expand(-1, -1, z.shape[-1])) * weight[..., None]).sum(1)


def word_loss(h, words, target, weight):
    return (F.cross_entropy(h @ words.t(), target, reduction='none') * weight).sum()


def compare(name: str, plain, fast, tensors, *rest) -> None:
    a, b = [t.detach().requires_grad_() for t in tensors], [t.detach().clone().requires_grad_() for t in tensors]
    x, y = plain(*a, *rest), fast(*b, *rest)
    weight = torch.randn(x.shape, dtype=x.dtype)
    pairs = [(x, y), *zip(torch.autograd.grad(x, a, weight), torch.autograd.grad(y, b, weight))]
    worst = max(((p - q).norm() / p.norm().clamp_min(1e-30)).item() for p, q in pairs)
    print(f'{name}: values and {len(a)} gradients differ by at most {worst:.1e}')
    if not worst < TOLERANCE:
        raise SystemExit('that is too much')


def main() -> None:
    torch.manual_seed(1)
    r = lambda *shape: torch.randn(*shape, dtype=torch.float64)
    compare('norm', norm, RmsNorm.apply, (r(3, 5, 32), r(32)), 1e-5)
    for T in (1, 63, 64, 65, 200):
        cos, sin = (t.double() for t in yarn_tables(Config(head_dim=16), T))
        for window in (0, 64, 20):
            compare(f'attention, {T} positions, window {window}', attention, Attend.apply, (r(2, T, 8 * 16), r(4)), cos, sin, 2, window)
    index = torch.stack([torch.randperm(8)[:2] for _ in range(50)]).clamp(max=6)             # one expert without a row
    compare('experts', mixture, Mixture.apply, (4 * r(50, 32), r(50, 2), r(8, 48, 32), r(8, 48), r(8, 32, 24), r(8, 32)), index, 7.0)
    compare('loss', lambda h, w, *x: word_loss(h, w, *x), WordLoss.apply, (r(600, 32), r(90, 32)), torch.randint(0, 90, (600,)), torch.rand(600, dtype=torch.float64))
    model = Starter(Config(vocab=64, layers=3, hidden=64, heads=2, kv_heads=1, head_dim=32, ffn=32, window=8)).double()
    ids = torch.randint(0, 64, (3, 30))
    ids[:, :11] = ids[0, :11]
    both = []
    for rows, shared in ((torch.arange(90).view(3, 30)[:, 11:].reshape(-1), 0), (11 + torch.arange(57), 11)):
        h, _ = model.hidden_states(ids, rows, shared)
        both.append(torch.cat([h.flatten(), *(g.flatten() for g in torch.autograd.grad(h.pow(3).sum(), [p for n, p in model.named_parameters() if n != 'output']))]))
    worst = ((both[0] - both[1]).norm() / both[0].norm()).item()
    print(f'what rows share, computed once: values and gradients of a model differ by {worst:.1e}')
    if not worst < TOLERANCE:
        raise SystemExit('that is too much')
    model = Starter(Config(vocab=64, layers=3, hidden=64, heads=2, kv_heads=1, head_dim=32, ffn=32, window=8))
    ids, memory = torch.randint(0, 64, (2, 30)), [[] for _ in range(3)]
    with torch.no_grad():
        whole = model.hidden_states(ids)[0].view(2, 30, -1)
        parts = torch.cat([model.go_on(x, memory, torch.zeros(2, dtype=torch.long)) for x in ids.split([11, 1, 18], 1)], 1)
    worst = (whole - parts).abs().max().item()
    print(f'with and without a cache: {worst:.1e}')
    if not worst < 1e-5:                      # in float32, as the cached path makes its mask
        raise SystemExit('that is too much')


if __name__ == '__main__':
    main()
