"""Short English stories and small poems: who, where, a wish or a trouble, a turn, an end. Every story closes.
Owns: the pools of sentences and the questions that ask for a story. Refuses: Chinese (stories_zh.py), rendering."""
from __future__ import annotations

from .draw import Draw, article, cap, fill, typed
from .names import GOODS, NAMES, THINGS, made_up

ANIMATE = set("""blackbird raven swallow crow moth lizard wasp mole weasel hamster pony giraffe zebra hippo kangaroo
cat dog owl fox bear robot dragon bird whale turtle mouse rabbit horse frog bee pirate baker painter sailor farmer teacher
wizard knight queen king giant elf ghost snail spider butterfly duck goose swan penguin seal crab fish shark lion tiger elephant monkey
parrot hen sheep goat cow pig hedgehog squirrel beaver wolf deer camel ant ladybird snowman puppy kitten dolphin octopus otter panda koala
dinosaur unicorn mermaid princess prince fairy witch astronaut doctor nurse cook gardener fisherman miller tailor postman grandmother
grandfather sister brother friend neighbour""".split())
ADJ = 'small old quiet brave little red blue green shy kind clever sleepy tiny happy lonely gentle curious golden silver grey cheerful careful stubborn'.split()
PLACES = """by the sea|in a quiet village|at the edge of a forest|on a small island|near a wide river|in a town of narrow streets|high in the hills|beside a long road|in a valley full of flowers|at the end of a pier
under a big oak tree|in a city of many bridges|on a farm|near an old mill|behind a stone wall|in a house with a blue door|at the foot of a mountain|next to a bakery|beside a silver lake|in a garden nobody visited
on the last street of the town|near the railway|in a harbour full of boats|between two fields of wheat""".replace('\n', '|').split('|')
TIMES = 'One morning|One evening|One cold night|One bright day|One day in spring|One day in autumn|Late one night|On the first day of snow|One windy afternoon|One Sunday|On a rainy Tuesday|Just before sunset|In the middle of summer|Early one morning'.split('|')
WEATHER = 'The rain fell softly|The wind was strong|The sky was full of stars|Snow lay on every roof|Fog hid the road|The sun was warm|A storm was near|The moon was round and bright|The air smelled of apples|Leaves danced in the street|It was so quiet that one could hear the clock'.split('|')
GIFTS = 'a piece of warm bread|a cup of tea|a small lamp|a red scarf|a blue stone|a handful of nuts|an old map|a silver bell|a basket of apples|a woollen blanket|a jar of honey|a paper boat|a bowl of soup|a wooden whistle|a yellow umbrella'.split('|')

