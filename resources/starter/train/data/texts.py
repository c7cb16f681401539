"""Rewriting and summing up of short texts, in both languages: each kind makes a text and what becomes of it.
Owns: pairs of before and after, and the forms that ask. Refuses: texts of more than a few sentences.
Words: <N> <M> people, <D> <E> days, <R> a reason, <O> an object, <P> a place, <V> something to do."""
from __future__ import annotations

from .draw import Draw, article, cap, fill, slip
from .names import DAYS, DAYS_ZH, GOODS, GOODS_ZH, NAMES, NAMES_ZH, THINGS, made_up
from .text_worlds import WORLDS, WORLDS_ZH

DOS = """send me the report|open the window|close the door|wait a moment|call me back|move your car|help me with the boxes|turn the music down|bring the keys|read my letter|check the list|clean the kitchen|answer my mail|speak more slowly|take the dog out|fix the printer|sign the form|save me a seat|lend me your pen|show me the way
water the flowers|pay the bill|wash the cups|feed the cat|carry the bag|lock the office|put the book back|write down the address|switch off the lamp|come a little earlier|leave the shoes at the door|send the photos|park somewhere else|explain it again|stop shouting|return my umbrella|print the tickets|tell me the price|empty the bin|change the date""".replace('\n', '|').split('|')
DOS_ZH = '把报告发给我/开一下窗户/关上门/等一会儿/给我回电话/把车挪开/帮我搬箱子/把音乐关小/把钥匙带来/看看我的信/检查一下清单/打扫厨房/回复我的邮件/说慢一点/遛狗/修打印机/在表上签字/给我留个座位/借我一支笔/告诉我路怎么走/浇花/付账单/洗杯子/喂猫/拿一下包/锁好办公室/把书放回去/写下地址/关灯/早点来/把鞋放在门口/把照片发来/停到别处/再解释一遍/不要大声喊/还我雨伞/打印票/告诉我价格/倒垃圾/改一下日期'.split('/')
REASONS = 'I am ill|my car broke down|I have to work|the train is late|my daughter is sick|I missed the bus|I have a meeting|it is raining too hard|I lost my key|I forgot the date|my flight was cancelled|the lift is broken'.split('|')
REASONS_ZH = '我生病了/车坏了/我要上班/火车晚点了/女儿病了/我没赶上公交车/我有个会/雨太大了/钥匙丢了/我忘了日期/航班取消了/电梯坏了'.split('/')
EVENTS = 'the meeting|the party|dinner|our lesson|the trip|the concert|the football training|the visit|the exam|the interview|the workshop|lunch'.split('|')
EVENTS_ZH = '会议/聚会/晚饭/上课/旅行/音乐会/足球训练/参观/考试/面试/培训/午饭'.split('/')
PLAIN = """The <O1> is on the table.|<N> will come on <D>.|We are going to the market tomorrow.|I have lost my <O1>.|The children are playing in the garden.|<N> and <M> live in the same street.|It was raining when we arrived.|Please write to me on <D>.|My brother works in a bakery.|The shop is closed on <D>.
<N> bought three <O> yesterday.|There are many people in the park.|I really like this beautiful weather.|She forgot her umbrella at school.|The train leaves in ten minutes.|They believe that <N> is right.|Our neighbour has a new bicycle.|We should receive the letter on <D>.|His friend speaks very quietly.|The <O> are definitely too expensive.""".replace('\n', '|').split('|')


DO_VERBS = 'bring|carry|clean|open|close|repair|paint|move|look for|sell|wash|check|lend me|show me|send me|give me|pack|buy|keep|photograph|hide|count|fold|sort'.split('|')
DO_VERBS_ZH = '拿来 送来 洗干净 修好 收好 找出来 卖掉 装进箱子 搬走 给我看看 借给我 擦干净 数一数 放好'.split()


