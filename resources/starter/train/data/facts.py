"""Simple facts, lists, small arithmetic, copying and remembering within a chat.
Owns: their tables and question forms. Refuses: rendering."""
from __future__ import annotations

from random import Random

from .common import NAMES, THINGS, article, cap, made_up, noisy, noisy_zh, pick, say

CAPITALS = dict(France='Paris', Germany='Berlin', Italy='Rome', Spain='Madrid', Portugal='Lisbon', England='London', Ireland='Dublin',
                Norway='Oslo', Sweden='Stockholm', Finland='Helsinki', Denmark='Copenhagen', Poland='Warsaw', Austria='Vienna',
                Switzerland='Bern', Greece='Athens', Turkey='Ankara', Russia='Moscow', China='Beijing', Japan='Tokyo', India='New Delhi',
                Egypt='Cairo', Kenya='Nairobi', Canada='Ottawa', Mexico='Mexico City', Brazil='Brasilia', Argentina='Buenos Aires',
                Chile='Santiago', Peru='Lima', Australia='Canberra', Hungary='Budapest', Belgium='Brussels', Cuba='Havana')
CAPITALS['South Korea'], CAPITALS['the Netherlands'], CAPITALS['the United States'] = 'Seoul', 'Amsterdam', 'Washington'
COLOURS = dict(grass='green', snow='white', blood='red', coal='black', milk='white', leaves='green', bananas='yellow', lemons='yellow',
               tomatoes='red', carrots='orange', oranges='orange', night='black', strawberries='red', frogs='green', elephants='grey')
COLOURS['the sky'], COLOURS['the sun'], COLOURS['the sea'], COLOURS['a lemon'], COLOURS['a banana'] = 'blue', 'yellow', 'blue', 'yellow', 'yellow'
LEGS = dict(cat=4, dog=4, horse=4, cow=4, spider=8, ant=6, bee=6, bird=2, hen=2, duck=2, fish=0, snake=0, frog=4, elephant=4, butterfly=6, sheep=4, person=2)
SOUNDS = dict(cat='meow', dog='woof', cow='moo', sheep='baa', duck='quack', lion='roar', bee='buzz', owl='hoo', frog='croak', mouse='squeak', horse='neigh', hen='cluck')
OPPOSITES = dict(hot='cold', big='small', old='young', day='night', up='down', left='right', open='closed', fast='slow', happy='sad', light='dark',
                 good='bad', long='short', high='low', wet='dry', full='empty', early='late', hard='soft', loud='quiet', near='far', rich='poor',
                 strong='weak', warm='cool', yes='no', black='white', easy='difficult', clean='dirty', new='old', true='false', love='hate', begin='end')
CHINESE = dict(cat='猫', dog='狗', water='水', fire='火', sun='太阳', moon='月亮', star='星星', book='书', house='房子', tree='树', boat='船', rain='雨',
               snow='雪', tea='茶', bread='面包', friend='朋友', hello='你好', thanks='谢谢', goodbye='再见', love='爱', home='家', fish='鱼', bird='鸟',
               mountain='山', river='河', sea='海', red='红色', blue='蓝色', one='一', two='二', three='三', good='好', big='大', small='小', computer='电脑', model='模型')
