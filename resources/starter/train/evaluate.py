"""Measure a checkpoint: abilities on templates that training does not use, and what storing costs.
Owns: the numbers that the card reports, as JSON. Refuses: the held-out questions (ask.py and ../heldout/score.py), changing the model.
Usage: python evaluate.py FOLDER [--each 40] [--out FILE.json]"""
from __future__ import annotations

import argparse
import json
import os

import torch

import abilities
from data.conversations import conversation
from data.draw import Draw
from harmony import render
from sample import load
from tokenizer import Tokenizer
from train import answerer


@torch.no_grad()
def storing_cost(folder: str, tok: Tokenizer, n: int) -> dict:
    """The weights as stored (experts MXFP4, matrices Q8_0) against the same weights in bfloat16, over assistant tokens of held-out conversations:
    mean KL(bf16 || stored), its 99th percentile, the share of same first choices, and both cross entropies."""
    path = os.path.join(folder, 'checkpoint.pt')
    full, stored = load(path, stored=False), load(path)
    for p in full.parameters():
        p.copy_(p.bfloat16())
    d, kl, same, ce = Draw(987_654_321, held=True), [], [], ([], [])
    for _ in range(n):
        ids, w = tok.pieces(render(conversation(d)))
        x = torch.tensor([ids])
        at = torch.tensor([i - 1 for i in range(1, len(ids)) if w[i] == 1])
        a, b = (torch.log_softmax(m(x)[0, at].double(), -1) for m in (full, stored))
        kl.append((a.exp() * (a - b)).sum(-1))
        same.append((a.argmax(-1) == b.argmax(-1)).double())
        target = x[0, at + 1]
        for out, p in zip(ce, (a, b)):
            out.append(-p.gather(1, target[:, None])[:, 0])
    kl = torch.cat(kl)
    return dict(kl=kl.mean().item(), kl99=kl.quantile(0.99).item(), same=torch.cat(same).mean().item(), tokens=len(kl), bf16=torch.cat(ce[0]).mean().item(), stored=torch.cat(ce[1]).mean().item())


def main() -> None:
    ap = argparse.ArgumentParser()
    ap.add_argument('checkpoint', help='the folder')
    ap.add_argument('--each', type=int, default=40, help='exercises of each kind and language')
    ap.add_argument('--conversations', type=int, default=60, help='for the cost of storing')
    ap.add_argument('--wrong', type=int, default=0, help='show so many wrong answers')
    ap.add_argument('--out')
    a = ap.parse_args()
    tok = Tokenizer.load(os.path.join(a.checkpoint, 'tokenizer.json'))
    cost = storing_cost(a.checkpoint, tok, a.conversations)
    print('stored against bf16: ' + ', '.join(f'{k} {v:.4g}' for k, v in cost.items()), flush=True)
    table, wrong = abilities.scores(answerer(load(os.path.join(a.checkpoint, 'checkpoint.pt')), tok), a.each)
    print(abilities.show(table))
    for t, text in wrong[:a.wrong]:
        print(f'--- {t["kind"]}.{t["lang"]} {t["user"]!r}\n    wanted {t.get("args") or t["final"]!r}\n    got {text!r}')
    if a.out:
        with open(a.out, 'w') as f:
            json.dump(dict(cost=cost, scores=table), f, indent=1)


if __name__ == '__main__':
    main()
