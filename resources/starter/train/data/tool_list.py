"""The functions that training offers: names, parameters, how people ask for them, what comes back.
Owns: the table and its reading. Refuses: choosing values, markup.

One block per function, lines as in LINES below. A parameter is NAME|OTHER NAME:KIND, with ? when it may be left out; KIND is a word list of
tools.py, a number range `1-60`, `enum(on/打开,off/关闭)` or `flag(on/打开,off/关闭)` (a boolean: the first words mean true).
A question that names <param> passes it."""
from __future__ import annotations

import re
from dataclasses import dataclass

TABLE = """
name get_weather check_weather weather_now current_weather
desc Gets the weather of a place. | 查询某地的天气。
par city|location|place|town:city unit?:enum(celsius/摄氏度,fahrenheit/华氏度)
ask {what is|what's|how is} the weather {in|like in} <city>; weather in <city>; is it {cold|warm|sunny|raining} in <city> {now|today}; do I need {an umbrella|a coat} in <city>; weather for <city> in <unit>; how warm is it in <city>, in <unit> please
问 <city>{天气|的天气}{怎么样|如何}; 查一下<city>的天气; <city>{冷吗|下雨吗|热不热}; 用<unit>告诉我<city>的气温
res sky=sunny/晴,rainy/下雨,cloudy/多云,windy/有风 degrees=-5-35
say In <city> it is <sky>, <degrees> degrees. | <city>现在<sky>，<degrees> 度。

name get_time time_in_city local_time
desc Tells the local time of a city. | 查询城市的当地时间。
par city|location|place:city
ask what time is it in <city>; tell me the time in <city>; time in <city>; how late is it in <city>
问 <city>现在几点; <city>的时间是多少; 查<city>当地时间
res time=08:15,10:30,12:05,17:45,21:20
say In <city> it is <time>. | <city>现在是 <time>。

name set_timer start_timer timer countdown
desc Starts a timer. | 启动计时器。
par minutes|duration_minutes|mins:1-90 label?:thing
ask set a timer for <minutes> minutes; start a <minutes> minute timer; timer <minutes> minutes; wake me in <minutes> minutes; remind me in <minutes> minutes; <minutes> minutes for the <label>, please; a timer of <minutes> minutes called <label>
问 定时<minutes>分钟; <minutes>分钟后{叫我|提醒我}; 设一个<minutes>分钟的计时器; 倒计时<minutes>分钟
res status=started/已开始,running/正在运行
say The timer for <minutes> minutes is <status>. | <minutes> 分钟的计时器<status>。

name set_alarm create_alarm alarm_at
desc Sets an alarm clock. | 设置闹钟。
par time|at:clock repeat?|daily?:flag(every day/每天,only once/只一次)
ask set an alarm for <time>; wake me at <time>; I have to get up at <time>; alarm at <time>, <repeat>; ring at <time> <repeat>
问 <time>叫我起床; 设<time>的闹钟; 定一个<time>的闹钟，<repeat>
res status=set/已设好,ok/成功
say The alarm for <time> is <status>. | <time> 的闹钟<status>。

name turn_light switch_light set_light light_control
desc Turns a light on or off. | 开灯或关灯。
par room|place|location:room state|power:enum(on/打开,off/关掉)
ask turn <state> the light in the <room>; switch the <room> light <state>; light <state> in the <room>; please turn the lights in the <room> <state>
问 <state><room>的灯; 把<room>的灯<state>
res status=ok/成功,done/完成
say The light in the <room> is now <state>. | <room>的灯已<state>。

name set_brightness dim_light brightness
desc Sets the brightness of a lamp in percent. | 设置灯的亮度（百分比）。
par room|lamp|place:room percent|level|value:5-100
ask set the <room> lamp to <percent> percent; dim the light in the <room> to <percent>; brightness in the <room> <percent> percent; make the <room> <percent> percent bright
问 把<room>的灯调到百分之<percent>; <room>亮度<percent>; <room>的亮度设为<percent>
res status=ok/成功
say The light in the <room> is at <percent> percent. | <room>的亮度是 <percent>%。

name set_temperature set_heating heat_room thermostat
desc Sets the temperature of a room. | 设置房间温度。
par room|zone:room degrees|temperature|target:15-26
ask set the <room> to <degrees> degrees; heat the <room> to <degrees>; make it <degrees> degrees in the <room>; I want <degrees> degrees in the <room>
问 把<room>调到<degrees>度; <room>温度设为<degrees>度; 我想让<room>有<degrees>度
res status=ok/成功,heating/正在加热
say The <room> is set to <degrees> degrees. | <room>已设为 <degrees> 度。

name read_sensor get_temperature measure_room room_temperature
desc Reads the temperature in a room. | 读取房间温度。
par room|place|sensor:room
ask how {warm|cold} is {it in |}the <room>; what is the temperature {in|of} the <room>; read the sensor in the <room>; is the <room> warm enough
问 <room>{几度|多少度|温度是多少}; <room>冷不冷; 读一下<room>的温度
res degrees=2-30
say The <room> is at <degrees> degrees. | <room>现在 <degrees> 度。

name lock_door door_lock set_lock
desc Locks or unlocks a door. | 锁门或开锁。
par door|room|place:room locked|lock:flag(lock/锁上,unlock/打开)
ask <locked> the door of the <door>; please <locked> the <door> door; <locked> the <door>
问 <locked><door>的门; 把<door>的门<locked>
res status=ok/成功,done/完成
say Done: the <door> door. | <door>的门：<status>。

name send_message text_person message write_to send_text
desc Sends a message to a person. | 给某人发消息。
par to|recipient|name|person:person text|message|content|body:note
ask send <to> a message: <text>; write to <to>: <text>; text <to> that {says |}"<text>"; tell <to> "<text>"; message <to>: <text>; please let <to> know: <text>
问 给<to>发消息：<text>; 告诉<to>：<text>; 发短信给<to>，内容是“<text>”; 跟<to>说“<text>”
res status=sent/已发送,delivered/已送达
say Your message to <to> was <status>. | 给<to>的消息<status>。

name call_person phone_call dial make_call
desc Calls somebody on the phone. | 给某人打电话。
par name|person|contact|who:person
ask call <name>; phone <name>; please ring <name>; I want to speak with <name>; give <name> a call
问 {打电话给|给}<name>{打电话|}; 拨打<name>的电话; 我要和<name>通话
res status=connected/已接通,busy/占线
say The call to <name>: <status>. | 与<name>的通话：<status>。

name send_email compose_mail email mail_to
desc Sends an e-mail. | 发送电子邮件。
par to|recipient|address:email subject|title:note
ask send an e-mail to <to> with the subject "<subject>"; mail <to>, subject: <subject>; email <to> about "<subject>"; write a mail to <to>, the subject is <subject>
问 给 <to> 发邮件，主题“<subject>”; 发邮件到 <to>，主题是<subject>
res status=sent/已发送
say The mail to <to> was <status>. | 发给 <to> 的邮件<status>。

name create_event add_event add_to_calendar schedule
desc Puts an event into the calendar. | 添加日程。
par title|name|event|what:note day|date|weekday:day time?|start?:clock
ask put "<title>" into my calendar on <day>; add <title> on <day>; schedule <title> for <day> at <time>; new event on <day> at <time>: <title>; on <day> I have to <title>, write it down
问 <day>添加日程：<title>; 把“<title>”加到<day>; <day><time>安排<title>
res status=added/已添加,saved/已保存
say "<title>" on <day> is <status>. | <day>的“<title>”<status>。

name list_events get_calendar show_day agenda
desc Lists the events of a day. | 列出某天的日程。
par day|date|weekday:day
ask what do I have on <day>; show my calendar for <day>; am I free on <day>; which appointments are there on <day>; events on <day>
问 <day>有什么安排; 查看<day>的日程; <day>我有空吗
res count=0-6
say On <day> there are <count> events. | <day>有 <count> 个日程。

name add_reminder remind create_reminder reminder
desc Creates a reminder. | 创建提醒。
par text|what|task|note:note time?|when?|at?:clock
ask remind me to <text>; remind me to <text> at <time>; do not let me forget to <text>; reminder: <text>; reminder at <time>: <text>
问 提醒我<text>; <time>提醒我<text>; 别让我忘了<text>
res status=saved/已保存,ok/好了
say I saved the reminder: <text>. | 提醒<status>：<text>。

name add_item add_to_list shopping_add put_on_list
desc Adds something to the shopping list. | 添加到购物清单。
par item|product|name|what:good count?|amount?|quantity?:2-20
ask add <item> to the {list|shopping list}; put <count> <item> on the list; we need <item>; buy <count> <item>; add <count> <item>; write <item> on my list
问 把<item>加到购物清单; 清单上加<count>个<item>; 要买<item>; 买<count>个<item>
res status=added/已添加
say <item>: <status>. | <item><status>。

name remove_item delete_from_list take_off_list
desc Removes something from the shopping list. | 从清单中删除。
par item|product|name:good
ask remove <item> from the list; take <item> off the list; we do not need <item> any more; delete <item> from my list
问 把<item>从清单上删掉; 不买<item>了; 从清单去掉<item>
res status=removed/已删除
say <item>: <status>. | <item><status>。

name play_music play_song music play_track
desc Plays music. | 播放音乐。
par query|title|song|what:title
ask play <query>; I want to hear <query>; put on <query>; play the song <query>; can you play <query>
问 播放<query>; 我想听<query>; 放一首<query>
res status=playing/正在播放
say Now <status>: <query>. | <status>：<query>。

name set_volume volume change_volume
desc Sets the volume from 0 to 100. | 设置音量（0 到 100）。
par level|volume|value|percent:0-100
ask set the volume to <level>; volume <level>; turn the volume to <level>; make it <level> percent loud; sound at <level>
问 音量调到<level>; 把音量设为<level>; 声音<level>
res status=ok/成功
say The volume is now <level>. | 音量现在是 <level>。

name player_control media music_control
desc Controls the player. | 控制播放器。
par action|command|do:enum(pause/暂停,next/下一首,stop/停止播放,resume/继续播放)
ask <action> the music; <action> please; player: <action>; can you <action> it
问 <action>; 请<action>; 音乐<action>
res status=ok/好了,done/完成
say Done: <action>. | 已<action>。

name search_files find_file search_documents
desc Searches my files for a word. | 在文件中搜索。
par query|word|text|term:thing folder?|path?:room
ask search my files for <query>; find the file about the <query>; where is my document on <query>; look for <query> in my files
问 在文件里搜索<query>; 找关于<query>的文件; 查找<query>
res found=0-30
say I found <found> files for <query>. | 找到 <found> 个关于<query>的文件。

name web_search search_web internet_search lookup
desc Searches the web. | 搜索网页。
par query|q|terms|text:thing
ask search the web for <query>; google <query>; look up <query> on the internet; find something about <query> online
问 上网搜<query>; 搜索<query>; 在网上查<query>
res found=1-90
say The search for <query> gave <found> results. | “<query>”有 <found> 条结果。

name get_price price_of product_price check_price
desc Gets the price of a product. | 查询商品价格。
par product|item|name:good
ask what {do|does} <product> cost; how much are <product>; price of <product>; get the price of <product>
问 <product>多少钱; 查一下<product>的价格; <product>什么价
res price=1-40
say <product>: <price>. | <product>：<price> 元。

name convert_currency exchange money_convert
desc Converts an amount of money. | 换算货币。
par amount|value:5-500 from|source:enum(EUR/欧元,USD/美元,GBP/英镑,CNY/人民币) to|target:enum(JPY/日元,CHF/法郎,SEK/克朗,INR/卢比)
ask convert <amount> <from> to <to>; how much is <amount> <from> in <to>; exchange <amount> <from> into <to>; <amount> <from> in <to>
问 <amount><from>是多少<to>; 把<amount><from>换成<to>; <amount><from>换算成<to>
res result=10-900
say <amount> <from> are <result> <to>. | 结果是 <result>。

name translate_text translate translator
desc Translates a text. | 翻译文字。
par text|sentence|input:note target|language|to:enum(french/法语,german/德语,spanish/西班牙语,japanese/日语)
ask translate "<text>" {to|into} <target>; how do you say "<text>" in <target>; say "<text>" in <target>; I need "<text>" in <target>
问 把“<text>”翻译成<target>; “<text>”用<target>怎么说
res status=done/完成
say The translation to <target> is <status>. | 译成<target>：<status>。

name find_route directions navigate route_to
desc Finds a route between two places. | 查找路线。
par from|start|origin:city to|destination|end:city2 mode?|by?:enum(car/开车,train/坐火车,bike/骑车)
ask how do I get from <from> to <to>; route from <from> to <to>; find the way from <from> to <to> by <mode>; I travel from <from> to <to> by <mode>
问 从<from>到<to>怎么走; <from>到<to>的路线; 从<from><mode>去<to>
res minutes=10-300
say From <from> to <to> it takes <minutes> minutes. | 从<from>到<to>要 <minutes> 分钟。

name book_table reserve_table reservation
desc Books a table in a restaurant. | 预订餐桌。
par people|guests|persons|seats:2-12 day|date:day time|at:clock
ask book a table for <people> on <day> at <time>; a table for <people> people, <day>, <time>; reserve for <people> guests on <day> at <time>; we are <people> and want to eat on <day> at <time>
问 <day><time>订<people>个人的位子; 预订<day><time>，<people>人; 我们<people>个人<day><time>来吃饭
res status=booked/已预订,confirmed/已确认
say Your table for <people> on <day> at <time> is <status>. | <day><time>，<people> 人：<status>。

name book_ticket buy_ticket order_ticket
desc Books train tickets. | 预订火车票。
par to|destination|city:city count|tickets|number:1-6
ask buy <count> tickets to <to>; I need <count> train tickets to <to>; book <count> seats to <to>; <count> tickets for the train to <to>
问 买<count>张去<to>的票; 订<count>张到<to>的火车票; 我要<count>张<to>的票
res status=booked/已预订
say <count> tickets to <to>: <status>. | <count> 张去<to>的票：<status>。

name get_user lookup_user find_user user_info
desc Looks up a user by name. | 按名字查询用户。
par name|user|username|login:person
ask look up the user <name>; who is the user <name>; find <name> in the user list; show me <name>
问 查询用户<name>; 找一下用户<name>; 显示<name>的资料
res age=5-90
say <name> is <age> years old. | <name>今年 <age> 岁。

name get_order order_status track_order where_is_order
desc Tells the state of an order. | 查询订单状态。
par order_id|id|number|order:code
ask where is my order <order_id>; status of order <order_id>; track <order_id>; what about the order <order_id>
问 我的订单 <order_id> 到哪了; 查询订单 <order_id>; 订单 <order_id> 的状态
res status=shipped/已发货,packed/已打包,delivered/已送达
say Order <order_id> is <status>. | 订单 <order_id> <status>。

name cancel_order stop_order delete_order
desc Cancels an order. | 取消订单。
par order_id|id|number:code reason?|why?:enum(late/太晚,wrong/不对,expensive/太贵)
ask cancel order <order_id>; I do not want the order <order_id> any more; please stop <order_id>; cancel <order_id>, it is too <reason>
问 取消订单 <order_id>; 我不要订单 <order_id> 了
res status=cancelled/已取消
say Order <order_id> is <status>. | 订单 <order_id> <status>。

name create_note save_note write_note new_note
desc Saves a note. | 保存笔记。
par text|content|note|body:note title?:thing
ask note: <text>; write down: <text>; save the note "<text>"; make a note that says "<text>"; take a note: <text>
问 记一下：<text>; 记下“<text>”; 新建笔记：<text>
res status=saved/已保存
say The note is <status>. | 笔记<status>。

name create_task add_task new_todo todo
desc Creates a task. | 创建任务。
par title|task|name|what:note priority?|importance?:enum(high/高,low/低,medium/中)
ask new task: <title>; add a task to <title>; put "<title>" on my todo list; task with <priority> priority: <title>; create a <priority> priority task: <title>
问 新任务：<title>; 添加任务“<title>”; 创建一个优先级<priority>的任务：<title>
res status=created/已创建
say The task "<title>" is <status>. | 任务“<title>”<status>。

name roll_dice throw_dice dice
desc Rolls dice. | 掷骰子。
par count|dice|number|n:1-6 sides?|faces?:6-20
ask roll <count> dice; throw <count> dice; I need <count> dice; roll <count> dice with <sides> sides
问 掷<count>个骰子; 扔<count>个骰子; 掷<count>个<sides>面的骰子
res total=2-36
say You rolled <total>. | 总点数是 <total>。

name random_number pick_number draw_number
desc Gives a random number. | 生成随机数。
par min|low|from:1-9 max|high|to:10-100
ask pick a number between <min> and <max>; random number from <min> to <max>; draw a number, <min> to <max>
问 在<min>到<max>之间选一个数; 生成<min>到<max>的随机数
res number=1-100
say The number is <number>. | 数字是 <number>。

name move_robot drive_robot robot_move go
desc Moves the robot. | 移动机器人。
par direction|dir|where:enum(forward/前进,back/后退,left/向左,right/向右) steps|distance|meters:1-20
ask move the robot <steps> steps <direction>; robot: <steps> <direction>; go <direction> <steps>; drive <direction>, <steps> steps
问 机器人<direction><steps>步; 让机器人<direction><steps>步
res status=ok/好了,arrived/已到达
say The robot moved <steps> steps <direction>. | 机器人已<direction> <steps> 步。

name start_machine run_device switch_on_device device_start
desc Starts a machine of the house. | 启动家电。
par device|machine|name:device minutes?|duration?:5-90
ask start the <device>; switch on the <device>; run the <device> for <minutes> minutes; turn the <device> on for <minutes> minutes; the <device> should start
问 启动<device>; 打开<device>; 让<device>运行<minutes>分钟
res status=started/已启动,running/正在运行
say The <device> is <status>. | <device><status>。

name stop_machine stop_device switch_off_device device_off
desc Stops a machine of the house. | 关闭家电。
par device|machine|name:device
ask stop the <device>; switch off the <device>; turn the <device> off; the <device> is too loud, stop it
问 关掉<device>; 停止<device>; 把<device>关了
res status=stopped/已停止,off/已关闭
say The <device> is <status>. | <device><status>。

name water_plants water_garden irrigate sprinkler
desc Waters the plants. | 浇花。
par place|zone|area:room minutes|duration|time:1-30
ask water the plants in the <place> for <minutes> minutes; the <place> is dry, water it <minutes> minutes; sprinkle the <place> for <minutes> minutes
问 给<place>的花浇水<minutes>分钟; <place>浇水<minutes>分钟
res status=started/已开始
say Watering the <place> for <minutes> minutes. | <place>浇水<status>。

name take_photo camera_shot snapshot
desc Takes a photo with a camera. | 用摄像头拍照。
par camera|room|place:room
ask take a photo of the <camera>; camera shot in the <camera>; show me the <camera>; snapshot of the <camera>, please
问 拍一张<camera>的照片; 给<camera>拍照; 看看<camera>
res file=shot1.jpg,photo7.jpg,image3.jpg
say The photo of the <camera> is saved as <file>. | 照片已保存为 <file>。

name get_stock check_stock stock_level inventory
desc Tells how many pieces are in stock. | 查询库存。
par item|product|article:good
ask how many <item> are in stock; do we have <item>; check the stock of <item>; how many <item> are left in the store
问 <item>还有多少库存; 查一下<item>的库存; <item>有货吗
res count=0-200
say There are <count> <item> in stock. | <item>还有 <count> 个。

name set_reminder_birthday add_birthday birthday
desc Saves a birthday. | 保存生日。
par name|person|who:person month|in_month:month day|date:1-28
ask the birthday of <name> is on <month> <day>; save the birthday of <name>: <month> <day>; <name> was born on <month> <day>
问 <name>的生日是<month><day>号; 记下<name>的生日：<month><day>号
res status=saved/已保存
say The birthday of <name> is <status>. | <name>的生日<status>。

name log_meal add_meal track_food
desc Writes down what was eaten. | 记录饮食。
par food|what|item:good calories|kcal|energy:20-900
ask I ate <food>, <calories> calories; log <food> with <calories> calories; write down: <food>, <calories> kcal
问 我吃了<food>，<calories>卡; 记录<food>，<calories>卡路里
res status=saved/已保存
say <food> with <calories> calories: <status>. | <food>，<calories> 卡：<status>。

name log_run add_workout track_run
desc Saves a run. | 记录跑步。
par kilometers|distance|km:1-20 minutes|duration|time:5-120
ask I ran <kilometers> kilometers in <minutes> minutes; save my run: <kilometers> km, <minutes> minutes; log a run of <kilometers> km in <minutes> minutes
问 我跑了<kilometers>公里，用了<minutes>分钟; 记录跑步：<kilometers>公里，<minutes>分钟
res status=saved/已保存
say Your run of <kilometers> kilometers is <status>. | <kilometers> 公里<status>。
"""


