"""Muon for the matrices of attention and experts, AdamW for everything else.
Owns: the step and its state. Refuses: the schedule of the rate.
Muon is momentum whose singular values are made equal by Newton-Schulz; it costs a fifth of a step and is meant to save more tokens than that."""
from __future__ import annotations

import torch

from lanes import Lanes

A, B, C = 3.4445, -4.7750, 2.0315        # the quintic that pulls singular values from 0.01 on into 0.7 … 1.2 in four rounds; a fifth would reach those from 0.003


def orthogonal(g: torch.Tensor, rounds: int = 4) -> torch.Tensor:
    """g [n, rows, cols] -> the same singular vectors with singular values near one."""
    turned = g.shape[1] > g.shape[2]
    x = g.transpose(1, 2) if turned else g
    x = x / (x.norm(dim=(1, 2), keepdim=True) + 1e-7)
    for _ in range(rounds):
        a = torch.bmm(x, x.transpose(1, 2))
        b = torch.baddbmm(a, a, a, beta=B, alpha=C)
        x = torch.baddbmm(x, b, x, beta=A)
    return x.transpose(1, 2) if turned else x


class Muon(torch.optim.Optimizer):
    """`params` come as (parameter, pieces): a function that views the parameter as matrices [n, rows, cols]."""

    def __init__(self, params, lr: float, lanes: Lanes, momentum: float = 0.95, weight_decay: float = 0.0):
        self.lanes = lanes
        self.pieces = [view for _, view in params]
        super().__init__([dict(params=[p for p, _ in params])], dict(lr=lr, momentum=momentum, weight_decay=weight_decay))

    @torch.no_grad()
    def step(self):
        group = self.param_groups[0]
        lr, mu, decay = group['lr'], group['momentum'], group['weight_decay']
        by_shape: dict[tuple, list] = {}
        for p, view in zip(group['params'], self.pieces):
            state = self.state[p]
            if 'buffer' not in state:
                state['buffer'] = torch.zeros_like(p)
            state['buffer'].lerp_(p.grad, 1 - mu)
            ahead = p.grad.lerp(state['buffer'], mu)               # Nesterov
            p.mul_(1 - lr * decay)
            for weight, step in zip(view(p), view(ahead)):
                by_shape.setdefault(tuple(weight.shape[-2:]), []).append((weight, step))
        for (rows, cols), items in by_shape.items():
            steps = torch.cat([s.reshape(-1, rows, cols) for _, s in items])
            update = torch.cat(self.lanes.map(orthogonal, steps.split(4)))
            at = 0
            for weight, _ in items:
                n = weight.numel() // (rows * cols)
                weight.add_(update[at:at + n].reshape(weight.shape), alpha=-lr * 0.2 * max(rows, cols) ** 0.5)
                at += n


def optimisers(model, lr: float, decay: float, lanes: Lanes):
    c = model.c
    q, kv = c.heads * c.head_dim, c.kv_heads * c.head_dim
    matrices = []
    for a, m in zip(model.attn, model.mlp):
        matrices += [(a.qkv, lambda w: w.split([q, kv, kv])), (a.out, lambda w: (w,)), (m.up, lambda w: w.split(c.ffn, 1)), (m.down, lambda w: (w,))]
    taken = {id(p) for p, _ in matrices}
    rest = [p for p in model.parameters() if id(p) not in taken]
    tables = [p for p in rest if p.dim() == 2 and p.shape[0] == c.vocab]
    ids = {id(p) for p in tables}
    adam = torch.optim.AdamW([dict(params=tables, weight_decay=decay), dict(params=[p for p in rest if id(p) not in ids], weight_decay=0.0)], lr=lr, betas=(0.9, 0.97), fused=True)
    return [Muon(matrices, lr, lanes, weight_decay=decay), adam]
