"""Arithmetic of small numbers with its working in the thoughts: bare sums in digits and words, chains, gaps, comparisons, series.
Owns: exact results, their decomposition by effort, the forms that ask for them. Refuses: stories around a sum (problems.py)."""
from __future__ import annotations

from dataclasses import dataclass

from .draw import Draw, cap, typed

ONES = 'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen'.split()
TENS = 'zero ten twenty thirty forty fifty sixty seventy eighty ninety'.split()
DIGITS_ZH = '零一二三四五六七八九'


def in_words(n: int) -> str:
    if n < 20:
        return ONES[n]
    if n < 100:
        return TENS[n // 10] + (f'-{ONES[n % 10]}' if n % 10 else '')
    return f'{ONES[n // 100]} hundred' + (f' and {in_words(n % 100)}' if n % 100 else '')


def in_chinese(n: int) -> str:
    if n < 10:
        return DIGITS_ZH[n]
    if n < 100:
        return (DIGITS_ZH[n // 10] if n >= 20 else '') + '十' + (DIGITS_ZH[n % 10] if n % 10 else '')
    rest = n % 100
    return DIGITS_ZH[n // 100] + '百' + ('' if rest == 0 else ('零' if rest < 10 else '一' if rest < 20 else '') + in_chinese(rest))


@dataclass
class Sum:
    a: int
    op: str        # + - * /
    b: int

    @property
    def result(self) -> int:
        return {'+': self.a + self.b, '-': self.a - self.b, '*': self.a * self.b, '/': self.a // max(self.b, 1)}[self.op]

    @property
    def line(self) -> str:
        return f'{self.a} {SIGN[self.op]} {self.b} = {self.result}'


SIGN = {'+': '+', '-': '-', '*': '×', '/': '÷'}


def small_sum(d: Draw) -> Sum:
    op = d.pick('++++---***//')
    if op == '+':
        top = d.pick([10, 20, 50, 100, 100, 200])
        return Sum(d.randint(0, top), op, d.randint(0, top))
    if op == '-':
        top = d.pick([10, 20, 50, 100, 100, 200])
        a = d.randint(1, top)
        return Sum(a, op, d.randint(0, a))
    if op == '*':
        a, b = (d.randint(0, 12), d.randint(0, 12)) if d.chance(0.75) else (d.randint(11, 50), d.randint(2, 9))
        return Sum(*((a, op, b) if d.chance(0.5) else (b, op, a)))
    b = d.randint(1, 12)
    return Sum(b * d.randint(0, 12), op, b)


# ---------------------------------------------------------------- working
def steps(s: Sum) -> list[str]:
    """The decomposition a pupil would write; its last line is the sum itself."""
    a, op, b = s.a, s.op, s.b
    if op == '+' and a >= 10 and b >= 10 and a % 10 and b % 10:
        ta, tb, oa, ob = a // 10 * 10, b // 10 * 10, a % 10, b % 10
        return [f'{ta} + {tb} = {ta + tb}', f'{oa} + {ob} = {oa + ob}', f'{ta + tb} + {oa + ob} = {s.result}']
    if op == '+' and a % 10 + b % 10 > 10 and min(a, b) < 10 and min(a, b) > 0:
        big, small = max(a, b), min(a, b)
        up = 10 - big % 10
        return [f'{big} + {up} = {big + up}', f'{small} - {up} = {small - up}', f'{big + up} + {small - up} = {s.result}']
    if op == '-' and b >= 10 and b % 10:
        tb, ob = b // 10 * 10, b % 10
        return [f'{a} - {tb} = {a - tb}', f'{a - tb} - {ob} = {s.result}']
    if op == '-' and 10 > b > a % 10 > 0 and a > 10:
        down = a % 10
        return [f'{a} - {down} = {a - down}', f'{a - down} - {b - down} = {s.result}']
    if op == '*' and max(a, b) > 12:
        big, small = max(a, b), min(a, b)
        t, o = big // 10 * 10, big % 10
        return [f'{t} × {small} = {t * small}', f'{o} × {small} = {o * small}', f'{t * small} + {o * small} = {s.result}']
    if op == '*' and min(a, b) >= 3:
        big, small = max(a, b), min(a, b)
        return [f'{big} × {small - 1} = {big * (small - 1)}', f'{big * (small - 1)} + {big} = {s.result}']
    if op == '/':
        return [f'{s.result} × {b} = {a}']
    return [s.line]


def check(s: Sum) -> str:
    """The sum turned round."""
    a, op, b, c = s.a, s.op, s.b, s.result
    return {'+': f'{c} - {b} = {a}', '-': f'{c} + {b} = {a}', '*': f'{c} ÷ {b} = {a}' if b else f'{a} × 0 = 0', '/': f'{c} × {b} = {a}'}[op]


def working(s: Sum, lang: str, what: tuple[str, str] | None = None) -> dict:
    """Thoughts by effort: the steps; what is asked and the steps; these and the check."""
    name = {'+': ('an addition', '加法'), '-': ('a subtraction', '减法'), '*': ('a multiplication', '乘法'), '/': ('a division', '除法')}[s.op]
    work = steps(s)
    if lang == 'zh':
        path = '，'.join(work)
        tail = f'，所以 {s.line}' if work[-1] != s.line and not work[-1].endswith(f'= {s.result}') or s.op == '/' else ''
        head = what[1] if what else f'这是{name[1]}，要算 {s.a} {SIGN[s.op]} {s.b}。'
        return dict(low=f'{path}{tail}。', medium=f'{head}{path}{tail}。', high=f'{head}一步一步来：{path}{tail}。检验：{check(s)}，对。')
    path = ', '.join(work)
    tail = f', so {s.line}' if work[-1] != s.line and not work[-1].endswith(f'= {s.result}') or s.op == '/' else ''
    head = what[0] if what else f'This is {name[0]}: {s.a} {SIGN[s.op]} {s.b}.'
    return dict(low=f'{path}{tail}.', medium=f'{head} {path}{tail}.', high=f'{head} Step by step: {path}{tail}. Check: {check(s)}, right.')


# ---------------------------------------------------------------- forms
BARE = ['{what is|what\'s|calculate|compute|how much is|work out|can you calculate|tell me|solve|please add up|figure out|what does} <E>', '<E>', '<E> =', '<E>=', '<E> = ?', 'what do you get {for|from} <E>', 'the result of <E>',
        'what is the {result|answer|solution} of <E>', 'can you {do|work out|solve} <E>{| for me}', 'I need <E>', 'how much {does|would} <E> make', 'do you know <E>', '{quick|easy} one: <E>', '<E> equals', '<E> makes', 'my homework: <E>', 'is it hard: <E>',
        'calculate <E> for me', 'whats <E>', 'give me <E>', 'how many is <E>', 'try <E>', 'I always forget: <E>', 'what comes out of <E>', 'and <E>', 'compute this: <E>']
BY_OP = {
    '+': ['add <A> and <B>', 'what is the sum of <A> and <B>', '<A> and <B> together', 'what is <B> more than <A>', 'add <B> to <A>', 'what do <A> and <B> make{| together| in all}', 'increase <A> by <B>', 'put <A> and <B> together'],
    '-': ['subtract <B> from <A>', 'take <B> {away |}from <A>', '<A> less <B>', 'what is the difference between <A> and <B>', 'what is left of <A> when I take away <B>', 'what is <B> less than <A>', 'reduce <A> by <B>', 'how far is it from <B> to <A>'],
    '*': ['multiply <A> by <B>', 'what is the product of <A> and <B>', '<A> times <B>', 'what are <A> groups of <B>', 'multiply <A> and <B>'],
    '/': ['divide <A> by <B>', 'how often does <B> go into <A>', 'how many times does <B> fit into <A>', '<A> shared by <B>', 'split <A> into <B> equal parts', 'what is <A> over <B>', 'share <A> equally among <B>']}
SPELL = {'+': [' + ', '+', ' plus ', ' and '], '-': [' - ', '-', ' minus '], '*': [' * ', ' x ', ' times ', '*', ' × ', ' multiplied by '], '/': [' / ', ' divided by ', ' ÷ ', '/', ' : ']}
BARE_ZH = ['<E>{等于|是}{几|多少}', '<E>', '<E>=', '<E>=?', '{计算|请计算|算一下|帮我算|算算|求} <E>', '<E>{的结果|的答案}{是多少|是什么|}', '<E>得{几|多少}', '你会算<E>吗', '{我要算|作业题：|快问快答：}<E>', '请问<E>是多少', '<E>，答案呢', '考考你，<E>', '口算：<E>', '把<E>算出来']
BY_OP_ZH = {
    '+': ['<A>和<B>{加起来|的和|一共}是多少', '<A>{加上|再加}<B>{等于几|是多少|}', '比<A>多<B>的数是多少', '<A>与<B>相加'],
    '-': ['<A>{减去|去掉|拿走}<B>{还剩多少|等于几|}', '<A>和<B>的差是多少', '比<A>少<B>的数是{几|多少}', '从<A>里减<B>'],
    '*': ['<A>{乘以|乘}<B>{等于多少|是多少|}', '<A>和<B>的{积|乘积}是多少', '<A>个<B>是多少', '<A>的<B>倍是多少'],
    '/': ['<A>除以<B>{等于几|是多少|}', '把<A>平均分成<B>份，每份是多少', '<A>里面有几个<B>', '<A>是<B>的几倍']}
SPELL_ZH = {'+': ['加', '+', ' + '], '-': ['减', '-', ' - '], '*': ['乘', '乘以', '×', '*', ' × '], '/': ['除以', '÷', '/']}
ANSWER = ['<L>', '<L>.', '<L>.', 'The answer is <C>.', 'That makes <C>: <L>.', 'It is <C>.']
ANSWER_ZH = ['<L>', '<L>。', '答案是 <C>。', '等于 <C>：<L>。', '<L>。']


def question(d: Draw, s: Sum, lang: str) -> str:
    zh = lang == 'zh'
    spell = d.chance(0.22) and max(s.a, s.b) <= 100
    say = (lambda n: in_chinese(n)) if zh and spell else (lambda n: in_words(n)) if spell else str
    a, b = say(s.a), say(s.b)
    table = SPELL_ZH if zh else SPELL
    signs = [x for x in table[s.op] if not spell or any(c.isalpha() for c in x.replace(' x ', ''))]
    e = a + d.pick(signs) + b
    forms = (BARE_ZH if zh else BARE) + (BY_OP_ZH if zh else BY_OP)[s.op] * 2
    return d.ask(forms, E=e, A=a, B=b)


def final_of(d: Draw, s: Sum, lang: str) -> str:
    template = d.pick(ANSWER_ZH if lang == 'zh' else ANSWER)
    return template.replace('<L>', s.line).replace('<C>', str(s.result))


def result(user: str, final: str, number: int, lang: str, think: dict) -> dict:
    return dict(kind='sum', user=user, final=final, number=number, lang=lang, think=think, short=str(number))


def sum_turn(d: Draw, lang: str) -> dict:
    s = small_sum(d)
    return result(typed(d, question(d, s, lang), lang), final_of(d, s, lang), s.result, lang, working(s, lang)) | dict(sum=s)


DRILL = ['<E>', 'work these out: <E>', 'a few sums: <E>', 'my exercises: <E>', 'what are <E>', 'one after the other: <E>', 'please do these: <E>', 'all of these: <E>', 'solve <E>']
DRILL_ZH = ['<E>', '几道题：<E>', '口算练习：<E>', '一个一个算：<E>', '都算一下：<E>', '请算这些：<E>', '作业：<E>']


def fact(d: Draw) -> Sum:
    """What the working of larger sums takes as known."""
    one, two, tens = d.randint(0, 9), d.randint(10, 99), 10 * d.randint(1, 10)
    kind = d.randrange(7)
    if kind == 0:
        return Sum(one, '+', d.randint(0, 9))
    if kind == 1:
        return Sum(tens, '+', d.pick([10 * d.randint(1, 9), d.randint(1, 18)]))
    if kind == 2:
        return Sum(two, '+', one)
    if kind == 3:
        a = d.randint(1, 20)
        return Sum(a, '-', d.randint(0, min(a, 10)))
    if kind == 4:
        return Sum(two, '-', d.pick([one, 10 * d.randint(0, two // 10)]))
    if kind == 5:
        return Sum(d.randint(0, 12), '*', d.randint(0, 12))
    return Sum(d.randint(0, 12) * (b := d.randint(1, 12)), '/', b)


def drill_turn(d: Draw, lang: str) -> dict:
    """Several facts at a time, which is the cheapest way to learn them."""
    zh = lang == 'zh'
    sums = [fact(d) for _ in range(d.randint(4, 9))]
    user = d.ask(DRILL_ZH if zh else DRILL, E=d.pick([', ', '; ']).join(f'{s.a}{d.pick([" ", ""])}{SIGN[s.op]} {s.b}' for s in sums))
    final = ('，' if zh else ', ').join(s.line for s in sums) + ('。' if zh else '.')
    think = dict(low='一个一个算。', medium=f'有 {len(sums)} 道题，一个一个算。', high=f'用户给了 {len(sums)} 道题。我一个一个算，按原来的顺序写出来。') if zh else \
        dict(low='One after the other.', medium=f'There are {len(sums)} sums; one after the other.', high=f'The user gave {len(sums)} sums. I work them out one after the other and keep their order.')
    return result(user, final, sums[-1].result, lang, think)


def chain_turn(d: Draw, lang: str) -> dict:
    """Three numbers, from left to right or with the point before the line."""
    zh = lang == 'zh'
    if d.chance(0.3):
        a, b, c = d.randint(1, 20), d.randint(2, 9), d.randint(2, 9)
        product = Sum(b, '*', c)
        last = Sum(a, '+', product.result)
        e = f'{a} + {b} {d.pick(["*", "×", "x"])} {c}'
        path = [product.line, last.line]
        note = ('The multiplication comes first.', '先算乘法。')
    else:
        first = Sum(d.randint(1, 40), '+', d.randint(1, 40))
        last = Sum(first.result, d.pick('+-'), d.randint(1, min(30, first.result)))
        plus, minus = ('加', '减') if zh and d.chance(0.5) else (' plus ', ' minus ') if d.chance(0.3) and not zh else (' + ', ' - ')
        e = f'{first.a}{plus}{first.b}{plus if last.op == "+" else minus}{last.b}'
        path = [first.line, last.line]
        note = ('I go from left to right.', '从左到右算。')
    user = typed(d, d.ask(BARE_ZH if zh else BARE, E=e), lang)
    c = last.result
    if zh:
        think = dict(low='，'.join(path) + '。', medium=note[1] + '，'.join(path) + '。', high=f'{note[1]}第一步：{path[0]}。第二步：{path[1]}。检验：{check(last)}，对。')
        final = d.pick([f'答案是 {c}。', f'{path[0]}，{path[1]}。', f'等于 {c}。'])
    else:
        think = dict(low=', '.join(path) + '.', medium=f'{note[0]} ' + ', '.join(path) + '.', high=f'{note[0]} First: {path[0]}. Then: {path[1]}. Check: {check(last)}, right.')
        final = d.pick([f'The answer is {c}.', f'{path[0]}, and {path[1]}.', f'It is {c}.'])
    return result(user, final, c, lang, think)


GAP = ['{what|which number} do I have to add to <A> to get <C>', '<A> + ? = <C>', 'what number plus <A> makes <C>', '<A> plus what is <C>', 'how much is missing from <A> to <C>', 'fill in: <A> + _ = <C>', 'I have <A> and need <C>, how many more']
GAP_ZH = ['<A>加{几|多少}等于<C>', '<A> + ? = <C>', '<A>再加多少是<C>', '从<A>到<C>差多少', '我有<A>个，要<C>个，还差几个', '填空：<A> + （ ） = <C>']


def gap_turn(d: Draw, lang: str) -> dict:
    b, a = d.randint(1, 50), d.randint(1, 50)
    s = Sum(a + b, '-', a)
    user = typed(d, d.ask(GAP_ZH if lang == 'zh' else GAP, A=a, C=a + b), lang)
    what = (f'I look for the number that leads from {a} to {a + b}, so I subtract: {a + b} - {a}.', f'要找从 {a} 到 {a + b} 的差，用减法：{a + b} - {a}。')
    final = d.pick([f'答案是 {b}。', f'还差 {b}。'] if lang == 'zh' else [f'The answer is {b}.', f'It is {b}.'])
    return result(user, final, b, lang, working(s, lang, what))


DOUBLE = [(['{what is|what\'s|give me} {the double of|double|twice} <A>', 'double <A>', 'two times <A>', 'twice <A>'], ['<A>的{两倍|2倍}是多少', '<A>翻倍是多少'], '*'),
          (['{what is|what\'s} half of <A>', 'half of <A>', 'halve <A>', 'the half of <A>'], ['<A>的一半是{多少|几}', '<A>的二分之一是多少'], '/')]


def double_turn(d: Draw, lang: str) -> dict:
    forms, forms_zh, op = d.pick(DOUBLE)
    s = Sum(d.randint(1, 60), '*', 2) if op == '*' else Sum(2 * d.randint(1, 60), '/', 2)
    user = typed(d, d.ask(forms_zh if lang == 'zh' else forms, A=s.a), lang)
    return result(user, final_of(d, s, lang), s.result, lang, working(s, lang))


SQUARE = (['what is <A> squared', '<A> squared', 'the square of <A>', '<A> to the power of 2', '<A>^2'], ['<A>的平方是多少', '<A>的平方', '<A>^2'])
PERCENT = (['what is <P> percent of <A>', '<P>% of <A>', 'how much is <P> percent of <A>', 'calculate <P> % of <A>'], ['<A>的<P>%是多少', '百分之<P>的<A>是多少', '<A>的百分之<P>'])


def square_turn(d: Draw, lang: str) -> dict:
    a = d.randint(1, 12)
    s = Sum(a, '*', a)
    return result(typed(d, d.ask(SQUARE[lang == 'zh'], A=a), lang), final_of(d, s, lang), s.result, lang, working(s, lang))


def percent_turn(d: Draw, lang: str) -> dict:
    p, part = d.pick([(10, 10), (50, 2), (25, 4), (20, 5), (100, 1)])
    a = part * d.randint(1, 20)
    s = Sum(a, '/', part)
    user = typed(d, d.ask(PERCENT[lang == 'zh'], A=a, P=p), lang)
    what = (f'{p} percent is one part of {part}, so I divide {a} by {part}.', f'{p}% 就是 {part} 份里的一份，用 {a} 除以 {part}。')
    c = s.result
    return result(user, f'答案是 {c}。' if lang == 'zh' else f'The answer is {c}.', c, lang, working(s, lang, what))


LARGER = (['{which is|what is} {larger|bigger|greater|more}, <A> or <B>', 'is <A> {larger|bigger|more} than <B>', '<A> or <B>, which is {bigger|larger}', 'which number is larger: <A> or <B>'],
          ['<A>和<B>哪个{大|更大}', '<A>大还是<B>大', '比较<A>和<B>的大小', '<A>比<B>大吗'])
SMALLER = (['{which is|what is} {smaller|less}, <A> or <B>', '<A> or <B>, which is smaller', 'which number is smaller: <A> or <B>'], ['<A>和<B>哪个{小|更小}', '<A>小还是<B>小'])


def compare_turn(d: Draw, lang: str) -> dict:
    zh = lang == 'zh'
    a, b = d.sample(range(1, 200), 2)
    large = d.chance(0.65)
    c = max(a, b) if large else min(a, b)
    other = a + b - c
    user = d.ask((LARGER if large else SMALLER)[zh], A=a, B=b)
    word, word_zh = ('larger', '大') if large else ('smaller', '小')
    yes = ''
    if user.startswith('is '):
        yes = 'Yes. ' if c == a else 'No. '
    if user.endswith('大吗'):
        yes = '是的。' if c == a else '不。'
    digits = f'{a} has {len(str(a))} digits, {b} has {len(str(b))}'
    digits_zh = f'{a} 有 {len(str(a))} 位，{b} 有 {len(str(b))} 位'
    if zh:
        think = dict(low=f'{c}。', medium=f'比较 {a} 和 {b}：{digits_zh}，所以较{word_zh}的是 {c}。', high=f'要比较 {a} 和 {b}。{digits_zh}。先看位数，再从左边的数字比起。差是 {max(a, b) - min(a, b)}，所以较{word_zh}的是 {c}。')
        final = f'{yes}较{word_zh}的是 {c}。'
    else:
        think = dict(low=f'{c}.', medium=f'Compare {a} and {b}: {digits}, so {c} is {word}.', high=f'I compare {a} and {b}. {digits}. First the number of digits counts, then the digits from the left. They differ by {max(a, b) - min(a, b)}, so {c} is {word}.')
        final = d.pick([f'{yes}The {word} one is {c}.', f'{yes}The {word} number is {c}.'])
    return result(typed(d, user, lang), final, c, lang, think)


SERIES = (['what comes next: <S>', 'continue: <S>', '<S>, what is the next number', 'which number follows: <S>', 'next number in <S>', '<S>, ...?', 'how does this go on: <S>'],
          ['<S>，下一个数是{几|多少}', '找规律：<S>，（ ）', '<S>，后面是什么', '接着写：<S>', '下一个数字：<S>'])


def series_turn(d: Draw, lang: str) -> dict:
    zh, gap, start = lang == 'zh', d.pick([1, 2, 2, 3, 4, 5, 5, 10, 10, -1, -2, -5]), d.randint(1, 40)
    start = start if gap > 0 else start + 30
    xs = [start + gap * n for n in range(d.choice([3, 4, 4, 5]))]
    s = Sum(xs[-1], '+' if gap > 0 else '-', abs(gap))
    shown = ('，' if zh and d.chance(0.6) else ', ').join(map(str, xs))
    user = typed(d, d.ask(SERIES[zh], S=shown), lang)
    if zh:
        think = dict(low=f'{s.line}。', medium=f'{xs[0]} 到 {xs[1]} 相差 {gap}，所以 {s.line}。', high=f'看相邻两个数：{xs[0]} 到 {xs[1]} 是 {gap}，{xs[1]} 到 {xs[2]} 也是 {gap}。规律不变，所以下一个是 {s.line}。')
        final = f'下一个数是 {s.result}。'
    else:
        think = dict(low=f'{s.line}.', medium=f'From {xs[0]} to {xs[1]} is {gap:+d}, so {s.line}.', high=f'I look at the gaps: from {xs[0]} to {xs[1]} is {gap:+d}, from {xs[1]} to {xs[2]} is {gap:+d}. The gap stays, so {s.line}.')
        final = d.pick([f'The next number is {s.result}.', f'Next comes {s.result}.'])
    return result(user, final, s.result, lang, think)


PARITY = (['is <A> {even|odd|an even number|an odd number|even or odd}'], ['<A>是{奇数还是偶数|偶数吗|奇数吗|单数还是双数}'])


def parity_turn(d: Draw, lang: str) -> dict:
    a = d.randint(0, 120)
    even = a % 2 == 0
    user = d.ask(PARITY[lang == 'zh'], A=a)
    if lang == 'zh':
        kind = '偶数' if even else '奇数'
        final = f'{a} 是{kind}。'
        think = dict(low=f'{kind}。', medium=f'{a} 的最后一位是 {a % 10}，所以是{kind}。', high=f'看最后一位：{a} 的最后一位是 {a % 10}。0、2、4、6、8 是偶数，其他是奇数，所以 {a} 是{kind}。')
    else:
        kind = 'even' if even else 'odd'
        final = f'{a} is {kind}.'
        think = dict(low=f'{cap(kind)}.', medium=f'The last digit of {a} is {a % 10}, so it is {kind}.', high=f'I look at the last digit of {a}, which is {a % 10}. With 0, 2, 4, 6 or 8 a number is even, otherwise odd. So {a} is {kind}.')
    return dict(kind='talk', user=typed(d, user, lang), final=final, lang=lang, think=think, short=kind)


COUNT = (['count {from <A> to <B>|up from <A> to <B>}', 'count to <B>', 'say the numbers from <A> to <B>', 'write the numbers from <A> to <B>', 'can you count to <B>'], ['从<A>数到<B>', '数到<B>', '写出<A>到<B>的数字', '你会数到<B>吗'])


def count_turn(d: Draw, lang: str) -> dict:
    a = d.pick([1, 1, 1, d.randint(2, 30)])
    b = a + d.randint(3, 11)
    user = d.ask([f for f in COUNT[lang == 'zh'] if a == 1 or '<A>' in f], A=a, B=b)
    line = (', ' if lang == 'en' else '、').join(str(n) for n in range(a, b + 1))
    think = dict(low=f'{a} … {b}.', medium=f'I count from {a} to {b}.', high=f'I count one by one, beginning with {a} and ending with {b}; that is {b - a + 1} numbers.') if lang == 'en' else \
        dict(low=f'{a} … {b}。', medium=f'从 {a} 数到 {b}。', high=f'一个一个数，从 {a} 开始，到 {b} 结束，一共 {b - a + 1} 个数。')
    return dict(kind='talk', user=typed(d, user, lang, False), final=line + ('.' if lang == 'en' else '。'), lang=lang, think=think)


FOLLOW = {'+': ['and plus <B>', 'plus <B>', 'add <B> to that', 'now add <B>', 'and <B> more'], '-': ['minus <B>', 'and minus <B>', 'take away <B>', 'now subtract <B>', 'less <B>'], '*': ['times <B>', 'and times <B>', 'multiply that by <B>']}
FOLLOW_ZH = {'+': ['再加<B>', '加上<B>呢', '再加<B>是多少'], '-': ['再减<B>', '减去<B>呢', '再减<B>是多少'], '*': ['再乘<B>', '乘以<B>呢']}


def follow_turn(d: Draw, before: dict) -> dict | None:
    """Goes on with the last result."""
    last = before.get('number')
    if last is None or before['kind'] != 'sum' or last > 150:
        return None
    lang = before['lang']
    op = d.pick('++--*' if last <= 12 else '++-')
    b = d.randint(1, min(last, 30)) if op == '-' and last > 0 else d.randint(1, 9) if op == '*' else d.randint(1, 30)
    if op == '-' and last == 0:
        return None
    s = Sum(last, op, b)
    user = d.ask((FOLLOW_ZH if lang == 'zh' else FOLLOW)[op], B=b)
    what = (f'The last result was {last}. Now {last} {SIGN[op]} {b}.', f'上一个结果是 {last}。现在算 {last} {SIGN[op]} {b}。')
    return result(typed(d, user, lang), final_of(d, s, lang), s.result, lang, working(s, lang, what)) | dict(sum=s)


KINDS = [(10, sum_turn), (1.5, chain_turn), (1, gap_turn), (1, double_turn), (0.6, square_turn), (0.7, percent_turn), (0.8, compare_turn), (0.9, series_turn), (0.4, parity_turn), (0.4, count_turn)]


def turn(d: Draw, lang: str) -> dict:
    return d.weighted(KINDS)(d, lang)