def action(d: Draw, zh: bool) -> str:
    """Something to do: a listed phrase, or a verb with any thing, so that copying is learnt and not the list."""
    if d.chance(0.45):
        return d.pick(DOS_ZH if zh else DOS)
    if zh:
        return f'把{d.pick(GOODS_ZH)[0]}{d.pick(DO_VERBS_ZH)}'
    return f'{d.pick(DO_VERBS)} {d.pick(["the", "my", "that", "your"])} {d.pick(THINGS) if d.chance(0.6) else d.pick(GOODS)[0]}'


# what somebody did, for texts whose first sentence is their point
DID = ['<N> found <A1> in the <P>', 'The <P> gets <A1> on <D>', '<N> and <M> want to build <A1>', 'A <T1> was seen near the <P>', '<N> sold the <T1> to <M>', 'The <T1> of <N> is broken', 'On <D> there is a feast at the <P>', '<N> wrote a song about <A1>', 'The <P> is looking for somebody who can <V>', '<N> won <A1> in a game', 'Nobody may enter the <P> before <E>',
       '<N> has moved to the <P>', 'The new <P> opens on <D>', '<M> taught <N> how to paint <A1>', '<N> gave <A1> to the <P>', 'From <D> on the <P> costs nothing', 'The <P> needs <H> helpers', '<N> forgot the <T1> at the <P>']
DETAIL = ['It was a surprise for all.', '<M> took a photo.', 'The weather was mild.', 'It cost less than expected.', 'Some neighbours were against it at first.', 'There was tea and cake.', 'The dog of <M> barked.', 'Many asked questions.', 'It took longer than an hour.', 'The newspaper wrote about it.', '<M> laughed and said nothing.', 'One could hear music.', 'It had been planned for months.', 'The mayor shook hands.', 'Nobody was in a hurry.', 'A child asked why.', 'Later it rained a little.']
DID_ZH = ['<N>在<P>找到了<T1>', '<P><D>会有<T1>', '<N>和<M>想做一个<T1>', '有人在<P>附近看到了<T1>', '<N>把<T1>卖给了<M>', '<N>的<T1>坏了', '<D><P>有庆祝活动', '<N>写了一首关于<T1>的歌', '<N>搬到了<P>', '新的<P><D>开门', '<N>把<T1>送给了<P>', '<P>需要<H>个帮手', '<N>把<T1>忘在了<P>', '<E>以前不能进<P>']
DETAIL_ZH = ['大家都没想到。', '<M>拍了照片。', '天气很暖和。', '花的钱比预想的少。', '一开始有些邻居反对。', '有茶和蛋糕。', '<M>的狗叫了几声。', '很多人提了问题。', '用了一个多小时。', '报纸也写了这件事。', '<M>笑了笑，什么也没说。', '远处有音乐。', '这件事准备了几个月。', '谁也不着急。', '后来下了一点雨。']
PLACES = 'school|museum|market|harbour|library|station|bakery|park|theatre|farm|church|factory|zoo|bridge|mill|town hall|hospital|swimming pool|garden'.split('|')
PLACES_ZH = '学校 博物馆 市场 港口 图书馆 车站 面包店 公园 剧院 农场 工厂 动物园 老桥 磨坊 市政厅 医院 游泳池 花园'.split()


def point_first(d: Draw, zh: bool) -> tuple[str, str]:
    """(a text, its point): the first sentence says it, the others are details."""
    w = words(d, zh)
    thing = d.pick(GOODS_ZH)[0] if zh else d.pick(THINGS)
    w |= dict(T1=thing, A1=article(thing), P=d.pick(PLACES_ZH if zh else PLACES), H=d.randint(2, 30))
    main = cap(fill(d.form(DID_ZH if zh else DID), **w)) + ('。' if zh else '.')
    details = [fill(x, **w) for x in d.sample(DETAIL_ZH if zh else DETAIL, d.randint(2, 4))]
    return ('' if zh else ' ').join([main] + details), main


