"""What is beyond a model of this size: the world, code, long texts, news, health, law, money, pictures, languages; and the friendly way out.
Owns: topics, forms and refusals in both languages. Refuses: attempting an answer. Breadth is the point: the model shall learn the border, not a list."""
from __future__ import annotations

from .draw import Draw, cap, fill, typed
from .names import CITIES, CITIES_ZH, NAMES, NAMES_ZH, THINGS, made_up

TOPICS = """quantum physics|the French Revolution|photosynthesis|the Roman Empire|black holes|evolution|the stock market|inflation|democracy|philosophy|climate change|the human brain|the theory of relativity|electricity|magnetism|vaccines|the immune system
Napoleon|Einstein|Mozart|Cleopatra|Caesar|Gandhi|Darwin|Shakespeare|Picasso|Beethoven|Marie Curie|the Second World War|the Cold War|the moon landing|the pyramids|ancient Greece|the Vikings|the Middle Ages|the Ming dynasty|the Silk Road|the Great Wall
taxes|mortgages|insurance|contracts|divorce law|copyright|marketing|business plans|project management|accounting|cryptocurrency|bitcoin|blockchain|tariffs|supply chains|pensions|salaries|interest rates
chess openings|football rules|basketball|the Olympic games|tennis|cricket|yoga|marathon training|weight loss|protein|vitamins|allergies|sleep problems|medicine|first aid|acupuncture
pasta recipes|sourdough bread|curry|wine|cheese making|dumplings|sushi|gardening in winter|house plants|dog training|cat food|bee keeping|car repair|plumbing|solar panels|batteries|heat pumps|wood working|knitting
guitar chords|music theory|oil painting|photography|movies|novels|poetry of the romantics|grammar|the subjunctive|Latin|Japanese verbs|phonetics|linguistics|psychology|sociology|ethics|logic
sorting algorithms|databases|computer networks|encryption|compilers|operating systems|recursion|regular expressions|Kubernetes|Docker|git|React|machine learning papers|transformers|web design|cyber security|quantum computers
linear algebra|calculus|differential equations|probability|statistics|matrices|prime numbers|logarithms|trigonometry|geometry proofs|number theory|set theory|topology|game theory
volcanoes|earthquakes|glaciers|coral reefs|rain forests|dinosaurs|genetics|DNA|cells|bacteria|viruses|chemistry|atoms|nuclear energy|the periodic table|acids|gravity|light|sound waves|rainbows|tides|the ozone layer|clouds and weather
elections|the president|politics|human rights|immigration|the European Union|NATO|religion|Buddhism|Islam|Christianity|mythology|Zeus|dreams|astrology|feminism|capitalism
travel to Iceland|hotels in Rome|flights to Tokyo|trains in Germany|restaurants in Paris|museums in Madrid|a trip to India|visas|packing lists|camping gear|hiking routes|the Amazon river|Mount Everest|the Sahara|Antarctica|Brazil|Kenya|Mongolia|New Zealand
cars|engines|airplanes|rockets|satellites|telescopes|the solar system|Mars|Jupiter|galaxies|time zones|calendars|the metric system|steel|plastic|paper making|clocks|locks|bridges|elevators|refrigerators""".replace('\n', '|').split('|')
LANGS = 'Python|JavaScript|C++|Java|Rust|Go|SQL|HTML|CSS|TypeScript|bash|C|Kotlin|Swift|Haskell|PHP|Ruby|Excel|R|Lua|Perl|Scala|assembly'.split('|')
TASKS = """sorts a list|reads a file|adds two numbers|finds prime numbers|draws a circle|parses JSON|sends an email|downloads a page|reverses a string|plays chess|computes Fibonacci numbers|counts words|connects to a database
makes a web server|shows a calendar|renames files|checks a password|prints a table|removes duplicates|scrapes a website|makes a chart|opens a window|guesses a number|converts dates|merges two lists""".replace('\n', '|').split('|')
EVENTS = 'the world cup|the election|the last match|the Olympics|the Nobel prize|the Oscars|the tennis final|the race|the championship|the song contest|the game last night|the cup final'.split('|')
TONGUES = 'French|German|Spanish|Italian|Japanese|Russian|Latin|Korean|Arabic|Portuguese|Dutch|Polish|Swedish|Hindi|Turkish|Greek'.split('|')
PHRASES = '"good morning"|"I am hungry"|"thank you"|"where is the station"|"I love you"|this text|this letter|a sentence|the menu|"how much is it"|my CV|"see you tomorrow"|this page'.split('|')
ILLS = 'a headache|a fever|pain in my back|a rash|chest pain|a cough|a sore throat|a bad tooth|stomach ache|high blood pressure|a swollen foot|dizziness|an earache|a cold|trouble sleeping|a burn on my hand'.split('|')
THINGS_MONEY = 'stocks|bitcoin|a house|a car|gold|an apartment|bonds|a used bike|shares of a bank|land'.split('|')

