"""Short word problems with one or two steps.
Owns: their little worlds and the sentence that names what is to be computed. Refuses: the working of a sum (arithmetic.py)."""
from __future__ import annotations

from .arithmetic import Sum, result, working
from .draw import Draw, typed
from .names import GOODS, GOODS_ZH, NAMES, NAMES_ZH

# op, situation and question; N, M names · X things · A, B numbers. {he|she} is avoided: names repeat.
PROBLEMS = [
    ('+', '<N> has <A> <X>. <M> gives <N> <B> more. How many <X> does <N> have now?'), ('+', 'I have <A> <X> and {buy|find|get} <B> more. How many {do I have|are that}{| now| in all}?'),
    ('+', 'There are <A> <X> on the table and <B> in the box. How many <X> are there {in all|altogether}?'), ('+', '<N> picks <A> <X> in the morning and <B> in the afternoon. How many in total?'),
    ('+', 'A {bus|train|boat} has <A> passengers. At the next stop <B> people get on. How many are on it now?'), ('+', '<N> read <A> pages yesterday and <B> today. How many pages did <N> read?'),
    ('+', 'One {shelf|bag|basket} holds <A> <X>, another holds <B>. How many <X> together?'), ('+', '<N> is <A> years old. How old will <N> be in <B> years?'),
    ('+', 'A {hat|bag|book|ticket} costs <A> {euros|dollars} and a {scarf|pen|cup|map} costs <B>. What do both cost?'), ('+', '<N> walks <A> steps, rests, and walks <B> more. How many steps is that?'),
    ('+', 'It was <A> degrees this morning and it got <B> degrees warmer. How warm is it now?'), ('+', 'In a class are <A> girls and <B> boys. How many children are in the class?'),
    ('+', '<N> saved <A> coins and got <B> coins for a birthday. How many coins has <N> got?'), ('+', 'We planted <A> trees last year and <B> this year, how many trees is that?'),
    ('-', '<N> has <A> <X> and gives <B> to <M>. How many <X> are left?'), ('-', 'I had <A> <X> and {ate|lost|sold|used|gave away} <B>. How many are left?'),
    ('-', 'There were <A> birds on the {roof|tree|fence}. <B> flew away. How many stayed?'), ('-', 'A {rope|ribbon|plank} is <A> metres long. <N> cuts off <B> metres. How long is the rest?'),
    ('-', '<N> has <A> {euros|dollars} and buys something for <B>. How much money is left?'), ('-', 'A book has <A> pages. <N> has read <B>. How many pages are still to read?'),
    ('-', 'Of <A> <X> <B> are broken. How many are whole?'), ('-', 'There are <A> seats and <B> are taken. How many seats are free?'), ('-', '<N> is <A>, <M> is <B> years younger. How old is <M>?'),
    ('-', 'It is <A> kilometres to the {lake|town|sea}. We have walked <B>. How far is it still?'), ('-', 'In a {jar|box} were <A> <X>. Now <B> are gone. How many are in it?'),
    ('-', '<N> collected <A> <X> and <M> only <B>. How many more has <N>?'), ('-', 'A cake had <A> pieces, the guests ate <B>. How many pieces remain?'),
    ('*', 'There are <A> {boxes|bags|baskets|rows|shelves} with <B> <X> each. How many <X> {are that|are there|altogether}?'), ('*', 'One {ticket|cup|toy|melon} costs <B> {euros|dollars}. What do <A> cost?'),
    ('*', '<N> reads <B> pages a day. How many pages in <A> days?'), ('*', 'A {table|bench|car} has room for <B> people. How many can sit at <A> of them?'), ('*', '<A> children get <B> <X> each. How many <X> are needed?'),
    ('*', '<N> runs <B> kilometres every day. How far is that in <A> days?'), ('*', 'Each {hen|duck} lays <B> eggs. How many eggs do <A> of them lay?'), ('*', 'We have <A> rows of chairs, <B> chairs in each row. How many chairs?'),
    ('*', '<N> buys <A> packs of <X>. In every pack are <B>. How many <X> has <N>?'), ('*', 'A stool has <B> legs. How many legs do <A> stools have?'),
    ('/', '<A> <X> are shared {equally |}among <B> {children|friends|people}. How many does each {get|one get}?'), ('/', '<N> puts <A> <X> into <B> {boxes|bags} {evenly|equally}. How many are in each?'),
    ('/', 'A ribbon of <A> metres is cut into <B> equal pieces. How long is each?'), ('/', '<B> friends pay <A> {euros|dollars} together and share the cost. How much does each pay?'), ('/', '<A> children make groups of <B>. How many groups are there?'),
    ('/', '<N> reads <B> pages a day. How many days for <A> pages?'), ('/', 'Each box holds <B> <X>. How many boxes for <A> <X>?'), ('/', '<A> chairs stand in <B> equal rows. How many chairs in a row?'),
]
PROBLEMS_ZH = [
    ('+', '<N>有<A><X>，<M>又给了<B><C>，<N>现在有多少<X1>？'), ('+', '我有<A><X>，又{买了|捡到|得到}<B><C>，一共有几<C>？'), ('+', '桌上有<A><X>，盒子里有<B><C>，一共多少<C>？'), ('+', '<N>上午摘了<A><X>，下午摘了<B><C>，一共摘了多少？'),
    ('+', '车上有<A>个人，又上来<B>个人，现在有多少人？'), ('+', '<N>昨天看了<A>页书，今天看了<B>页，一共看了几页？'), ('+', '<N>今年<A>岁，<B>年后几岁？'), ('+', '一顶帽子<A>元，一条围巾<B>元，一共多少钱？'), ('+', '班上有<A>个女生和<B>个男生，一共多少人？'),
    ('+', '早上<A>度，后来升高了<B>度，现在几度？'), ('+', '去年种了<A>棵树，今年种了<B>棵，一共种了多少棵？'), ('+', '<N>存了<A>元，妈妈又给了<B>元，现在有多少元？'),
    ('-', '<N>有<A><X>，给了<M><B><C>，还剩多少<C>？'), ('-', '我有<A><X>，{吃了|丢了|卖了|用了}<B><C>，还剩几<C>？'), ('-', '树上有<A>只鸟，飞走了<B>只，还剩几只？'), ('-', '一根绳子长<A>米，剪掉<B>米，还剩几米？'), ('-', '<N>有<A>元，花了<B>元，还剩多少钱？'),
    ('-', '一本书有<A>页，看了<B>页，还有几页没看？'), ('-', '有<A>个座位，坐了<B>个人，还空几个？'), ('-', '<N>今年<A>岁，<M>比<N>小<B>岁，<M>几岁？'), ('-', '到湖边有<A>公里，已经走了<B>公里，还要走多远？'), ('-', '<N>有<A><X>，<M>有<B><C>，<N>比<M>多几<C>？'), ('-', '盒子里有<A><X>，拿走<B><C>，盒子里还有几<C>？'),
    ('*', '有<A>个盒子，每个盒子里有<B><X>，一共多少<C>？'), ('*', '一张票<B>元，<A>张票多少钱？'), ('*', '<N>每天看<B>页书，<A>天看几页？'), ('*', '每张桌子坐<B>个人，<A>张桌子坐多少人？'), ('*', '<A>个孩子每人<B><X>，一共要多少<C>？'), ('*', '<N>每天跑<B>公里，<A>天跑多少公里？'), ('*', '每排有<B>把椅子，<A>排有多少把？'), ('*', '<N>买了<A>包<X1>，每包<B><C>，一共几<C>？'),
    ('/', '<A><X>平均分给<B>个{孩子|朋友|人}，每人几<C>？'), ('/', '<N>把<A><X>平均放进<B>个盒子，每盒几<C>？'), ('/', '一条<A>米的丝带剪成<B>段，每段几米？'), ('/', '<B>个朋友一起付<A>元，每人付多少？'), ('/', '<A>个孩子<B>人一组，可以分几组？'), ('/', '每盒装<B><X>，<A><C>要装几盒？'), ('/', '<A>把椅子排成<B>排，每排几把？'),
]
UNITS = [(['how many {minutes are|minutes make} <A> hours', '<A> hours in minutes', 'how many minutes {do|have} <A> hours{| have}'], ['<A>小时有多少分钟', '<A>小时是几分钟'], 60, 'minutes', '分钟'),
         (['how many hours are <A> days', '<A> days in hours', 'how many hours do <A> days have'], ['<A>天有多少小时', '<A>天是几小时'], 24, 'hours', '小时'),
         (['how many days are <A> weeks', '<A> weeks in days', 'how many days do <A> weeks have'], ['<A>个星期有几天', '<A>周是多少天'], 7, 'days', '天'),
         (['how many months are <A> years', '<A> years in months', 'how many months do <A> years have'], ['<A>年有几个月', '<A>年是多少个月'], 12, 'months', '个月'),
         (['how many cents are <A> {euros|dollars}', '<A> {dollars|euros} in cents'], ['<A>元是多少分', '<A>块钱是几分'], 100, 'cents', '分'),
         (['how many centimetres are <A> metres', '<A> metres in centimetres', '<A> m in cm'], ['<A>米是多少厘米', '<A>米有几厘米'], 100, 'centimetres', '厘米'),
         (['how many eggs are <A> dozen', 'how much is <A> dozen'], ['<A>打是多少个', '<A>打鸡蛋有几个'], 12, 'pieces', '个')]


