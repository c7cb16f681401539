"""Small helpers and word lists that the generators share.
Owns: the {a|b|} template expander, spelling noise, names and nouns. Refuses: whole sentences."""
from __future__ import annotations

import re
from random import Random

_INNER = re.compile(r'\{([^{}]*\|[^{}]*)\}')


def say(rng: Random, template: str) -> str:
    """Expand {a|b|c} (nesting allowed) by random choice; other braces stay as they are."""
    while True:
        m = _INNER.search(template)
        if not m:
            return template
        template = template[:m.start()] + rng.choice(m.group(1).split('|')) + template[m.end():]


def pick(rng: Random, items) -> str:
    return items[rng.randrange(len(items))]


def cap(s: str) -> str:
    return s[:1].upper() + s[1:]


def article(noun: str) -> str:
    return ('an ' if noun[0] in 'aeiou' else 'a ') + noun


LEAD = ['', '', '', '', '', '', '', 'hi, ', 'hey, ', 'hello, ', 'hello! ', 'ok, ', 'so, ', 'please, ', 'quick question: ',
        'one question: ', 'tell me, ', 'sorry, ', 'well, ', 'hm, ', 'I wonder, ', 'now, ', 'good morning, ', 'hello there. ',
        'can you tell me: ', 'I want to know: ', 'do you know ', 'I would like to know ', 'my question: ', 'please tell me ', 'could you tell me ', 'let me ask: ',
        'excuse me, ', 'hi! ', 'hey there, ', 'can I ask: ']
TAIL = ['', '', '', '', '', '', '', ' please', ', please', ' thanks', ' thank you', ' :)', ' now', ' for me', ' today', ' again']


def noisy(rng: Random, text: str, question: bool = True, exact: bool = False) -> str:
    """Vary how a person would type one English sentence: lead-in, case, punctuation, small slips.
    `exact` keeps every word as it is (for text that the answer must copy)."""
    if rng.random() < 0.35:
        text = pick(rng, LEAD) + text
    if rng.random() < 0.15:
        text = text + pick(rng, TAIL)
    r = rng.random()
    if question and r < 0.62:
        text += '?'
    elif not question and r < 0.5:
        text += pick(rng, ['.', '.', '!'])
    r = rng.random()
    if exact:
        return cap(text) if r < 0.6 else text
    if r < 0.55:
        text = cap(text)
    elif r < 0.75:
        text = text.lower()
    elif r < 0.765:
        text = text.upper()
    if rng.random() < 0.10 and len(text) > 8:
        text = slip(rng, text)
    return text


def slip(rng: Random, text: str) -> str:
    """One typing slip inside a word."""
    i = rng.randrange(1, len(text) - 2)
    if not (text[i].isalpha() and text[i + 1].isalpha()):
        return text
    kind = rng.randrange(3)
    if kind == 0:
        return text[:i] + text[i + 1:]
    if kind == 1:
        return text[:i] + text[i + 1] + text[i] + text[i + 2:]
    return text[:i] + text[i] + text[i:]


def noisy_zh(rng: Random, text: str, question: bool = True) -> str:
    if rng.random() < 0.25:
        text = pick(rng, ['请问，', '请问', '你好，', '你好！', '嗨，', '那么，', '我想知道，', '我想问一下，', '麻烦问一下，']) + text
    r = rng.random()
    if question:
        text += '？' if r < 0.65 else ('?' if r < 0.75 else '')
    elif r < 0.4:
        text += '。'
    return text


NAMES = """Mia Leo Nora Tom Ella Sam Lina Ben Ruby Max Ada Finn Ivy Noah Zoe Hugo Luna Oscar Rosa Emil Clara Jonas Maya Felix
Anna Paul Lucy Otto Alice Milo Eva Theo Grace Ravi Mei Omar Sara Ken Lily Ivan Yuki Nina Adam Pia Kofi Amir Elsa Jack Tara Hana
Bo Vera Luis Carmen Pedro Ines Marta Olga Boris Dina Rana Iris Peter Kate David Laura Simon Julia Martin Sofia Daniel Emma""".split()

# noun, a place where it can be, a word for how it is
THINGS = """lighthouse boat cat dog rain star moon garden river mountain train kite owl fox bear robot dragon bird tree
teapot clock lantern bridge snowman whale turtle mouse rabbit horse frog bee cloud castle island violin drum book letter key
door shoe hat umbrella apple cake bread candle mirror balloon bicycle bus balloonist pirate baker painter sailor farmer teacher
wizard knight queen king giant elf ghost snail spider butterfly duck goose swan penguin seal crab fish shark lion tiger
elephant monkey parrot hen sheep goat cow pig hedgehog squirrel beaver wolf deer camel ant ladybird flower rose sunflower
pumpkin potato carrot onion mushroom forest lake sea beach desert cave valley hill village city tower market school library
museum station ship submarine rocket planet comet wind storm snow leaf stone shell feather ring coin map compass telescope
piano flute guitar song dream shadow window chair table bed lamp kettle spoon cup pillow blanket sock scarf coat button
puppy kitten dolphin octopus otter panda koala dinosaur unicorn mermaid princess prince fairy witch astronaut doctor nurse
cook gardener fisherman miller tailor postman grandmother grandfather sister brother friend neighbour""".split()
THINGS.remove('balloonist')
ADJ = 'small old quiet brave little red blue green shy kind clever sleepy tiny happy lonely gentle curious golden silver grey'.split()
PLACES = ['by the sea', 'in a quiet village', 'at the edge of a forest', 'on a small island', 'near a wide river',
          'in a town of narrow streets', 'high in the hills', 'beside a long road', 'in a valley full of flowers',
          'at the end of a pier', 'under a big oak tree', 'in a city of many bridges', 'on a farm', 'near an old mill',
          'behind a stone wall', 'in a house with a blue door']
SYLLABLES = 'ba be bi bo bu da de di do ka ke ki ko la le li lo lu ma me mi mo na ne ni no pa po ra re ri ro sa se si so ta te ti to va vi zu'.split()


def made_up(rng: Random) -> str:
    """A word that means nothing: teaches copying instead of remembering."""
    w = ''.join(pick(rng, SYLLABLES) for _ in range(rng.choice([2, 2, 3])))
    return w + pick(rng, ['', '', 'n', 'r', 's', 'l'])