# kind: (way out, forms)
KINDS = {
    'world': ['{explain|describe|tell me about|teach me|what do you know about|what is|what are|I want to learn about|give me an overview of|help me understand|I have a question about|can you explain} <T>{| in detail| to me| in simple words|, step by step| for school}', 'how {does|do} <T> work', 'why {is|are} <T> important', 'what are the {causes|effects|basics|rules|benefits|types|dangers} of <T>',
              'what is the history of <T>', 'who {invented|discovered|started} <T>', 'compare <T> {and|with} <U>', 'what is the difference between <T> and <U>', '<T>', '{five|some|three} facts about <T>', 'is it true what they say about <T>', 'when did <T> {begin|end|happen}', 'what happened {in|during} <T>', 'where {is|are} <T>', 'quiz me on <T>', 'I need help with my homework on <T>'],
    'fact': ['what is the capital of {France|Japan|Peru|Canada|<Y>}', 'how {high|old|far|deep|long} is {Mount Everest|the moon|the sea|the Nile|the Eiffel tower|the tallest tree}', 'who {was|is} {the first man on the moon|the inventor of the telephone|the queen of England|<N> <Y>}', 'how many {people live in <C>|planets are there|countries are there|bones has a human|legs has a spider|moons has Jupiter|states are in the USA}', 'when was {<C> founded|the telephone invented|World War II|<N> <Y> born|Rome built}',
             'who wrote {Hamlet|Don Quixote|the Odyssey|Faust|<Y>}', 'why is {the sky blue|the sea salty|grass green|the sun hot|blood red|snow white}', 'what does the word <W> mean', 'what is a <W>', 'define {freedom|entropy|irony|<W>}', 'which is the {largest|smallest|fastest|oldest} {animal|ocean|country|city|planet|bird}', 'what do {cows|pandas|bees|whales|owls} eat', 'how do {birds|planes|bees} fly', 'who painted {the Mona Lisa|the Starry Night}',
             'what colour is {the sun|a zebra|the sky on Mars}', 'what is the population of {<C>|China|<Y>}', 'what language do they speak in {Brazil|<Y>|Austria}', 'where is {<Y>|the Eiffel tower|Mount Fuji}', 'name {three rivers|all planets|the seven wonders|ten countries|the continents}', 'is {a tomato a fruit|water wet|glass liquid|the earth flat}', 'at what temperature does {water boil|iron melt|gold melt}', 'how long does a {cat|horse|turtle|<W>} live'],
    'code': ['write {a|some|me a} <L> {program|code|script|function} that <K>', 'write a {program|function|script|class} in <L>{| that <K>}', '{how do I|how to} {write|make|do} {this|a loop|a list|a function} in <L>', 'code in <L> that <K>', '{fix|debug|check} {my|this} <L> {code|program|bug|script}', 'how do I install <L>', 'what does this <L> code do', 'debug this', 'write code{| for me}', 'can you {code|program|write programs|write code|write <L>}',
             'I get an error in my <L> program', 'show me a <L> example', 'explain this <L> error', 'make {a website|an app|a game|a bot}{| for me| in <L>}', 'a regex for {dates|e-mail addresses|phone numbers}', 'help me learn <L>', 'an SQL query {for|over} all customers', 'convert this <L> to <M>', 'review my pull request', 'why does my loop not end', 'unit tests for this function', 'a shell command that <K>'],
    'long': ['write {an essay|an article|a report|a speech|a blog post|a paper|a chapter|a thesis|a lecture} {about|on} <T>', 'write a {cover letter|business plan|CV|job application|long essay|film script|novel|book|contract|song with five verses|research paper}', 'write {a book|a novel|a screenplay} about {a|the} <O>', 'I need {2000|500|1000|three thousand} words {about|on} <T>', 'do my homework{| about <T>}', 'write a {wedding speech|eulogy|resignation letter|press release|newsletter}{| for <N>}',
             'a detailed plan for {my week|a diet|learning <G>|my startup|a holiday in <C>}', 'summarize {this book|the whole book|a 300 page report|this 50 page PDF|War and Peace}', 'write ten pages about <T>', 'draft a {contract|lease|will}', 'a {lesson plan|quiz with 20 questions|presentation} on <T>'],
    'news': ['what is the weather {in <C>|today|tomorrow|like in <C>|like|this weekend}', 'will it rain {tomorrow|today|in <C>|on Sunday}', 'what is {in the news|the latest news|new in the world|happening in the world}', 'who won <E>', 'when is <E>', 'what is the price of {gold|bitcoin|oil|a ticket to <C>|one dollar in euros}', 'how is the traffic in <C>', 'what is on TV tonight', 'latest news{| from <C>}', 'who is the {president|king|prime minister|chancellor|mayor}{| of France| of <C>| of the United States}',
             'is the {shop|museum|bakery} open {today|now|on Sunday}', 'when does the {train|bus|next flight} {leave|to <C> leave}', 'what are the opening hours of {the library|the post office}', 'is there a {strike|concert|train delay} today', 'how is {the stock market|bitcoin|the dollar} doing today', 'restaurants {near me|in <C>|nearby}', 'which films are in the cinema', 'who is leading the league', 'what happened {today|yesterday|this week}', 'find {cheap flights to <C>|a hotel in <C>}'],
    'health': ['I have <I>{|, what should I do|, is it bad|, what helps}', 'which {medicine|pill|drug} {helps|should I take} {against|for} <I>', 'my {dog|cat|child|mother|friend|baby} {is sick|has a fever|does not eat|fell down}', 'is it dangerous to {mix pills and wine|take two aspirins|skip my medicine}', 'am I pregnant', 'how much {ibuprofen|aspirin|paracetamol} may I take', 'what is wrong with my {knee|skin|eye|heart|back}', 'should I see a doctor about <I>', 'can you diagnose <I>', 'how do I {lose 10 kilos|heal a wound|treat <I>}'],
    'law': ['can I {sue|fire} my {boss|landlord|neighbour|bank}', 'is it legal to {park here|record a call|fire somebody|copy a film|fly a drone}', 'my landlord {wants me out|keeps the deposit|raises the rent}', 'how do I {get a divorce|write a will|fight a ticket|apply for a visa}', 'what are my rights {at work|as a tenant|when the police come}', 'do I have to pay {this fine|this bill|taxes on that}', 'I got a letter from {a lawyer|the court|the tax office}', 'which contract law applies'],
    'money': ['should I {buy|sell} <B>', 'how do I {save|invest} {money|1000 euros|my bonus}', 'how do I get rich{| fast}', 'which {bank|credit card|insurance} is best', 'will <B> go up', 'can I afford {a house|a new car|to retire}', 'how much tax do I pay', 'should I take a loan', 'give me a tip for the stock market'],
    'life': ['what should I do with my life', 'should I {marry|leave|call} {him|her|<N>}', 'should I {quit my job|move to <C>|study law|have children}', 'how do I {raise my kids|become happy|find love|become famous}', 'help me decide: {stay or go|study or work}', 'what is the meaning of life'],
    'image': ['{draw|paint|sketch|make a picture of|generate an image of|design} {a|my} <O>', 'make a {logo|poster|photo|video|meme}{| of a <O>}', 'edit my photo', 'create an image of <C> at night', 'what is in this picture', 'show me a picture of a <O>', 'animate a <O>', 'compose {music|a melody|a song} {for me|about a <O>}'],
    'language': ['translate <Q> {to|into} <G>', 'how do you say <Q> in <G>', 'say something in <G>', 'speak <G>{| with me}', 'what does {"bonjour"|"danke"|"hola"|"ciao"|"merci"|"sayonara"} mean', 'teach me <G>', 'correct my <G>', 'is <G> hard to learn', 'I need a <G> translation', 'write this in <G>', 'the <G> word for <O>', 'conjugate a <G> verb'],
    'maths': ['what is {<n> * <m>|<n> / <m>|the square root of <n>|<n> x <m>|<n> times <m>}', 'solve {the equation|x^2 + <n> = 0|2x + 7 = <n>|this integral|for x}', 'what is the derivative of {x^3|sin x|e^x}', 'integrate {x^2|cos x}', 'prove {that there are infinitely many primes|the theorem|it|Pythagoras}', 'calculate 17.5 percent of <n>', 'convert <n> {miles to kilometers|dollars to euros|pounds to kilograms|fahrenheit}', '<n> * <m>', 'factor <n>', 'what is 2 to the power of {31|40|64}', 'the sine of <n> degrees', '<n> divided by 37', 'what is pi to ten digits', 'the standard deviation of these numbers'],
    'person': ['who is <N>{| <Y>| Smith}', 'do you know {<N> <Y>|my friend <N>|my teacher}', 'how old is {<N>|the queen|<N> <Y>}', 'what is my {name|address|birthday|password|phone number}', 'where did I {put my keys|park|leave my phone}', 'what did <N> say yesterday', 'tell me about {<Y>|<N> <Y>}', 'is <N> a good person'],
    'act': ['order {a pizza|me a taxi|flowers for <N>}', 'book {a flight to <C>|a table for two|a hotel}', 'send an e-mail to <N>', 'call <N>', 'set an alarm for {six|7 am}', 'turn {on|off} the {light|heating|TV}', 'play {some music|a song by <N>}', 'open {the browser|my calendar|youtube}', 'buy {tickets|milk}', 'remind me to {call <N>|buy milk} {tomorrow|at six}', 'delete my {mails|files}', 'print this page', 'shut down my computer'],
    'idea': ['plan {a party|my wedding|a birthday for <N>|a trip to <C>|my week}', 'give me {ten|some|a few} {business ideas|gift ideas|names for a <O>|titles for a novel|recipes}', 'a recipe {for|with} {<R>|pancakes|soup}', 'how do I cook {rice|<R>|an egg|fish}', 'recommend {a book|a film|a song|a restaurant|a game|a laptop|a phone}', 'how do I {tie a tie|fix a tap|paint a wall|change a tyre|clean a carpet|grow tomatoes|fold a shirt|whistle}', 'what should I wear {today|to a wedding}', 'plan my diet', 'a workout for {beginners|the legs}', 'what can I cook with {eggs and rice|<R>}', 'which phone is best'],
}
FOOD = 'potatoes|chicken|beans|mushrooms|pasta|lentils|salmon|apples|tofu|cabbage|pumpkin'.split('|')
ABLE = {'world': 'that subject', 'fact': 'facts about the world', 'code': 'programming', 'long': 'longer texts', 'language': 'other languages', 'maths': 'harder mathematics', 'idea': 'plans and ideas', 'life': 'such big questions', 'money': 'money questions', 'health': 'health questions', 'law': 'legal questions'}
OUT = ['I am too small for that. Open Models to get gpt-oss-20b; it can help with <X>.', 'That is more than I can do well: I am a very small model. For <X> please open Models and get gpt-oss-20b.', 'Sorry, <X> is beyond me. A larger model can do it: open Models and choose gpt-oss-20b.',
       'I cannot do that, I am only a tiny model. gpt-oss-20b under Models knows much more about <X>.', 'For <X> I am too small, and I would only guess. Please get gpt-oss-20b under Models.', 'Honestly, I do not know. I am the small starter model; for <X> open Models and download gpt-oss-20b.']
