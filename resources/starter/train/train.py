"""Train the starter model on generated conversations.
Owns: schedule, batches, checkpoints, log. Refuses: deciding what the text says, writing GGUF.
Deterministic for a seed and a number of steps; stopped at any time it goes on from FOLDER/checkpoint.pt as if nothing
had happened. A file FOLDER/pause makes it wait until the file is gone; --polite leaves the processor to everybody else.
Schedule: warm-up, constant, linear decay to zero; experts are rounded to MXFP4 in the forward pass from --round-from on.
Usage: python train.py --checkpoint FOLDER [--steps 3800] [--threads 2] [--polite]"""
from __future__ import annotations

import argparse
import json
import os
import time
from contextlib import nullcontext
from random import Random

import torch
import torch.nn.functional as F

import abilities
from data.conversations import conversation, date
from data.draw import Draw
from harmony import render, system
from kernels import WordLoss
from lanes import PART, Lanes, Part
from model import Config, Starter, generate
from optimiser import optimisers
from overlap import HeldOut
from tokenizer import Tokenizer
from tokenizer import make as learn_tokens

CHUNK = 4000            # conversations generated at a time
PRACTICE = {15: 0.35}       # from this chunk on the share of exercises: the model speaks by then, and copies badly
LONGEST = 900           # tokens of a conversation; longer ones are left out
HELD_SEED = 987_654


# ---------------------------------------------------------------- text
def conversations(seed: int, held: bool, shared: HeldOut | None, n: int, practice: float = 0):
    d = Draw(seed, held)
    while n:
        c = conversation(d, practice)
        if shared is None or not shared.shares(c):
            n -= 1
            yield c


def batches(tok: Tokenizer, seed: int, chunk: int, budget: int, shared: HeldOut | None, held: bool = False, n: int = CHUNK, practice: float = 0) -> list[list[Part]]:
    """One chunk of conversations as steps of about `budget` tokens, each of a few parts in shuffled order. The conversations of a part have
    one system message, date included, and about one length."""
    rng, kinds = Draw(seed * 1_000_003 + chunk), {}
    for c in conversations(seed * 1_000_003 + chunk, held, shared, n, practice):
        kinds.setdefault((c['effort'], bool(c['tools'])), []).append(tok.pieces(render(c)[len(system('low', None, False)):]))
    parts = []
    for (effort, tools), rows in sorted(kinds.items()):
        group, head = [], []
        for row in sorted(rows, key=lambda r: len(r[0])):
            if not group or (len(head) + len(row[0])) * (len(group) + 1) > PART:
                group, head = [], tok.pieces(system(effort, date(rng), tools))[0]
                parts.append((head, group))
            if len(head) + len(row[0]) <= LONGEST:
                group.append(row)
    parts = [pad(head, group) for head, group in parts if group]
    rng.shuffle(parts)
    each = max(1, budget // PART)
    return [parts[i:i + each] for i in range(0, len(parts), each)]


def pad(head: list[int], group) -> Part:
    P, n = len(head), len(head) + max(len(ids) for ids, _ in group)
    ids, w = torch.zeros(len(group), n, dtype=torch.long), torch.zeros(len(group), n)
    for i, (a, b) in enumerate(group):
        ids[i, :P], ids[i, P:P + len(a)], w[i, P:P + len(b)] = torch.tensor(head), torch.tensor(a), torch.tensor(b)
    return Part(ids, w, P)


# ---------------------------------------------------------------- loss and its measurement
def loss_of(model: Starter, part: Part, whole: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """(sum of weight * cross entropy over trained tokens, as a share of `whole`; expert balance loss)."""
    target, weight = (x[:, part.shared + 1:].reshape(-1) for x in (part.ids, part.weights))
    keep = weight.nonzero()[:, 0]                       # logits only where they are trained
    h, balance = model.hidden_states(part.ids[:, :-1], keep + part.shared, part.shared)
    return WordLoss.apply(h, model.output, target[keep], weight[keep] / whole), balance


@torch.no_grad()
def held_out_loss(model: Starter, held: list[Part]) -> float:
    """Mean cross entropy of assistant tokens on conversations from templates that training does not use."""
    own = [p._replace(weights=(p.weights == 1).float()) for p in held]
    whole = sum(p.weights.sum() for p in own)
    return sum(loss_of(model, p, whole)[0].item() for p in own)


def answerer(model: Starter, tok: Tokenizer, limit: int = 220, size: int = 32):
    """Prompts (pieces) to decoded replies, shortest first so that little is padded."""
    stop = {tok.special[s] for s in ('<|return|>', '<|call|>', '<|endoftext|>')}

    def answer(prompts) -> list[str]:
        ids = [tok.pieces(p)[0] for p in prompts]
        order, out = sorted(range(len(ids)), key=lambda i: len(ids[i])), [''] * len(ids)
        for i in range(0, len(order), size):
            part = order[i:i + size]
            for j, got in zip(part, generate(model, [ids[j] for j in part], stop, limit)):
                out[j] = tok.decode(got)
        return out
    return answer


# ---------------------------------------------------------------- schedule, checkpoint
def rate(step: int, a) -> float:
    down = int(a.steps * a.decay)
    return a.lr * min((step + 1) / a.warmup, 1.0, max(a.steps - step, 0) / max(down, 1))


def save(path: str, data: dict) -> None:
    torch.save(data, path + '.new')
    os.replace(path + '.new', path)


def practice(chunk: int) -> float:
    return next((share for first, share in reversed(PRACTICE.items()) if chunk >= first), 0.0)


def leave_room() -> None:
    """The lowest priority there is: this process gets what nobody else wants."""
    os.nice(19)
    if hasattr(os, 'SCHED_IDLE'):
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))


