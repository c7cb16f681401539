"""One step's work in parts that do not meet: each of a few threads takes a part of the batch, or a part of the matrices, and works alone on one core.
Owns: the threads, the order in which gradients are added. Refuses: what a loss is, what a part holds.
Parts that fit into the cache are faster than the whole, and threads that never wait for each other lose nothing on a busy machine, where the
usual ones spin. Parts and their order are the batch's alone, so the result does not depend on the number of threads."""
from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import torch

PART = 2048          # tokens of a part, shared ones counted in every row
BALANCE = 0.01       # weight of the experts' balance loss


class Part(NamedTuple):
    ids: torch.Tensor          # [rows, length]; padded with 0 behind
    weights: torch.Tensor      # of the loss, for each token
    shared: int                # tokens that all rows begin with, of weight 0


class Lanes:
    def __init__(self, threads: int, loss_of):
        torch.set_num_threads(1)
        self.loss_of = loss_of
        self.pool = ThreadPoolExecutor(threads, initializer=torch.set_num_threads, initargs=(1,))

    def map(self, work, parts) -> list:
        return list(self.pool.map(work, parts))

    def gradients(self, model, parts: list[Part]) -> tuple[float, float]:
        """Set the gradient of every parameter; (loss, balance loss)."""
        params, whole = list(model.parameters()), sum(p.weights.sum() for p in parts)

        def work(part: Part):
            ce, balance = self.loss_of(model, part, whole)
            return ce.item(), balance.item(), torch.autograd.grad(ce + balance * (BALANCE / len(parts)), params)

        ce = balance = 0.0
        for p in params:
            p.grad = None
        for a, b, grads in self.pool.map(work, parts):
            ce, balance = ce + a, balance + b / len(parts)
            if params[0].grad is None:
                for p, g in zip(params, grads):
                    p.grad = g
            else:
                torch._foreach_add_([p.grad for p in params], list(grads))
        return ce, balance
