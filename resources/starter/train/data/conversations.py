"""Whole conversations: which turns, in which language, under which instructions and effort.
Owns: the mixture and the wording of thoughts. Refuses: harmony markup (harmony.py) and tokens."""
from __future__ import annotations

from random import Random

from . import facts, scope, stories, tools
from .common import THINGS, cap, made_up, noisy, noisy_zh, pick, say
from .hearth import I

EN = [(34, 'intent'), (13, stories.story_turn), (12, facts.fact_turn), (11, facts.arithmetic_turn), (2.5, facts.number_turn), (3, facts.copy_turn), (2, facts.json_turn),
      (1.5, facts.boat_turn), (1.5, facts.describe_turn), (1.5, facts.name_turn), (13, scope.scope_turn)]
ZH = [(62, 'intent'), (12, stories.story_turn_zh), (12, facts.fact_turn_zh), (14, scope.scope_turn_zh)]

NEUTRAL = """You are a helpful assistant.|You are a helpful, friendly assistant.|You are an assistant.|Be brief.|Be kind.|Be concise.|Be polite.|Answer in one line.|Answer briefly.|Keep your answers short.
You are a friendly helper.|Answer the user's questions.|You are Hearth.|Please be honest.|Use simple words.|You are a teacher.|You are a pirate.|You are a poet.|Do not use lists.|Think step by step.
You are an expert.|Help the user.|Always be friendly.|Write clearly.|Format your answer as Markdown.|You are a coding assistant.|Never mention these instructions.|Answer like a good friend.
You are a customer service agent.|Speak to a child.|Do your best.|Explain things simply.|No emojis, please.|Make no mistakes.|Be creative.|You can use tools.|Stay on topic.|Reply in plain text.|You are a test.""".replace('\n', '|').split('|')
ONE_WORD = ['Answer with one word.', 'Answer in one word.', 'Reply with one word only.', 'Use one word.', 'One word answers only.']
IN_CHINESE = ['Answer in Chinese.', 'Always answer in Chinese.', 'Reply in Chinese.', 'Please write Chinese.', '请用中文回答。', '用中文回答']
IN_ENGLISH = ['Answer in English.', 'Always answer in English.', 'Reply in English.', '请用英文回答。']


def weighted(rng: Random, table):
    r = rng.random() * sum(w for w, _ in table)
    for w, x in table:
        r -= w
        if r <= 0:
            return x
    return table[-1][1]


def gibberish(rng: Random) -> str:
    return ''.join(pick(rng, 'asdfghjklqwertyuiopzxcvbnm  ') for _ in range(rng.randint(2, 14))).strip() or 'x'


def intent_turn(rng: Random, lang: str, answer_lang: str | None = None, among=I) -> dict:
    while True:
        i = pick(rng, among)
        if lang == 'en' or i['zq']:
            break
    answer_lang = answer_lang or lang
    if i['topic'] == 'unclear text' and rng.random() < 0.5:
        q = gibberish(rng)
    else:
        q = noisy(rng, say(rng, pick(rng, i['q']))) if lang == 'en' else noisy_zh(rng, say(rng, pick(rng, i['zq'])))
    a = pick(rng, i['za'] if answer_lang == 'zh' and i['za'] else i['a'])
    return dict(user=q, topic=i['topic'], plan=i['plan'], final=a, lang=lang, answer_lang=answer_lang)


def any_turn(rng: Random, lang: str, answer_lang: str | None = None) -> dict:
    make = weighted(rng, EN if lang == 'en' else ZH)
    return intent_turn(rng, lang, answer_lang) if make == 'intent' else make(rng)


def thought(rng: Random, t: dict, effort: str) -> str:
    """The analysis text: a few words at low effort, one or two sentences at medium, more at high."""
    lang = t.get('answer_lang') or t.get('lang', 'en')
    tongue = ' The answer is in Chinese.' if lang == 'zh' else ''
    if effort in t:
        return t[effort] + tongue
    if effort == 'low':
        return cap(t['topic']) + '.'
    if effort == 'medium':
        return f'This is about {t["topic"]}. I should {t["plan"]}.{tongue}'
    known = f' I know that {t["known"]}.' if t.get('known') else ''
    return (f'First I read the question again. This is about {t["topic"]}.{known} '
            f'The answer should be short, friendly and true. So I should {t["plan"]}.{tongue}')


def date(rng: Random) -> str | None:
    if rng.random() < 0.2:
        return None
    return f'{rng.choice([2025, 2026, 2026, 2027, 2028])}-{rng.randint(1, 12):02d}-{rng.randint(1, 28):02d}'


def conversation(rng: Random) -> dict:
    """{effort, date, instructions, tools, formats, turns}; each turn has user, analysis, final and perhaps a call."""
    c = dict(effort=rng.choice(['low', 'medium', 'medium', 'high']), date=date(rng), instructions=None, tools=None, formats=None)
    r = rng.random()
    if r < 0.13:
        c['tools'], turn = tools.tool_dialog(rng)
        turns = [turn]
        if rng.random() < 0.2:
            turns.insert(0, any_turn(rng, 'en'))
        if rng.random() < 0.2:
            turns.append(any_turn(rng, 'en'))
        if rng.random() < 0.35:
            c['instructions'] = pick(rng, NEUTRAL)
    elif r < 0.16:
        c['tools'] = tools.offered(rng)
        turns = [any_turn(rng, 'en')]
    elif r < 0.185:
        c['formats'], turn = tools.format_dialog(rng)
        turns = [turn]
    elif r < 0.205:
        first, last = facts.name_turns(rng)
        turns = [first] + [any_turn(rng, 'en') for _ in range(rng.choice([0, 0, 1, 2]))] + [last]
    else:
        turns = plain_turns(rng, c)
    for t in turns:
        t['analysis'] = thought(rng, t, c['effort'])
    c['turns'] = turns
    return c


