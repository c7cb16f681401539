"""Names, things and places that several generators share, in both languages.
Owns: word lists. Refuses: sentences."""
from __future__ import annotations

NAMES = """Mia Leo Nora Tom Ella Sam Lina Ben Ruby Max Ada Finn Ivy Noah Zoe Hugo Luna Oscar Rosa Emil Clara Jonas Maya Felix
Anna Paul Lucy Otto Alice Milo Eva Theo Grace Ravi Mei Omar Sara Ken Lily Ivan Yuki Nina Adam Pia Kofi Amir Elsa Jack Tara Hana
Bo Vera Luis Carmen Pedro Ines Marta Olga Boris Dina Rana Iris Peter Kate David Laura Simon Julia Martin Sofia Daniel Emma
Priya Chen Aisha Diego Freya Lars Greta Nils Petra Wanda Yara Zeno Bruno Celia Dora Edgar Fatima Gino Helga Igor Jana Karim Lea Mario""".split()
NAMES_ZH = '小明 小红 小雨 小林 小月 小安 阿宝 小青 小华 小丽 小刚 小芳 小强 小美 阿福 小杰 小梅 小龙 小燕 小波 大伟 小莉 阿强 小云 乐乐 天天 丁丁 小宝 阿明 小雪'.split()
# plural, singular
GOODS = [tuple(x.split('/')) for x in """apples/apple pears/pear plums/plum oranges/orange lemons/lemon eggs/egg cookies/cookie cakes/cake books/book pens/pen pencils/pencil
stamps/stamp coins/coin cards/card marbles/marble balloons/balloon stickers/sticker shells/shell flowers/flower roses/rose tulips/tulip candles/candle cups/cup plates/plate
chairs/chair keys/key buttons/button stones/stone nuts/nut carrots/carrot onions/onion potatoes/potato tomatoes/tomato letters/letter photos/photo tickets/ticket boxes/box
bottles/bottle sweets/sweet muffins/muffin sandwiches/sandwich leaves/leaf beads/bead blocks/block fish/fish hens/hen ducks/duck sheep/sheep""".split()]
# thing, measure word
GOODS_ZH = [tuple(x.split('/')) for x in """苹果/个 梨/个 桃子/个 橘子/个 鸡蛋/个 饼干/块 蛋糕/块 书/本 笔/支 铅笔/支 邮票/张 卡片/张 弹珠/颗 气球/个 贴纸/张 贝壳/个 花/朵 玫瑰/朵 蜡烛/支 杯子/个
椅子/把 钥匙/把 纽扣/颗 石头/块 糖果/颗 胡萝卜/根 土豆/个 西红柿/个 信/封 照片/张 票/张 盒子/个 瓶子/个 面包/个 积木/块 鱼/条 鸡/只 鸭子/只 羊/只""".split()]
THINGS = """lighthouse boat cat dog rain star moon garden river mountain train kite owl fox bear robot dragon bird tree
teapot clock lantern bridge snowman whale turtle mouse rabbit horse frog bee cloud castle island violin drum book letter key
door shoe hat umbrella apple cake bread candle mirror balloon bicycle bus pirate baker painter sailor farmer teacher
wizard knight queen king giant elf ghost snail spider butterfly duck goose swan penguin seal crab fish shark lion tiger
elephant monkey parrot hen sheep goat cow pig hedgehog squirrel beaver wolf deer camel ant ladybird flower rose sunflower
pumpkin potato carrot onion mushroom forest lake sea beach desert cave valley hill village city tower market school library
museum station ship submarine rocket planet comet wind storm snow leaf stone shell feather ring coin map compass telescope
piano flute guitar song dream shadow window chair table bed lamp kettle spoon cup pillow blanket sock scarf coat button
puppy kitten dolphin octopus otter panda koala dinosaur unicorn mermaid princess prince fairy witch astronaut doctor nurse
cook gardener fisherman miller tailor postman grandmother grandfather sister brother friend neighbour""".split()
CITIES = 'Paris London Berlin Tokyo Madrid Rome Beijing Oslo Vienna Cairo Lima Dublin Seoul Lisbon Boston Chicago Shanghai Hamburg Milan Geneva Prague Athens Delhi Sydney Toronto Zurich Lyon Porto Bergen Kyoto'.split()
CITIES_ZH = '北京 上海 广州 深圳 杭州 成都 南京 武汉 西安 苏州 厦门 青岛 大连 重庆 天津 昆明 长沙 郑州 东京 巴黎 伦敦 柏林'.split()
DAYS = 'Monday Tuesday Wednesday Thursday Friday Saturday Sunday'.split()
DAYS_ZH = '星期一 星期二 星期三 星期四 星期五 星期六 星期天'.split()
MONTHS = 'January February March April May June July August September October November December'.split()
SYLLABLES = 'ba be bi bo bu da de di do ka ke ki ko la le li lo lu ma me mi mo na ne ni no pa po ra re ri ro sa se si so ta te ti to va vi zu fa gu ho ja wo'.split()


def made_up(d) -> str:
    """A word that means nothing: teaches copying instead of remembering."""
    return ''.join(d.pick(SYLLABLES) for _ in range(d.pick([2, 2, 3]))) + d.pick(['', '', 'n', 'r', 's', 'l', 'x'])
