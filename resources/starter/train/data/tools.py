"""Conversations with functions: which are on offer, what is asked, the call, its result and the answer; and JSON response formats.
Owns: values, the schema as TypeScript, the choice among functions. Refuses: the table of functions (tool_list.py), markup."""
from __future__ import annotations

import json
import re

from .arithmetic import in_chinese, in_words
from .draw import Draw, cap, fill, typed
from .names import CITIES, CITIES_ZH, DAYS, DAYS_ZH, GOODS, GOODS_ZH, MONTHS, NAMES, NAMES_ZH, THINGS, made_up
from .tool_list import FUNCTIONS, Function, Param

ROOMS = [tuple(x.split('/')) for x in 'attic/阁楼 cellar/地下室 kitchen/厨房 bedroom/卧室 bathroom/浴室 garage/车库 hall/走廊 office/办公室 garden/花园 study/书房 nursery/儿童房 workshop/工作室 library/图书室 balcony/阳台 stable/马厩 barn/谷仓 pantry/储藏室 lounge/客厅 porch/门廊 laundry/洗衣房'.split()]
DEVICES = [tuple(x.split('/')) for x in 'dishwasher/洗碗机 oven/烤箱 fan/风扇 heater/暖气 pump/水泵 dryer/烘干机 vacuum/吸尘器 kettle/水壶 toaster/面包机 printer/打印机 humidifier/加湿器 projector/投影仪'.split()]
NOTES = """buy milk/买牛奶|call the dentist/给牙医打电话|water the plants/浇花|pay the rent/交房租|bring the umbrella/带伞|feed the cat/喂猫|I will be late/我会晚到|dinner is ready/饭好了|see you at six/六点见
the keys are under the mat/钥匙在垫子下面|wash the car/洗车|return the books/还书|take out the trash/倒垃圾|fix the bike/修自行车|thank you for the cake/谢谢你的蛋糕|the meeting is moved/会议改期了|book the hotel/订酒店
the train is full/火车满了|come home soon/早点回家|send the report/发报告|clean the windows/擦窗户|I am on my way/我在路上|happy birthday/生日快乐|bake bread/烤面包|call grandma/给奶奶打电话|do not forget the tickets/别忘了票
we need more chairs/我们需要更多椅子|the door is open/门开着|visit the museum/参观博物馆|change the light bulb/换灯泡|practice the piano/练钢琴|pick up the parcel/取包裹|the parcel is here/包裹到了|good luck tomorrow/明天好运""".replace('\n', '|').split('|')
NOTES = [tuple(x.split('/')) for x in NOTES]
THING_ZH = '灯塔 小船 猫 狗 雨 星星 月亮 花园 河 火车 风筝 熊 龙 鸟 大树 茶壶 时钟 桥 鲸鱼 兔子 马 云 城堡 小岛 书 信 帽子 苹果 蛋糕 镜子 公交车 老师 骑士 蝴蝶 鱼 老虎 玫瑰 森林 湖 海 市场 学校 博物馆 火箭 钢琴 梦 椅子 税单 合同 食谱 假期 发票'.split()
TITLES = [('Blue Moon', '蓝月亮'), ('Silver River', '银色的河'), ('Hello Spring', '春天你好'), ('Old Friends', '老朋友'), ('Night Train', '夜行列车'), ('Golden Days', '金色的日子'), ('Little Star', '小星星'), ('Long Road Home', '回家的路'), ('Summer Rain', '夏天的雨'), ('Quiet Sea', '安静的海'),
          ('Paper Boats', '纸船'), ('First Snow', '初雪'), ('Winter Song', '冬之歌'), ('Green Hills', '青山'), ('City Lights', '城市灯火'), ('Morning Birds', '晨鸟')]
