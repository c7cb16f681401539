"""What training text shares with a file of held-out questions: runs of five words, or of eight Chinese characters.
Owns: the counting, and the test that keeps such conversations out of training. Refuses: showing the questions. It prints counts and hashes.
Usage: python overlap.py QUESTIONS.jsonl [--conversations 20000] [--seed 1]"""
from __future__ import annotations

import argparse
import hashlib
import json
import re
from collections import Counter

WORDS, HAN = 5, 8
_WORD = re.compile(r"[a-z0-9]+(?:['’][a-z]+)?")
_BLANK = re.compile(r'\s+')
_HAN = re.compile(r'[\u4e00-\u9fff]')


def runs(text: str) -> set[str]:
    """Runs of words (split at every sign, and split at blanks only), and runs of Chinese characters (signs dropped). Runs of numbers alone do not count."""
    low = text.lower()
    out = set()
    for words in (_WORD.findall(low), [w for w in (x.strip('.,;:!?"“”‘’()[]*<>…—-') for x in _BLANK.split(low)) if w]):
        for i in range(len(words) - WORDS + 1):
            run = words[i:i + WORDS]
            if not all(w.isdigit() for w in run):
                out.add(' '.join(run))
    for letters in (''.join(_HAN.findall(text)), ''.join(c for c in low if c.isalnum())):
        if _HAN.search(letters):
            out |= {r for r in (letters[i:i + HAN] for i in range(len(letters) - HAN + 1)) if len(_HAN.findall(r)) >= HAN // 2}
    return out


def strings(x):
    if isinstance(x, str):
        yield x
    elif isinstance(x, dict):
        for v in x.values():
            yield from strings(v)
    elif isinstance(x, list):
        for v in x:
            yield from strings(v)


def texts_of(c: dict):
    """(what it is, text) of everything in a conversation that was written for training."""
    for what in ('instructions',):
        if c.get(what):
            yield what, c[what]
    for t in c['tools'] or []:
        yield 'tool', t['description']
        for p in t['params']:
            yield 'tool', p.get('comment', '')
    for t in c['turns']:
        for what in ('user', 'analysis', 'final', 'result', 'then', 'args'):
            if t.get(what):
                yield f'{t["kind"]}.{what}', t[what]


class HeldOut:
    def __init__(self, path: str):
        self.known: set[str] = set()
        with open(path, encoding='utf-8') as f:
            for line in f:
                q = json.loads(line)
                for s in strings([q.get('messages'), [t for t in q.get('tools') or []]]):
                    self.known |= runs(s)

    def shares(self, c: dict) -> bool:
        return any(not self.known.isdisjoint(runs(text)) for _, text in texts_of(c))


def main() -> None:
    from data.conversations import conversation
    from data.draw import Draw
    ap = argparse.ArgumentParser()
    ap.add_argument('questions')
    ap.add_argument('--conversations', type=int, default=20000)
    ap.add_argument('--seed', type=int, default=1)
    ap.add_argument('--hashes', type=int, default=0, help='print so many of the most frequent shared runs, as hashes')
    a = ap.parse_args()
    held, d, found, kinds, dropped = HeldOut(a.questions), Draw(a.seed), Counter(), Counter(), 0
    for _ in range(a.conversations):
        c, hit = conversation(d), False
        for what, text in texts_of(c):
            shared = runs(text) & held.known
            if shared:
                hit = True
                kinds[what] += 1
                found.update(hashlib.sha256(r.encode()).hexdigest()[:12] for r in shared)
        dropped += hit
    print(f'{len(held.known)} runs held out; {dropped} of {a.conversations} conversations share one ({len(found)} different runs) and are kept out of training')
    for what, n in kinds.most_common():
        print(f'  {what}: {n}')
    for h, n in found.most_common(a.hashes):
        print(f'  {h} {n}')


if __name__ == '__main__':
    main()
