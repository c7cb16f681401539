"""Whole conversations: which turns, in which language, under which instructions and effort.
Owns: the mixture, follow-ups, developer instructions. Refuses: harmony markup (../harmony.py) and tokens."""
from __future__ import annotations

from . import arithmetic, intents, problems, recall, scope, stories, stories_zh, texts, tools
from .draw import Draw, cap
from .names import THINGS, made_up

EFFORTS = ['low', 'medium', 'medium', 'high']
NEUTRAL = """You are a helpful assistant.|You are a helpful, friendly assistant.|You are an assistant.|Be kind.|Be polite.|You are a friendly helper.|Answer the user's questions.|You are Hearth.|Please be honest.|Use simple words.|You are a teacher.|You are a poet.|Think step by step.
You are an expert.|Help the user.|Always be friendly.|Write clearly.|Format your answer as Markdown.|Never mention these instructions.|Answer like a good friend.|You are a customer service agent.|Speak to a child.|Do your best.|Explain things simply.|No emojis, please.|Make no mistakes.|Be creative.
You can use tools.|Stay on topic.|Reply in plain text.|你是一个有用的助手。|请友好地回答。|回答要诚实。|请用简单的话。|你是 Hearth 的助手。|认真回答用户的问题。|不要用表情符号。|Use metric units.|Address me politely.|You work in a small office.""".replace('\n', '|').split('|')
IN_ZH = ['Answer in Chinese.', 'Always answer in Chinese.', 'Reply in Chinese.', 'Please write Chinese only.', '请用中文回答。', '用中文回答', '无论用户用什么语言，都用中文回答。']
IN_EN = ['Answer in English.', 'Always answer in English.', 'Reply in English.', '请用英文回答。', 'Please write English only.', '只用英语回答。']
ONE_SENTENCE = ['Answer in one sentence.', 'One sentence only.', 'Use a single sentence.', 'Be brief.', 'Keep it very short.', 'Answer briefly.', '用一句话回答。', '回答要简短。', '只说一句话。']
ONLY_RESULT = ['Answer with the number only.', 'Give only the result.', 'Reply with one word or number.', 'One word answers only.', '只给出结果。', '只回答数字。', 'Answer in one word.']
BEGIN = ['Begin every answer with "<X>".', 'Start each answer with the word <X>.', 'Always say <X> first.', '每次回答都以“<X>”开头。']
FINISH = ['End every answer with "<X>".', 'Always end with the word <X>.', 'Finish each answer with <X>.', '每次回答都以“<X>”结尾。']
MARKS = ['Sure', 'Hello', 'Ahoy', 'Captain', 'Well', 'Indeed', 'Over', 'Cheers', 'Amen', '好的', '主人', '完毕', '朋友']

# weight, maker(draw, language)
MIX = [(30, lambda d, l: intents.turn(d, l, intents.HEARTH)), (7, lambda d, l: intents.turn(d, l, intents.SELF)), (13, lambda d, l: intents.turn(d, l, intents.TALK)),
       (13, arithmetic.turn), (7, problems.turn), (7, lambda d, l: stories_zh.turn(d) if l == 'zh' else stories.turn(d)), (9, texts.turn), (14, scope.turn),
       (0.5, lambda d, l: recall.letters_turn(d) if l == 'en' else arithmetic.turn(d, l))]
# weight, what an exercise practises
EXERCISES = [(2, 'sums'), (2, 'facts'), (2, 'calls'), (2, 'texts'), (1, 'copies'), (5, 'topics')]
KINDS = ['hearth', 'talk', 'sum', 'story', 'rewrite', 'summary', 'refusal', 'tool', 'json']


def any_turn(d: Draw, lang: str) -> dict:
    return d.weighted(MIX)(d, lang)


def follow(d: Draw, before: dict) -> dict | None:
    """A turn that leans on the one before; None where none fits."""
    if before['kind'] in ('hearth', 'talk'):
        return intents.followup(d, before)
    if before['kind'] == 'sum':
        return arithmetic.follow_turn(d, before)
    if before['kind'] == 'story':
        return stories_zh.again(d, before) if before['lang'] == 'zh' else stories.again(d, before)
    return None


def turns(d: Draw, lang: str, n: int) -> list[dict]:
    out = []
    if n > 1 and d.chance(0.08):
        first, last = recall.pair(d, lang)
        return [first] + [any_turn(d, lang) for _ in range(n - 2)] + [last]
    while len(out) < n:
        next_one = follow(d, out[-1]) if out and d.chance(0.3) else None
        if next_one is None:
            now = lang if d.chance(0.95) else d.pick(['en', 'zh'])
            next_one = any_turn(d, now)
        out.append(next_one)
    return out


def date(d: Draw) -> str | None:
    return None if d.chance(0.15) else f'{d.pick([2025, 2026, 2026, 2027, 2028])}-{d.randint(1, 12):02d}-{d.randint(1, 28):02d}'