WORDS = dict(
    city=lambda d, zh: d.pick(CITIES_ZH) if zh else cap(made_up(d)) if d.chance(0.12) else d.pick(CITIES),
    person=lambda d, zh: d.pick(NAMES_ZH) if zh else cap(made_up(d)) if d.chance(0.12) else d.pick(NAMES),
    room=lambda d, zh: d.pick(ROOMS)[zh], device=lambda d, zh: d.pick(DEVICES)[zh], note=lambda d, zh: d.pick(NOTES)[zh],
    thing=lambda d, zh: d.pick(THING_ZH) if zh else (d.pick(THINGS) if d.chance(0.7) else made_up(d) + ' ' + d.pick(THINGS)),
    good=lambda d, zh: d.pick(GOODS_ZH)[0] if zh else d.pick(GOODS)[0], title=lambda d, zh: d.pick(TITLES)[zh], day=lambda d, zh: d.pick(DAYS_ZH if zh else DAYS),
    month=lambda d, zh: f'{d.randint(1, 12)}月' if zh else d.pick(MONTHS), clock=lambda d, zh: f'{d.randint(6, 22)}:{d.pick(["00", "15", "30", "45", "10", "50"])}',
    code=lambda d, zh: d.pick(['A', 'B', 'C', 'K', 'R', 'X', 'T']) + d.pick(['', '-']) + str(d.randint(10, 9999)), email=lambda d, zh: f'{d.pick(NAMES).lower()}@{made_up(d)}.{d.pick(["com", "org", "net"])}')
WORDS['city2'] = WORDS['city']
EXTRA = ['note', 'tag', 'language', 'format', 'priority', 'verbose', 'silent']


# ---------------------------------------------------------------- schemas
def schema(d: Draw, f: Function, zh: bool) -> tuple[dict, dict[str, str]]:
    """(the function as offered, slot -> name of the parameter here)"""
    names = {p.slot: d.pick(p.names) if d.chance(0.5) else p.slot for p in f.params}
    if len(set(names.values())) < len(names):
        names = {p.slot: p.slot for p in f.params}
    tool = dict(name=d.pick(f.names), description=f.desc[zh and d.chance(0.5)], params=[_property(d, p, names[p.slot]) for p in f.params])
    if d.chance(0.08):
        extra = d.pick([x for x in EXTRA if x not in names.values()])
        tool['params'].append(dict(name=extra, type='string', required=False))
    return tool, names


def _property(d: Draw, p: Param, name: str) -> dict:
    out = dict(name=name, required=p.required, type='string')
    if p.kind.startswith('enum'):
        out['enum'] = [o[0] for o in p.options]
    elif p.kind.startswith('flag'):
        out['type'] = 'boolean'
        out['comment'] = f'true: {p.options[0][0]}, false: {p.options[1][0]}'
    elif p.kind not in WORDS:
        out['type'] = 'number'
    if 'comment' not in out and d.chance(0.3):
        out['comment'] = d.pick([f'The {name.replace("_", " ")}', f'{cap(name.replace("_", " "))} to use', f'Which {name.replace("_", " ")}'])
    return out


def typescript(tool: dict) -> str:
    """One function as the developer message shows it."""
    out = ''.join(f'// {line}\n' for line in tool['description'].split('\n'))
    if not tool['params']:
        return out + f'type {tool["name"]} = () => any;\n'
    out += f'type {tool["name"]} = (_: {{\n'
    for p in tool['params']:
        if p.get('comment'):
            out += f'// {p["comment"]}\n'
        kind = ' | '.join(f'"{x}"' for x in p['enum']) if p.get('enum') else p['type']
        out += f'{p["name"]}{"" if p["required"] else "?"}: {kind},\n'
    return out + '}) => any;\n'


def tools_section(tools: list[dict]) -> str:
    return '# Tools\n\n## functions\n\nnamespace functions {\n\n' + '\n'.join(typescript(t) for t in tools) + '\n} // namespace functions'


