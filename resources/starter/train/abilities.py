"""What the model can do, by kind and language, on conversations whose templates training never uses.
Owns: the exercises and the verdicts. Refuses: how answers are made: it is given a function from prompts to replies."""
from __future__ import annotations

import json
import re
from statistics import median

import harmony
from data import scope, tools
from data.conversations import conversation
from data.draw import Draw

SEED = 20_261_129
LANGS = ('en', 'zh')
_NUMBER = re.compile(r'\d+')


def exercises(each: int, seed: int = SEED) -> list[tuple[dict, dict]]:
    """(conversation, its last turn): `each` of every kind and language that there is."""
    d, count, out, idle = Draw(seed, held=True), {}, [], 0
    while idle < 400:
        c = conversation(d)
        t = c['turns'][-1]
        key = (t['kind'], t['lang'])
        idle += 1
        if count.get(key, 0) < each:
            count[key], idle = count.get(key, 0) + 1, 0
            out.append((c, t))
    return out


def han_share(text: str) -> float:
    letters = [ch for ch in text if ch.isalpha()]
    return sum('\u4e00' <= ch <= '\u9fff' for ch in letters) / max(len(letters), 1)


def same_language(text: str, lang: str) -> bool:
    """Names of commands and addresses are Latin in both; a text without letters is in any language."""
    if not any(ch.isalpha() for ch in text):
        return True
    return han_share(text) > 0.06 if lang == 'zh' else han_share(text) < 0.12


def right(c: dict, t: dict, got: dict | None) -> bool:
    if got is None:
        return False
    if t['kind'] == 'tool':
        try:
            return got['call'] == t['call'] and json.loads(got['args']) == json.loads(t['args'])
        except (TypeError, ValueError):
            return False
    final = got['final']
    if not final:
        return False
    if t['kind'] == 'sum':
        numbers = _NUMBER.findall(final.split('=')[-1]) or _NUMBER.findall(final)
        return bool(numbers) and int(numbers[-1] if '=' in final else numbers[0]) == t['number']
    if t['kind'] == 'story':
        return story_ended(final) and all(x.lower() in final.lower() for x in t['about'])
    if t['kind'] == 'refusal':
        return final in scope.finals(t['lang']) or final in tools.NONE + tools.NONE_ZH
    if t['kind'] == 'json':
        return same_keys(final, t['final'])
    known = t['intent'].answers(t['lang']) if t.get('intent') and not c['instructions'] else [t['final']]
    return final in known or final == t['final']


def story_ended(text: str) -> bool:
    """Ends like a sentence, and says no sentence three times."""
    sentences = [s.strip() for s in re.split(r'[.!?。！？\n]', text) if s.strip()]
    return text.rstrip('"”')[-1:] in '.!?。！？' and all(sentences.count(s) < 3 for s in sentences)


def same_keys(got: str, wanted: str) -> bool:
    try:
        a, b = json.loads(got), json.loads(wanted)
        return list(a) == list(b) and all(type(a[k]) is type(b[k]) for k in a)
    except (ValueError, TypeError, AttributeError):
        return False


def scores(answer, each: int, seed: int = SEED) -> tuple[dict, list]:
    """({kind.lang: (right, asked), …}, the wrong ones). `answer` takes a list of piece lists and gives decoded replies."""
    tasks = exercises(each, seed)
    replies = answer([harmony.history(c) for c, _ in tasks])
    table: dict[str, list[int]] = {}
    wrong, thoughts = [], {'low': [], 'medium': [], 'high': []}

    def count(key: str, ok: bool) -> None:
        row = table.setdefault(key, [0, 0])
        row[0] += bool(ok)
        row[1] += 1

    for (c, t), text in zip(tasks, replies):
        got = harmony.parse(text)
        ok = right(c, t, got)
        count(f'{t["kind"]}.{t["lang"]}', ok)
        count('well formed', got is not None)
        if got and got['final']:
            count('language kept', t['kind'] == 'json' or same_language(got['final'], t['lang']) or t['kind'] in ('sum', 'rewrite'))
        if got and got['analysis']:
            thoughts[c['effort']].append(len(got['analysis']))
        if not ok:
            wrong.append((t, text))
    return {k: tuple(v) for k, v in table.items()} | {f'thought {e}': median(v) if v else 0 for e, v in thoughts.items()}, wrong


def show(table: dict) -> str:
    rows = [f'{k} {v[0]}/{v[1]}' if isinstance(v, tuple) else f'{k} {v:.0f}' for k, v in sorted(table.items())]
    return ', '.join(rows)
