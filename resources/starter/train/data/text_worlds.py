"""Small texts to sum up: sentences (the first one leads, the others come in any order), the main point, a title.
Owns: the table. Refuses: how it is asked (texts.py)."""

WORLDS = [
    (['<X_CAP> on <D> will not take place, because <R_>.', 'Everybody who wanted to come has been told.', 'The new date is <E> at the same time.', 'Those who cannot come then should call <N>.', 'We are sorry for the trouble.'], '<X_CAP> is moved from <D> to <E>.', 'A new date for <X>'),
    (['<N> opened a small shop for <O> in our street.', 'It stands between the bakery and the bank.', 'On the first day <A> people came.', 'The door is green and there is a bell.', '<M> bought the first <O1>.'], '<N> opened a small shop for <O>.', 'A new shop for <O>'),
    (['Yesterday <N> walked from the village to the lake.', 'The sun was shining and birds were singing.', 'On the way there was a bench, and lunch was eaten there.', 'It took <H> hours there and back.', 'In the evening the legs were tired, but the mood was good.'], '<N> walked to the lake and back.', 'A walk to the lake'),
    (['The library will be closed from <D> to <E>.', 'The walls will be painted, and the lamps changed.', 'Books can be put into the box beside the door.', 'Nobody has to pay for late books in that time.', 'Afterwards there will be a small party.'], 'The library is closed from <D> to <E> because it is being painted.', 'Library closed'),
    (['<N> lost a <O1> on <D>.', 'It must have been in the bus or at the station.', 'It is old, but dear to the family.', 'Whoever finds it should call <M>.', 'There is a small reward.'], '<N> lost a <O1> and hopes that somebody finds it.', 'A lost <O1>'),
    (['Our team won the game on <D>.', 'It began badly, and it rained.', 'After the break <N> played better and better.', 'The last point came one minute before the end.', 'The others were good losers and shook hands.'], 'Our team won the game on <D>.', 'A late win'),
    (['The garden needs water in summer.', 'Early in the morning is the best time.', 'At noon the sun dries everything at once.', 'Young plants need more than old ones.', 'Rain water is better than water from the tap.'], 'In summer water the garden early in the morning.', 'How to water the garden'),
    (['The bus to the station now leaves at <H> instead of later.', 'The road at the bridge is being repaired.', 'Buses take the way around the park.', 'The work ends on <E>.', 'Tickets cost the same as before.'], 'The bus leaves at <H> because a road is being repaired.', 'A new bus time'),
    (['<N> has baked bread for <A> years.', 'The oven was built by the grandfather.', 'Every morning at four the fire is lit.', 'Now <M> learns the trade.', 'People come from other towns for it.'], '<N> has baked bread for <A> years and now teaches <M>.', 'The baker and the oven'),
    (['Dear all, the price of <O> will rise on <D>.', 'The harvest was poor and the way is long.', 'Orders from before keep the old price.', 'We have put it off for a year.', 'Please ask <N> if something is unclear.'], 'The price of <O> rises on <D>.', 'Higher prices for <O>'),
    (['We met on <D> to speak about <X>.', '<N> showed the numbers and <M> made notes.', 'Most of us want it to be smaller than last year.', '<N> asks for the room until <E>.', 'There was cake as well.'], 'We spoke about <X>; it shall be smaller than last year.', 'Notes of our meeting'),
    (['The cat of <N> was missing for <A> days.', 'All neighbours looked in sheds and cellars.', 'On <D> it sat in front of the door again.', 'It was thin, but well.', 'Nobody knows where it had been.'], 'The cat of <N> came back after <A> days.', 'The cat is back'),
    (['My new flat is smaller than the old one.', 'It has only two rooms, but a balcony.', 'The way to work is ten minutes instead of an hour.', 'The rent is lower, too.', 'On <D> <N> helps me to move.'], 'My new flat is small, but cheaper and close to work.', 'My new flat'),
    (['The river rose after the rain on <D>.', 'Two cellars were full of water.', 'Men and women filled sacks with sand all night.', 'In the morning the water went down.', 'Nobody was hurt.'], 'The river rose after heavy rain, but nobody was hurt.', 'High water'),
    (['<N> wants to learn the violin.', 'The first lesson was on <D>.', 'The sound was terrible, the teacher said, and laughed.', 'Half an hour a day is enough in the beginning.', 'In winter there will be a small concert.'], '<N> is learning the violin.', 'First violin lessons'),
    (['The printer in the office is broken.', 'It makes a noise and pulls in no paper.', '<N> has called the service.', 'They come on <E>.', 'Until then please use the one on the second floor.'], 'The office printer is broken; it will be repaired on <E>.', 'Broken printer'),
    (['Thank you for your order of <A> <O>.', 'It was packed today.', 'It will reach you on <D>.', 'If something is missing, write to us.', 'The bill lies in the box.'], 'Your order of <A> <O> will arrive on <D>.', 'Your order'),
    (['The old cinema is for sale.', 'It has stood empty for <A> years.', 'Some want a market hall there, others a school.', 'The town will decide on <D>.', '<N> collects names to save it.'], 'The old cinema is for sale, and the town decides on <D>.', 'What becomes of the cinema'),
]
WORLDS_ZH = [
    (['<D>的<X>不能举行了，因为场地有问题。', '想来的人都已经通知了。', '新的时间是<E>。', '来不了的请给<N>打电话。', '给大家添麻烦了。'], '<X>从<D>改到<E>。', '<X>改期'),
    (['<N>在我们街上开了一家卖<O>的小店。', '店在面包店和银行之间。', '第一天来了<A>个人。', '门是绿色的，上面有铃。', '<M>是第一位顾客。'], '<N>开了一家卖<O>的小店。', '新开的<O>店'),
    (['昨天<N>从村子走到湖边。', '阳光很好，鸟在唱歌。', '路上有一张长椅，午饭就在那里吃。', '来回走了<H>公里。', '晚上腿很累，心情很好。'], '<N>走到湖边又走回来。', '湖边的散步'),
    (['图书馆从<D>到<E>关门。', '墙要重新刷，灯也要换。', '书可以放进门口的箱子。', '这段时间不收罚款。', '之后会有一个小聚会。'], '图书馆因为粉刷从<D>到<E>关门。', '图书馆暂停开放'),
    (['<N><D>丢了<O>。', '可能在公交车上或车站。', '东西很旧，但对家人很重要。', '找到的人请联系<M>。', '会有小小的酬谢。'], '<N>丢了<O>，希望有人找到。', '寻物：<O>'),
    (['我们队<D>赢了比赛。', '开头不顺，还下着雨。', '休息以后<N>越打越好。', '最后一分在结束前一分钟得到。', '对手很有风度，和我们握手。'], '我们队<D>赢了比赛。', '最后一刻的胜利'),
    (['夏天花园要浇水。', '清早是最好的时间。', '中午太阳会马上把水晒干。', '小苗比老树需要更多水。', '雨水比自来水好。'], '夏天最好清早给花园浇水。', '怎样浇花园'),
    (['去车站的公交车改到<H>点开。', '桥边的路正在修。', '公交车要绕过公园。', '工程<E>结束。', '票价不变。'], '因为修路，公交车改到<H>点开。', '公交车改时间'),
    (['<N>做面包做了<A>年。', '炉子是爷爷砌的。', '每天早上四点生火。', '现在<M>在学这门手艺。', '别的镇上的人也来买。'], '<N>做了<A>年面包，现在教<M>。', '面包师和炉子'),
    (['各位，<O>的价格从<D>起上涨。', '收成不好，路又远。', '以前的订单还是老价格。', '我们已经推迟了一年。', '不清楚的请问<N>。'], '<O>从<D>起涨价。', '<O>涨价'),
    (['我们<D>开会讨论了<X>。', '<N>介绍了数字，<M>做了记录。', '多数人希望规模比去年小。', '<N>负责在<E>前订房间。', '还有蛋糕吃。'], '会上决定<X>的规模比去年小。', '会议记录'),
    (['<N>的猫丢了<A>天。', '邻居们找遍了棚子和地下室。', '<D>它又坐在门口了。', '它瘦了，但很健康。', '没人知道它去了哪里。'], '<N>的猫<A>天后回来了。', '猫回来了'),
    (['我的新房子比以前小。', '只有两个房间，但有阳台。', '上班从一小时变成十分钟。', '房租也低了。', '<D><N>来帮我搬家。'], '新房子虽小，但便宜，离上班近。', '我的新房子'),
    (['<D>下雨后河水涨了。', '两个地下室进了水。', '大家整夜装沙袋。', '早上水退了。', '没有人受伤。'], '大雨后河水上涨，但没有人受伤。', '涨水'),
    (['办公室的打印机坏了。', '它有响声，不进纸。', '<N>已经打电话报修。', '他们<E>来。', '这之前请用二楼的。'], '办公室打印机坏了，<E>来修。', '打印机坏了'),
    (['感谢您订购<A>个<O>。', '今天已经打包。', '<D>会送到。', '如有缺少请告诉我们。', '账单在箱子里。'], '您订的<A>个<O><D>送到。', '您的订单'),
]
WORLDS = [([s.replace('<R_>', 'the hall is not free') for s in a], b, c) for a, b, c in WORLDS]