PLURALS = dict(cat='cats', dog='dogs', mouse='mice', child='children', foot='feet', tooth='teeth', man='men', woman='women', box='boxes', leaf='leaves', fish='fish', sheep='sheep', goose='geese', city='cities')
LISTS = dict(tree='oak birch pine apple beech willow maple'.split(), animal='cat fox owl bear horse whale frog'.split(), fruit='apple pear cherry plum banana lemon orange'.split(),
             colour='red blue green yellow white black orange'.split(), color='red blue green yellow white black orange'.split(), bird='owl robin duck swan sparrow eagle hen'.split(),
             flower='rose tulip daisy lily sunflower violet poppy'.split(), planet='Mars Venus Earth Jupiter Saturn Mercury Neptune'.split(), city='Paris London Rome Berlin Tokyo Beijing Madrid'.split(),
             country='France Italy Japan China Norway Kenya Brazil'.split(), river='Nile Danube Rhine Amazon Thames Yangtze Volga'.split(), vegetable='carrot potato onion bean pea leek spinach'.split(),
             month='January March May July August October December'.split(), day='Monday Tuesday Wednesday Thursday Friday Saturday Sunday'.split(), number='one two three five seven eight ten'.split(),
             shape='circle square triangle star cube oval line'.split(), drink='water tea milk coffee juice cocoa lemonade'.split(), metal='iron gold silver copper tin lead zinc'.split(),
             season='spring summer autumn winter spring summer autumn'.split(), name='Mia Leo Nora Tom Ella Sam Ruby'.split(), instrument='violin piano flute drum guitar harp horn'.split())
SINGLE = [  # questions, answer, word for the topic
    (['how many days {are in|has} a week', 'how many days does a week have', 'days in a week'], 'A week has 7 days.', 'the days of a week'),
    (['how many months {are in|has} a year', 'how many months does a year have'], 'A year has 12 months.', 'the months of a year'),
    (['how many hours {are in|has} a day', 'how many hours does a day have'], 'A day has 24 hours.', 'the hours of a day'),
    (['how many minutes {are in|has} an hour', 'how many minutes does an hour have'], 'An hour has 60 minutes.', 'the minutes of an hour'),
    (['how many seconds {are in|has} a minute'], 'A minute has 60 seconds.', 'the seconds of a minute'),
    (['how many days {are in|has} a year'], 'A year has 365 days, a leap year 366.', 'the days of a year'),
    (['what are the {four |}seasons', 'name the {four |}seasons', 'how many seasons are there'], 'The four seasons are spring, summer, autumn and winter.', 'the seasons'),
    (['name the days of the week', 'what are the days of the week', 'list the days of the week'], 'Monday, Tuesday, Wednesday, Thursday, Friday, Saturday and Sunday.', 'the days of the week'),
    (['name the months{| of the year}', 'what are the months{| of the year}', 'list the months'], 'January, February, March, April, May, June, July, August, September, October, November and December.', 'the months'),
    (['how many planets are there', 'how many planets does the sun have', 'name the planets', 'list the planets'], 'There are eight planets: Mercury, Venus, Earth, Mars, Jupiter, Saturn, Uranus and Neptune.', 'the planets'),
    (['what is the {largest|biggest} planet', 'which planet is the {largest|biggest}'], 'Jupiter is the largest planet of the solar system.', 'the largest planet'),
    (['what is the moon', 'does the earth have a moon', 'what goes around the earth'], 'The moon goes around the earth once in about a month.', 'the moon'),
    (['what is the sun', 'is the sun a star'], 'The sun is a star. The earth goes around it once a year.', 'the sun'),
    (['why is the sky blue', 'what makes the sky blue'], 'The air scatters blue light more than red light, so the sky looks blue.', 'the blue sky'),
    (['what is water made of', 'what is H2O', 'what is the formula of water'], 'Water is made of hydrogen and oxygen: H2O.', 'water'),
    (['at what temperature does water {boil|freeze}', 'when does water {boil|freeze}', 'what is the boiling point of water'], 'Water boils at 100 degrees Celsius and freezes at 0.', 'the boiling of water'),
    (['what is rain', 'why does it rain', 'where does rain come from'], 'Water rises into the air, forms clouds and falls down again as rain.', 'rain'),
    (['what is snow', 'why does it snow'], 'Snow is frozen water that falls from cold clouds.', 'snow'),
    (['what is a lighthouse', 'what does a lighthouse do', 'what is a lighthouse for'], 'A lighthouse is a tower with a strong light that shows ships the way.', 'a lighthouse'),
    (['what is a computer', 'explain what a computer is'], 'A computer is a machine that follows instructions and works with numbers, text and pictures.', 'a computer'),
    (['what is {the internet|internet}'], 'The internet is a network that connects computers all over the world.', 'the internet'),
    (['who wrote {Romeo and Juliet|Hamlet|Macbeth}', 'who was Shakespeare'], 'William Shakespeare, an English poet, wrote it.', 'Shakespeare'),
    (['what is the largest ocean', 'which ocean is the {biggest|largest}'], 'The Pacific is the largest ocean.', 'the largest ocean'),
    (['what is the {highest|tallest} mountain', 'which mountain is the {highest|tallest}'], 'Mount Everest is the highest mountain.', 'the highest mountain'),
    (['what is the longest river', 'which river is the longest'], 'The Nile and the Amazon are the longest rivers.', 'the longest river'),
    (['what is the {largest|biggest} animal', 'which animal is the {largest|biggest}'], 'The blue whale is the largest animal.', 'the largest animal'),
    (['what is the fastest animal', 'which animal is the fastest'], 'The cheetah is the fastest animal on land.', 'the fastest animal'),
    (['what do {bees make|bees do}', 'where does honey come from'], 'Bees make honey from flowers.', 'bees'),
    (['what do cows {eat|give}', 'where does milk come from'], 'Cows eat grass and give milk.', 'cows'),
    (['what is the first letter of the alphabet', 'what is the alphabet', 'say the alphabet'], 'A B C D E F G H I J K L M N O P Q R S T U V W X Y Z.', 'the alphabet'),
    (['how many letters {are in|has} the {English |}alphabet'], 'The English alphabet has 26 letters.', 'the letters of the alphabet'),
    (['how many continents are there', 'name the continents'], 'There are seven continents: Africa, Antarctica, Asia, Australia, Europe, North America and South America.', 'the continents'),
    (['what is pi', 'what is the value of pi'], 'Pi is about 3.14159.', 'pi'),
]
DESCRIBE = ['{describe|what is|explain|draw in words} {A}', 'tell me {something|a little} about {A}']


