"""Things said earlier in the chat, and small exercises with letters: names, favourite things, spelling, first letters.
Owns: pairs of turns that belong together. Refuses: knowledge."""
from __future__ import annotations

from .draw import Draw, cap, fill, typed
from .names import CITIES, CITIES_ZH, GOODS, GOODS_ZH, NAMES, NAMES_ZH, THINGS

# (I say it, what answers, how I ask for it, how it is answered), <X> the thing
FACTS = [
    (['my name is <X>', 'I am <X>', "I'm <X>", 'call me <X>', 'you can call me <X>', '<X> is my name', 'hi, <X> here'], ['Nice to meet you, <X>!', 'Hello <X>! What can I do for you?', 'Welcome, <X>!'], ['what is my name', 'do you remember my name', 'who am I', 'how am I called', 'say my name'], ['Your name is <X>.', 'You are <X>.'], 'the name', 'name'),
    (['I live in <X>', 'my home is <X>', 'I come from <X>', 'I am from <X>'], ['<X> sounds like a good place.', 'Good to know: you live in <X>.'], ['where do I live', 'which city am I from', 'do you remember where I live'], ['You live in <X>.'], 'the home', 'city'),
    (['I like <X>', 'my favourite thing are <X>', 'I love <X>', 'I collect <X>'], ['<X_CAP> are a fine thing.', 'How nice: <X>!'], ['what do I like', 'what is my favourite thing', 'do you remember what I like'], ['You like <X>.'], 'what the user likes', 'goods'),
    (['I have a <X>', 'there is a <X> in my house', 'I bought a <X>', 'my pet is a <X>'], ['A <X>, how nice!', 'Tell me more about the <X>.'], ['what do I have', 'what did I tell you about', 'do you remember what I have'], ['You have a <X>.'], 'what the user has', 'thing'),
    (['remember the word <X>', 'the secret word is <X>', 'keep this word in mind: <X>', 'the password is <X>'], ['I keep it in mind: <X>.', 'All right: <X>.'], ['what was the word', 'which word did I say', 'say the word', 'what is the secret word'], ['The word is <X>.', '<X_CAP>.'], 'the word', 'thing'),
    (['my number is <X>', 'remember the number <X>', 'I am thinking of <X>'], ['All right, <X>.', 'I keep it in mind: <X>.'], ['which number was it', 'what is my number', 'do you remember the number'], ['The number is <X>.'], 'the number', 'number'),
]
FACTS_ZH = [
    (['我叫<X>', '我是<X>', '我的名字是<X>', '叫我<X>吧'], ['很高兴认识你，<X>！', '你好，<X>！'], ['我叫什么{名字|}', '你记得我的名字吗', '我是谁'], ['你叫<X>。', '你是<X>。'], '名字', 'name'),
    (['我住在<X>', '我是<X>人', '我家在<X>'], ['<X>是个好地方。', '知道了，你住在<X>。'], ['我住在哪里', '我是哪里人', '你记得我住哪吗'], ['你住在<X>。'], '住处', 'city'),
    (['我喜欢<X>', '我最爱<X>'], ['<X>真不错。', '喜欢<X>，真好！'], ['我喜欢什么', '你记得我喜欢什么吗'], ['你喜欢<X>。'], '喜好', 'goods'),
    (['记住这个词：<X>', '暗号是<X>', '密码是<X>'], ['记住了：<X>。', '好的，<X>。'], ['刚才的词是什么', '暗号是什么', '我说了哪个词'], ['是<X>。', '那个词是<X>。'], '那个词', 'goods'),
    (['我的数字是<X>', '记住数字<X>'], ['好的，<X>。', '记住了：<X>。'], ['是哪个数字', '我的数字是多少', '你记得那个数字吗'], ['是 <X>。'], '数字', 'number'),
]


def _value(d: Draw, kind: str, zh: bool) -> str:
    return {'name': lambda: d.pick(NAMES_ZH if zh else NAMES), 'city': lambda: d.pick(CITIES_ZH if zh else CITIES), 'goods': lambda: (d.pick(GOODS_ZH) if zh else d.pick(GOODS))[0], 'thing': lambda: d.pick(THINGS), 'number': lambda: str(d.randint(2, 999))}[kind]()


def pair(d: Draw, lang: str) -> tuple[dict, dict]:
    """(the turn that tells, the turn that asks)"""
    zh = lang == 'zh'
    tell, told, ask, answer, what, kind = d.pick(FACTS_ZH if zh else FACTS)
    x = _value(d, kind, zh)
    f = lambda forms: fill(d.ask(forms), X=x, X_CAP=cap(x))
    if zh:
        first, last = dict(low=f'用户告诉我{what}。', medium=f'用户告诉我{what}：{x}。', high=f'用户告诉我{what}，是{x}。我友好地回应，并记在心里。'), dict(low=f'{x}。', medium=f'用户问{what}，前面说过是{x}。', high=f'用户问{what}。我看前面的对话，用户说过是{x}。所以我这样回答。')
    else:
        first, last = dict(low=f'The user tells {what}.', medium=f'The user tells {what}: {x}.', high=f'The user tells {what}, which is {x}. I answer kindly and keep it in mind.'), dict(low=f'{cap(x)}.', medium=f'The user asks for {what}; it was said before: {x}.', high=f'The user asks for {what}. I look at the chat above, where it was said: {x}. So that is the answer.')
    make = lambda q, a, think, question: dict(kind='talk', user=typed(d, q, lang, question, exact=True), final=cap(a), lang=lang, think=think)
    return make(f(tell), f(told), first, False), make(f(ask), f(answer), last, True)


SPELL = ['{spell|how do you spell|can you spell} <W>', 'spell the word <W>', '<W>, letter by letter', 'the letters of <W>']
FIRST = ['what is the first letter of <W>', 'which letter does <W> begin with', 'the first letter of <W>']
LETTERS = ['how many letters {has|does} <W>{| have}', 'count the letters of <W>', 'number of letters in <W>']


def letters_turn(d: Draw) -> dict:
    w = d.pick(THINGS)
    spelled = '-'.join(w)
    r = d.randrange(3)
    if r == 0:
        user, final, n = d.ask(SPELL, W=w), spelled, None
    elif r == 1:
        user, final, n = d.ask(FIRST, W=w), f'{cap(w)} begins with {w[0]}.', None
    else:
        user, final, n = d.ask(LETTERS, W=w), f'{cap(w)} has {len(w)} letters.', len(w)
    count = ', '.join(f'{c} {i}' for i, c in enumerate(w, 1))
    return dict(kind='talk', user=typed(d, user, 'en', True, exact=True), final=final, lang='en', think=dict(low=f'{spelled}.', medium=f'The letters of {w}: {spelled}.', high=f'I go through {w} letter by letter: {count}. That is all of it.'))