def numbers(d: Draw, op: str) -> Sum:
    if op == '+':
        return Sum(d.randint(2, 60), op, d.randint(1, 40))
    if op == '-':
        a = d.randint(3, 80)
        return Sum(a, op, d.randint(1, a - 1))
    if op == '*':
        return Sum(d.randint(2, 12), op, d.randint(2, 12))
    b = d.randint(2, 10)
    return Sum(b * d.randint(2, 10), op, b)


WHY = {'+': ('Something is added', '合在一起，用加法'), '-': ('Something is taken away or compared', '拿走或比较，用减法'), '*': ('The same amount comes several times', '几个相同的数，用乘法'), '/': ('Something is shared equally', '平均分，用除法')}


def problem_turn(d: Draw, lang: str) -> dict:
    zh = lang == 'zh'
    op, text = d.form(PROBLEMS_ZH if zh else PROBLEMS)
    s = numbers(d, op)
    if zh:
        thing, measure = d.pick(GOODS_ZH)
        n, m = d.sample(NAMES_ZH, 2)
        filled = d.say(text).replace('<A><X>', f'{s.a}{measure}{thing}').replace('<B><X>', f'{s.b}{measure}{thing}').replace('<X1>', thing).replace('<C>', measure).replace('<A>', str(s.a)).replace('<B>', str(s.b)).replace('<N>', n).replace('<M>', m)
    else:
        many, _ = d.pick(GOODS)
        n, m = d.sample(NAMES, 2)
        filled = d.say(text).replace('<X>', many).replace('<A>', str(s.a)).replace('<B>', str(s.b)).replace('<N>', n).replace('<M>', m)
        if d.chance(0.15):
            filled = filled.lower().rstrip('?')
    what = (f'{WHY[op][0]}: {s.a} and {s.b}.', f'{WHY[op][1]}：{s.a} 和 {s.b}。')
    c = s.result
    final = d.pick([f'{s.line}。', f'答案是 {c}：{s.line}。', f'一共是 {c}。' if op in '+*' else f'答案是 {c}。'] if zh else [f'{s.line}.', f'The answer is {c}: {s.line}.', f'It is {c}.', f'{c}.'])
    return result(filled, final, c, lang, working(s, lang, what)) | dict(sum=s)


