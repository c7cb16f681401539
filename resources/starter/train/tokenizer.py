"""Byte-level BPE with the o200k pre-tokenisation: learning merges, encoding, decoding.
Owns: vocabulary and merges. Refuses: markup, files other than its own JSON.
Usage: python tokenizer.py OUT.json [--size 5120] [--samples 20000] [--seed 1]"""
from __future__ import annotations

import argparse
import json
from collections import Counter, defaultdict
from heapq import heapify, heappop, heappush

import regex

_UP, _LOW = r'[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]', r'[\p{Ll}\p{Lm}\p{Lo}\p{M}]'
_SUFFIX = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
PATTERN = regex.compile('|'.join([
    rf'[^\r\n\p{{L}}\p{{N}}]?{_UP}*{_LOW}+{_SUFFIX}', rf'[^\r\n\p{{L}}\p{{N}}]?{_UP}+{_LOW}*{_SUFFIX}',
    r'\p{N}{1,3}', r' ?[^\s\p{L}\p{N}]+[\r\n/]*', r'\s*[\r\n]+', r'\s+(?!\S)', r'\s+']))

# the last 24 ids, in the order of o200k_harmony
NAMED = {0: 'startoftext', 1: 'endoftext', 4: 'return', 5: 'constrain', 7: 'channel', 8: 'start', 9: 'end', 10: 'message', 14: 'call', 20: 'endofprompt'}
SPECIALS = [f'<|{NAMED[i]}|>' if i in NAMED else f'<|reserved_{199998 + i}|>' for i in range(24)]
MAX_BYTES = 12       # of a token outside ASCII: four Chinese characters, so that no sentence becomes one token


def byte_chars() -> list[str]:
    """The printable stand-in of each byte value, as GPT-2 and GGUF vocabularies write them."""
    keep = set(range(33, 127)) | set(range(161, 173)) | set(range(174, 256))
    table, extra = [], 0
    for b in range(256):
        table.append(chr(b) if b in keep else chr(256 + extra))
        extra += b not in keep
    return table


class Tokenizer:
    def __init__(self, merges: list[tuple[bytes, bytes]]):
        self.merges = merges
        self.tokens = [bytes([b]) for b in range(256)] + [a + b for a, b in merges]
        self.rank = {m: i for i, m in enumerate(merges)}
        self.ids = {t: i for i, t in enumerate(self.tokens)}
        self.first_special = len(self.tokens)
        self.special = {s: self.first_special + i for i, s in enumerate(SPECIALS)}
        self.size = self.first_special + len(SPECIALS)
        self.cache: dict[str, list[int]] = {}

    def encode(self, text: str) -> list[int]:
        """Ordinary text; control tokens written out in it stay text."""
        out = []
        for piece in PATTERN.findall(text):
            ids = self.cache.get(piece)
            if ids is None:
                ids = self.cache[piece] = self._piece(piece.encode('utf-8'))
            out += ids
        return out

    def _piece(self, raw: bytes) -> list[int]:
        parts = [raw[i:i + 1] for i in range(len(raw))]
        while len(parts) > 1:
            best = min(range(len(parts) - 1), key=lambda i: self.rank.get((parts[i], parts[i + 1]), 1 << 30))
            if (parts[best], parts[best + 1]) not in self.rank:
                break
            parts[best:best + 2] = [parts[best] + parts[best + 1]]
        return [self.ids[p] for p in parts]

    def pieces(self, pieces) -> tuple[list[int], list[float]]:
        """Harmony pieces -> (ids, loss weight of each id)."""
        from harmony import Special
        ids, weights = [], []
        for text, w in pieces:
            new = [self.special[text]] if isinstance(text, Special) else self.encode(text)
            ids += new
            weights += [w] * len(new)
        return ids, weights

    def decode(self, ids) -> str:
        return b''.join(self.tokens[i] if i < self.first_special else SPECIALS[i - self.first_special].encode() for i in ids).decode('utf-8', 'replace')

    def save(self, path: str) -> None:
        json.dump([[a.hex(), b.hex()] for a, b in self.merges], open(path, 'w'))

    @staticmethod
    def load(path: str) -> 'Tokenizer':
        return Tokenizer([(bytes.fromhex(a), bytes.fromhex(b)) for a, b in json.load(open(path))])


def learn(counts: Counter, n_merges: int) -> list[tuple[bytes, bytes]]:
    """Classic BPE: most frequent pair first, ties by bytes, so that the result does not depend on order."""
    words = [([w[i:i + 1] for i in range(len(w))], c) for w, c in sorted(counts.items())]
    pairs, where = Counter(), defaultdict(set)
    for i, (w, c) in enumerate(words):
        for p in zip(w, w[1:]):
            pairs[p] += c
            where[p].add(i)
    queue = [(-c, _last_first(p), p) for p, c in pairs.items()]       # stale entries are passed over when they come up
    heapify(queue)
    merges, known = [], set()
    while len(merges) < n_merges and queue:
        count, _, best = heappop(queue)
        made = best[0] + best[1]
        if pairs[best] != -count or made in known or not (made.isascii() or len(made) <= MAX_BYTES):
            continue                  # a second way to the same token would make its id ambiguous
        merges.append(best)
        known.add(made)
        changed = set()
        for i in where.pop(best):
            w, c = words[i]
            for p in zip(w, w[1:]):
                pairs[p] -= c
                changed.add(p)
            j = 0
            while j < len(w) - 1:
                if (w[j], w[j + 1]) == best:
                    w[j:j + 2] = [made]
                j += 1
            for p in zip(w, w[1:]):
                pairs[p] += c
                where[p].add(i)
                changed.add(p)
        for p in changed:
            if pairs[p] > 0 and p != best:
                heappush(queue, (-pairs[p], _last_first(p), p))
    return merges


def _last_first(pair: tuple[bytes, bytes]) -> tuple:
    """A key by which the pair that is last in the order of bytes comes first."""
    return tuple(tuple(255 - x for x in part) + (256,) for part in pair)


def make(size: int = 5120, samples: int = 20000, seed: int = 1) -> Tokenizer:
    """The vocabulary of `samples` conversations."""
    from data.conversations import conversation
    from data.draw import Draw
    from harmony import Special, render
    d, counts = Draw(seed), Counter()
    for _ in range(samples):
        for text, _w in render(conversation(d)):
            if not isinstance(text, Special):
                counts.update(PATTERN.findall(text))
    # numbers stay single digits: small sums are learnt better so
    words = Counter({w.encode('utf-8'): c for w, c in counts.items() if c > 1 and not regex.match(r'\p{N}', w)})
    return Tokenizer(learn(words, size - 256 - len(SPECIALS)))


def main() -> None:
    a = argparse.ArgumentParser()
    a.add_argument('out')
    a.add_argument('--size', type=int, default=5120)
    a.add_argument('--samples', type=int, default=20000)
    a.add_argument('--seed', type=int, default=1)
    args = a.parse_args()
    tok = make(args.size, args.samples, args.seed)
    tok.save(args.out)
    print('merges', len(tok.merges), 'vocabulary', tok.size)


if __name__ == '__main__':
    main()