def turn(user, topic, plan, final, **more) -> dict:
    return dict(user=user, topic=topic, plan=plan, final=final, **more)


# (table, question forms, answer forms, topic form, short answer)
RELATIONS = [
    (CAPITALS, ['{what is|what\'s|name|tell me} the capital {city |}of K', 'capital of K', 'which city is the capital of K', 'what is K\'s capital', 'do you know the capital of K'],
     ['The capital of K is V.', 'V is the capital of K.'], 'the capital of K', 'V.'),
    (COLOURS, ['{what|which} {colour|color} {is|has} K', '{what is|tell me|name} the {colour|color} of K', '{colour|color} of K'], ['K: V.', 'The colour of K is V.'], 'the colour of K', 'V.'),
    (LEGS, ['how many legs does a K have', 'how many legs has a K', 'number of legs of a K', 'legs of a K'], ['A K has V legs.'], 'the legs of a K', 'V.'),
    (SOUNDS, ['what {sound|noise} does a K make', 'what does a K say', 'how does a K sound', 'what does the K say'], ['A K says "V".'], 'the sound of a K', 'V.'),
    (OPPOSITES, ['what is the opposite of {K|"K"}', 'opposite of K', 'the opposite of K', 'what is the contrary of K', 'give me the opposite of K'], ['The opposite of K is V.'], 'the opposite of K', 'V.'),
    (CHINESE, ['{what is|how do you say|how do I say|say|translate} {K|"K"} {in|into|to} Chinese', 'Chinese {word for|for} K', 'what is the Chinese word for K'], ['In Chinese, K is V.'], 'the Chinese word for K', 'V'),
    (PLURALS, ['what is the plural of {K|"K"}', 'plural of K', 'one K, two what'], ['The plural of K is V.'], 'the plural of K', 'V.'),
]