def words(d: Draw, zh: bool) -> dict:
    n, m = d.sample(NAMES_ZH if zh else NAMES, 2)
    day, other = d.sample(DAYS_ZH if zh else DAYS, 2)
    good = d.pick(GOODS_ZH) if zh else d.pick(GOODS)
    return dict(N=n, M=m, D=day, E=other, R=d.pick(REASONS_ZH if zh else REASONS), O=good[0], O1=good[0] if zh else good[1], V=action(d, zh), X=d.pick(EVENTS_ZH if zh else EVENTS))


# ---------------------------------------------------------------- kinds: (asks, [(before, after)], plan)
# A pair is used with the same words on both sides.
KINDS = {
    'polite': (['make this {more polite|polite|nicer|friendlier}', 'say it more politely', 'rewrite politely', 'can you make it sound nicer', 'this is too rude, change it', 'how would I say this politely', 'turn this into a polite request', 'please rephrase this in a kind way', 'put it more gently'],
               [('<V_CAP>!', 'Could you please <V>?'), ('<V_CAP> now!', 'Would you please <V>?'), ('I want you to <V>.', 'I would be grateful if you could <V>.'), ('You must <V>.', 'Could you <V>, please?'), ('Hey, <V>.', 'Excuse me, could you please <V>?'), ('Why do you never <V>?', 'It would be very kind if you could <V>.'),
                ('Give me the <O>.', 'Could you please give me the <O>?'), ('I need the <O> by <D>.', 'Could I please have the <O> by <D>?'), ('No. I do not want to come on <D>.', 'Thank you for the invitation, but I am afraid I cannot come on <D>.'), ('You are late again.', 'Could you please try to be on time?'), ('This is wrong, do it again.', 'Thank you for your work. Could you please look at it once more?'),
                ('Where is my <O1>? Bring it.', 'Could you please bring me my <O1>?'), ('Stop talking, I am working.', 'Could you please be a little quieter? I am working.'), ('Tell <N> to <V>.', 'Could you please ask <N> to <V>?')], 'say the same in polite words'),
    'formal': (['make this {more formal|formal}', 'write it for my boss', 'rewrite it formally', 'say this in a formal way', 'this goes to a customer, make it formal', 'make it sound professional', 'a business version of this, please', 'too casual, change that'],
               [("hey, can't come on <D>, <R>", 'Dear Sir or Madam, unfortunately I cannot come on <D>, because <R>.'), ('hi <N>, see u on <D>', 'Dear <N>, I look forward to seeing you on <D>.'), ('thanks for the <O>!', 'Thank you very much for the <O>.'), ("sorry, I'm late, <R>", 'I apologise for being late; <R>.'), ('gonna send the <O> on <D>', 'I will send the <O> on <D>.'),
                ("<X> is off, let's do <E>", 'Unfortunately <X> cannot take place. I suggest <E> instead.'), ('wanna meet on <D>?', 'Would you be available for a meeting on <D>?'), ('got ur mail, all good', 'Thank you for your message. Everything is in order.'), ("dunno when the <O> come", 'I do not know yet when the <O> will arrive.'), ('pls <V>', 'I kindly ask you to <V>.')], 'use full and formal sentences'),
    'casual': (['make this {more casual|less formal|sound relaxed}', 'write it for a friend', 'say it as to a friend', 'this is too stiff, loosen it', 'in simple everyday words'],
               [('Dear <N>, I regret to inform you that I cannot attend <X>.', "Hi <N>, sorry, I can't make it to <X>."), ('I would like to thank you for the <O>.', 'Thanks for the <O>!'), ('I look forward to meeting you on <D>.', 'See you on <D>!'), ('We kindly ask you to <V>.', 'Please <V>.'), ('I apologise for the delay.', 'Sorry for the wait!'), ('Would you be available on <D>?', 'Are you free on <D>?')], 'use short and friendly words'),
    'short': (['make this {shorter|short|brief}', 'shorten this', 'cut this down', 'say it in fewer words', 'too long, shorten', 'only the main point of this sentence', 'trim this', 'less words please', 'reduce this to one short sentence'],
              [('I just wanted to quickly let you know that, as far as I know, <X> on <D> has unfortunately been moved to <E>.', '<X_CAP> has been moved from <D> to <E>.'), ('It is, in my humble opinion, really very important that you <V> as soon as you possibly can.', 'Please <V> soon.'), ('Due to the fact that <R>, I will sadly not be able to come to <X> on <D>.', 'I cannot come on <D> because <R>.'),
               ('After thinking about it for quite a long time, <N> finally decided to buy the <O> after all.', '<N> decided to buy the <O>.'), ('There is, as everybody knows, no doubt at all that <N> is a very good friend.', '<N> is a good friend.'), ('At this point in time we are not in possession of any <O> whatsoever.', 'We have no <O> now.'), ('I am writing to you today in order to ask you whether you could perhaps <V>.', 'Could you <V>?'),
               ('In the event that it should rain on <D>, <X> will take place at some later date.', 'If it rains on <D>, <X> will be later.'), ('The shop, which is next to the old church and which sells <O>, opens every <D> at nine o\'clock in the morning.', 'The shop with <O> opens on <D> at nine.')], 'keep only what matters'),
    'question': (['turn this into a question', 'make it a question', 'write this as a question', 'change this sentence into a question', 'ask this instead of saying it'],
                 [('<N> is coming on <D>.', 'Is <N> coming on <D>?'), ('The <O> are fresh.', 'Are the <O> fresh?'), ('You can <V>.', 'Can you <V>?'), ('<N> likes <O>.', 'Does <N> like <O>?'), ('They will meet on <D>.', 'Will they meet on <D>?'), ('<X_CAP> was good.', 'Was <X> good?'), ('You have a <O1>.', 'Do you have a <O1>?'), ('<N> and <M> are friends.', 'Are <N> and <M> friends?')], 'ask instead of saying'),
    'past': (['put this into the past{| tense}', 'write this in the past tense', 'change it to the past', 'make it past tense', 'as if it was yesterday'],
             [('<N> buys <O>.', '<N> bought <O>.'), ('I see <N> on <D>.', 'I saw <N> on <D>.'), ('We go to <X>.', 'We went to <X>.'), ('The <O> are good.', 'The <O> were good.'), ('<N> is happy.', '<N> was happy.'), ('They have a <O1>.', 'They had a <O1>.'), ('She writes to <N>.', 'She wrote to <N>.'), ('<N> and <M> play in the garden.', '<N> and <M> played in the garden.'), ('I eat <O>.', 'I ate <O>.'), ('It rains on <D>.', 'It rained on <D>.')], 'say it as something that has happened'),
    'positive': (['make this {positive|more positive}', 'say it in a positive way', 'this sounds so negative, change it', 'turn it into something encouraging'],
                 [('The <O> are not ready.', 'The <O> will be ready soon.'), ('You did not finish it.', 'You have come a long way already; a little is left to do.'), ('<X_CAP> was a failure.', 'We learned a lot from <X>.'), ('Do not be late on <D>.', 'Please be on time on <D>.'), ('I do not have time before <D>.', 'I have time on <D>.'), ('We have only two <O> left.', 'We still have two <O>.')], 'look at the good side'),
    'person': (['change I to <N>', 'write it about <N> instead of me', 'put it in the third person, the name is <N>', 'tell it as if <N> did it'],
               [('I bought <O>.', '<N> bought <O>.'), ('I will come on <D>.', '<N> will come on <D>.'), ('I was at <X>.', '<N> was at <X>.'), ('I lost the <O1>.', '<N> lost the <O1>.'), ('I met <M> on <D>.', '<N> met <M> on <D>.')], 'put the name in'),
}
KINDS_ZH = {
    'polite': (['{改得|说得|写得}{礼貌|客气}一点', '换成礼貌的说法', '太不客气了，改一下', '怎么说更礼貌', '改成礼貌的请求', '请用客气的话说', '委婉一点'],
               [('<V>！', '麻烦您<V>，好吗？'), ('快<V>！', '请您<V>，谢谢。'), ('你必须<V>。', '能不能请您<V>？'), ('我要你<V>。', '如果您能<V>，我会非常感谢。'), ('喂，<V>。', '不好意思，可以请您<V>吗？'), ('把<O>给我。', '请问可以把<O>给我吗？'), ('<D>前给我<O>。', '请问<D>之前可以给我<O>吗？'), ('我<D>不想去。', '谢谢邀请，不过我<D>恐怕去不了。'), ('你又迟到了。', '下次能请您准时到吗？'), ('错了，重做。', '辛苦了，能请您再看一遍吗？'), ('别说话，我在工作。', '可以请您小声一点吗？我正在工作。')], '用礼貌的话说同样的意思'),
    'formal': (['{改得|写得}正式一点', '写给{老板|客户}的，正式些', '换成正式的说法', '太随便了，改正式', '用商务的语气'],
               [('<D>来不了，<R>', '您好，非常抱歉，因为<R>，我<D>不能前来。'), ('<N>，<D>见哈', '<N>您好，期待<D>与您见面。'), ('谢谢你的<O>啦', '非常感谢您的<O>。'), ('不好意思迟到了，<R>', '因为<R>，我迟到了，非常抱歉。'), ('<X>取消了，改<E>吧', '很遗憾，<X>无法举行，建议改到<E>。'), ('<D>有空吗', '请问您<D>是否方便？'), ('邮件收到，没问题', '您的邮件已收到，一切无误。'), ('<V>呗', '烦请您<V>。')], '用完整、正式的句子'),
    'short': (['{缩短|精简}{一下|}', '{改得|写得}短一点', '太长了，缩短', '用更少的字说', '只留重点', '压缩成一句短话'],
              [('我只是想赶快告诉你一下，据我所知，<D>的<X>很可惜已经改到了<E>。', '<D>的<X>改到<E>。'), ('依我个人的看法，你尽快<V>真的是一件非常非常重要的事情。', '请尽快<V>。'), ('由于<R>这样一个原因，我<D>很遗憾不能来参加<X>了。', '因为<R>，我<D>不能来。'), ('<N>想了很久很久以后，最后还是决定把<O>买下来。', '<N>决定买<O>。'), ('大家都知道，毫无疑问，<N>是一个非常好的朋友。', '<N>是个好朋友。'), ('我今天写信给你是为了想问一问你是不是可以<V>。', '你可以<V>吗？'), ('如果<D>碰巧下起雨来的话，那么<X>就会推迟到以后的某个时间。', '如果<D>下雨，<X>会推迟。'), ('在目前这个时间点上，我们手里一点<O>都没有了。', '我们现在没有<O>。')], '只留下重要的'),
    'question': (['改成{问句|疑问句}', '变成一个问题', '把它改成提问'], [('<N><D>来。', '<N><D>来吗？'), ('<O>很新鲜。', '<O>新鲜吗？'), ('你可以<V>。', '你可以<V>吗？'), ('<N>喜欢<O>。', '<N>喜欢<O>吗？'), ('<X>很好。', '<X>好吗？'), ('<N>和<M>是朋友。', '<N>和<M>是朋友吗？')], '把陈述变成提问'),
    'positive': (['{改得|说得}积极一点', '换个鼓励人的说法', '听起来太消极了，改改'], [('<O>还没准备好。', '<O>很快就准备好了。'), ('你没做完。', '你已经做了很多，只剩一点点。'), ('<X>失败了。', '我们从<X>里学到了很多。'), ('<D>不要迟到。', '<D>请准时到。'), ('只剩两个<O>了。', '我们还有两个<O>。')], '说好的一面'),
    'person': (['把“我”改成<N>', '用<N>的名字来说', '改成第三人称，名字叫<N>'], [('我买了<O>。', '<N>买了<O>。'), ('我<D>会来。', '<N><D>会来。'), ('我丢了<O>。', '<N>丢了<O>。'), ('我<D>见了<M>。', '<N><D>见了<M>。')], '把名字放进去'),
}
FRAMES = ['<ASK>: <T>', '<ASK>: "<T>"', '<ASK>:\n<T>', '"<T>" <ASK_L>', '<T>\n<ASK>', '<ASK>. <T>', 'Text: <T>\n<ASK>', '<T> - <ASK_L>', '<ASK>, please: <T>']
FRAMES_ZH = ['<ASK>：<T>', '<ASK>：“<T>”', '<ASK>：\n<T>', '“<T>”<ASK>', '<T>\n<ASK>', '请<ASK>：<T>', '帮我<ASK>：<T>', '原文：<T>\n<ASK>']