# <H> the hero with "the", <A> with "a", <N> <M> people, <P> place, <G> gift, <W> weather, <T> time
OPEN_LIVING = ['Once there was <A> who lived <P>.', 'There was once <A> <P>.', '<A> lived <P>, alone but not unhappy.', 'Long ago <A> made a home <P>.', 'Everybody <P> knew <H>.', 'In a year that nobody remembers, <A> came to live <P>.', '<N> had a friend: <A> who lived <P>.']
OPEN_THING = ['Once there was <A> <P>.', '<N> found <A> <P>.', 'For many years <A> had been <P>, and nobody looked at it.', '<N> looked after <A> <P>.', 'There was <A> <P>, older than all the houses.', 'When <N> was small, there was <A> <P>.', '<P_CAP>, where few people go, there was <A>.']
WISH_LIVING = ['More than anything, <H> wanted to see the world.', '<H_CAP> had one wish: to learn a song.', '<H_CAP> wanted to find a friend.', 'Every night <H> tried to count the stars and fell asleep at nine.', '<H_CAP> had never been brave, and wished to be.', 'What <H> loved most was to help others.', 'But <H> had lost something: a key as small as a nut.', '<H_CAP> wanted to bake a cake for the whole street.', '<H_CAP> had promised to bring a letter over the hill.', 'All day long <H> dreamed of flying.', '<H_CAP> collected lost buttons and wondered who missed them.']
WISH_THING = ['Nobody knew who it belonged to.', 'People said that it was useless.', 'It was said that <H> could grant one wish.', '<N> took care of <H> every day and said good night to it.', 'At night a soft light seemed to come from <H>.', 'Grown-ups walked past, but <N> stopped every day.', 'Some said that <H> could speak, if one waited long enough.', '<H_CAP> had seen many summers and forgotten none.', 'The mayor wanted to get rid of it.']
TROUBLE = ['<T>, a storm came, and the way home was gone.', '<T>, everything went wrong: the lamps went out and nobody could see the road.', '<T>, <M> got lost and called for help.', '<T>, the bridge broke, and half the town could not get home.', '<T>, the well was empty, and all were thirsty.', '<T>, <N> fell ill and could not get up.', '<T>, a child from the village did not come home.', '<T>, the great clock stopped, and nobody knew when to wake up.', '<T>, the snow was so deep that no door would open.', '<T>, a stranger arrived, cold and hungry.', '<T>, two neighbours quarrelled so loudly that the birds left.', '<T>, <M> lost <G> on the way home.', '<T>, the music at the feast fell silent, for the fiddler was missing.', '<T>, a thief took the bell of the church.']
MOOD = ['<W>.', '<W>, and it was hard to see.', '<W>. Nobody knew what to do.', '<W>, but nobody noticed.', 'People stood at their windows and waited.', '"What shall we do?" asked <M>.', '"It cannot be helped," said the old people.', '<M> sat down on the steps and sighed.']
TURN_LIVING = ['But <H> did not wait. Step by step <H> went on, until there was a light.', '<H_CAP> was afraid, and went all the same.', '"I will try," said <H>, and set off with <G>.', '<H_CAP> asked everyone for a little help, and everyone gave a little.', '<H_CAP> tried once and failed, tried again, and then it worked.', 'Then <H> had an idea, as simple as bread, and shared it with <N>.', '<H_CAP> listened, thought for a while, and smiled. "I know the way," it was said softly.', '<N> and <H> went together, and together the way was half as long.', '<H_CAP> searched under every bush and behind every stone, all night long.']
TURN_THING = ['Then <N> remembered <H> and lit a lamp beside it. The light could be seen from far away.', '<N> ran to <H>, and there, behind it, was what everybody had looked for.', '<N> cleaned <H> and found a word written on it: together.', '"Look at <H>," said <N>. "It has stood here through worse." And the people took heart.', 'They all met at <H>, for it was the only place that everyone knew.', '<N> sat down by <H> and told it everything. Telling it helped: suddenly the answer was clear.', 'But <H> showed the way, as it had done for a hundred years.', '<N> and <M> carried <H> to the place where it was needed most.', 'With <H> and a little patience, <N> put everything right.']
RESULT = ['When it was light, all was well again.', 'By the evening everyone was home and safe.', 'It took a long time, but it worked.', '"Thank you," said <M>, and meant it.', 'The people cheered, and somebody began to sing.', '<M> came with <G>, and they shared it.', 'Even the oldest neighbour laughed.', 'In the morning the whole town came to see it.', 'Nobody had expected that, least of all <N>.', 'And what had been lost was found.', '<N> gave <H> a name that day: Sunday.', 'The quarrel was forgotten over a bowl of soup.']
END = ['From that day on, nobody there was lonely.', 'And everyone slept well that night.', 'It was a small thing, but they never forgot it.', 'They smiled, and the evening was warm.', 'After that, they were friends.', 'And that is how it is to this day.', 'Then they went home, happy and tired.', 'The stars seemed to nod.', 'Since then a lamp has burned there every night.', 'If you ever come by, you may hear them laugh.', 'And they lived in peace for many years.', 'Sometimes that is all it takes.', 'That was the best day of the year.', 'Since that time people there leave their doors open.', 'And so the story ends, as good stories do: at home.']
EXTRA = ['On the way <H> met an old woman who said, "Kindness is never too heavy to carry."', 'Behind the hill there was a small house with one window, and in the window stood a candle.', 'Three times the wind blew out the light, and three times <N> lit it again.', '<M> laughed at first, but then helped as well.', 'They shared <G> and told each other about their homes.', 'An owl watched from a tree and said nothing, as owls do.', 'The road was longer than it looked, so they sang.', 'For a moment everything was still.', '"Are we there yet?" asked <M> for the seventh time.', 'It began to smell of bread, so the village could not be far.']

