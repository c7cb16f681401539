"""中文小故事和小诗：谁、在哪里、愿望或难题、转折、结尾。每个故事都有结尾。
Owns: the Chinese pools of sentences and the questions for a story. Refuses: English (stories.py), rendering."""
from __future__ import annotations

from .draw import Draw, fill, typed
from .names import NAMES_ZH

# thing, measure word, alive
THINGS = [tuple(x.split('/')) for x in """猫/只/1 小猫/只/1 狗/只/1 小狗/只/1 兔子/只/1 狐狸/只/1 熊/头/1 小鸟/只/1 机器人/个/1 老师/位/1 龙/条/1 鱼/条/1 雪人/个/1 乌龟/只/1 老鼠/只/1 青蛙/只/1 马/匹/1 牛/头/1 羊/只/1 猴子/只/1 大象/头/1 狮子/头/1 老虎/只/1
猫头鹰/只/1 企鹅/只/1 鲸鱼/头/1 海豚/只/1 蜗牛/只/1 蝴蝶/只/1 蜜蜂/只/1 蚂蚁/只/1 刺猬/只/1 松鼠/只/1 狼/只/1 鹿/头/1 熊猫/只/1 恐龙/只/1 公主/位/1 王子/位/1 国王/位/1 巫师/位/1 海盗/个/1 厨师/位/1 医生/位/1 渔夫/位/1 农夫/位/1 画家/位/1 裁缝/位/1 邮递员/位/1 宇航员/位/1 奶奶/位/1 爷爷/位/1
灯塔/座/0 小船/条/0 月亮/个/0 星星/颗/0 花园/个/0 大树/棵/0 雨/场/0 雪/场/0 火车/列/0 风筝/只/0 桥/座/0 时钟/个/0 茶壶/把/0 灯笼/盏/0 书/本/0 信/封/0 帽子/顶/0 雨伞/把/0 苹果/个/0 蛋糕/块/0 面包/个/0 镜子/面/0 气球/个/0 自行车/辆/0 公交车/辆/0 花/朵/0 玫瑰/朵/0 向日葵/朵/0 蘑菇/个/0 森林/片/0 湖/个/0 大海/片/0 山/座/0 山洞/个/0 村子/个/0 城堡/座/0 小岛/座/0
火箭/枚/0 石头/块/0 贝壳/个/0 羽毛/根/0 戒指/枚/0 地图/张/0 钢琴/架/0 笛子/支/0 梦/个/0 影子/个/0 椅子/把/0 毯子/条/0 围巾/条/0 手套/双/0 纽扣/颗/0 钥匙/把/0 鼓/面/0 云/朵/0 风/阵/0 彩虹/道/0 图书馆/座/0 学校/所/0""".split()]
ADJ = ['小小的', '害羞的', '勇敢的', '孤单的', '好奇的', '善良的', '古老的', '安静的', '快乐的', '金色的', '银色的', '蓝色的', '聪明的', '爱笑的']
PLACES = '海边 村子里 森林旁边 小河边 山上 老桥旁 小岛上 麦田边 面包店隔壁 一条长长的街上 湖边 老磨坊旁边 大橡树下 火车站附近 港口 山谷里 石墙后面 城边上'.split()
TIMES = '有一天 一天晚上 一个下雨的早晨 春天的一天 秋天的一天 下雪的第一天 一个星期天 太阳快下山的时候 夏天的一个下午 一个刮风的夜里 天刚亮的时候'.split()
WEATHER = '雨轻轻地下着 风很大 天上满是星星 屋顶上盖着雪 雾遮住了路 太阳暖洋洋的 月亮又圆又亮 空气里有苹果的香味 落叶在街上跳舞'.split()
GIFTS = '一块热面包 一盏小灯 一杯茶 一条红围巾 一颗蓝色的石头 一把坚果 一张旧地图 一个小铃铛 一篮苹果 一罐蜂蜜 一只纸船 一碗热汤 一条厚毯子'.split()