def framed(d: Draw, ask: str, text: str, zh: bool) -> str:
    frame = d.form(FRAMES_ZH if zh else FRAMES)
    return fill(frame, ASK=ask if zh or not d.chance(0.75) else cap(ask), ASK_L=ask, T=text)


def _turn(user, final, zh, what, plan, kind='rewrite', quote=None):
    if zh:
        think = dict(low=f'{plan[1]}。', medium=f'用户要我{what[1]}。我{plan[1]}，意思不变。', high=f'用户给了一段文字，要我{what[1]}。' + (f'原文的重点：{quote}' if quote else '') + f'我{plan[1]}，不增加新内容，意思不变，用中文写。')
    else:
        think = dict(low=f'{cap(plan[0])}.', medium=f'The user wants {what[0]}. I {plan[0]}, and the meaning stays.', high=f'The user gave a text and wants {what[0]}. ' + (f'The point of it: {quote} ' if quote else '') + f'I {plan[0]}, add nothing new, and the meaning stays.')
    return dict(kind=kind, user=user, final=final, lang='zh' if zh else 'en', think=think)


NAMES_OF = dict(polite=('it polite', '改得礼貌'), formal=('it formal', '改得正式'), casual=('it casual', '改得随意'), short=('it shorter', '改短'), question=('a question', '改成问句'), past=('the past tense', '改成过去'), positive=('it positive', '改得积极'), person=('another person', '换人称'))


