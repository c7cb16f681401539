"""Questions with a known answer, read from intents/*.txt: how Hearth is used, what the model is, small talk.
Owns: the form of those files and the frames that turn a phrase into a question. Refuses: facts of its own.

A file is blocks of lines; the first characters say what a line is:
    area: ENGLISH | 中文     what all blocks below belong to
    = TOPIC | 题目           begins an intent
    do / 做                  phrases of an action, each put into any frame of DO (`;` or `；` between them)
    np / 物                  names of a thing, each put into any frame of NP
    q  / 问                  a free question; {a|b} are choices
    a  / 答                  an answer; the n-th English and the n-th Chinese one say the same"""
from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from .draw import Draw, cap, held_out, typed
from .synonyms import reworded

DO = """how do I <X>|how can I <X>|how do you <X>|how to <X>|what is the way to <X>|is there a way to <X>|is it possible to <X>|can I <X>|could I <X> here
where do I go to <X>|where can I <X>|I want to <X>|I'd like to <X>|I need to <X>|I'm trying to <X>|trying to <X>, help|help me <X>|show me how to <X>|tell me how to <X>
explain how to <X>|can you tell me how to <X>|could you explain how I <X>|please tell me how I can <X>|what do I have to do to <X>|what's the easiest way to <X>|steps to <X>
am I able to <X>|does Hearth let me <X>|I cannot find out how to <X>|I don't know how to <X>|any idea how to <X>|what must I press to <X>|is there a button to <X>
<X>|<X>, how|<X>: how does that work|I would like to <X>, what now|do you know how I <X>|whats the trick to <X>|I have been trying to <X> for an hour|may I <X>
how would I <X>|how does one <X>|why can't I <X>|where is the place to <X>|my friend wants to <X>, how|I forgot how to <X>|teach me to <X>|so how do I <X> then""".replace('\n', '|').split('|')
NP = """what is <X>|what's <X>|what does <X> do|what does <X> mean|explain <X>|can you explain <X>|tell me about <X>|tell me more about <X>|where is <X>|where do I find <X>
how does <X> work|what is <X> for|what is <X> good for|I don't understand <X>|I have a question about <X>|<X>|<X>, what is that|what about <X>|help with <X>|describe <X>
how do I use <X>|what can I do with <X>|please explain <X>|could you say what <X> is|I read about <X>, what is it|what do you know about <X>|<X>: what is it|info on <X>
somebody mentioned <X>|why is there <X>|what happens with <X>|is <X> important|how would you describe <X>|in short, what is <X>|<X> meaning|need help with <X>""".replace('\n', '|').split('|')
DO_ZH = """怎么<X>|如何<X>|怎样才能<X>|怎样<X>|我想<X>|我要<X>|我想<X>，怎么弄|请问怎么<X>|能不能<X>|可以<X>吗|能<X>吗|在哪里<X>|去哪儿<X>|哪里可以<X>|有没有办法<X>|教我<X>|不知道怎么<X>
<X>的方法|<X>要怎么做|<X>该点哪里|告诉我怎么<X>|麻烦告诉我如何<X>|<X>怎么操作|我该怎么<X>|是否可以<X>|<X>|<X>的步骤是什么|想<X>，求教|为什么不能<X>|<X>难不难|怎么才可以<X>|我试着<X>，没成功
有什么办法<X>|帮我<X>|可不可以<X>|要怎样<X>呢|请教一下怎么<X>|我朋友想<X>，该怎么做""".replace('\n', '|').split('|')
NP_ZH = """<X>是什么|什么是<X>|<X>是什么意思|<X>有什么用|<X>在哪里|<X>在哪|<X>怎么用|介绍一下<X>|解释一下<X>|给我讲讲<X>|<X>是干什么的|<X>干嘛用的|关于<X>|我不懂<X>|<X>是做什么用的|说说<X>|<X>能做什么
请问<X>是什么|<X>指什么|怎么理解<X>|<X>|想了解<X>|<X>是怎么回事|我想问问<X>|看不懂<X>|<X>重要吗|简单说一下<X>|有人提到<X>，是什么|<X>到底是什么""".replace('\n', '|').split('|')
KINDS = {'do': 'do', 'np': 'np', 'q': 'q', 'a': 'a', '做': 'do_zh', '物': 'np_zh', '问': 'q_zh', '答': 'a_zh'}


