"""Other words for the same thing, so that a question is understood by what it means and not by the words of its template.
Owns: groups of words that may stand for each other in any question about the app. Refuses: words with two meanings here (memory, length, use)."""
from __future__ import annotations

import re

from .draw import Draw

GROUPS = """computer/machine/PC/laptop/device
answer/reply/response
answers/replies/responses
chat/conversation/thread
chats/conversations/threads
delete/remove/erase/get rid of
change/adjust/alter/modify
choose/pick/select
big/large/huge
bigger/larger
small/little/tiny
fast/quick/speedy
faster/quicker
slow/sluggish
stop/halt/end
page/screen/view/tab
message/prompt
app/application/program/software
internet/web/net
folder/directory
picture/image/photo
pictures/images/photos
model/AI model/language model/LLM
models/AI models/language models/LLMs
private/confidential
safe/secure
settings/options/preferences
find/locate/see
show/display
start/launch
save/keep/store
begin/start
broken/not working/out of order
help/assist
explain/clarify
error/error message
hear/listen to
I'm/I am
it's/it is
what's/what is
where's/where is
don't/do not
doesn't/does not
can't/cannot/can not
isn't/is not
won't/will not
want to/would like to/wish to
need to/have to/must
right now/now/at the moment
maybe/perhaps
people/persons
somebody/someone
everybody/everyone
anything/something""".split('\n')
GROUPS_ZH = """电脑/机器/计算机/笔记本
回答/回复/答复
对话/聊天/会话
删除/删掉/移除/清掉
更改/修改/调整/改变
选择/挑选
停止/停下/中断
按钮/按键
页面/界面
程序/软件/应用
互联网/网络
文件夹/目录
图片/照片/图像
模型/AI 模型/语言模型
设置/选项
怎么/怎样/如何/咋
什么/啥
哪里/哪儿/什么地方
可以/能够
为什么/为啥/为何
知道/晓得/清楚
告诉我/跟我说/说说
现在/目前/此刻
非常/特别
打开/开启
出错/报错/有错误
显示/展示
保存/存下
消息/信息
一直/老是/总是
帮我/替我/给我""".split('\n')


def _table(lines: list[str]) -> dict[str, list[str]]:
    out: dict[str, list[str]] = {}
    for line in lines:
        words = line.split('/')
        for w in words:
            out.setdefault(w, []).extend(x for x in words if x != w)
    return out


TABLES = {'en': _table(GROUPS), 'zh': _table(GROUPS_ZH)}
FINDERS = {lang: re.compile('|'.join(re.escape(w) for w in sorted(t, key=len, reverse=True))) for lang, t in TABLES.items()}
FINDERS['en'] = re.compile(rf"(?<![\w'-])({FINDERS['en'].pattern})(?![\w'-])")


def reworded(d: Draw, text: str, lang: str, share: float = 0.5) -> str:
    """The question with about `share` of its known words replaced."""
    return FINDERS[lang].sub(lambda m: d.pick(TABLES[lang][m.group()]) if d.chance(share) else m.group(), text)