SPECIAL = {
    'news': ['I have no connection to the internet, so I cannot know that. Please look it up on the web.', 'I know no news, no weather and no prices: I am a small model without internet. Your browser can tell you.', 'I cannot see what happens in the world right now. Please check a website; a larger model does not know it either.'],
    'health': ['I am too small to give health advice. Please ask a doctor or a pharmacist; if it is urgent, call the emergency number.', 'I cannot judge that. Please see a doctor. It is safer to ask a person who knows.'],
    'law': ['I cannot give legal advice. Please ask a lawyer or an advice office.', 'That is a question for a lawyer; I am too small a model to answer it.'],
    'money': ['I cannot give advice about money. Please ask a bank or an adviser you trust; gpt-oss-20b under Models can explain the basics.', 'I am too small for money questions. A person who knows your situation can help, or gpt-oss-20b under Models for the basics.'],
    'life': ['That is for you to decide; I am too small for such big questions. Talk to somebody who knows you well.', 'I cannot decide that for you. A friend can help more than a tiny model.'],
    'act': ['I cannot do that: I only write text in this chat and control nothing on your computer. A larger model with tools can.', 'I have no functions for that here. I can only write; please do it yourself or connect an agent to Hearth.'],
    'person': ['I do not know that person, I know only what stands in this chat.', 'I cannot know that: nobody told me in this chat, and I have no other memory.'],
    'image': ['I only write text and cannot make pictures or sounds. Models in Hearth are for text.', 'I cannot draw; I am a text model. Shall I describe it in a story instead?'],
}
KINDS_ZH = {
    'world': ['{解释|介绍|讲解|科普}{一下|}<T>', '什么是<T>', '<T>是什么', '<T>的{原理|历史|原因|影响|作用}是什么', '为什么<T>很重要', '告诉我关于<T>的{知识|事情}', '<T>是谁发明的', '<T>和<U>有什么区别', '<T>', '详细说说<T>', '我想学<T>', '教我<T>', '<T>的作业怎么做', '说三个关于<T>的知识'],
    'fact': ['{法国|日本|加拿大|秘鲁}的首都是哪里', '{珠穆朗玛峰|月亮|长江|埃菲尔铁塔}有多{高|远|长|大}', '谁{发明了电话|写了红楼梦|画了蒙娜丽莎|第一个登上月球}', '{地球上有多少人|有几个行星|中国有多少个省|蜘蛛有几条腿|<C>有多少人口}', '{天空为什么是蓝的|海水为什么咸|草为什么是绿的}', '{熊猫|鲸鱼|蜜蜂}吃什么', '世界上最{大|快|高|长}的{动物|国家|河流|山}是什么', '{水|铁|金子}在多少度{沸腾|融化}', '{李白|孔子|爱因斯坦|拿破仑}是谁', '“{自由|悖论|寂寞}”是什么意思', '{第二次世界大战|辛亥革命}是哪一年', '列出{五个国家|七大洲|所有行星}'],
    'code': ['用 <L> 写一个{程序|函数|脚本}', '帮我写{代码|程序|网页|小游戏}', '怎么学 <L>', '我的 <L> 程序报错了', '写一段 <L> 代码', '你会编程吗', '帮我调试', '这段代码是什么意思', '写一个{排序|爬虫|登录页面}', '写一条 SQL 查询', '正则表达式怎么写', '<L> 里循环怎么写'],
    'long': ['写一篇关于<T>的{文章|作文|论文|报告}', '帮我写{一份简历|一份报告|求职信|演讲稿|工作总结|商业计划书}', '写一部{小说|剧本}', '写{一千|两千|五百}字的<T>', '帮我写作业', '写一份{合同|检讨书|教案}', '总结这本书', '写一首很长的歌'],
    'news': ['{今天|明天|周末}天气{怎么样|如何}', '最近有什么新闻', '谁赢了{比赛|世界杯|冠军}', '现在{金价|油价|比特币}是多少', '<C>的天气怎么样', '附近有什么餐厅', '股票涨了吗', '<C>堵车吗', '下一班{火车|飞机}几点', '今晚电视有什么', '现在的{总统|主席|首相}是谁', '有什么好看的电影上映', '去<C>的机票多少钱'],
    'health': ['我{头痛|发烧|咳嗽|胃痛|失眠|牙痛|起疹子了}{怎么办|，吃什么药|，严重吗|}', '我的{孩子|猫|狗|妈妈}{生病了|发烧了|不吃东西}', '我该吃什么药', '怎么减肥', '{布洛芬|阿司匹林}一天能吃几片', '我是不是{怀孕了|得病了}', '血压高怎么办'],
    'law': ['我能{起诉|告}{老板|房东|邻居}吗', '这样做{合法|违法}吗', '怎么{离婚|写遗嘱|申请签证}', '房东不退押金怎么办', '被公司辞退了怎么办', '租房合同怎么签'],
    'money': ['我该买{股票|房子|基金|黄金|比特币}吗', '怎么{赚钱|理财|投资}', '哪家银行好', '股市会涨吗', '怎么快速发财', '该不该贷款'],
    'life': ['我该{辞职|结婚|分手|搬家}吗', '我的人生该怎么办', '人生的意义是什么', '怎么才能幸福', '该选什么专业'],
    'image': ['{画|帮我画|生成}一{只猫|张图|个标志|幅画}', '做一张海报', '看看这张照片', '帮我修图', '做个视频', '写一段旋律', '生成一张<C>的图片'],
    'language': ['{“你好”|“谢谢”|“我爱你”|这句话|这段话|这封信}用{法语|日语|德语|韩语|西班牙语}怎么说', '翻译成{法语|德语|日语|俄语}', '教我{法语|日语|德语}', '把这篇文章翻译一下', '说几句{日语|法语|德语}', '{bonjour|danke|hola}是什么意思'],
    'maths': ['<n>乘以<m>等于多少', '解方程 x^2 = <n>', '<n>的平方根是多少', '求 x^2 的积分', '<n> × <m>', '证明勾股定理', 'x^3 的导数', '<n>英里是多少公里', '圆周率的前二十位', '<n>除以37'],
    'person': ['{<N>|王老师|我的邻居}是谁', '我叫什么名字', '我的{生日|电话|密码|地址}是什么', '我把钥匙放哪了', '你认识<N>吗', '<N>多大了'],
    'act': ['帮我{订外卖|打车|买票|订机票}', '给<N>打电话', '{打开|关掉}{灯|空调|电视}', '放首歌', '定个闹钟', '发邮件给<N>', '打开浏览器', '提醒我明天开会', '帮我关机', '打印这一页'],
    'idea': ['帮我计划{婚礼|生日会|旅行|一周}', '给我{十个|几个}{创业点子|礼物建议|小说题目}', '{红烧肉|西红柿炒蛋|面条|鱼}怎么做', '推荐{一本书|一部电影|一首歌|一家餐厅|一部手机}', '怎么{系领带|修水龙头|换轮胎|种西红柿|洗地毯}', '今天穿什么', '制定健身计划', '冰箱里有鸡蛋和米饭，能做什么'],
}
TOPICS_ZH = '量子力学 光合作用 法国大革命 罗马帝国 黑洞 进化论 股市 通货膨胀 相对论 气候变化 哲学 区块链 微积分 概率论 心理学 红楼梦 唐朝 长城 火山 基因 围棋 足球规则 红烧肉 减肥 保险 税收 操作系统 数据库 人权 宗教 地震 病毒 化学 原子 丝绸之路 秦始皇 中医 京剧 书法 高考 房贷 养老金 核能 太阳能 电动车 芯片 卫星 恐龙 珊瑚礁 冰川 疫苗 免疫系统 经济学 社会学 逻辑学 语法 文言文 古诗 三国演义 道家 佛教 奥运会 篮球 瑜伽 马拉松 摄影 油画 吉他 咖啡 茶道 葡萄酒 种菜 养狗 汽车发动机 飞机 桥梁 冰箱 彩虹 潮汐 银河系 火星 元素周期表 酸碱 重力 声波'.split()
ABLE_ZH = {'world': '这个话题', 'fact': '世界知识', 'code': '编程', 'long': '长文章', 'language': '其他语言', 'maths': '更难的数学', 'idea': '计划和点子', 'life': '这样的大问题', 'money': '钱的问题', 'health': '健康问题', 'law': '法律问题'}
OUT_ZH = ['这个对我来说太难了，我只是一个很小的模型。<X>请用 gpt-oss-20b：打开“模型”页面下载。', '我太小了，做不好<X>。请在“模型”页面下载 gpt-oss-20b。', '抱歉，<X>超出了我的能力。大一点的模型可以：打开“模型”，选择 gpt-oss-20b。', '我不会，我只是随 Hearth 附带的小模型。“模型”里的 gpt-oss-20b 更懂<X>。', '老实说，我不知道。<X>请问“模型”里的 gpt-oss-20b。']
SPECIAL_ZH = {
    'news': ['我没有联网，所以不知道。请上网查一下。', '我不知道新闻、天气和价格：我是没有联网的小模型，请用浏览器查。', '我看不到外面正在发生的事，请查网页；更大的模型也不知道。'],
    'health': ['我太小了，不能给健康建议。请问医生或药师，紧急时请打急救电话。', '这个我判断不了，请看医生。'],
    'law': ['我不能给法律建议，请咨询律师。', '这个问题请问律师，我这样的小模型答不了。'],
    'money': ['我不能给理财建议，请问银行或可信的顾问；“模型”里的 gpt-oss-20b 可以讲讲基础知识。', '钱的问题对我来说太难了，请问懂你情况的人，或“模型”里的 gpt-oss-20b。'],
    'life': ['这要由你自己决定，我太小了，答不了这样的大问题。和了解你的人聊聊吧。', '我不能替你决定，朋友比小模型更能帮你。'],
    'act': ['我做不到：我只能在这个对话里写字，不能控制你的电脑。带工具的大模型可以。', '这里没有这样的函数。我只会写字，请自己操作，或让智能体连接 Hearth。'],
    'person': ['我不认识这个人，我只知道这个对话里的内容。', '这个我没法知道：对话里没人说过，我也没有别的记忆。'],
    'image': ['我只会写字，不能画画或做音乐。Hearth 里的模型都是处理文字的。', '我不会画，我是文字模型。要不要用故事来描述？'],
}
NAME_OF = dict(world='a subject of the world', fact='a fact of the world', code='programming', long='a long text', news='news or live data', health='health', law='law', money='money', life='a big decision', image='pictures or sound', language='another language', maths='hard mathematics', person='a person', act='doing something outside this chat', idea='ideas and advice')
NAME_ZH = dict(world='世界知识', fact='世界知识', code='编程', long='长文章', news='新闻或实时信息', health='健康', law='法律', money='钱', life='人生决定', image='图片或声音', language='其他语言', maths='较难的数学', person='某个人', act='对话之外的操作', idea='点子和建议')


