"""Go on from a file: a FOLDER in which train.py begins with the weights and the vocabulary of a GGUF that export_gguf.py wrote.
Owns: the way back from tensors to parameters. Refuses: optimiser states, which no file holds; train.py warms up anew.
Usage: python import_gguf.py MODEL.gguf FOLDER [--seed 2]. Another seed than the file was made with, so that the text is new."""
from __future__ import annotations

import argparse
import os

import torch

import gguf_numpy
from export_gguf import tensors
from model import Config, Starter
from tokenizer import SPECIALS, Tokenizer, byte_chars
from train import PRACTICE, save


def vocabulary(meta: dict) -> Tokenizer:
    value = {char: bytes([b]) for b, char in enumerate(byte_chars())}
    raw = lambda shown: b''.join(value[c] for c in shown)
    tok = Tokenizer([tuple(raw(part) for part in merge.split(' ')) for merge in meta['tokenizer.ggml.merges']])
    if [raw(t) for t in meta['tokenizer.ggml.tokens'][:-len(SPECIALS)]] != tok.tokens:
        raise SystemExit('the vocabulary is not one that export_gguf.py writes')
    return tok


def write(path: str, folder: str, seed: int) -> None:
    meta, w = gguf_numpy.read(path)
    tok = vocabulary(meta)
    c = Config(vocab=tok.size)
    model = Starter(c).state_dict()
    for name, _, part in tensors(c, model):         # views: what is written here is in the model
        part.copy_(torch.tensor(w[name]))
    os.makedirs(folder, exist_ok=True)
    tok.save(os.path.join(folder, 'tokenizer.json'))
    save(os.path.join(folder, 'checkpoint.pt'), dict(model=model, opts=[], step=0, chunk=max(PRACTICE), index=0, tokens=0, seed=seed, budget=8192, steps=0, config=c.as_dict()))


if __name__ == '__main__':
    ap = argparse.ArgumentParser()
    ap.add_argument('gguf')
    ap.add_argument('folder')
    ap.add_argument('--seed', type=int, default=2)
    a = ap.parse_args()
    write(a.gguf, a.folder, a.seed)
    print(f'{a.folder}/checkpoint.pt: go on with train.py --checkpoint {a.folder} --seed {a.seed}')