@dataclass(frozen=True)
class Param:
    names: tuple[str, ...]
    kind: str
    required: bool

    @property
    def slot(self) -> str:
        return self.names[0]

    @property
    def options(self) -> list[tuple[str, str]]:
        """(English, Chinese) words of an enum or flag"""
        m = re.fullmatch(r'(?:enum|flag)\((.*)\)', self.kind)
        return [tuple(x.split('/')) for x in m.group(1).split(',')] if m else []


@dataclass(frozen=True)
class Function:
    names: tuple[str, ...]
    desc: tuple[str, str]
    params: tuple[Param, ...]
    ask: tuple[str, ...]
    ask_zh: tuple[str, ...]
    results: tuple[tuple[str, str], ...]
    say: tuple[str, str]


def _param(text: str) -> Param:
    names, _, kind = text.partition(':')
    return Param(tuple(n.rstrip('?') for n in names.split('|')), kind, '?' not in names)


def _split(text: str) -> tuple[str, ...]:
    return tuple(x.strip() for x in text.split(';'))


def _pair(text: str) -> tuple[str, str]:
    return tuple(x.strip() for x in text.split('|'))[:2]


LINES = dict(name=lambda s: tuple(s.split()), desc=_pair, par=lambda s: tuple(_param(p) for p in re.findall(r'\S+:(?:\w+\([^)]*\)|\S+)', s)), ask=_split, 问=_split,
             res=lambda s: tuple(tuple(r.split('=')) for r in s.split()), say=_pair)


def load(text: str = TABLE) -> list[Function]:
    out = []
    for block in text.strip().split('\n\n'):
        f = {line.split(' ', 1)[0]: LINES[line.split(' ', 1)[0]](line.split(' ', 1)[1]) for line in block.split('\n')}
        out.append(Function(f['name'], f['desc'], f['par'], f['ask'], f['问'], f['res'], f['say']))
    return out


FUNCTIONS = load()