# <A> 带量词的主角，<H> 主角，<N> <M> 人名
OPEN_LIVING = ['从前，<P>住着<A>。', '很久以前，<P>有<A>。', '<P>有<A>，大家都认识它。', '<N>有一个朋友，是<P>的<A>。', '在一个没人记得的年代，<A>来到了<P>。', '<A>独自住在<P>，但并不难过。']
OPEN_THING = ['从前，<P>有<A>。', '<N>在<P>发现了<A>。', '<P>有<A>，很多年没有人注意它。', '<N>每天都去<P>看<A>。', '<N>小的时候，<P>有<A>。', '<P>有<A>，比所有的房子都老。']
WISH_LIVING = ['<H>最想去看看外面的世界。', '<H>有一个愿望：学会一首歌。', '<H>很想交一个朋友。', '<H>每天晚上都数星星，数到九就睡着了。', '<H>从来不勇敢，却很想变得勇敢。', '<H>最喜欢帮助别人。', '<H>想给整条街的人烤一个大蛋糕。', '<H>答应过要把一封信送过山去。', '<H>整天梦想着飞起来。', '<H>收集丢失的纽扣，想知道是谁丢的。']
WISH_THING = ['没有人知道它是谁的。', '大家都说它没有用。', '听说它能实现一个愿望。', '<N>每天照看它，对它说晚安。', '夜里它好像发出柔和的光。', '大人们都从旁边走过，只有<N>停下来。', '有人说，只要等得够久，它就会说话。', '它见过许多夏天，一个也没忘。', '镇长想把它搬走。']
TROUBLE = ['<T>，暴风雨来了，回家的路不见了。', '<T>，所有的灯都灭了，谁也看不清路。', '<T>，<M>迷路了，大声呼救。', '<T>，桥断了，一半的人回不了家。', '<T>，井干了，大家都很渴。', '<T>，<N>生病了，起不了床。', '<T>，村里的一个孩子没有回家。', '<T>，大钟停了，没有人知道时间。', '<T>，雪太深，门都打不开。', '<T>，来了一个又冷又饿的陌生人。', '<T>，两个邻居吵架，吵得鸟都飞走了。', '<T>，<M>在回家的路上丢了东西。', '<T>，有人偷走了村里的铃。']
MOOD = ['<W>。', '<W>，什么都看不清。', '<W>，谁也不知道该怎么办。', '大家站在窗边等着。', '“怎么办呢？”<M>问。', '<M>坐在台阶上叹了口气。', '老人们说：“没有办法了。”']
TURN_LIVING = ['可是<H>没有等。它一步一步往前走，终于看到了光。', '<H>很害怕，但还是去了。', '“我来试试。”<H>说完，带着<G>出发了。', '<H>请每个人帮一点忙，每个人都帮了一点。', '<H>试了一次，没成功；再试一次，成功了。', '<H>想出了一个简单的主意，告诉了<N>。', '<N>和<H>一起走，路好像短了一半。', '<H>找遍了每一棵树、每一块石头，找了整整一夜。']
TURN_THING = ['<N>想起了<H>，在旁边点了一盏灯，很远的地方都看得见。', '<N>跑到<H>那里，大家要找的就在后面。', '<N>擦干净<H>，发现上面写着两个字：一起。', '<N>说：“看看<H>，它见过更难的日子。”大家又有了勇气。', '大家在<H>旁边见面，因为那是人人都认识的地方。', '<N>坐在<H>旁边，把一切都说了出来，答案忽然清楚了。', '<H>像过去一百年那样，给大家指了路。', '<N>靠着<H>和一点耐心，把事情办好了。']
RESULT = ['天亮的时候，一切都好了。', '到了晚上，大家都平安回了家。', '花了很长时间，但是成功了。', '“谢谢你。”<M>真心地说。', '大家欢呼起来，有人开始唱歌。', '<M>带来了<G>，大家一起分享。', '连最老的邻居都笑了。', '第二天早上，全村的人都来看。', '丢了的东西也找到了。', '那场争吵在一碗热汤里被忘掉了。']
END = ['从那以后，那里再也没有人孤单。', '那天晚上，大家都睡得很香。', '这是一件小事，但他们一直记得。', '星星也好像在微笑。', '从那以后，他们成了好朋友。', '后来他们高高兴兴地回家了。', '直到今天还是这样。', '从那天起，那里每晚都亮着一盏灯。', '有时候，这样就够了。', '那是一年里最好的一天。', '从此，大家的门总是开着。', '故事就在家里温暖地结束了。']
EXTRA = ['路上遇到一位老奶奶，她说：“善良从来不会太重。”', '山后有一间小屋，窗边点着一支蜡烛。', '风三次吹灭了灯，<N>三次把它点亮。', '<M>一开始笑话他们，后来也来帮忙。', '他们分享了<G>，说起各自的家。', '猫头鹰在树上看着，一句话也没说。', '路比看起来更长，于是他们唱起了歌。', '空气里有了面包的香味，村子不远了。']

ASK = ['{给我|请给我|}{讲|说}一个{关于|有关}<X>的{小|短|}故事', '{写|编}一个关于<X>的{小|短|童话|}故事', '讲个<X>的故事{吧|}', '我想听一个关于<X>的故事', '{能|可以}讲一个关于<X>的故事吗', '来一个<X>的故事', '有没有<X>的故事', '给{孩子|我女儿|我儿子}讲一个<X>的故事', '睡前故事，要有<X>', '用<X>编个故事', '以<X>为主角写个故事', '请写一篇有<X>的短故事', '从前有<X>，接着讲', '故事里要有<X>']
ASK_ANY = ['{给我|请给我|}讲{个|一个}{小|}故事{吧|}', '讲故事', '我想听故事', '{说|来}个故事{吧|}', '睡不着，讲个故事', '随便讲个故事', '编个故事给我听', '讲个睡前故事']
LONG = ['讲一个关于<X>的长一点的故事', '写一个长故事，关于<X>', '关于<X>的故事，不要太短', '多写一点，讲<X>的故事']
TINY = ['用三句话讲一个<X>的故事', '一个很短的<X>故事', '关于<X>的迷你故事', '几句话讲讲<X>的故事']
NAMED = ['讲一个<N>和<X>的故事', '写一个<N>遇到<X>的故事', '<N>发现了<X>，请写成故事', '故事里有<N>和<X>']
POEM = ['{写|作|来}一首关于<X>的{小诗|短诗|诗}', '给<X>写一首诗', '用<X>写四句诗', '{写|来}几句关于<X>的诗']
AGAIN = ['再讲一个', '再来一个', '换一个故事', '还想听', '再讲一个关于<X>的', '这次要有<X>']
POEM_A = ['<X>静静地在<P>', '夜里有<X>', '风吹过<X>', '我看见<X>', '清晨的<X>', '春天来看<X>']
POEM_B = ['月光轻轻落下来', '小小的灯亮起来', '云儿慢慢走过来', '歌声远远飘过来', '花儿一朵一朵开']
POEM_C = ['世界很大，路很长', '门儿开着，汤还热', '风轻了，鸟回家', '星星多，夜不长']
POEM_D = ['有人等你回家来。', '你我都不再孤单。', '温暖一直都在。', '明天又是好天气。', '心里亮着一盏灯。']


