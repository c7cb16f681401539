"""Short stories from plots with changing people, things and places.
Owns: plots and the questions that ask for them, in English and Chinese. Refuses: rendering."""
from __future__ import annotations

from random import Random

from .common import ADJ, NAMES, PLACES, THINGS, article, cap, made_up, noisy, noisy_zh, pick, say

TIME = ['One morning', 'One evening', 'One cold night', 'One bright day', 'One day in spring', 'One day in autumn', 'Late one night']
WEATHER = ['The rain fell softly', 'The wind was strong', 'The sky was full of stars', 'Snow lay on every roof', 'Fog hid the road',
           'The sun was warm', 'A storm was near', 'The moon was round and bright']
GIFT = ['a piece of warm bread', 'a cup of tea', 'a small lamp', 'a red scarf', 'a blue stone', 'a handful of nuts', 'an old map', 'a silver bell']
END = ['From that day on, nobody there was lonely.', 'And everyone slept well that night.', 'It was a small thing, but they never forgot it.',
       'They smiled, and the evening was warm.', 'After that, they were friends.', 'And that is how it is to this day.',
       'Then they went home, happy and tired.', 'The stars seemed to nod.']

ANIMATE = set("""cat dog owl fox bear robot dragon bird whale turtle mouse rabbit horse frog bee pirate baker painter sailor farmer teacher
wizard knight queen king giant elf ghost snail spider butterfly duck goose swan penguin seal crab fish shark lion tiger elephant monkey
parrot hen sheep goat cow pig hedgehog squirrel beaver wolf deer camel ant ladybird snowman puppy kitten dolphin octopus otter panda koala
dinosaur unicorn mermaid princess prince fairy witch astronaut doctor nurse cook gardener fisherman miller tailor postman grandmother
grandfather sister brother friend neighbour""".split())


def story_about(rng: Random, thing: str, long: bool = False) -> str:
    """A finished story of 4 to 9 sentences in which `thing` plays the main part."""
    name, other = rng.sample(NAMES, 2)
    adj, place, time, weather, gift, end = (pick(rng, x) for x in (ADJ, PLACES, TIME, WEATHER, GIFT, END))
    the, a = 'the ' + thing, article(adj + ' ' + thing)
    first = thing in ANIMATE
    body = rng.choice(PLOTS_LIVING if first else PLOTS_THING)
    text = body(rng, name, other, a, the, place, time, weather, gift)
    if long:
        text += ' ' + rng.choice([
            f'The next day {other} came by and asked what had happened. {name} told the whole story, and they laughed together.',
            f'{other} heard about it and brought {gift}. They sat together until it was dark.',
            f'{weather} again that night, but {name} was not afraid any more.'])
    return text + ' ' + end


def _living_lost(rng, name, other, a, the, place, time, weather, gift):
    return (f'Once there was {a} who lived {place}. {time}, {the} could not find the way home. {weather}. '
            f'A child called {name} heard a sound and opened the door. "Come in," said {name}, and gave {the} {gift}. '
            f'When it was light, they walked home together.')


def _living_wish(rng, name, other, a, the, place, time, weather, gift):
    wish = pick(rng, ['to see the sea', 'to learn a song', 'to find a friend', 'to count all the stars', 'to climb the highest hill', 'to bake a cake'])
    return (f'There was once {a} {place}. More than anything, {the} wanted {wish}. {time}, {name} came along the road with {gift}. '
            f'"I can help you," said {name}. They tried once and failed. They tried again, and it worked. {cap(the)} danced for joy.')


def _living_help(rng, name, other, a, the, place, time, weather, gift):
    return (f'{cap(a)} lived {place}. {time}, {name} lost {gift} on the way home. {weather}, and it was hard to see. '
            f'{cap(the)} looked under every bush and behind every stone. At last {the} found it and brought it to {name}. '
            f'"Thank you," said {name}. "You are very kind."')