ASK = ['{tell me|write|write me|make up|give me|invent|can you tell me|could you write|please tell me|I want|I would like|let me hear|do you have|I need|come up with} a {short |little |nice |very short |new |}{story|tale|story for children|bedtime story|fairy tale} {about|with} <X>',
       '{a story|short story|story} about <X>', 'a {short |little |}story with <X> in it{, please|}', '{do you know|have you got} a story about <X>', 'write {a few|some|five} sentences about <X> as a story', 'please write a story {about|with} <X>', 'can I {have|get} a story about <X>', 'tell a story about <X>',
       'my {son|daughter|child|niece} wants a story about <X>', 'story time: <X>', 'something to read about <X>', 'a story for {my kids|tonight|a child}, it should be about <X>', "let's have a story with <X>", 'once upon a time there was <X>, go on', 'make <X> the hero of a story', 'a tale in which <X> plays a part', 'I like <X>, tell me a story']
ASK_ANY = ['{tell me|write|write me|make up|give me|can you tell me|please tell me|I want|I would like} a {short |little |nice |}story', 'a story{, please|}', 'tell me {something nice|a tale}', 'can you write stories', '{bedtime story|story time}', 'surprise me with a story', 'invent something', 'I cannot sleep, tell me a story', 'any story will do', 'story']
LONG = ['{a long|a longer|a rather long} story about <X>', 'tell me a long story {about|with} <X>', 'write a longer story about <X>', 'a story about <X>, not too short', 'make it long: a story about <X>']
TINY = ['a story about <X> in {two|three} sentences', 'a very short story about <X>, three sentences', 'tell me about <X> in three sentences as a story', 'a mini story about <X>', 'the shortest story about <X>']
NAMED = ['a story about {somebody|a child|a girl|a boy} called <N>{ and <X>|}', 'tell me a story about <N> and <X>', 'write a story in which <N> meets <X>', '<N> finds <X>: write the story', 'a story with <N> and <X>']
POEM = ['{write|write me|make|can you write|give me|please write} a {short |little |}{poem|rhyme|verse} {about|on|for} <X>', 'a poem about <X>', '{four lines|some verses} about <X>', 'rhyme something about <X>']
AGAIN = ['another one', 'one more', 'another story, please', 'tell me another', 'and one about <X>', 'now one about <X>', 'the same with <X>', 'again, but with <X>']


def story(d: Draw, thing: str, name: str | None = None, size: str = 'short') -> str:
    """A finished story in which `thing` plays the main part; 3 sentences, 5 to 7, or 8 to 10 blocks."""
    people = [n for n in d.sample(NAMES, 3) if n != name]
    n, m = name or people[0], people[1]
    alive = thing in ANIMATE
    place = d.pick(PLACES)
    slots = dict(H='the ' + thing, H_CAP='The ' + thing, A=article(d.pick(ADJ) + ' ' + thing) if d.chance(0.7) else article(thing), N=n, M=m, P=place, P_CAP=cap(place), T=d.pick(TIMES), G=d.pick(GIFTS), W=d.pick(WEATHER))
    opening = d.pick([o for o in (OPEN_LIVING if alive else OPEN_THING) if '<A>' in o or size != 'tiny'])
    parts = [opening]
    if name and '<N>' not in opening:
        parts.append(d.pick(['<N> came by every day.', '<N> lived next door.', '<N> knew it well.', 'And there was <N>, who was not afraid of anything.']))
    if size != 'tiny':
        parts.append(d.pick(WISH_LIVING if alive else WISH_THING))
    parts.append(d.pick([t for t in TROUBLE if '<G>' not in t or not alive]))
    if size != 'tiny' and d.chance(0.7):
        parts.append(d.pick(MOOD))
    parts.append(d.pick(TURN_LIVING if alive else TURN_THING))
    if size == 'long':
        parts += [d.pick(EXTRA), d.pick([x for x in RESULT if '<G>' not in x])]
    if size != 'tiny':
        parts.append(d.pick(RESULT))
    parts.append(d.pick(END))
    done, seen = [], set()
    for p in parts:
        if p not in seen:
            done.append(cap(fill(p, **slots)))
            seen.add(p)
    return ' '.join(done)


RHYMES = [('night', 'light'), ('day', 'way'), ('sea', 'me'), ('snow', 'glow'), ('rain', 'again'), ('sky', 'by'), ('hill', 'still'), ('spring', 'sing'), ('tree', 'free'), ('sun', 'begun'), ('moon', 'soon'), ('star', 'far')]
LAST = dict(light='was waiting for a little light', way='went slowly on its quiet way', me='and softly sang a song for me', glow='and gave the world a gentle glow', again='and then the sun came out again', by='and watched the clouds go slowly by', still='and all the world was very still',
            sing='and taught the little birds to sing', free='and felt as light and just as free', begun='and knew: a new day had begun', soon='and whispered: morning will come soon', far='and shone for those who travel far')
