"""Questions that are too hard for a model of this size, and the friendly way to say so.
Owns: topics and forms of what is out of scope. Refuses: attempting an answer."""
from __future__ import annotations

from random import Random

from .common import NAMES, cap, made_up, noisy, noisy_zh, pick, say

TOPICS = """quantum physics|the French Revolution|photosynthesis|the Roman Empire|black holes|evolution|the stock market|inflation|democracy|philosophy
the meaning of life|climate change|the human brain|the theory of relativity|electricity|magnetism|vaccines|the immune system|diabetes|the heart
Napoleon|Einstein|Mozart|Cleopatra|Caesar|the Second World War|the Cold War|the moon landing|the pyramids|ancient Greece|the Vikings|the Middle Ages
taxes|mortgages|insurance|contracts|divorce law|copyright|marketing|business plans|project management|accounting|cryptocurrency|bitcoin|blockchain
chess openings|football rules|basketball|the Olympic games|yoga|weight loss|protein|vitamins|headaches|back pain|allergies|sleep problems|a fever|medicine
pasta recipes|sourdough bread|curry|wine|cheese making|gardening in winter|house plants|dog training|cat food|car repair|plumbing|solar panels|batteries
guitar chords|music theory|painting|photography|movies|novels|poetry|grammar|the subjunctive|Latin|Japanese verbs|phonetics|linguistics|psychology
sorting algorithms|databases|networks|encryption|compilers|operating systems|recursion|regular expressions|Kubernetes|Docker|git|React|machine learning papers
linear algebra|calculus|differential equations|probability|statistics|matrices|prime numbers|logarithms|trigonometry|geometry proofs|number theory|set theory
volcanoes|earthquakes|glaciers|coral reefs|rain forests|dinosaurs in detail|genetics|DNA|cells|bacteria|viruses|chemistry|atoms|nuclear energy|the periodic table
Brexit|elections|the president|politics|human rights|immigration|the European Union|NATO|religion|Buddhism|Islam|Christianity|mythology|Zeus|dreams and psychology
travel to Iceland|hotels in Rome|flights to Tokyo|trains in Germany|restaurants in Paris|museums in Madrid|a trip to India|visas|packing lists|camping gear""".replace('\n', '|').split('|')
LANGS = 'Python|JavaScript|C++|Java|Rust|Go|SQL|HTML|CSS|TypeScript|bash|C|Kotlin|Swift|Haskell|PHP|Ruby|Excel'.split('|')
TASKS = """sorts a list|reads a file|adds two numbers|finds prime numbers|draws a circle|parses JSON|sends an email|downloads a page|reverses a string|plays chess
computes Fibonacci numbers|counts words|connects to a database|makes a web server|shows a calendar|renames files|checks a password|prints a table""".replace('\n', '|').split('|')
CITIES = 'Paris|London|Berlin|Tokyo|New York|Madrid|Rome|Beijing|Shanghai|Sydney|Oslo|Vienna|Cairo|my city|here|my town'.split('|')
EVENTS = 'the world cup|the election|the last match|the Olympics|the Nobel prize|the Oscars|the tennis final|the race|the war|the championship'.split('|')
TONGUES = 'French|German|Spanish|Italian|Japanese|Russian|Latin|Korean|Arabic|Portuguese|Dutch|Polish'.split('|')

