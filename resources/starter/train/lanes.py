"""One step's work in parts that do not meet: each of a few threads takes a part of the batch, or a part of the matrices, and works alone on one core.
Owns: the threads, the cutting of a batch, the order in which gradients are added. Refuses: what a loss is.
Parts that fit into the cache are faster than the whole, and threads that never wait for each other lose nothing on a busy machine, where the
usual ones spin. Parts and order depend on the batch alone, so the result does not depend on the number of threads."""
from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import torch

PART = 2048          # tokens, about
BALANCE = 0.01       # weight of the experts' balance loss


class Lanes:
    def __init__(self, threads: int, loss_of):
        torch.set_num_threads(1)
        self.loss_of = loss_of
        self.pool = ThreadPoolExecutor(threads, initializer=torch.set_num_threads, initargs=(1,))

    def map(self, work, parts) -> list:
        return list(self.pool.map(work, parts))

    def gradients(self, model, ids: torch.Tensor, w: torch.Tensor) -> tuple[float, float]:
        """Set the gradient of every parameter; (loss, balance loss)."""
        params, whole = list(model.parameters()), w[:, 1:].sum()
        parts = list(cut(ids, w))

        def work(part):
            ce, balance = self.loss_of(model, *part, whole)
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


def cut(ids: torch.Tensor, w: torch.Tensor):
    """A batch as (ids, weights) of about PART tokens, each as short as its longest row."""
    n = max(1, round(ids.numel() / PART))
    for a, b in zip(ids.chunk(n), w.chunk(n)):
        last = int((b > 0).any(0).nonzero()[-1]) + 1
        yield a[:, :last], b[:, :last]