def conversation(d: Draw, practice: float = 0) -> dict:
    """{effort, date, instructions, tools, formats, keep, turns}; each turn has user, analysis, final and perhaps a call.
    `practice`: share of conversations that exercise one thing several times."""
    c = dict(effort=d.pick(EFFORTS), date=date(d), instructions=None, tools=None, formats=None, keep=d.chance(0.6))
    lang = d.pick(['en', 'zh'])
    r = d.random()
    if practice and d.chance(practice):
        exercise(d, c, lang)
    elif r < 0.17:
        c['tools'], asked = tools.call_turn(d, lang) if d.chance(0.83) else tools.no_fit_turn(d, lang)
        c['turns'] = turns(d, lang, d.pick([0, 0, 0, 1])) + [asked] + turns(d, lang, d.pick([0, 0, 0, 1]))
    elif r < 0.22:
        c['tools'] = tools.offer(d, None, lang == 'zh')
        c['turns'] = turns(d, lang, d.pick([1, 1, 2]))
    elif r < 0.235:
        c['formats'], asked = tools.format_turn(d)
        c['turns'] = [asked]
    elif r < 0.31:
        instructed(d, c, lang)
    else:
        c['turns'] = turns(d, lang, d.pick([1, 1, 2, 2, 3, 3, 4]))
    if c['instructions'] is None and d.chance(0.18):
        c['instructions'] = neutral(d)
    for t in c['turns']:
        t['analysis'] = t['think'][c['effort']]
        if 'after' in t:
            t['then'] = t['after'][c['effort']]
    return c


def exercise(d: Draw, c: dict, lang: str) -> None:
    """One thing several times: copying, what sums are made of, and which topic a question has are learnt by many short turns, each with its thought."""
    kind, n = d.weighted(EXERCISES), d.randint(2, 5)
    c['keep'] = True
    if kind == 'calls':
        c['tools'], c['turns'] = tools.call_turns(d, lang, n)
    elif kind == 'sums':
        c['turns'] = [problems.turn(d, lang) if d.chance(0.25) else arithmetic.turn(d, lang) for _ in range(n)]
    elif kind == 'facts':
        c['turns'] = [arithmetic.drill_turn(d, lang) for _ in range(n)]
    elif kind == 'copies':
        c['turns'] = [texts.copy_turn(d, lang == 'zh') for _ in range(n)]
    elif kind == 'topics':
        c['instructions'] = d.form(intents.TOPIC_ONLY)
        c['turns'] = [intents.topic_turn(d, lang) for _ in range(3 * n)]
    else:
        c['turns'] = [texts.turn(d, lang) for _ in range(n - 1)]


def neutral(d: Draw) -> str:
    out = d.pick(NEUTRAL)
    if d.chance(0.25):
        out += ' ' + d.pick(NEUTRAL)
    if d.chance(0.1):
        out += f' {cap(made_up(d))} {d.pick(THINGS)} {made_up(d)}.'
    return out


def instructed(d: Draw, c: dict, lang: str) -> None:
    """A developer instruction that changes the answers, and answers that follow it."""
    n = d.pick([1, 1, 2])
    kind = d.pick(['language', 'language', 'sentence', 'result', 'begin', 'finish'])
    if kind == 'language':
        back = 'zh' if lang == 'en' else 'en'
        c['instructions'] = d.form(IN_ZH if back == 'zh' else IN_EN)
        c['turns'] = [intents.turn(d, d.pick([lang, lang, back]), None, back) for _ in range(n)]
        note = ('按要求用中文回答。', 'The instructions ask for English.')
    elif kind == 'sentence':
        c['instructions'] = d.form(ONE_SENTENCE)
        c['turns'] = [intents.turn(d, lang) for _ in range(n)]
        for t in c['turns']:
            t['final'] = intents.first_sentence(t['final'], lang)
        note = ('要求只说一句话。', 'The instructions ask for one sentence.')
    elif kind == 'result':
        c['instructions'] = d.form(ONLY_RESULT)
        c['turns'] = [arithmetic.sum_turn(d, lang) if d.chance(0.6) else problems.turn(d, lang) for _ in range(n)]
        for t in c['turns']:
            t['final'] = t['short']
        note = ('要求只给结果。', 'The instructions ask for the result only.')
    else:
        mark = d.pick(MARKS)
        c['instructions'] = d.form(BEGIN if kind == 'begin' else FINISH).replace('<X>', mark)
        c['turns'] = [any_turn(d, lang) for _ in range(n)]
        for t in c['turns']:
            stop = '！' if ord(mark[0]) > 255 else '!'
            t['final'] = f'{mark}{stop} {t["final"]}' if kind == 'begin' else f'{t["final"]} {mark}{stop}'
        note = (f'要求{"开头" if kind == "begin" else "结尾"}说“{mark}”。', f'The instructions ask me to {kind} with {mark}.')
    for t in c['turns']:
        zh = t['lang'] == 'zh'
        t['think'] = {e: (x if e == 'low' else x + ('' if zh else ' ') + note[0 if zh else 1]) for e, x in t['think'].items()}