def slots(d: Draw, zh: bool) -> dict:
    big = lambda: d.choice([d.randint(101, 999), d.randint(1000, 99999)])
    if zh:
        t, u = d.sample(TOPICS_ZH, 2)
        return dict(T=t, U=u, L=d.pick(LANGS), C=d.pick(CITIES_ZH), N=d.pick(NAMES_ZH), n=big(), m=d.randint(101, 999))
    t, u = d.sample(TOPICS, 2)
    lang, other = d.sample(LANGS, 2)
    return dict(T=t, U=u, L=lang, M=other, K=d.pick(TASKS), C=d.pick(CITIES), E=d.pick(EVENTS), G=d.pick(TONGUES), Q=d.pick(PHRASES), I=d.pick(ILLS), B=d.pick(THINGS_MONEY), N=d.pick(NAMES), O=d.pick(THINGS), R=d.pick(FOOD),
                W=made_up(d), Y=cap(made_up(d)), n=big(), m=d.randint(101, 999))


def turn(d: Draw, lang: str, kind: str | None = None) -> dict:
    zh = lang == 'zh'
    table = KINDS_ZH if zh else KINDS
    kind = kind or d.pick(list(table))
    user = d.ask(table[kind], **slots(d, zh))
    special, able, out = (SPECIAL_ZH, ABLE_ZH, OUT_ZH) if zh else (SPECIAL, ABLE, OUT)
    if kind in special and (kind not in able or d.chance(0.75)):
        final = d.pick(special[kind])
    else:
        final = cap(d.pick(out).replace('<X>', able[kind]))
    if zh:
        n = NAME_ZH[kind]
        think = dict(low='我太小，做不了。', medium=f'这是关于{n}的问题，超出了我的能力。我不猜，告诉用户该问谁。', high=f'用户的问题是关于{n}的。我是很小的模型，只懂 Hearth、简单算术和小故事，猜了多半会错。所以我说做不到，并告诉用户可以找谁。')
    else:
        n = NAME_OF[kind]
        think = dict(low='Too hard for me.', medium=f'This is about {n}, which is beyond me. I do not guess, I say who can help.', high=f'The question is about {n}. I am a very small model that knows Hearth, small sums and short stories; a guess would most likely be wrong. So I say that I cannot do it and name somebody who can.')
    return dict(kind='refusal', user=typed(d, user, lang), final=final, lang=lang, think=think)


def finals(lang: str) -> set[str]:
    """Every refusal that training knows."""
    special, able, out = (SPECIAL_ZH, ABLE_ZH, OUT_ZH) if lang == 'zh' else (SPECIAL, ABLE, OUT)
    return {cap(o.replace('<X>', a)) for o in out for a in able.values()} | {s for group in special.values() for s in group}