def _living_race(rng, name, other, a, the, place, time, weather, gift):
    return (f'{time}, {name} met {a} {place}. "Shall we race to the old gate?" asked {name}. {cap(the)} was slow at first, '
            f'but did not stop. {name} stopped to look at {gift}. So {the} came first. {name} laughed and said, "You won because you went on."')


def _thing_found(rng, name, other, a, the, place, time, weather, gift):
    return (f'{time}, {name} found {a} {place}. Nobody knew who it belonged to. {weather}, and {name} stayed beside {the} for a while. '
            f'Then {other} came and said, "My grandmother told me about {the}. It brings luck to those who share." '
            f'So {name} shared {gift} with {other}.')


def _thing_keeper(rng, name, other, a, the, place, time, weather, gift):
    return (f'{name} looked after {a} {place}. Every day {name} cared for {the} and said good night to it. {time}, everything went wrong. '
            f'{weather}, and {other} could not find the way. But {name} lit a lamp beside {the}, and {other} saw the light and came home safe.')


def _thing_repair(rng, name, other, a, the, place, time, weather, gift):
    return (f'There was {a} {place}, and everybody thought it was useless. {time}, {name} and {other} decided to help. '
            f'They cleaned and painted and worked all day. {weather}, but they did not stop. In the evening {the} was more beautiful than ever. '
            f'The people came to see it and brought {gift}.')


def _thing_talk(rng, name, other, a, the, place, time, weather, gift):
    return (f'{name} often sat beside {a} {place}. {time}, {the} seemed to whisper, "Do not be sad." {weather}. '
            f'{name} listened and told {the} about a long day. Then {other} came with {gift}, and they sat there together. '
            f'{name} was not sad any more.')


PLOTS_LIVING = [_living_lost, _living_wish, _living_help, _living_race]
PLOTS_THING = [_thing_found, _thing_keeper, _thing_repair, _thing_talk]

ASK = ['{tell me|write|write me|make up|give me|invent|can you tell me|could you write|please tell me|I want|I would like|let me hear} a {short |little |nice |very short |}{story|tale|story for children|bedtime story} about {A}',
       '{story|a story|short story} about {A}', 'a {short |little |}story with {A} in it{, please|}', '{do you know|have you got} a story about {A}',
       'write {a few|some|five} sentences about {A} {as a story|in a story}', 'please write a story {about|with} {A}',
       'can I {have|get} a story about {A}', 'tell a story about {A}']
ASK_LONG = ['{tell me|write|write me|please tell me} a {long|longer|very long} story about {A}']
ASK_ANY = ['{tell me|write|write me|make up|give me|can you tell me|please tell me|I want|I would like} a {short |little |nice |}story',
           'a story{, please|}', 'tell me {something nice|a tale}', 'can you write stories', '{bedtime story|story time}', 'surprise me with a story']
POEM = ['{write|write me|make|can you write|give me|please write} a {short |little |}poem {about|on} {A}', 'a poem about {A}']


def story_turn(rng: Random, things=THINGS) -> dict:
    r = rng.random()
    thing = pick(rng, things) if rng.random() < 0.93 else made_up(rng)
    shown = rng.choice([article(thing), article(thing), 'the ' + thing, 'my ' + thing, article(pick(rng, ADJ) + ' ' + thing), thing + 's'])
    if r < 0.10:
        return dict(user=noisy(rng, say(rng, pick(rng, ASK_ANY)), False), topic='a story', plan=f'tell a short story about {article(thing)}',
                    final=story_about(rng, thing))
    if r < 0.22:
        return dict(user=noisy(rng, say(rng, pick(rng, POEM)).replace('{A}', shown), False), topic=f'a poem about {article(thing)}',
                    plan='write four short lines', final=poem(rng, thing))
    long = r < 0.34
    ask = say(rng, pick(rng, ASK_LONG if long else ASK)).replace('{A}', shown)
    return dict(user=noisy(rng, ask, False), topic=f'a {"long " if long else ""}story about {article(thing)}',
                plan=f'tell a {"longer" if long else "short"} story with {article(thing)} and an end', final=story_about(rng, thing, long))