def pair_turn(d: Draw, zh: bool) -> dict:
    table = KINDS_ZH if zh else KINDS
    kind = d.pick(list(table))
    asks, pairs, plan = table[kind]
    w = words(d, zh)
    before, after = d.form(pairs)
    w |= dict(V_CAP=cap(w['V']), X_CAP=cap(w['X']))
    text, final = fill(before, **w), fill(after, **w)
    ask = fill(d.say(d.form(asks)), **w)
    return _turn(framed(d, ask, text, zh), cap(final), zh, NAMES_OF[kind], (plan, plan), quote=f'{text}')


SPELL = ['correct the spelling', 'fix the {typos|mistakes|spelling}', 'correct this{| sentence}', 'find and fix the mistakes', 'spell check', 'please correct', 'are there mistakes in this? fix them', 'proofread this']
LIST_TO = ['{write|turn|make} this list {as|into} a sentence', 'make one sentence of this list', 'a sentence from this list, please', 'put the list into one sentence']
TO_LIST = ['{write|turn|make} this {as|into} a list', 'make a list of it', 'as bullet points', 'one thing per line, please', 'turn the sentence into a list']
CAPS = ['write this in capital letters', 'in capitals', 'all caps please', 'make it upper case']
REPLACE = ['replace <A> {by|with} <B>', 'change <A> to <B>', 'put <B> instead of <A>', 'swap <A> for <B>']
COPY = ['repeat {after me|this}', 'say this exactly', 'copy this', 'write the same', 'echo', 'type this out once more', 'word for word, please', 'say it back to me', 'the same again', 'repeat it without changes']
SPELL_ZH = ['改正错别字', '{改正|纠正}一下', '有错字，请改', '检查并改正']
LIST_TO_ZH = ['把这个清单写成一句话', '连成一句话', '用一句话写出来']
TO_LIST_ZH = ['写成列表', '列成清单', '一行一个', '改成列表']
REPLACE_ZH = ['把<A>换成<B>', '用<B>代替<A>', '<A>改成<B>']
COPY_ZH = ['重复一遍', '照着写', '跟我说', '原样写出来', '一字不差地重复', '照抄', '复述一遍', '再写一次这些字']
WRONG_ZH = dict(zip('在再的得做作已己那哪带戴天夫大太', '再在得的作做己已哪那戴带夫天太大'))


