"""Train the starter model on generated conversations.
Owns: schedule, batches, checkpoints, log. Refuses: deciding what the text says, writing GGUF.
Deterministic for a given seed, step count and thread count; resumes from OUT/checkpoint.pt.
Schedule: warm-up, constant, then linear decay to zero over the last --decay steps (so the end may be chosen late)."""
from __future__ import annotations

import argparse
import json
import os
import time
from random import Random

import torch
import torch.nn.functional as F

from data.conversations import conversation, core, focused
from harmony import render
from model import Config, Quantiser, Starter
from tokenizer import Tokenizer

CHUNK = 2000            # conversations generated at a time
FOCUS, CORE = 10_000, 20_000      # chunks from these numbers on come from the second and the third mixture


def batches(tok: Tokenizer, seed: int, chunk: int, budget: int):
    """One chunk of conversations as padded batches (ids, weights) of at most `budget` tokens, in shuffled order."""
    rng = Random(seed * 1_000_003 + chunk)
    make = core if chunk >= CORE else focused if chunk >= FOCUS else conversation
    rows = [tok.pieces(render(make(rng))) for _ in range(CHUNK)]
    rows = sorted((r for r in rows if len(r[0]) <= 1024), key=lambda r: len(r[0]))
    out, group = [], []
    for r in rows:
        if group and len(r[0]) * (len(group) + 1) > budget:
            out.append(group)
            group = []
        group.append(r)
    out.append(group)
    rng.shuffle(out)
    return [pad(g) for g in out]


def pad(group) -> tuple[torch.Tensor, torch.Tensor]:
    n = max(len(ids) for ids, _ in group)
    ids, w = torch.zeros(len(group), n, dtype=torch.long), torch.zeros(len(group), n)
    for i, (a, b) in enumerate(group):
        ids[i, :len(a)], w[i, :len(b)] = torch.tensor(a), torch.tensor(b)
    return ids, w


def loss_of(model: Starter, ids: torch.Tensor, w: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """(weighted mean cross entropy over trained tokens, expert balance loss)."""
    h, balance = model.hidden_states(ids[:, :-1])
    target, weight = ids[:, 1:].reshape(-1), w[:, 1:].reshape(-1)
    keep = weight.nonzero()[:, 0]                       # logits only where they are trained
    logits = model.logits(h.reshape(-1, h.shape[-1])[keep])
    ce = F.cross_entropy(logits, target[keep], reduction='none')
    return (ce * weight[keep]).sum() / weight.sum(), balance


def rate(step: int, a) -> float:
    left = a.steps - step
    return a.lr * min((step + 1) / a.warmup, 1.0, max(left, 0) / a.decay if left < a.decay else 1.0)


def evaluate(model: Starter, held, mode: Quantiser) -> float:
    """Mean cross entropy of assistant tokens on held-out conversations."""
    before, model.quant = model.quant, mode
    with torch.no_grad():
        losses = [loss_of(model, ids, (w == 1).float())[0].item() for ids, w in held]
    model.quant = before
    return sum(losses) / len(losses)


def parameter_groups(model: Starter, decay: float):
    flat = [p for n, p in model.named_parameters() if p.dim() < 2 or 'bias' in n or 'norm' in n or 'sinks' in n]
    ids = {id(p) for p in flat}
    return [dict(params=[p for p in model.parameters() if id(p) not in ids], weight_decay=decay), dict(params=flat, weight_decay=0.0)]


def main() -> None:
    ap = argparse.ArgumentParser()
    ap.add_argument('--out', required=True, help='folder for checkpoints and the log')
    ap.add_argument('--tokenizer', required=True)
    ap.add_argument('--steps', type=int, default=3000)
    ap.add_argument('--stop-at', type=int, default=0, help='end a stage here; the schedule still counts on --steps')
    ap.add_argument('--decay', type=int, default=700)
    ap.add_argument('--warmup', type=int, default=100)
    ap.add_argument('--lr', type=float, default=2e-3)
    ap.add_argument('--weight-decay', type=float, default=0.05)
    ap.add_argument('--budget', type=int, default=4096, help='tokens per step')
    ap.add_argument('--seed', type=int, default=1)
    ap.add_argument('--threads', type=int, default=1)
    ap.add_argument('--focus-from', type=int, default=10 ** 9, help='step at which the second mixture begins')
    ap.add_argument('--core-from', type=int, default=10 ** 9, help='step at which the third mixture begins')
    ap.add_argument('--round-every', type=int, default=1, help='steps between roundings to MXFP4; 0: train without')
    ap.add_argument('--save-every', type=int, default=100)
    a = ap.parse_args()
    torch.set_num_threads(a.threads)
    torch.manual_seed(a.seed)
    os.makedirs(a.out, exist_ok=True)
    tok = Tokenizer.load(a.tokenizer)
    model = Starter(Config(vocab=tok.size))
    model.quant = Quantiser(experts=a.round_every > 0, dense=False)
    opt = torch.optim.AdamW(parameter_groups(model, a.weight_decay), lr=a.lr, betas=(0.9, 0.95), fused=True)
    step = chunk = index = tokens = 0
    path = os.path.join(a.out, 'checkpoint.pt')
    if os.path.exists(path):
        c = torch.load(path, weights_only=False)
        model.load_state_dict(c['model'])
        opt.load_state_dict(c['opt'])
        step, chunk, index, tokens = c['step'], c['chunk'], c['index'], c['tokens']
        if c.get('budget', a.budget) != a.budget:       # the old place has no meaning among batches of another size
            chunk, index = chunk + 1, 0
    held = batches(tok, 987_654, 0, a.budget)[:6]
    log = open(os.path.join(a.out, 'log.jsonl'), 'a')
    run, began = batches(tok, a.seed, chunk, a.budget), time.time()
    end = a.stop_at or a.steps
    while step < end:
        if step == a.focus_from and chunk < FOCUS:
            chunk, index = FOCUS, 0
            run = batches(tok, a.seed, chunk, a.budget)
        if step == a.core_from and chunk < CORE:
            chunk, index = CORE, 0
            run = batches(tok, a.seed, chunk, a.budget)
        if index == len(run):
            chunk, index = chunk + 1, 0
            run = batches(tok, a.seed, chunk, a.budget)
        ids, w = run[index]
        for g in opt.param_groups:
            g['lr'] = rate(step, a)
        model.quant.stale = bool(a.round_every) and step % a.round_every != 0
        with torch.autocast('cpu', dtype=torch.bfloat16):
            ce, balance = loss_of(model, ids, w)
        opt.zero_grad()
        (ce + 0.01 * balance).backward()
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        step, index, tokens = step + 1, index + 1, tokens + ids.numel()
        if step % 10 == 0:
            row = dict(step=step, loss=round(ce.item(), 4), balance=round(balance.item(), 4), norm=round(norm.item(), 3), tokens=tokens, seconds=round(time.time() - began, 1))
            if step % a.save_every == 0 or step == end:
                model.quant.stale = False
                row['held_out'] = round(evaluate(model, held, model.quant), 4)
                save(path, dict(model=model.state_dict(), opt=opt.state_dict(), step=step, chunk=chunk, index=index, tokens=tokens, budget=a.budget, config=model.c.as_dict()))
            log.write(json.dumps(row) + '\n')
            log.flush()


def save(path: str, data: dict) -> None:
    torch.save(data, path + '.new')
    os.replace(path + '.new', path)


if __name__ == '__main__':
    main()
