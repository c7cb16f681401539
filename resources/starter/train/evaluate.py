"""Judge an exported file: free questions with patterns, tool calls, effort lengths, and the loss by quantisation.
Owns: the numbers that the card reports. Refuses: changing the model.
Usage: python evaluate.py FILE.gguf TOKENIZER [--checkpoint CKPT] [--table]"""
from __future__ import annotations

import argparse
import json
import re
from random import Random
from statistics import median

import numpy as np

import harmony
from data import tools
from data.conversations import conversation
from data.questions import ASK
from gguf_numpy import Engine
from tokenizer import Tokenizer

DATE = '2026-11-29'


def reply(e: Engine, tok: Tokenizer, pieces) -> str:
    ids = tok.pieces(pieces)[0] + [tok.special['<|start|>']] + tok.encode('assistant')
    return tok.decode(e.generate(ids, {tok.special[s] for s in ('<|return|>', '<|call|>', '<|endoftext|>')}))


def split(text: str) -> tuple[str, str]:
    """(analysis, final); final is empty when the reply is not well formed."""
    m = re.fullmatch(r'<\|channel\|>analysis<\|message\|>(.*?)<\|end\|><\|start\|>assistant<\|channel\|>final<\|message\|>(.*)<\|return\|>', text, re.S)
    return (m.group(1), m.group(2)) if m else ('', '')


def questions(e, tok, table: bool, every: int) -> None:
    right: dict[str, list[bool]] = {}
    for group, q, pattern in ASK[::every]:
        final = split(reply(e, tok, harmony.prompt('medium', DATE) + harmony.user(q)))[1]
        ok = re.search(pattern, final, re.S) is not None
        right.setdefault(group, []).append(ok)
        if table:
            print(flush=True, end=f'| {q} | {final.replace(chr(10), " / ") or "(no answer)"} | {"yes" if ok else "NO"} |\n')
    for g, r in right.items():
        print(f'{g}: {sum(r)} of {len(r)}')
    print(f'all: {sum(map(sum, right.values()))} of {len(ASK[::every])}', flush=True)


def tool_calls(e, tok, n: int) -> None:
    rng, good = Random(20_261_129), 0
    for _ in range(n):
        offered, t = tools.tool_dialog(rng)
        out = reply(e, tok, harmony.prompt('medium', DATE, None, offered) + harmony.user(t['user']))
        m = re.search(r' to=functions\.(\S+?)<\|channel\|>commentary <\|constrain\|>json<\|message\|>(.*)<\|call\|>', out, re.S)
        try:
            good += bool(m) and m.group(1) == t['call'] and json.loads(m.group(2)) == json.loads(t['args'])
        except ValueError:
            pass
    print(f'tool calls exact: {good} of {n}')


def sums(e, tok, every: int) -> None:
    rng, good = Random(7), 0
    cases = [(rng.randint(0, 20), op, rng.randint(0, 20)) for op in '+-' for _ in range(15)] + [(rng.randint(0, 10), '*', rng.randint(0, 10)) for _ in range(15)]
    cases = cases[::every]
    for a, op, b in cases:
        if op == '-':
            a, b = max(a, b), min(a, b)
        c = {'+': a + b, '-': a - b, '*': a * b}[op]
        final = split(reply(e, tok, harmony.prompt('medium', DATE) + harmony.user(f'What is {a} {op} {b}?')))[1]
        good += re.search(rf'(= |is ){c}\b', final) is not None
    print(f'small sums: {good} of {len(cases)}')


def efforts(e, tok) -> None:
    for effort in ('low', 'medium', 'high'):
        lengths = [len(tok.encode(split(reply(e, tok, harmony.prompt(effort, DATE) + harmony.user(q)))[0])) for _, q, _ in ASK[::12]]
        print(f'median tokens of analysis at {effort}: {median(lengths)}')


def quantisation(e, tok, checkpoint: str, n: int) -> None:
    """Mean KL of the file against the checkpoint's float weights, over assistant tokens of held-out conversations."""
    import torch
    from sample import load
    m, rng, kls, same = load(checkpoint, quantised=False), Random(987_654_321), [], []
    ces = {'float': [], 'file': []}
    for _ in range(n):
        ids, w = tok.pieces(harmony.render(conversation(rng)))
        ids, w = ids[:400], w[:400]
        with torch.no_grad():
            p = torch.log_softmax(m(torch.tensor([ids]))[0].double(), -1).numpy()
        e.reset()
        for i, t in enumerate(ids[:-1]):
            logits = e.step(t).astype(np.float64)
            if w[i + 1] == 1:
                q = logits - logits.max()
                q -= np.log(np.exp(q).sum())
                kls.append((np.exp(p[i]) * (p[i] - q)).sum())
                same.append(p[i].argmax() == q.argmax())
                ces['float'].append(-p[i][ids[i + 1]])
                ces['file'].append(-q[ids[i + 1]])
    print(f'KL(float || file): mean {np.mean(kls):.4f}, 99 % {np.quantile(kls, .99):.4f}, same first choice {np.mean(same):.4f}, {len(kls)} tokens; '
          f'cross entropy float {np.mean(ces["float"]):.4f}, file {np.mean(ces["file"]):.4f}')


def main() -> None:
    ap = argparse.ArgumentParser()
    ap.add_argument('file')
    ap.add_argument('tokenizer')
    ap.add_argument('--checkpoint')
    ap.add_argument('--every', type=int, default=1, help='use only every n-th question')
    ap.add_argument('--table', action='store_true')
    a = ap.parse_args()
    e, tok = Engine(a.file), Tokenizer.load(a.tokenizer)
    if a.checkpoint:
        quantisation(e, tok, a.checkpoint, max(30 // a.every, 6))
    questions(e, tok, a.table, a.every)
    efforts(e, tok)
    sums(e, tok, a.every)
    tool_calls(e, tok, 40 // a.every)


if __name__ == '__main__':
    main()