def plain_sentence(d: Draw, zh: bool) -> str:
    w = words(d, zh)
    if not zh:
        return fill(d.pick(PLAIN), **w)
    return fill(d.pick(['<N><D>会来。', '我的<O>在桌子上。', '<N>和<M>住在同一条街。', '我们明天去市场。', '<D>商店不开门。', '孩子们在花园里玩。', '我已经做好了晚饭。', '请<D>给我写信。', '火车十分钟后开。', '<N>昨天买了三个<O>。', '今天的天气真好。', '你在哪里等我？', '他的哥哥在面包店工作。', '我带了<O>给你。']), **w)


HAN = sorted({c for c in ''.join(DOS_ZH + DETAIL_ZH + PLACES_ZH + NAMES_ZH + [x for g in GOODS_ZH for x in g]) if '\u4e00' <= c <= '\u9fff'})


def copy_turn(d: Draw, zh: bool) -> dict:
    """Words without sense to be said again: they can only be copied, and everything else that is asked of a given text rests on that."""
    if zh:
        text = d.pick(['，', '、', ' ']).join(''.join(d.pick(HAN) for _ in range(d.randint(1, 5))) for _ in range(d.randint(2, 8))) + d.pick(['', '。'])
    else:
        word = lambda: d.weighted([(3, made_up(d)), (2, d.pick(THINGS)), (1, d.pick(NAMES)), (1, str(d.randint(1, 999))), (1, d.pick(GOODS)[0])])
        text = d.pick([' ', ' ', ', ']).join(word() for _ in range(d.randint(3, 16))) + d.pick(['', '.'])
    return _copied(d, text, zh)


