"""Ask a checkpoint questions at temperature 0.
Owns: greedy generation with the PyTorch model. Refuses: training.
Usage: python sample.py CHECKPOINT TOKENIZER [--effort low] QUESTION..."""
from __future__ import annotations

import argparse

import torch

import harmony
from model import Config, Starter, mxfp4_round, q8_round
from tokenizer import Tokenizer


def load(path: str, quantised: bool = True) -> Starter:
    c = torch.load(path, weights_only=False)
    m = Starter(Config(**c['config']))
    m.load_state_dict(c['model'])
    if quantised:                # once, in place: the values that the file will hold
        with torch.no_grad():
            for name, p in m.named_parameters():
                if name.endswith(('.up', '.down')):
                    p.copy_(mxfp4_round(p))
                elif name.endswith(('embed', 'output', '.qkv', '.out')):
                    p.copy_(q8_round(p))
    return m.eval()


@torch.no_grad()
def answer(m: Starter, tok: Tokenizer, pieces, limit: int = 220) -> list[int]:
    """Greedy tokens after the prompt, up to <|return|> or <|call|>."""
    ids = tok.pieces(pieces)[0] + [tok.special['<|start|>']] + tok.encode('assistant')
    out, stop = [], {tok.special[s] for s in ('<|return|>', '<|call|>', '<|endoftext|>')}
    while len(out) < limit and not (out and out[-1] in stop):
        h, _ = m.hidden_states(torch.tensor([ids + out]))
        out.append(int(m.logits(h[0, -1]).argmax()))
    return out


def main() -> None:
    ap = argparse.ArgumentParser()
    ap.add_argument('checkpoint')
    ap.add_argument('tokenizer')
    ap.add_argument('questions', nargs='+')
    ap.add_argument('--effort', default='medium')
    ap.add_argument('--instructions')
    a = ap.parse_args()
    torch.set_num_threads(1)
    tok, m = Tokenizer.load(a.tokenizer), load(a.checkpoint)
    for q in a.questions:
        p = harmony.prompt(a.effort, '2026-11-29', a.instructions) + harmony.user(q)
        print(f'Q: {q}\nA: {tok.decode(answer(m, tok, p))}\n')


if __name__ == '__main__':
    main()