def fact_turn(rng: Random) -> dict:
    r = rng.random()
    if r < 0.62:
        table, qs, answers, topic, short = pick(rng, RELATIONS if rng.random() < 0.6 else RELATIONS[:2])
        k = pick(rng, list(table))
        v = str(table[k])
        fill = lambda s: s.replace('K', k).replace('V', v) if 'K' in s else s.replace('V', v)
        return turn(noisy(rng, fill(say(rng, pick(rng, qs)))), fill(topic), f'say {v}', cap(fill(pick(rng, answers))), short=cap(fill(short)), known=f'{fill(topic)} is {v}')
    if r < 0.80:
        qs, a, topic = pick(rng, SINGLE)
        return turn(noisy(rng, say(rng, pick(rng, qs))), topic, 'give the simple answer', a)
    kind = pick(rng, list(LISTS))
    if rng.random() < 0.6:
        x = pick(rng, LISTS[kind])
        q = say(rng, '{name|give me|tell me|say|think of|can you name|pick} ' + rng.choice([article(kind), 'one ' + kind, 'any ' + kind, 'some ' + kind]))
        return turn(noisy(rng, q, False), f'the name of {article(kind)}', f'say {x}', cap(x) + '.', short=cap(x) + '.')
    n = rng.randint(2, 5)
    xs = rng.sample(sorted(set(LISTS[kind])), min(n, len(set(LISTS[kind]))))
    plural = dict(city='cities', country='countries').get(kind, kind + 's')
    q = say(rng, '{name|give me|tell me|list|can you name|write down|I need} ') + f'{rng.choice([str(len(xs)), NUMBER[len(xs)]])} {plural}'
    return turn(noisy(rng, q, False), f'{len(xs)} {plural}', f'list {len(xs)} {plural}', cap(', '.join(xs[:-1]) + ' and ' + xs[-1]) + '.')


NUMBER = 'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty'.split()


def small_sum_turn(rng: Random) -> dict:
    """Sums within the tables that a beginner learns first."""
    return arithmetic_turn(rng, small=True)