# ---------------------------------------------------------------- invented functions
VERBS = 'get set read open close check find start stop show count move fetch list measure lock clean reset update save print scan load test paint fold weigh sort mark send'.split()
NOUNS = 'lamp door window heater sensor pump camera clock gate oven robot printer speaker alarm valve motor battery tank station file task ticket report basket label engine map shelf drone panel wheel bell mirror channel signal'.split()
KEYS = [('room', 'room', 'in the <V>'), ('city', 'city', 'in <V>'), ('name', 'person', 'of <V>'), ('id', 'code', '<V>'), ('item', 'good', 'for <V>'), ('code', 'code', 'with the code <V>'), ('topic', 'thing', 'about <V>'), ('count', '1-50', '<V> times'), ('level', '1-99', 'at <V>'), ('day', 'day', 'on <V>')]


def invented(d: Draw) -> Function:
    """Nobody has seen it: name and parameters can only be read from the developer message."""
    verb, noun = d.pick(VERBS), d.pick(NOUNS) if d.chance(0.75) else made_up(d)
    name = d.pick([f'{verb}_{noun}', f'{noun}_{verb}', f'{verb}{cap(noun)}', f'{verb}_the_{noun}', f'{noun}{cap(verb)}'])
    key, kind, where = d.pick(KEYS)
    params = [Param((key,), kind, True)]
    tail = where.replace('<V>', f'<{key}>')
    if d.chance(0.35):
        key2, kind2, where2 = d.pick([k for k in KEYS if k[0] != key])
        params.append(Param((key2,), kind2, d.chance(0.6)))
        tail += ' ' + where2.replace('<V>', f'<{key2}>')
    asks = [f'{verb} the {noun} {tail}', f'please {verb} the {noun} {tail}', f'can you {verb} the {noun} {tail}', f'I want you to {verb} the {noun} {tail}', f'{verb} {noun} {tail}', f'could you {verb} the {noun} {tail} for me']
    result = d.pick([('status', 'ok,done,ready'), ('state', 'open,closed,full,empty'), ('value', '1-90'), ('result', 'done,found')])
    return Function((name,), (f'{cap(verb)}s the {noun}.', f'{cap(verb)}s the {noun}.'), tuple(params), tuple(asks), (), (result,), (f'The {noun} {tail}: <{result[0]}>.', ''))


# ---------------------------------------------------------------- a call
def value(d: Draw, p: Param, zh: bool, taken: set) -> tuple[object, str]:
    """(argument, words in the question)"""
    if p.options:
        n = d.randrange(len(p.options)) if p.kind.startswith('enum') else d.randrange(2)
        return (p.options[n][0] if p.kind.startswith('enum') else n == 0), p.options[n][zh]
    if p.kind in WORDS:
        while (v := WORDS[p.kind](d, zh)) in taken:
            pass
        taken.add(v)
        return v, v
    lo, hi = map(int, p.kind.split('-'))
    n = d.randint(lo, hi)
    return n, (in_chinese if zh else in_words)(n) if 0 < n <= 60 and d.chance(0.1) else str(n)


def outcome(d: Draw, f: Function, zh: bool) -> dict:
    out = {}
    for key, values in f.results:
        m = re.fullmatch(r'(-?\d+)-(\d+)', values)
        out[key] = d.randint(int(m.group(1)), int(m.group(2))) if m else tuple(d.pick(values.split(',')).split('/'))
    return out


def call_turn(d: Draw, lang: str) -> tuple[list[dict], dict]:
    """(functions on offer, a turn that needs one of them)"""
    f, tool, names = known(d, lang == 'zh')
    return offer(d, tool, lang == 'zh'), asked(d, lang, f, tool, names)


def call_turns(d: Draw, lang: str, n: int) -> tuple[list[dict], list[dict]]:
    """(functions on offer, `n` turns that need one of them each)"""
    own = []
    for _ in range(d.pick([1, 2, 2, 3])):
        one = known(d, lang == 'zh')
        if all(one[1]['name'] != t['name'] and one[1]['description'] != t['description'] for _, t, _ in own):
            own.append(one)
    tools = [tool for _, tool, _ in own]
    d.shuffle(tools)
    return tools, [asked(d, lang, *d.pick(own)) for _ in range(n)]