@dataclass
class Intent:
    topic: str
    topic_zh: str
    area: str
    area_zh: str
    file: str
    lines: dict = field(default_factory=lambda: {k: [] for k in KINDS.values()})

    def answers(self, lang: str) -> list[str]:
        return self.lines['a_zh' if lang == 'zh' else 'a']

    def has(self, lang: str) -> bool:
        tail = '_zh' if lang == 'zh' else ''
        return bool(self.lines['a' + tail] and any(self.lines[k + tail] for k in ('do', 'np', 'q')))

    def name(self, lang: str) -> str:
        return self.topic_zh if lang == 'zh' else self.topic


def parse(text: str, file: str) -> list[Intent]:
    out, area = [], ('', '')
    for number, line in enumerate(text.split('\n'), 1):
        line = line.strip()
        if not line or line.startswith('#'):
            continue
        if line.startswith('area:'):
            area = tuple(x.strip() for x in line[5:].split('|'))
        elif line.startswith('='):
            topic, _, topic_zh = line[1:].partition('|')
            out.append(Intent(topic.strip(), topic_zh.strip(), *area, file))
        else:
            kind, _, rest = line.partition(' ')
            if kind not in KINDS or not rest:
                raise ValueError(f'{file}:{number}: {line[:40]}')
            many = kind in ('do', 'np', '做', '物')
            out[-1].lines[KINDS[kind]] += [p.strip() for p in rest.replace('；', ';').split(';')] if many else [rest]
    return out


def load() -> list[Intent]:
    out = []
    for path in sorted((Path(__file__).parent / 'intents').glob('*.txt')):
        out += parse(path.read_text('utf-8'), path.name)
    return out


ALL = load()
HEARTH = [i for i in ALL if i.file not in ('talk.txt', 'self.txt')]
SELF = [i for i in ALL if i.file == 'self.txt']
TALK = [i for i in ALL if i.file == 'talk.txt']


def question(d: Draw, i: Intent, lang: str) -> str:
    """One question of the intent. On validation's side a phrase, a frame or a free question that training never uses."""
    tail = '_zh' if lang == 'zh' else ''
    kinds = [(2.0 if k == 'q' else 1.0, k) for k in ('q', 'do', 'np') if i.lines[k + tail]]
    weights = [(w * (1 + len(i.lines[k + tail])) ** 0.5, k) for w, k in kinds]
    kind = d.weighted(weights)
    if kind == 'q':
        return d.say(d.form(i.lines['q' + tail]))
    frames = {'do': DO, 'np': NP, 'do_zh': DO_ZH, 'np_zh': NP_ZH}[kind + tail]
    phrases = i.lines[kind + tail]
    phrase = d.pick(phrases)
    # held out: every 12th phrase, and every 12th frame, and their pairing by checksum; the pairing alone is enough to be new
    pairs = [f for f in frames if held_out(f + phrase) == d.held and (d.held or not held_out(f))]
    return d.pick(pairs or frames).replace('<X>', phrase)


def thoughts(i: Intent, lang: str) -> dict:
    """Reasoning by effort: the topic; where it belongs; and in which language and tone to answer."""
    if lang == 'zh':
        return dict(low=f'{i.topic_zh}。', medium=f'用户在问{i.topic_zh}。这属于{i.area_zh}。我简短地回答。',
                    high=f'用户用中文提问。问题是关于{i.topic_zh}，属于{i.area_zh}。这个我知道，所以我用中文简短、友好地回答。')
    return dict(low=f'{cap(i.topic)}.', medium=f'The user asks about {i.topic}. That belongs to {i.area}. I answer briefly.',
                high=f'The question is in English. It is about {i.topic}, which belongs to {i.area}. This I know, so I answer in short and friendly words.')


def turn(d: Draw, lang: str, among=None, answer_lang: str | None = None) -> dict:
    back = answer_lang or lang
    i = d.pick([x for x in (among or ALL) if x.has(lang) and x.answers(back)])
    n = d.randrange(len(i.answers(back)))
    final, asked = i.answers(back)[n], question(d, i, lang)
    if i.file != 'talk.txt' and not d.held and d.chance(0.4):
        asked = reworded(d, asked, lang)
    return dict(kind='talk' if i.file == 'talk.txt' else 'hearth', user=typed(d, asked, lang, i.file != 'talk.txt' or d.chance(0.35)), final=final, lang=back, think=thoughts(i, back), intent=i, which=n)


