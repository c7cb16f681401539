"""Whether the file says what the checkpoint says: logits of two independent forward passes, and tokens.
Owns: the comparison. Refuses: the engine (its tests compare it with the same file).
Usage: python check_export.py FOLDER   (with checkpoint.pt, tokenizer.json and starter-new.gguf)"""
from __future__ import annotations

import os
import sys

import numpy as np
import torch

from data.conversations import conversation
from data.draw import Draw
from gguf_numpy import Engine
from harmony import render
from sample import load
from tokenizer import Tokenizer


def main() -> None:
    folder = sys.argv[1]
    tok = Tokenizer.load(os.path.join(folder, 'tokenizer.json'))
    m, e, d, worst = load(os.path.join(folder, 'checkpoint.pt')), Engine(os.path.join(folder, 'starter-new.gguf')), Draw(5, held=True), 0.0
    for n in (1, 63, 64, 65, 200, 350):
        ids = []
        while len(ids) < n:
            ids += tok.pieces(render(conversation(d)))[0]
        ids = ids[:n]
        with torch.no_grad():
            want = m(torch.tensor([ids]))[0, -1].numpy()
        e.reset()
        for t in ids:
            got = e.step(t)
        worst = max(worst, float(np.abs(got - want).max()))
    print(f'largest difference of logits between the checkpoint as stored and the file, at lengths 1 to 350: {worst:.2g}')
    if worst > 2e-3:
        raise SystemExit('the file does not hold what was trained')


if __name__ == '__main__':
    main()