def _copied(d: Draw, text: str, zh: bool) -> dict:
    return _turn(framed(d, d.ask(COPY_ZH if zh else COPY), text, zh), text, zh, ('the same words', '原样重复'), ('copy it exactly', '照样写出来'))


def small_edit(d: Draw, zh: bool) -> dict:
    r = d.random()
    text = plain_sentence(d, zh)
    if r < 0.3:
        wrong = text
        if zh:
            at = [i for i, c in enumerate(text) if c in WRONG_ZH]
            if at:
                i = d.pick(at)
                wrong = text[:i] + WRONG_ZH[text[i]] + text[i + 1:]
        else:
            for _ in range(d.pick([1, 2, 2])):
                wrong = slip(d, wrong)
            if d.chance(0.2):
                wrong = wrong[0].lower() + wrong[1:]
        return _turn(framed(d, d.ask(SPELL_ZH if zh else SPELL), wrong, zh), text, zh, ('the mistakes corrected', '改正错字'), ('write it without mistakes', '改正错字'))
    if r < 0.6:
        things = [x[0] for x in d.sample(GOODS_ZH if zh else GOODS, d.randint(2, 6))]
        sentence = ('我们需要' + '、'.join(things[:-1]) + '和' + things[-1] + '。') if zh else 'We need ' + ', '.join(things[:-1]) + ' and ' + things[-1] + '.'
        bullets = '\n'.join('- ' + t for t in things)
        if d.chance(0.5):
            return _turn(framed(d, d.ask(LIST_TO_ZH if zh else LIST_TO), bullets if d.chance(0.5) else ('、' if zh else ', ').join(things), zh), sentence, zh, ('one sentence', '写成一句话'), ('join the things with commas and and', '把它们连起来'))
        return _turn(framed(d, d.ask(TO_LIST_ZH if zh else TO_LIST), sentence, zh), bullets, zh, ('a list', '写成列表'), ('write one thing per line', '一行写一个'))
    if r < 0.75:
        w = words(d, zh)
        template = d.pick(['<N><D>买了<O>。', '<N>在等公交车。', '<N>把<O>给了<M>。'] if zh else ['<N> bought <O> on <D>.', '<N> is waiting for the bus.', '<N> gave the <O> to <M>.'])
        new = d.pick([n for n in (NAMES_ZH if zh else NAMES) if n not in (w['N'], w['M'])])
        return _turn(framed(d, d.ask(REPLACE_ZH if zh else REPLACE, A=w['N'], B=new), fill(template, **w), zh), fill(template, **w | {'N': new}), zh, ('one word replaced', '替换一个词'), (f'write {new} where {w["N"]} stood', f'把{w["N"]}换成{new}'))
    if r < 0.85 and not zh:
        return _turn(framed(d, d.ask(CAPS), text, zh), text.upper(), zh, ('capital letters', ''), ('write every letter large', ''))
    return _copied(d, text, zh) if d.chance(0.5) else copy_turn(d, zh)