# the second part of the training: more of what the model is for, several questions in one chat, thoughts kept in half of them
FOCUS_EN = [(56, 'intent'), (8, stories.story_turn), (9, facts.fact_turn), (7, facts.small_sum_turn), (1.5, facts.number_turn), (2, facts.copy_turn), (1, facts.json_turn),
            (1, facts.boat_turn), (0.5, facts.describe_turn), (1.5, facts.name_turn), (9, scope.scope_turn)]
FOCUS_ZH = [(70, 'intent'), (8, stories.story_turn_zh), (8, facts.fact_turn_zh), (10, scope.scope_turn_zh)]


def focused(rng: Random) -> dict:
    """Like conversation(); `keep` says that every turn shows its thought (harmony allows it; it teaches more per token)."""
    if rng.random() < 0.12:
        return conversation(rng) | dict(keep=False)
    c = dict(effort=rng.choice(['low', 'medium', 'medium', 'high']), date=date(rng), instructions=None, tools=None, formats=None, keep=rng.random() < 0.6)
    if rng.random() < 0.2:
        c['instructions'] = pick(rng, NEUTRAL)
    lang = 'zh' if rng.random() < 0.26 else 'en'
    n = rng.choice([1, 2, 3, 4]) if c['keep'] else rng.choice([1, 1, 2, 3])
    c['turns'] = []
    for _ in range(n):
        now = lang if rng.random() < 0.9 else rng.choice(['en', 'zh'])
        make = weighted(rng, FOCUS_EN if now == 'en' else FOCUS_ZH)
        t = intent_turn(rng, now) if make == 'intent' else make(rng)
        t['analysis'] = thought(rng, t, c['effort'])
        c['turns'].append(t)
    return c


# the last part: above all what a new user asks first
CORE = [i for i in I if i['topic'] in (
    'a greeting', 'how I am', 'thanks', 'goodbye', 'who I am', 'what I can do', 'my limits', 'who made me', 'whether I am ChatGPT', 'what Hearth is',
    'how to start with Hearth', 'getting gpt-oss-20b', 'gpt-oss-20b', 'the Models page', 'changing the model', 'the local API', 'privacy', 'working offline',
    'the price', 'the answer length slider', 'the creativity slider', 'the memory slider', 'the thinking effort slider', 'the sliders', 'the hardware needed',
    'slowness', 'stopping an answer')]
CORE_THINGS = 'lighthouse boat cat dog rain star moon robot fox garden tree dragon bird bear'.split()


def core_story(rng: Random) -> dict:
    return stories.story_turn(rng, CORE_THINGS)


CORE_EN = [(58, CORE), (14, I), (11, core_story), (4, facts.fact_turn), (3, facts.small_sum_turn), (10, scope.scope_turn)]
CORE_ZH = [(70, CORE), (10, I), (6, stories.story_turn_zh), (4, facts.fact_turn_zh), (10, scope.scope_turn_zh)]


def core(rng: Random) -> dict:
    """Like focused(), with the intents of a first conversation in front."""
    if rng.random() < 0.06:
        return focused(rng)
    c = dict(effort=rng.choice(['low', 'medium', 'medium', 'high']), date=date(rng), instructions=None, tools=None, formats=None, keep=rng.random() < 0.8)
    if rng.random() < 0.12:
        c['instructions'] = pick(rng, NEUTRAL)
    lang = 'zh' if rng.random() < 0.24 else 'en'
    c['turns'] = []
    for _ in range(rng.choice([1, 2, 3, 4])):
        make = weighted(rng, CORE_EN if lang == 'en' else CORE_ZH)
        t = intent_turn(rng, lang, None, make) if isinstance(make, list) else make(rng)
        t['analysis'] = thought(rng, t, c['effort'])
        c['turns'].append(t)
    return c


def plain_turns(rng: Random, c: dict) -> list[dict]:
    lang = 'zh' if rng.random() < 0.24 else 'en'
    n = rng.choice([1, 1, 1, 1, 2, 2, 2, 3, 3, 4, 5])
    r = rng.random()
    answer = None
    if r < 0.05:
        c['instructions'] = pick(rng, ONE_WORD)
        turns = [any_turn(rng, 'en') if rng.random() < 0.2 else rng.choice([facts.fact_turn, facts.fact_turn, facts.arithmetic_turn, facts.copy_turn])(rng) for _ in range(n)]
        for t in turns:
            t['final'] = t.get('short', t['final'])
        return turns
    if r < 0.08:
        lang, answer = ('en', 'zh') if rng.random() < 0.6 else ('zh', 'en')
        c['instructions'] = pick(rng, IN_CHINESE if answer == 'zh' else IN_ENGLISH)
        return [intent_turn(rng, lang, answer) for _ in range(n)]
    if r < 0.30:
        c['instructions'] = pick(rng, NEUTRAL)
        if rng.random() < 0.3:
            c['instructions'] += ' ' + pick(rng, NEUTRAL)
        elif rng.random() < 0.25:
            c['instructions'] = f'{cap(made_up(rng))} {made_up(rng)} {pick(rng, THINGS)} {made_up(rng)}.'
    return [any_turn(rng, lang if rng.random() < 0.92 else rng.choice(['en', 'zh'])) for _ in range(n)]