TOPIC_ONLY = ['Say only what each question is about.', 'Name the topic of what the user writes; do not answer.', 'Only the topic, please.', '只说每个问题是关于什么的。', '不要回答，只说出题目。']


def topic_turn(d: Draw, lang: str) -> dict:
    """What a question is about and nothing else: to understand is the hard part, and so it is practised in few tokens."""
    t = turn(d, lang)
    topic, zh = t['intent'].name(lang), lang == 'zh'
    think = dict(low=f'{topic}。', medium=f'用户在问{topic}。', high=f'用户用中文提问。问题是关于{topic}。') if zh else dict(low=f'{cap(topic)}.', medium=f'The user asks about {topic}.', high=f'The question is in English. It is about {topic}.')
    return t | dict(final=f'{topic}。' if zh else f'{cap(topic)}.', think=think)


# ---------------------------------------------------------------- questions about the answer just given
AGAIN = ['can you say that in other words', '{say|explain} it differently', 'I did not {get|understand} that{| fully}', 'what do you mean{| by that}', 'again please', 'could you rephrase that', 'sorry, I do not follow', 'come again', 'once more, please']
SHORTER = ['shorter please', 'in one sentence{| please}', 'can you say it shorter', 'the short version', 'too long', 'just the main point', 'make it brief', 'tl;dr']
IN_ZH = ['{in|now in} Chinese please', 'say it in Chinese', 'can you write that in Chinese', '用中文说', '请用中文', '中文怎么说', '用中文再说一遍']
IN_EN = ['in English please', '用英文说', '请用英语再说一遍', 'say that in English', '英文怎么说', '用英语回答']
AGAIN_ZH = ['{换个说法|能换个说法吗}', '{我没听懂|没明白|不太懂}', '{什么意思|这是什么意思}', '再说一遍{吧|}', '再解释一下', '说得清楚一点']
SHORTER_ZH = ['短一点', '用一句话说', '{简单点|简短些}', '太长了', '只说重点', '一句话概括']


def followup(d: Draw, before: dict) -> dict | None:
    """A turn that can only be answered by looking at the one before."""
    i, lang = before.get('intent'), before['lang']
    if i is None:
        return None
    zh, answers = lang == 'zh', i.answers(lang)
    kind = d.pick(['again', 'short', 'language'])
    if kind == 'again' and len(answers) > 1:
        final, user, target = answers[(before['which'] + 1) % len(answers)], d.ask(AGAIN_ZH if zh else AGAIN), lang
        plan = ('换个说法回答', 'say it in other words')
    elif kind == 'short':
        final, user, target = first_sentence(before['final'], lang), d.ask(SHORTER_ZH if zh else SHORTER), lang
        plan = ('只说第一句', 'keep only the main sentence')
    else:
        target = 'en' if zh else 'zh'
        if not i.answers(target):
            return None
        final, user = i.answers(target)[min(before['which'], len(i.answers(target)) - 1)], d.ask(IN_EN if zh else IN_ZH)
        plan = ('换一种语言再说一遍', 'say it again in the other language')
    if target == 'zh':
        think = dict(low=f'{plan[0]}。', medium=f'用户要我再说一次。上面说的是{i.topic_zh}，我要{plan[0]}。', high=f'用户说的是我上一个回答。它是关于{i.topic_zh}，属于{i.area_zh}。我要{plan[0]}，意思不变，用中文。')
    else:
        think = dict(low=f'{cap(plan[1])}.', medium=f'The user means my last answer. It was about {i.topic}. I {plan[1]}.', high=f'The user means my last answer. It was about {i.topic}, which belongs to {i.area}. I {plan[1]}; the meaning stays, and the language is English.')
    return dict(kind='talk', user=typed(d, user, 'zh' if any(ord(c) > 0x2e80 for c in user) else 'en', False), final=final, lang=target, think=think, intent=i, which=min(before['which'], len(i.answers(target)) - 1))


def first_sentence(text: str, lang: str) -> str:
    marks = '。！？' if lang == 'zh' else '.!?'
    for n, c in enumerate(text):
        if c in marks and (lang == 'zh' or n + 1 == len(text) or (text[n + 1] == ' ' and not text[n - 1].isdigit())):
            return text[:n + 1]
    return text
