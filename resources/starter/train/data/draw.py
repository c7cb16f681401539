"""Random choice for the generators, and the wall between training and validation.
Owns: the {a|b|} expander, the split of question forms by their text, spelling noise. Refuses: words and sentences of its own.
A form belongs to validation when its checksum says so, for ever: both sides then never share a template."""
from __future__ import annotations

import re
import zlib
from random import Random

_INNER = re.compile(r'\{([^{}]*\|[^{}]*)\}')
_SLOT = re.compile(r'<(\w+)>')
SHARE = 12              # one form of so many is validation's


class Draw(Random):
    """A random source that knows on which side of the wall it draws."""

    def __init__(self, seed: int, held: bool = False):
        super().__init__(seed)
        self.held = held

    def pick(self, items):
        return items[self.randrange(len(items))]

    def chance(self, p: float) -> bool:
        return self.random() < p

    def form(self, forms):
        """One question form of this side; any, where this side has none of them."""
        return self.pick([f for f in forms if held_out(f) == self.held] or forms)

    def weighted(self, table):
        """table of (weight, item)"""
        r = self.random() * sum(w for w, _ in table)
        for w, x in table:
            r -= w
            if r <= 0:
                return x
        return table[-1][1]

    def say(self, template: str) -> str:
        """Expand {a|b|c}, nesting allowed; other braces stay as they are."""
        while True:
            m = _INNER.search(template)
            if not m:
                return template
            template = template[:m.start()] + self.pick(m.group(1).split('|')) + template[m.end():]

    def ask(self, forms, **slots) -> str:
        """A question form of this side, expanded, its <slots> filled."""
        return fill(self.say(self.form(forms)), **slots)


def held_out(form) -> bool:
    text = form if isinstance(form, str) else repr(form)
    return zlib.crc32(text.encode('utf-8')) % SHARE == 0


def fill(template: str, **slots) -> str:
    return _SLOT.sub(lambda m: str(slots.get(m.group(1), m.group(0))), template)


def cap(s: str) -> str:
    return s[:1].upper() + s[1:]


def article(noun: str) -> str:
    return ('an ' if noun[0] in 'aeiou' else 'a ') + noun


# ---------------------------------------------------------------- how people type
LEAD = ['hi, ', 'hey, ', 'hello, ', 'hello! ', 'ok, ', 'so, ', 'please, ', 'quick question: ', 'one question: ', 'sorry, ', 'well, ', 'hm, ',
        'ok so ', 'good morning, ', 'hello there. ', 'my question: ', 'let me ask: ', 'excuse me, ', 'hi! ', 'hey there, ', 'another thing: ', 'um, ',
        'sorry to bother you, but ', 'dear Hearth, ', 'now ', 'and ', 'ok then, ', 'right, ', 'by the way, ', 'just curious: ', 'seriously, ']
TAIL = [' please', ', please', ' thanks', ' thank you', ' :)', ' now', ' for me', ' again', ', thanks', ' pls', ' plz', '...', ', thank you very much', ' asap']
LEAD_ZH = ['请问，', '请问', '你好，', '你好！', '嗨，', '那么，', '我想知道，', '我想问一下，', '麻烦问一下，', '不好意思，', '对了，', '还有，', '打扰一下，', '那个，', '嗯，', '问一下，']
TAIL_ZH = ['，谢谢', '谢谢', '，麻烦了', '，急', '呢', '啊', '，求助']


def typed(d: Draw, text: str, lang: str = 'en', question: bool = True, exact: bool = False) -> str:
    """The sentence as somebody types it: lead-in, case, punctuation, slips. `exact` keeps the words (an answer must copy them)."""
    return _typed_zh(d, text, question) if lang == 'zh' else _typed_en(d, text, question, exact)


def _typed_en(d: Draw, text: str, question: bool, exact: bool) -> str:
    if d.chance(0.16):
        text = d.pick(LEAD) + text
    if d.chance(0.10):
        text += d.pick(TAIL)
    r = d.random()
    if text[-1] not in '.?!)':
        if question:
            text += '?' if r < 0.6 else '??' if r < 0.62 else '' if r < 0.9 else '.'
        elif r < 0.5:
            text += d.pick(['.', '.', '.', '!'])
    if exact:
        return cap(text) if d.chance(0.7) else text
    r = d.random()
    text = cap(text) if r < 0.6 else text.lower() if r < 0.8 else text.upper() if r < 0.81 else text
    return slip(d, text) if d.chance(0.12) and len(text) > 8 else text


def _typed_zh(d: Draw, text: str, question: bool) -> str:
    if d.chance(0.15) and text[:2] not in ('请问', '你好'):
        text = d.pick(LEAD_ZH) + text
    if d.chance(0.06):
        return text + d.pick(TAIL_ZH)
    if text[-1] in '。？！?!…':
        return text
    r = d.random()
    if question:
        return text + ('？' if r < 0.55 else '?' if r < 0.65 else '' if r < 0.97 else '？？')
    return text + ('。' if r < 0.4 else '！' if r < 0.47 else '')


def slip(d: Draw, text: str) -> str:
    """One typing slip inside a word."""
    i = d.randrange(1, len(text) - 2)
    if not (text[i].isalpha() and text[i + 1].isalpha() and text[i - 1].isalpha()):
        return text
    kind = d.randrange(3)
    if kind == 0:
        return text[:i] + text[i + 1:]
    if kind == 1:
        return text[:i] + text[i + 1] + text[i] + text[i + 2:]
    return text[:i] + text[i] + text[i:]