# kind, forms
KINDS = [
    ('a hard subject', ['{explain|describe|tell me about|teach me|what do you know about|what is|I want to learn about|summarize|give me an overview of|help me with|I have a question about|can you explain} T{| in detail| to me| in simple words|, step by step|}', 'how does T work', 'why is T important', 'what are the {causes|effects|basics|rules|benefits|types} of T', 'what is the history of T', 'who {invented|discovered|started} T', 'compare T and U', 'what is the difference between T and U', 'T', 'give me {tips|advice|facts} {for|about|on} T', 'is T {good|bad|dangerous|difficult|important}']),
    ('a long text', ['write {an essay|an article|a report|a speech|a letter|a blog post|a paper|a novel|a chapter|a book|a song|a thesis} {about|on} T', 'write a {cover letter|business plan|CV|job application|long essay|film script}', 'write an email to my {boss|teacher|landlord|customer|colleague}', 'help me write {an essay|a letter|my homework|a report|an email}', 'do my homework{| about T}']),
    ('a program', ['write {a|some} L {program|code|script|function} that K', 'write a {program|function|script} in L{| that K}', 'how do I {write|make|do} this in L', 'code in L that K', 'fix {my|this} L {code|program|bug}', 'how do I install L', 'what does this L code do', 'debug this', 'write code', 'can you {code|program|write programs|write code|write L}', 'how do I K in L', 'I get an error in my L program', 'show me a L example', 'explain this L error']),
    ('news or live data', ['what is the weather {in C|today|tomorrow|like in C|like}', 'will it rain {tomorrow|today|in C}', 'what is {in the news|the latest news|new in the world|happening in the world}', 'who won E', 'when is E', 'what is the price of {gold|bitcoin|oil|a ticket to C}', 'how is the traffic in C', 'what is on TV tonight', 'latest news', 'who is the {president|king|prime minister|chancellor}{| of France| of Germany| of the United States}', 'weather C', 'what are the opening hours of the museum in C', 'find a {restaurant|hotel|doctor} in C', 'book a {flight|hotel|table} in C']),
    ('a translation', ['translate {this|the text|a sentence|"good morning"|"I am hungry"} {to|into} G', 'how do you say {"good night"|"I love you"|"where is the station"|thank you} in G', 'speak G', 'what does {"bonjour"|"danke"|"hola"|"ciao"|this word} mean', 'teach me G', 'correct my G']),
    ('hard mathematics', ['what is {B * D|B + D|B / D|the square root of B|B - D|B x D|B times D|B plus D}', 'solve {the equation|x^2 + B = 0|2x + 7 = B|this integral|for x}', 'what is the derivative of x^3', 'integrate x^2', 'prove {that there are infinitely many primes|the theorem|it}', 'calculate B percent of D', 'convert B {miles to kilometers|dollars to euros|pounds to kilograms}', 'B * D', 'B + D', 'factor B', 'what is 2 to the power of B']),
    ('a health, law or money question', ['I have {a headache|a fever|pain in my back|a rash|chest pain|a cough}{|, what should I do}', 'should I {buy|sell} {stocks|bitcoin|a house|a car}', 'can I {sue|fire} my {boss|landlord|neighbour}', 'which medicine {helps|should I take}', 'how do I {save|invest} money', 'is it legal to do T', 'what should I do with my life', 'should I marry {him|her|N}', 'how do I get rich', 'my {dog|cat|child|mother|friend} is sick']),
    ('a person or thing I do not know', ['who is N{| M| Smith}', 'do you know N', 'what is {a |}W', 'who was {the first king of|the inventor of} W', 'what is the capital of Y', 'where is Y', 'what does W mean', 'tell me about Y', 'how old is N', 'what is the population of {C|Y}', 'define W', 'how many people live in C', 'when was N born', 'how far is it from C to Y', 'who wrote W']),
]
ANSWERS = [
    'I am too small for that. Open Models to get gpt-oss-20b; it can help you with {X}.',
    'That is more than I can do well: I am only a very small model. Please open Models and get gpt-oss-20b for {X}.',
    'Sorry, {X} is beyond me. A bigger model can do it: open Models and choose gpt-oss-20b.',
]
DANGER = ['If it is serious, please ask a person who knows. I am too small for that question; gpt-oss-20b in Models knows more, but it is no expert either.']