def known(d: Draw, zh: bool) -> tuple[Function, dict, dict[str, str]]:
    f = invented(d) if not zh and d.chance(0.4) else d.pick(FUNCTIONS)
    return f, *schema(d, f, zh)


def asked(d: Draw, lang: str, f: Function, tool: dict, names: dict[str, str]) -> dict:
    """A turn that calls `tool`, which is how `f` stands in the developer message."""
    zh = lang == 'zh'
    ask = d.say(d.form(f.ask_zh if zh else f.ask))
    args, shown, taken = {}, {}, set()
    for p in f.params:
        v, words = value(d, p, zh, taken)
        shown[p.slot] = words
        if f'<{p.slot}>' in ask:
            args[names[p.slot]] = v
        elif p.required:
            raise ValueError(f'{f.names[0]}: "{ask}" does not say {p.slot}')
    user = typed(d, fill(ask, **shown), lang, d.chance(0.5), exact=True)
    results = outcome(d, f, zh)
    given = {k: (v[0] if isinstance(v, tuple) else v) for k, v in results.items()}
    said = {k: (v[-1] if zh else v[0]) if isinstance(v, tuple) else v for k, v in results.items()}
    text = json.dumps(given, ensure_ascii=False, separators=(',', ':')) if d.chance(0.8) or len(given) > 1 else str(next(iter(given.values())))
    final = cap(fill(f.say[zh], **shown, **said)) if f.say[zh] else cap(fill(f.say[0], **shown, **said))
    return dict(kind='tool', user=user, call=tool['name'], args=json.dumps(args, separators=(',', ':'), ensure_ascii=False), result=text, final=final, lang=lang, think=_why(tool, args, zh),
                after=dict(low='结果有了。', medium='我有结果了，告诉用户。', high='函数已经返回结果。我用一句话告诉用户。') if zh else dict(low='I have the result.', medium='I have the result and tell the user.', high='The function has given its result. I tell the user in one sentence.'))


def _why(tool: dict, args: dict, zh: bool) -> dict:
    pairs = [(k, v if isinstance(v, str) else json.dumps(v)) for k, v in args.items()]
    if zh:
        given = '，'.join(f'{k} 是 {v}' for k, v in pairs)
        return dict(low=f'调用 {tool["name"]}。', medium=f'适合的函数是 {tool["name"]}：{given}。', high=f'我看了可用的函数。适合这个请求的是 {tool["name"]}。参数：{given}。其他函数不需要。我现在调用它。')
    given = ', '.join(f'{k} is {v}' for k, v in pairs)
    return dict(low=f'Call {tool["name"]}.', medium=f'The function {tool["name"]} fits: {given}.', high=f'I look at the functions on offer. The one that fits this request is {tool["name"]}. Its arguments: {given}. Nothing else was asked for, so I call it now.')


def offer(d: Draw, tool: dict | None = None, zh: bool = False, n: int | None = None) -> list[dict]:
    tools = [tool] if tool else []
    for _ in range(n if n is not None else d.pick([0, 0, 1, 1, 2, 3]) if tool else d.pick([1, 1, 2])):
        other = schema(d, invented(d) if d.chance(0.3) else d.pick(FUNCTIONS), zh)[0]
        if all(other['name'] != t['name'] and other['description'] != t['description'] for t in tools):
            tools.append(other)
    d.shuffle(tools)
    return tools


NONE = ['None of the functions that I was given can do that, and I am too small for it myself. A larger model under Models may help.', 'I have no function for that. For such questions open Models and get gpt-oss-20b.']
NONE_ZH = ['给我的函数都做不了这件事，我自己也太小了。“模型”里更大的模型也许可以。', '没有适合的函数。这样的问题请在“模型”里下载 gpt-oss-20b。']