SUM = ['{summarize|summarise|sum up} this{| text| in one sentence| briefly}', 'what is the main point{| of this}', 'give me {a summary|the gist|the short version}', 'in one sentence, what does this say', 'tl;dr', 'what is this about', 'short summary please', 'boil it down', 'the most important thing in this text']
TITLE = ['{give|find|write} {a title|a heading|a headline} for this{| text}', 'what would be a good title', 'title please', 'how should I call this text']
SUM_ZH = ['{总结|概括|归纳}{一下|这段话|}', '用一句话{总结|概括}', '主要说了什么', '这段话的重点是什么', '简短总结', '大意是什么', '一句话说明']
TITLE_ZH = ['{起|取|想}个标题', '给这段文字写个标题', '这段话叫什么标题好', '来个标题']


def summary_turn(d: Draw, zh: bool) -> dict:
    if d.chance(0.4):
        text, point = point_first(d, zh)
        return _turn(framed(d, d.ask(SUM_ZH if zh else SUM), text, zh), point, zh, ('a summary', '总结'), ('say the main point in one sentence', '用一句话说重点'), 'summary', point)
    w = words(d, zh) | dict(A=d.randint(2, 60), H=d.randint(7, 20))
    sentences, main, title = d.form(WORLDS_ZH if zh else WORLDS)
    w |= dict(V_CAP=cap(w['V']), X_CAP=cap(w['X']), O_CAP=cap(w['O']))
    first, rest = sentences[0], list(sentences[1:])
    d.shuffle(rest)
    text = fill(('' if zh else ' ').join([first] + rest[:d.randint(2, len(rest))]), **w)
    if d.chance(0.25):
        return _turn(framed(d, d.ask(TITLE_ZH if zh else TITLE), text, zh), fill(title, **w), zh, ('a title', '一个标题'), ('name the main thing in a few words', '用几个字说出主要的事'), 'summary', fill(main, **w))
    return _turn(framed(d, d.ask(SUM_ZH if zh else SUM), text, zh), cap(fill(main, **w)), zh, ('a summary', '总结'), ('say the main point in one sentence', '用一句话说重点'), 'summary', fill(main, **w))


def turn(d: Draw, lang: str) -> dict:
    return d.weighted([(5, pair_turn), (3, small_edit), (4, summary_turn)])(d, lang == 'zh')