def story(d: Draw, thing, name: str | None = None, size: str = 'short') -> str:
    word, measure, alive = thing
    people = [n for n in d.sample(NAMES_ZH, 3) if n != name]
    n, m = name or people[0], people[1]
    alive = alive == '1'
    one = f'一{measure}{d.pick(ADJ) if d.chance(0.6) else ""}{word}'
    slots = dict(A=one, H=word, N=n, M=m, P=d.pick(PLACES), T=d.pick(TIMES), W=d.pick(WEATHER), G=d.pick(GIFTS))
    parts = [d.pick(OPEN_LIVING if alive else OPEN_THING)]
    if name and '<N>' not in parts[0]:
        parts.append(d.pick(['<N>每天都从那里经过。', '<N>就住在隔壁。', '还有<N>，什么都不怕。']))
    if size != 'tiny':
        parts.append(d.pick(WISH_LIVING if alive else WISH_THING))
    parts.append(d.pick(TROUBLE))
    if size != 'tiny' and d.chance(0.7):
        parts.append(d.pick(MOOD))
    parts.append(d.pick(TURN_LIVING if alive else TURN_THING))
    if size == 'long':
        parts += [d.pick(EXTRA), d.pick(RESULT)]
    if size != 'tiny':
        parts.append(d.pick(RESULT))
    parts.append(d.pick(END))
    return ''.join(fill(p, **slots) for p in dict.fromkeys(parts))


def poem(d: Draw, word: str) -> str:
    return f'{fill(d.pick(POEM_A), X=word, P=d.pick(PLACES))}，\n{d.pick(POEM_B)}。\n{d.pick(POEM_C)}，\n{d.pick(POEM_D)}'


PLAN = '先写谁和在哪里，再写遇到难题，然后解决。'


def _think(what: str, plan: str, high: str) -> dict:
    return dict(low=f'{what}。', medium=f'用户想要{what}。我{plan}。', high=f'用户想要{what}。{high}我{plan}，最后要有结尾，用中文写。')


def turn(d: Draw, thing=None) -> dict:
    thing = thing or d.pick(THINGS)
    word = thing[0]
    x = d.pick([word, word, f'一{thing[1]}{word}', d.pick(ADJ) + word])
    name, size, r = None, 'short', d.random()
    if r < 0.08:
        user, what = d.ask(ASK_ANY), f'一个故事，我选{word}'
    elif r < 0.17:
        return dict(kind='story', user=typed(d, d.ask(POEM, X=x), 'zh', False), final=poem(d, word), lang='zh', about=[word], think=_think(f'一首关于{word}的诗', '写四句', '句子要短。'), poem=True)
    elif r < 0.27:
        user, what, size = d.ask(LONG, X=x), f'一个长一点的{word}的故事', 'long'
    elif r < 0.36:
        user, what, size = d.ask(TINY, X=x), f'一个很短的{word}的故事', 'tiny'
    elif r < 0.50:
        name = d.pick(NAMES_ZH)
        user, what = d.ask(NAMED, X=x, N=name), f'{name}和{word}的故事'
    else:
        user, what = d.ask(ASK, X=x), f'一个关于{word}的故事'
    return dict(kind='story', user=typed(d, user, 'zh', False), final=story(d, thing, name, size), lang='zh', about=[word] + ([name] if name else []), think=_think(what, '用几句短句来讲', PLAN))


def again(d: Draw, before: dict) -> dict | None:
    if before['kind'] != 'story' or before['lang'] != 'zh' or before.get('poem'):
        return None
    form = d.form(AGAIN)
    thing = d.pick(THINGS) if '<X>' in form else next(t for t in THINGS if t[0] == before['about'][0])
    return dict(kind='story', user=typed(d, fill(form, X=thing[0]), 'zh', False), final=story(d, thing), lang='zh', about=[thing[0]], think=_think(f'另一个关于{thing[0]}的故事', '讲一个新的', PLAN))