def no_fit_turn(d: Draw, lang: str) -> tuple[list[dict], dict]:
    """Something that only a function could do, and that function is not on offer."""
    zh = lang == 'zh'
    f = d.pick(FUNCTIONS)
    asked = call_turn_of(d, f, zh)
    tools = [t for t in offer(d, None, zh, d.pick([1, 2])) if t['description'] not in f.desc and t['name'] not in f.names]
    tools = tools or [schema(d, next(g for g in FUNCTIONS if g is not f), zh)[0]]
    names = ', '.join(t['name'] for t in tools)
    think = dict(low='没有适合的函数。', medium=f'可用的函数只有 {names}，都不适合。', high=f'我看了可用的函数：{names}。没有一个能完成这个请求，所以我不调用，直接说明。') if zh else \
        dict(low='No function fits.', medium=f'There is only {names}, and that does not fit.', high=f'I look at the functions on offer: {names}. None of them can do what was asked, so I call nothing and say so.')
    return tools, dict(kind='refusal', user=asked, final=d.pick(NONE_ZH if zh else NONE), lang=lang, think=think)


def call_turn_of(d: Draw, f: Function, zh: bool) -> str:
    ask, taken = d.say(d.form(f.ask_zh if zh else f.ask)), set()
    return typed(d, fill(ask, **{p.slot: value(d, p, zh, taken)[1] for p in f.params}), 'zh' if zh else 'en', d.chance(0.5), exact=True)


# ---------------------------------------------------------------- JSON formats
FORMAT_KEYS = [('name', 'person'), ('title', 'title'), ('city', 'city'), ('age', '1-90'), ('count', '1-40'), ('good', 'bool'), ('items', 'list'), ('color', 'enum'), ('kind', 'enum'), ('topic', 'thing'), ('day', 'day'), ('price', '1-99')]
COLOURS = 'red blue green yellow white black'.split()
DESCRIBE = ['{describe|invent|give me|make up|tell me about} {a|some} <T>', 'an example of a <T>', 'make a <T>', 'a <T>, please', 'something about a <T>']


def format_turn(d: Draw) -> tuple[str, dict]:
    """(response format section, a turn answered in that JSON)"""
    props, out, taken = {}, {}, set()
    for key, kind in d.sample(FORMAT_KEYS, d.randint(1, 3)):
        if kind == 'bool':
            props[key], out[key] = {'type': 'boolean'}, d.chance(0.5)
        elif kind == 'list':
            props[key], out[key] = {'type': 'array', 'items': {'type': 'string'}}, d.sample(THINGS, 2)
        elif kind == 'enum':
            options = d.sample(COLOURS if key == 'color' else THINGS, d.randint(2, 3))
            props[key], out[key] = {'type': 'string', 'enum': options}, d.pick(options)
        elif kind in WORDS:
            props[key], out[key] = {'type': 'string'}, WORDS[kind](d, False)
        else:
            props[key], out[key] = {'type': 'integer'}, value(d, Param((key,), kind, True), False, taken)[0]
    form = {'type': 'object', 'properties': props, 'required': list(props), 'additionalProperties': False}
    name = d.pick(['answer', 'result', 'item', 'thing', 'person', 'data', 'record', 'card'])
    section = f'# Response Formats\n\n## {name}\n\n' + json.dumps(form, separators=(',', ':'))
    user = typed(d, d.ask(DESCRIBE, T=d.pick(THINGS)), 'en', False)
    keys = ', '.join(props)
    think = dict(low='JSON only.', medium=f'The answer is one JSON object with {keys}.', high=f'A response format is given. The answer is one JSON object and nothing else, with the keys {keys}, in this order, each of its type.')
    return section, dict(kind='json', user=user, final=json.dumps(out, separators=(',', ':'), ensure_ascii=False), lang='en', think=think)
