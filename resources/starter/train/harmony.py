"""Harmony markup of a conversation, piece by piece, with a loss weight per piece; and the way back.
Owns: message order, headers, dropping of earlier thoughts, parsing of a reply. Refuses: tokens."""
from __future__ import annotations

import re

from data.tools import tools_section

IDENTITY = 'You are ChatGPT, a large language model trained by OpenAI.\nKnowledge cutoff: 2024-06'
CHANNELS = '# Valid channels: analysis, commentary, final. Channel must be included for every message.'
USER_WEIGHT = 0.1       # reading questions is worth a little practice, too


class Special(str):
    """A control token; plain str pieces can never become one."""


START, END, RETURN, CALL, CHANNEL, MESSAGE, CONSTRAIN = (
    Special(f'<|{x}|>') for x in ('start', 'end', 'return', 'call', 'channel', 'message', 'constrain'))


def system_text(effort: str, date: str | None, has_tools: bool) -> str:
    out = IDENTITY + (f'\nCurrent date: {date}' if date else '') + f'\n\nReasoning: {effort}\n\n' + CHANNELS
    return out + ("\nCalls to these tools must go to the commentary channel: 'functions'." if has_tools else '')


def developer_text(instructions: str | None, tools: list | None, formats: str | None) -> str | None:
    parts = []
    if instructions:
        parts.append('# Instructions\n\n' + instructions)
    if tools:
        parts.append(tools_section(tools))
    if formats:
        parts.append(formats)
    return '\n\n'.join(parts) if parts else None


def system(effort: str, date: str | None, has_tools: bool) -> list[tuple[str, float]]:
    return [(START, 0), ('system', 0), (MESSAGE, 0), (system_text(effort, date, has_tools), 0), (END, 0)]


def prompt(effort: str, date: str | None, instructions=None, tools=None, formats=None) -> list[tuple[str, float]]:
    out = system(effort, date, bool(tools))
    dev = developer_text(instructions, tools, formats)
    if dev:
        out += [(START, 0), ('developer', 0), (MESSAGE, 0), (dev, 0), (END, 0)]
    return out


def user(text: str) -> list[tuple[str, float]]:
    return [(START, 0), ('user', 0), (MESSAGE, 0), (text, USER_WEIGHT), (END, 0)]


def analysis(text: str) -> list[tuple[str, float]]:
    return [(CHANNEL, 1), ('analysis', 1), (MESSAGE, 1), (text, 1), (END, 1), (START, 1), ('assistant', 1)]


def call(name: str, args: str, w: float) -> list[tuple[str, float]]:
    return [(f' to=functions.{name}', w), (CHANNEL, w), ('commentary', w), (' ', w), (CONSTRAIN, w), ('json', w), (MESSAGE, w), (args, w), (CALL, w)]


def result(name: str, text: str) -> list[tuple[str, float]]:
    return [(START, 0), (f'functions.{name}', 0), (' to=assistant', 0), (CHANNEL, 0), ('commentary', 0), (MESSAGE, 0), (text, 0), (END, 0)]


def reply(t: dict, last: bool, end: bool) -> list[tuple[str, float]]:
    """What the assistant writes in one turn, results of functions included. Thoughts stay in the `last` turns; `end` closes the conversation."""
    w, out = (1 if last else 0), []
    if last:
        out += analysis(t['analysis'])
    if 'call' in t:
        out += call(t['call'], t['args'], w) + result(t['call'], t['result']) + [(START, 0), ('assistant', 0)]
        if last:
            out += analysis(t['then'])
    return out + [(CHANNEL, w), ('final', w), (MESSAGE, w), (t['final'], 1), (RETURN if end else END, w if end else 0)]


def history(c: dict, keep: bool = False) -> list[tuple[str, float]]:
    """Everything before the assistant's last reply, up to its `<|start|>assistant`."""
    out = prompt(c['effort'], c['date'], c['instructions'], c['tools'], c['formats'])
    for n, t in enumerate(c['turns']):
        out += user(t['user']) + [(START, 0), ('assistant', 0)]
        if n < len(c['turns']) - 1:
            out += reply(t, keep, False)
    return out


def render(c: dict) -> list[tuple[str, float]]:
    """Pieces of a whole conversation. Thoughts stay only in the last turn, as the app renders it, unless c['keep']."""
    return history(c, c.get('keep', False)) + reply(c['turns'][-1], True, True)


_REPLY = re.compile(r'(?:<\|channel\|>analysis<\|message\|>(?P<analysis>.*?)<\|end\|><\|start\|>assistant)?(?:'
                    r'<\|channel\|>final<\|message\|>(?P<final>.*)<\|return\|>'
                    r'| to=functions\.(?P<call>\S+?)<\|channel\|>commentary <\|constrain\|>json<\|message\|>(?P<args>.*)<\|call\|>)', re.S)


def parse(text: str) -> dict | None:
    """A decoded reply as {analysis, final, call, args}; None where it is not well formed or shows a control token."""
    m = _REPLY.fullmatch(text)
    return None if m is None or any(v and '<|' in v for v in m.groupdict().values()) else m.groupdict()