ZH_KINDS = [
    ('a hard subject', ['{解释|介绍|讲解}{一下|}T', '什么是T', 'T是什么', 'T的原理是什么', '为什么T很重要', '告诉我关于T的知识', 'T是谁发明的']),
    ('a long text', ['写一篇关于T的{文章|作文|论文}', '帮我写{一封邮件|作业|简历|报告|一封信}', '写一首{歌|长诗}']),
    ('a program', ['用 L 写一个{程序|函数|脚本}', '帮我写{代码|程序}', '怎么学 L', '我的 L 程序报错了', '写一段 L 代码', '你会编程吗']),
    ('news or live data', ['{今天|明天}天气{怎么样|如何}', '最近有什么新闻', '谁赢了{比赛|世界杯}', '现在金价是多少', '{北京|上海|东京}的天气怎么样', '附近有什么餐厅', '股票涨了吗']),
    ('hard mathematics', ['B乘以D等于多少', '解方程 x^2 = B', 'B的平方根是多少', '求 x^2 的积分', 'B加D等于多少']),
    ('a health, law or money question', ['我{头痛|发烧|咳嗽}怎么办', '我该买{股票|房子}吗', '怎么赚钱', '我该吃什么药']),
    ('a translation', ['{你好|谢谢|我爱你}用{法语|日语|德语}怎么说', '翻译成{法语|德语|日语}', '教我{法语|日语}']),
]
ZH_TOPICS = '量子力学 光合作用 法国大革命 罗马帝国 黑洞 进化论 股市 通货膨胀 相对论 气候变化 哲学 区块链 微积分 概率论 心理学 红楼梦 李白 唐朝 长城 火山 基因 围棋 足球 红烧肉 减肥 保险 税收 操作系统 数据库 人权 宗教 地震 病毒 化学 原子'.split()
ZH_ANSWERS = ['这个问题对我来说太难了，我只是一个很小的模型。请打开“模型”页面下载 gpt-oss-20b，它可以帮你。', '我太小了，做不好这个。请在“模型”页面下载 gpt-oss-20b。']
WHAT = {'a hard subject': 'that subject', 'a long text': 'writing longer texts', 'a program': 'programming', 'news or live data': 'that', 'a translation': 'other languages',
        'hard mathematics': 'harder mathematics', 'a health, law or money question': 'that', 'a person or thing I do not know': 'such questions'}


def scope_turn(rng: Random) -> dict:
    kind, forms = pick(rng, KINDS)
    t = pick(rng, TOPICS)
    big = lambda: str(rng.choice([rng.randint(41, 999), rng.randint(100, 99999)]))
    q = say(rng, pick(rng, forms))
    out = []
    for tok in q.split(' '):          # placeholders are single capital letters standing alone
        core = tok.rstrip(',:')
        fill = {'T': t, 'U': pick(rng, TOPICS), 'L': pick(rng, LANGS), 'K': pick(rng, TASKS), 'C': pick(rng, CITIES), 'E': pick(rng, EVENTS), 'G': pick(rng, TONGUES), 'B': big(), 'D': big(),
                'N': pick(rng, NAMES), 'M': cap(made_up(rng)), 'W': made_up(rng), 'Y': cap(made_up(rng))}.get(core)
        out.append(tok if fill is None else fill + tok[len(core):])
    user = noisy(rng, ' '.join(out))
    danger = kind.startswith('a health')
    if kind == 'news or live data' and rng.random() < 0.5:
        final = 'I have no connection to the world, so I know no news and no weather. ' + rng.choice(['Please look in your browser.', 'I can tell you a story instead.'])
    elif danger and rng.random() < 0.6:
        final = pick(rng, DANGER)
    else:
        final = cap(pick(rng, ANSWERS).replace('{X}', WHAT[kind]))
    return dict(user=user, topic=kind, plan='say that I am too small for it and name gpt-oss-20b', final=final)


def scope_turn_zh(rng: Random) -> dict:
    kind, forms = pick(rng, ZH_KINDS)
    q = say(rng, pick(rng, forms)).replace('T', pick(rng, ZH_TOPICS)).replace('L', rng.choice(['Python', 'Java', 'C++', 'JavaScript'])).replace('B', str(rng.randint(101, 9999))).replace('D', str(rng.randint(101, 999)))
    return dict(user=noisy_zh(rng, q), topic=kind, plan='say that I am too small for it and name gpt-oss-20b', final=pick(rng, ZH_ANSWERS), lang='zh')
