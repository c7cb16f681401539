"""Ask a checkpoint questions at temperature 0.
Owns: loading a checkpoint with its weights as trained or as stored. Refuses: training.
Usage: python sample.py FOLDER [--effort low] [--float] QUESTION..."""
from __future__ import annotations

import argparse
import os

import torch

import harmony
from model import Config, Starter, mxfp4_round, q8_round
from tokenizer import Tokenizer
from train import answerer


def load(path: str, stored: bool = True) -> Starter:
    c = torch.load(path, weights_only=False)
    m = Starter(Config(**c['config']))
    m.load_state_dict(c['model'])
    if stored:                # once, in place: the values that the file will hold
        with torch.no_grad():
            for name, p in m.named_parameters():
                if name.endswith(('.up', '.down')):
                    p.copy_(mxfp4_round(p))
                elif name.endswith(('embed', 'output', '.qkv', '.out')):
                    p.copy_(q8_round(p))
    return m.eval()


def main() -> None:
    ap = argparse.ArgumentParser()
    ap.add_argument('checkpoint', help='the folder')
    ap.add_argument('questions', nargs='+')
    ap.add_argument('--effort', default='medium')
    ap.add_argument('--instructions')
    ap.add_argument('--float', action='store_true', help='the weights as trained, not as stored')
    a = ap.parse_args()
    torch.set_num_threads(1)
    tok, m = Tokenizer.load(os.path.join(a.checkpoint, 'tokenizer.json')), load(os.path.join(a.checkpoint, 'checkpoint.pt'), not a.float)
    prompts = [harmony.prompt(a.effort, '2026-11-29', a.instructions) + harmony.user(q) + [(harmony.START, 0), ('assistant', 0)] for q in a.questions]
    for q, text in zip(a.questions, answerer(m, tok)(prompts)):
        print(f'Q: {q}\nA: {text}\n')


if __name__ == '__main__':
    main()