def poem(rng: Random, thing: str) -> str:
    a, b = rng.choice([('night', 'light'), ('day', 'way'), ('sea', 'me'), ('snow', 'glow'), ('rain', 'again'), ('sky', 'by'), ('hill', 'still')])
    one = rng.choice([f'A {pick(rng, ADJ)} {thing} in the {a}' if a in ('night', 'day', 'snow', 'rain') else f'A {pick(rng, ADJ)} {thing} beside the {a}',
                      f'I saw the {thing} one {a}' if a in ('night', 'day') else f'The {thing} looks out towards the {a}'])
    three = rng.choice(['The wind is low, the world is wide', 'A little bell begins to ring', 'The stars come out, the birds are home'])
    last = {'light': 'was waiting for a little light', 'way': 'went slowly on its quiet way', 'me': 'and softly sang a song for me',
            'glow': 'and gave the world a gentle glow', 'again': 'and then the sun came out again', 'by': 'and watched the clouds go slowly by',
            'still': 'and all the world was very still'}[b]
    four = rng.choice(['and I am glad to be your friend.', 'and everything is good and warm.', 'and nobody is far away.'])
    return f'{one},\n{last}.\n{three},\n{four}'


ZH_THING = [('猫', '一只'), ('狗', '一只'), ('灯塔', '一座'), ('小船', '一条'), ('月亮', '一个'), ('星星', '一颗'), ('兔子', '一只'), ('狐狸', '一只'),
            ('熊', '一只'), ('鸟', '一只'), ('机器人', '一个'), ('老师', '一位'), ('花园', '一个'), ('大树', '一棵'), ('雨', '一场'), ('龙', '一条'), ('鱼', '一条'),
            ('火车', '一列'), ('风筝', '一只'), ('雪人', '一个')]
ZH_NAME = ['小明', '小红', '小雨', '小林', '小月', '小安', '阿宝', '小青']
ZH_ASK = ['{给我|请给我|}讲一个{关于|有关}T的{小|短|}故事', '写一个关于T的{小|短|}故事', '讲个T的故事{吧|}', '我想听一个关于T的故事', '{能|可以}讲一个关于T的故事吗', '来一个T的故事']


def story_turn_zh(rng: Random) -> dict:
    thing, one = pick(rng, ZH_THING)
    name, other = rng.sample(ZH_NAME, 2)
    when = pick(rng, ['有一天', '一天晚上', '一个下雨的早晨', '春天的一天', '很久以前的一个夜里'])
    where = pick(rng, ['海边', '村子里', '森林旁边', '小河边', '山上', '老桥旁'])
    gift = pick(rng, ['一块热面包', '一盏小灯', '一杯茶', '一条红围巾', '一颗蓝色的石头'])
    end = pick(rng, ['从那以后，他们成了好朋友。', '那天晚上，大家都睡得很香。', '这是一件小事，但他们一直记得。', '星星也好像在微笑。'])
    text = rng.choice([
        f'{when}，{name}在{where}遇到了{one}{thing}。{name}有点害怕，但还是慢慢走过去。{other}也来了，带来了{gift}。他们一起坐在那里，说了很多话。{end}',
        f'很久以前，{where}有{one}{thing}。{when}，{name}迷路了，天很黑。{name}看到了{thing}，心里就不怕了。后来{other}拿着{gift}来找{name}，他们一起回了家。{end}',
        f'{name}很喜欢{thing}。{when}，{name}对{other}说：“我们去{where}看看吧。”他们走了很远，终于看到了{one}{thing}。{other}高兴地拿出{gift}，和大家分享。{end}'])
    if rng.random() < 0.15:
        ask = say(rng, '{给我|请给我|}讲{个|一个}{小|}故事{吧|}')
    else:
        ask = say(rng, pick(rng, ZH_ASK)).replace('T', thing if rng.random() < 0.6 else one + thing)
    return dict(user=noisy_zh(rng, ask, False), topic='a story', plan=f'tell a short story about {thing}', final=text, lang='zh')