def wait_while_paused(folder: str) -> None:
    while os.path.exists(os.path.join(folder, 'pause')):
        time.sleep(5)


def options():
    ap = argparse.ArgumentParser()
    ap.add_argument('--checkpoint', required=True, help='folder for the checkpoint, the tokenizer and the log; outside the repository')
    ap.add_argument('--steps', type=int, default=3800)
    ap.add_argument('--stop-at', type=int, default=0, help='end here for now; the schedule still counts on --steps')
    ap.add_argument('--decay', type=float, default=0.5, help='share of the steps in which the rate falls to zero')
    ap.add_argument('--round-from', type=float, default=0.5, help='share of the steps after which experts are rounded to MXFP4')
    ap.add_argument('--warmup', type=int, default=100)
    ap.add_argument('--lr', type=float, default=3e-3)
    ap.add_argument('--weight-decay', type=float, default=0.05)
    ap.add_argument('--budget', type=int, default=8192, help='tokens per step, padding included')
    ap.add_argument('--seed', type=int, default=1)
    ap.add_argument('--threads', type=int, default=2)
    ap.add_argument('--held-out', help='questions whose runs of words are kept out of the training text')
    ap.add_argument('--save-every', type=int, default=50)
    ap.add_argument('--score-every', type=int, default=500)
    ap.add_argument('--score-each', type=int, default=12, help='exercises of each kind and language')
    ap.add_argument('--polite', action='store_true', help='give way to every other process')
    return ap.parse_args()


class Run:
    """The state that a checkpoint holds: model, optimisers, and the place in the text."""

    def __init__(self, a):
        self.a, self.path = a, os.path.join(a.checkpoint, 'checkpoint.pt')
        vocabulary = os.path.join(a.checkpoint, 'tokenizer.json')
        if not os.path.exists(vocabulary):
            learn_tokens(seed=a.seed).save(vocabulary)
        self.tok = Tokenizer.load(vocabulary)
        torch.manual_seed(a.seed)
        self.model = Starter(Config(vocab=self.tok.size))
        self.lanes = Lanes(a.threads, loss_of)
        self.opts = optimisers(self.model, a.lr, a.weight_decay, self.lanes)
        self.step = self.chunk = self.index = self.tokens = 0
        self.shared = HeldOut(a.held_out) if a.held_out else None
        if os.path.exists(self.path):
            self.load()

    def load(self) -> None:
        c = torch.load(self.path, weights_only=False)
        for key in ('seed', 'budget'):
            if c[key] != getattr(self.a, key):
                raise SystemExit(f'the checkpoint was made with --{key} {c[key]}')
        self.model.load_state_dict(c['model'])
        for opt, state in zip(self.opts, c['opts']):
            opt.load_state_dict(state)
        self.step, self.chunk, self.index, self.tokens = c['step'], c['chunk'], c['index'], c['tokens']

    def save(self) -> None:
        save(self.path, dict(model=self.model.state_dict(), opts=[o.state_dict() for o in self.opts], step=self.step, chunk=self.chunk, index=self.index,
                             tokens=self.tokens, seed=self.a.seed, budget=self.a.budget, steps=self.a.steps, config=self.model.c.as_dict()))

    def text(self):
        return batches(self.tok, self.a.seed, self.chunk, self.a.budget, self.shared, practice=practice(self.chunk))

    def train_on(self, parts: list[Part]) -> dict:
        for opt in self.opts:
            for g in opt.param_groups:
                g['lr'] = rate(self.step, self.a)
        rounded = self.step >= self.a.steps * self.a.round_from
        with self.model.as_stored() if rounded else nullcontext():
            ce, balance = self.lanes.gradients(self.model, parts)
        norm = torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        for opt in self.opts:
            opt.step()
        self.step, self.index, self.tokens = self.step + 1, self.index + 1, self.tokens + sum(p.ids.numel() for p in parts)
        return dict(step=self.step, loss=round(ce, 4), balance=round(balance, 3), norm=round(norm.item(), 3), tokens=self.tokens)


def main() -> None:
    a = options()
    os.makedirs(a.checkpoint, exist_ok=True)
    if a.polite:
        leave_room()
    run = Run(a)
    held = batches(run.tok, HELD_SEED, 0, a.budget, None, held=True, n=400)
    held = [p for step in held for p in step][:32]
    answer = answerer(run.model, run.tok)
    log, began, batch = open(os.path.join(a.checkpoint, 'log.jsonl'), 'a'), time.time(), run.text()
    end = a.stop_at or a.steps
    while run.step < end:
        wait_while_paused(a.checkpoint)
        if run.index == len(batch):
            run.chunk, run.index = run.chunk + 1, 0
            batch = run.text()
        row = run.train_on(batch[run.index])
        last = run.step == end
        if run.step % 10 and not last:
            continue
        row['seconds'] = round(time.time() - began, 1)
        if run.step % a.save_every == 0 or last:
            row['held_out'] = round(held_out_loss(run.model, held), 4)
            run.save()
        if run.step % a.score_every == 0 or last:
            table, _ = abilities.scores(answer, a.score_each)
            row['scores'] = table
            print(f'step {run.step}, {row["seconds"]} s, loss {row["loss"]}, held out {row.get("held_out")}: {abilities.show(table)}', flush=True)
        log.write(json.dumps(row, ensure_ascii=False) + '\n')
        log.flush()


if __name__ == '__main__':
    main()