def unit_turn(d: Draw, lang: str) -> dict:
    forms, forms_zh, factor, unit, unit_zh = d.pick(UNITS)
    zh = lang == 'zh'
    s = Sum(d.randint(2, 9), '*', factor)
    user = typed(d, d.ask(forms_zh if zh else forms, A=s.a), lang)
    what = (f'One has {factor} {unit}, so {s.a} times {factor}.', f'一份是 {factor} {unit_zh}，所以 {s.a} 乘 {factor}。')
    work = working(s, lang, what)
    return result(user, f'答案是 {s.result}：{s.line}。' if zh else f'The answer is {s.result}: {s.line}.', s.result, lang, work)


def two_step_turn(d: Draw, lang: str) -> dict:
    """First get more, then give away (or the other way round)."""
    zh = lang == 'zh'
    first = Sum(d.randint(5, 40), '+', d.randint(1, 20))
    second = Sum(first.result, '-', d.randint(1, min(20, first.result)))
    name, other = d.sample(NAMES_ZH if zh else NAMES, 2)
    if zh:
        thing, m = d.pick(GOODS_ZH)
        user = d.pick([f'{name}有{first.a}{m}{thing}，又买了{first.b}{m}，然后给了{other}{second.b}{m}，还剩几{m}？', f'{name}先有{first.a}{m}{thing}，得到{first.b}{m}，又用掉{second.b}{m}。现在有多少{m}？'])
        think = dict(low=f'{first.line}，{second.line}。', medium=f'先加后减。{first.line}，{second.line}。', high=f'先得到，再减少，要算两步。第一步：{first.line}。第二步：{second.line}。检验：{second.result} + {second.b} = {first.result}，对。')
        final = f'答案是 {second.result}。'
    else:
        things, _ = d.pick(GOODS)
        user = d.pick([f'{name} has {first.a} {things}, buys {first.b} more and gives {second.b} to {other}. How many are left?', f'{name} had {first.a} {things}, found {first.b} and then lost {second.b}. How many {things} does {name} have?'])
        think = dict(low=f'{first.line}, {second.line}.', medium=f'First add, then subtract. {first.line}, {second.line}.', high=f'Two steps: first something comes, then something goes. First: {first.line}. Then: {second.line}. Check: {second.result} + {second.b} = {first.result}, right.')
        final = f'The answer is {second.result}.'
    return result(user, final, second.result, lang, think)


def turn(d: Draw, lang: str) -> dict:
    return d.weighted([(8, problem_turn), (1.2, unit_turn), (1.2, two_step_turn)])(d, lang)