THIRD = ['The wind is low, the world is wide', 'A little bell begins to ring', 'The stars come out, the birds are home', 'The road is long, the house is near', 'A door stands open, warm and bright']
FOURTH = ['and I am glad to be your friend.', 'and everything is good and warm.', 'and nobody is far away.', 'and somebody is waiting there.', 'and all is well, and all is calm.']
FIRST = dict(night='<A> in the night', day='<A> one day', sea='<A> beside the sea', snow='<A> in the snow', rain='<A> in the rain', sky='<A> below the sky', hill='<A> upon the hill', spring='<A> in the spring', tree='<A> below the tree', sun='<A> in the sun', moon='<A> and the moon', star='<A> beneath a star')


def poem(d: Draw, thing: str) -> str:
    a, b = d.pick(RHYMES)
    one = cap(fill(FIRST[a], A=article(d.pick(ADJ) + ' ' + thing)))
    return f'{one},\n{LAST[b]}.\n{d.pick(THIRD)},\n{d.pick(FOURTH)}'


def shown(d: Draw, thing: str) -> str:
    plural = {'mouse': 'mice', 'goose': 'geese', 'sheep': 'sheep', 'fish': 'fish', 'wolf': 'wolves', 'leaf': 'leaves'}.get(thing, thing + ('es' if thing.endswith(('s', 'x', 'ch', 'sh')) else 's'))
    return d.pick([article(thing)] * 4 + ['the ' + thing, 'my ' + thing, article(d.pick(ADJ) + ' ' + thing), plural, 'two ' + plural])


def _think(kind: str, plan: str, high: str) -> dict:
    return dict(low=f'{cap(kind)}.', medium=f'The user wants {kind}. I {plan}.', high=f'The user wants {kind}. {high} I {plan}, and it must come to an end.')


MORE = [one for _, one in GOODS] + 'fan heater kettle toaster printer attic cellar barn balcony suitcase ladder bucket broom pocket tunnel windmill snowflake puddle harbour orchard sled skate blackbird raven swallow crow moth lizard wasp mole otter weasel hamster pony giraffe zebra hippo kangaroo'.split()


PLAN = 'I begin with who and where, then something goes wrong, then it is put right.'


def turn(d: Draw, thing: str | None = None) -> dict:
    thing = thing or (made_up(d) if d.chance(0.04) else d.pick(THINGS + MORE))
    name, size, x, r = None, 'short', shown(d, thing), d.random()
    if r < 0.08:
        user, kind = d.ask(ASK_ANY), f'a story, so I choose {article(thing)}'
    elif r < 0.17:
        user, kind = d.ask(POEM, X=x), f'a poem about {article(thing)}'
        return dict(kind='story', user=typed(d, user, 'en', False), final=poem(d, thing), lang='en', about=[thing], think=_think(kind, 'write four short lines', 'Lines one and two shall rhyme.'), poem=True)
    elif r < 0.27:
        user, kind, size = d.ask(LONG, X=x), f'a longer story about {article(thing)}', 'long'
    elif r < 0.36:
        user, kind, size = d.ask(TINY, X=x), f'a very short story about {article(thing)}', 'tiny'
    elif r < 0.50:
        name = d.pick(NAMES)
        user = d.say(d.form(NAMED)).replace('{ and <X>|}', ' and <X>').replace('<N>', name).replace('<X>', x)
        kind = f'a story about {name} and {article(thing)}'
        if article(thing) not in user and thing not in user:
            kind = f'a story about {name}'
    else:
        user, kind = d.ask(ASK, X=x), f'a story about {article(thing)}'
    return dict(kind='story', user=typed(d, user, 'en', False), final=story(d, thing, name, size), lang='en', about=[thing] + ([name] if name else []), think=_think(kind, 'tell it in a few short sentences', PLAN))


def again(d: Draw, before: dict) -> dict | None:
    if before['kind'] != 'story' or before['lang'] != 'en' or before.get('poem'):
        return None
    form = d.form(AGAIN)
    thing = d.pick(THINGS) if '<X>' in form else before['about'][0]
    user = fill(form, X=shown(d, thing))
    return dict(kind='story', user=typed(d, user, 'en', False), final=story(d, thing), lang='en', about=[thing], think=_think(f'another story, about {article(thing)}', 'tell a new one', PLAN))