def arithmetic_turn(rng: Random, small: bool = False) -> dict:
    op = rng.choice('++--*' if small else '++--**/')
    if small:
        a, b = rng.randint(0, 10), rng.randint(1, 10)
        if op == '-':
            a = a + b
        if op == '*':
            a, b = rng.randint(1, 6), rng.randint(1, 10)
    elif op == '+':
        a, b = rng.randint(0, 20), rng.randint(0, 20)
    elif op == '-':
        a = rng.randint(0, 30)
        b = rng.randint(0, min(a, 20))
    elif op == '*':
        a, b = rng.randint(0, 10), rng.randint(0, 10)
    else:
        b = rng.randint(1, 10)
        a = b * rng.randint(0, 10)
    c = {'+': a + b, '-': a - b, '*': a * b, '/': a // max(b, 1)}[op]
    words = {'+': [' + ', '+', ' plus ', ' and '], '-': [' - ', '-', ' minus '], '*': [' * ', ' x ', ' times ', '*'], '/': [' / ', ' divided by ', ' : ']}[op]
    sign = {'+': '+', '-': '-', '*': '*', '/': '/'}[op]
    zh = rng.random() < 0.15
    if zh:
        w = {'+': ['加', '+'], '-': ['减', '-'], '*': ['乘', '乘以', '*'], '/': ['除以', '/']}[op]
        q = noisy_zh(rng, say(rng, '{|计算|请计算|算一下}') + f'{a}{pick(rng, w)}{b}' + say(rng, '{等于几|等于多少|是多少|}'))
    else:
        spell = rng.random() < 0.15 and a <= 20 and b <= 20
        sa, sb = (NUMBER[a], NUMBER[b]) if spell else (str(a), str(b))
        expr = sa + (pick(rng, words[-2:]) if spell and op != '-' else pick(rng, words)) + sb
        form = pick(rng, ['{what is|what\'s|calculate|compute|how much is|work out|can you calculate|tell me} E', 'E', 'E =', 'what does E make', 'what is the {result|answer} of E'] +
                    {'+': ['add A and B', 'what is the sum of A and B', 'I have A {apples|books|coins} and get B more. How many do I have'],
                     '-': ['subtract B from A', 'take B away from A', 'I have A {apples|books|coins} and give away B. How many are left'],
                     '*': ['multiply A by B', 'what is the product of A and B', 'A boxes with B {pens|eggs|cups} each. How many in all'],
                     '/': ['divide A by B', 'share A {nuts|cards|coins} among B {children|friends}. How many does each get']}[op])
        q = noisy(rng, say(rng, form.replace('E', expr).replace('A', sa).replace('B', sb)))
    final = rng.choice([f'{a} {sign} {b} = {c}', f'{a} {sign} {b} = {c}.', f'The answer is {c}.']) if not zh else f'{a} {sign} {b} = {c}'
    if op == '+':
        steps = f'Start at {a} and count on {b}: {", ".join(str(a + i) for i in range(1, b + 1))}.' if 0 < b <= 10 else f'{a} + {b - b % 10} = {a + b - b % 10}, and then + {b % 10} = {c}.'
    elif op == '-':
        steps = f'Start at {a} and count back {b}: {", ".join(str(a - i) for i in range(1, b + 1))}.' if 0 < b <= 10 else f'{a} - {b - b % 10} = {a - b + b % 10}, and then - {b % 10} = {c}.'
    elif op == '*':
        steps = f'Count in steps of {b}, {a} times: {", ".join(str(b * i) for i in range(1, a + 1))}.' if a else 'Zero times anything is 0.'
    else:
        steps = f'Count in steps of {b} up to {a}: {", ".join(str(b * i) for i in range(1, c + 1))}. That is {c} steps.' if c else 'Nothing shared is 0.'
    return turn(q, f'{a} {sign} {b}', f'answer {c}', final, lang='zh' if zh else 'en', short=f'{c}.',
                low=f'{a} {sign} {b} = {c}.', medium=f'The user asks for {a} {sign} {b}. {a} {sign} {b} = {c}.',
                high=f'The user asks for {a} {sign} {b}. I go step by step. {steps} So {a} {sign} {b} = {c}. I answer {c}.')


def number_turn(rng: Random) -> dict:
    r = rng.random()
    if r < 0.4:
        a, n = rng.randint(0, 12), rng.randint(3, 9)
        return turn(noisy(rng, say(rng, '{count|please count|can you count|count up} {from A to B|A to B}').replace('A', str(a)).replace('B', str(a + n)), False),
                    f'counting from {a} to {a + n}', 'write the numbers in order', ', '.join(str(i) for i in range(a, a + n + 1)) + '.')
    if r < 0.7:
        a, b = rng.sample(range(0, 40), 2)
        more = rng.random() < 0.5
        w = rng.choice(['bigger', 'larger', 'greater', 'more'] if more else ['smaller', 'less'])
        v = max(a, b) if more else min(a, b)
        return turn(noisy(rng, rng.choice([f'which is {w}, {a} or {b}', f'what is {w}: {a} or {b}', f'which number is {w}, {a} or {b}'])), f'which is {w}, {a} or {b}', f'say {v}', f'{v} is {w}.', short=f'{v}.')
    if r < 0.85:
        a = rng.randint(0, 30)
        odd = 'odd' if a % 2 else 'even'
        return turn(noisy(rng, f'is {a} {rng.choice(["even or odd", "odd", "even", "an even number", "an odd number"])}'), f'whether {a} is even or odd', f'say {odd}', f'{a} is {odd}.', short=cap(odd) + '.')
    a = rng.randint(0, 30)
    after = rng.random() < 0.6
    v = a + 1 if after or a == 0 else a - 1
    w = 'after' if v > a else 'before'
    return turn(noisy(rng, f'what {rng.choice(["comes", "number comes", "number is"])} {w} {a}'), f'the number {w} {a}', f'say {v}', f'{v} comes {w} {a}.', short=f'{v}.')


def phrase(rng: Random) -> str:
    r = rng.random()
    if r < 0.3:
        return pick(rng, THINGS)
    if r < 0.5:
        return made_up(rng)
    if r < 0.75:
        return f'the {pick(rng, THINGS)} and the {pick(rng, THINGS)}'
    return f'{pick(rng, NAMES)} {rng.choice(["likes", "sees", "has", "found", "drew"])} a {pick(rng, THINGS)}'


def copy_turn(rng: Random) -> dict:
    p = phrase(rng)
    if rng.random() < 0.25:
        p = pick(rng, ['hi', 'hello', 'yes', 'no', 'it', 'something', 'cheese', 'thank you', 'good night', 'one two three', '你好', '谢谢', '早上好'])
    q = say(rng, '{say|repeat|please say|repeat after me:|say the words|write|please repeat|just say|echo|can you say} ') + rng.choice([p, f'"{p}"', p])
    return turn(noisy(rng, q, False, exact=True) if p.isascii() else q, 'words to repeat', f'say "{p}"', cap(p) + '.' if p.isascii() else p, short=cap(p) + '.' if p.isascii() else p)


def name_turns(rng: Random) -> list[dict]:
    """Tell a name, later ask for it: the answer stands only in the chat."""
    n = pick(rng, NAMES) if rng.random() < 0.8 else cap(made_up(rng))
    tell = turn(noisy(rng, say(rng, "{my name is|I am|I'm|call me|this is|hi, I am|hello, my name is|I am called} ") + n, False, exact=True), f'the name {n}', f'greet {n}',
                rng.choice([f'Nice to meet you, {n}! How can I help you?', f'Hello, {n}! Nice to meet you.']))
    ask = turn(noisy(rng, say(rng, '{what is my name|what\'s my name|who am I|do you remember my name|do you know my name|how am I called|say my name|what did I say my name was}')), 'the name of the user', f'say {n}',
               rng.choice([f'Your name is {n}.', f'You are {n}.']), short=n + '.', known=f'the user said the name {n}')
    return [tell, ask]


def name_turn(rng: Random) -> dict:
    if rng.random() < 0.75:
        return name_turns(rng)[0]
    q = say(rng, '{what is my name|who am I|do you know my name|do you remember my name}')
    return turn(noisy(rng, q), 'the name of the user', 'say that I do not know it yet', 'I do not know your name yet. Please tell me.', known='the user has not said a name')


def boat_turn(rng: Random) -> dict:
    what = rng.choice(['boat', 'cat', 'dog', 'robot', 'horse', 'ship', 'band', 'cafe', 'star', 'dragon', 'shop', 'village'])
    n = rng.choice([f'{cap(rng.choice(["silver", "morning", "little", "golden", "quiet", "blue", "happy", "north"]))} {cap(pick(rng, THINGS))}', cap(pick(rng, ['pebble', 'willow', 'ember', 'biscuit', 'maple', 'comet', 'luna', 'clover', 'pepper', 'misty']))])
    return turn(noisy(rng, say(rng, '{invent|find|make up|give me|suggest|think of|I need|can you find} a {nice |good |funny |}name for ') + rng.choice(['a ', 'my ', 'our ', 'a small ']) + what, False),
                f'a name for a {what}', f'suggest {n}', rng.choice([f'{n}.', f'How about {n}?', f'I would call it {n}.']), short=n + '.')


def describe_turn(rng: Random) -> dict:
    t = pick(rng, THINGS)
    adj = rng.choice(['small', 'old', 'quiet', 'bright', 'friendly', 'round', 'strange'])
    where = rng.choice(['near the sea', 'in the garden', 'in an old house', 'under the trees', 'on the hill', 'in my mind'])
    more = rng.choice(['It is neither new nor big, but it is loved.', 'In the evening it looks almost golden.', 'People stop and smile when they see it.', 'It has seen many winters.', 'It makes no noise at all.'])
    q = say(rng, '{describe|please describe|can you describe|describe to me|write a description of} ') + rng.choice([article(t), 'a small ' + t, 'the ' + t])
    return turn(noisy(rng, q, False), f'a description of a {t}', 'write two sentences', f'I see a {adj} {t} {where}. {more}')


def json_turn(rng: Random) -> dict:
    n, age, thing, city = pick(rng, NAMES), rng.randint(1, 90), pick(rng, THINGS), rng.choice(list(CAPITALS.values()))
    k = rng.randrange(4)
    if k == 0:
        q, j = rng.choice([f'name {n}, age {age}', f'{n} is {age} years old', f'name: {n}, age: {age}']), f'{{"name": "{n}", "age": {age}}}'
    elif k == 1:
        q, j = rng.choice([f'name {n}, city {city}', f'{n} lives in {city}']), f'{{"name": "{n}", "city": "{city}"}}'
    elif k == 2:
        q, j = rng.choice([f'item {thing}, count {age}', f'{age} of the item {thing}']), f'{{"item": "{thing}", "count": {age}}}'
    else:
        xs = rng.sample(THINGS, 3)
        return turn(say(rng, '{give me|write|make|answer with} a JSON {list|array} of ') + ', '.join(xs), 'a JSON list', 'answer with JSON only', '["' + '", "'.join(xs) + '"]')
    ask = say(rng, '{give me|write|answer with|make|return|output} {JSON|a JSON object|json}: ') + q if rng.random() < 0.5 else q + say(rng, '{ as JSON|, as JSON please| in JSON|. JSON please}')
    return turn(ask, 'a JSON object', 'answer with JSON only', j)


ZH_FACTS = [('法国', '巴黎'), ('德国', '柏林'), ('中国', '北京'), ('日本', '东京'), ('英国', '伦敦'), ('意大利', '罗马'), ('西班牙', '马德里'), ('俄罗斯', '莫斯科'), ('韩国', '首尔'), ('美国', '华盛顿')]
ZH_COLOURS = [('草', '绿色'), ('雪', '白色'), ('天空', '蓝色'), ('太阳', '黄色'), ('香蕉', '黄色'), ('血', '红色'), ('大海', '蓝色')]
ZH_SINGLE = [('一{周|星期}有几天', '一周有七天。', 'the days of a week'), ('一年有{几|多少}个月', '一年有十二个月。', 'the months of a year'), ('一天有{几|多少}个小时', '一天有二十四个小时。', 'the hours of a day'),
             ('天为什么是蓝{色|}的', '空气散射蓝光比红光多，所以天空看起来是蓝色的。', 'the blue sky'), ('有几个季节', '有四个季节：春天、夏天、秋天和冬天。', 'the seasons'), ('最大的动物是什么', '蓝鲸是最大的动物。', 'the largest animal')]


def fact_turn_zh(rng: Random) -> dict:
    r = rng.random()
    if r < 0.5:
        k, v = pick(rng, ZH_FACTS)
        return turn(noisy_zh(rng, say(rng, '{K的首都是哪里|K的首都是什么|K首都是哪|K的首都叫什么}').replace('K', k)), f'the capital of {k}', f'say {v}', f'{k}的首都是{v}。', lang='zh', short=v + '。')
    if r < 0.75:
        k, v = pick(rng, ZH_COLOURS)
        return turn(noisy_zh(rng, say(rng, '{K是什么颜色{的|}|K的颜色是什么}').replace('K', k)), f'the colour of {k}', f'say {v}', f'{k}是{v}的。', lang='zh', short=v + '。')
    q, a, t = pick(rng, ZH_SINGLE)
    return turn(noisy_zh(rng, say(rng, q)), t, 'give the simple answer', a, lang='zh')
