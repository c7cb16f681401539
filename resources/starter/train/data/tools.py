"""Function tools, requests that need them, their results and the answers; and JSON response formats.
Owns: tool schemas and argument copying. Refuses: the markup around a call."""
from __future__ import annotations

import json
from random import Random

from .common import NAMES, THINGS, article, cap, made_up, noisy, pick, say

ROOMS = 'attic cellar kitchen bedroom bathroom garage hall office garden study nursery workshop library balcony stable barn'.split()
CITY = 'Paris London Berlin Tokyo Madrid Rome Beijing Oslo Vienna Cairo Lima Dublin Seoul Lisbon Boston Chicago Shanghai Hamburg Milan Geneva'.split()
VALUES = dict(
    room=lambda r: pick(r, ROOMS), place=lambda r: pick(r, ROOMS), city=lambda r: pick(r, CITY), location=lambda r: pick(r, CITY), town=lambda r: cap(made_up(r)),
    name=lambda r: pick(r, NAMES), person=lambda r: pick(r, NAMES), query=lambda r: pick(r, THINGS), item=lambda r: pick(r, THINGS), topic=lambda r: pick(r, THINGS),
    title=lambda r: pick(r, THINGS), id=lambda r: made_up(r) + str(r.randint(1, 99)), code=lambda r: made_up(r), color=lambda r: r.choice('red blue green white yellow'.split()))
INTS = ['minutes', 'count', 'level', 'amount', 'degrees', 'hours', 'number']

# name, description, question forms with {V} (text) and {N} (number), text parameter, number parameter, result key, answer
FIXED = [
    ('get_weather', 'Gets the weather.', ["{what is|what's|how is} the weather {in|like in} V", 'weather in V', 'tell me the weather in V', 'will it rain in V', 'is it {warm|cold|sunny} in V', 'get the weather for V'], ['city', 'location', 'town'], None, [('weather', ['sunny', 'rainy', 'cloudy', 'windy', 'snowy'])], 'The weather in V: R.'),
    ('get_current_weather', 'Gets the current weather in the given location.', ["{what is|what's} the weather {in|like in} V", 'weather in V now', 'how warm is it in V'], ['location', 'city'], None, [('degrees', None)], 'In V it is R degrees.'),
    ('read_sensor', 'Reads a sensor.', ['how {warm|cold} is the V', 'how warm is it in the V', 'read the sensor in the V', 'what is the temperature {in|of} the V', 'temperature in the V', 'check the V'], ['room', 'place'], None, [('c', None)], 'The V is at R degrees.'),
    ('get_time', 'Gets the time in a city.', ['what time is it in V', 'tell me the time in V', 'time in V'], ['city', 'location'], None, [('time', ['08:15', '10:30', '12:00', '17:45', '21:20'])], 'In V it is R.'),
    ('search', 'Searches for a text.', ['search for V', 'find V', 'look up V', 'please search for V'], ['query'], None, [('found', range(30))], 'I found R results for V.'),
    ('web_search', 'Searches the web.', ['search the web for V', 'look for V on the web', 'google V'], ['query'], None, [('found', range(30))], 'The web search for V gave R results.'),
    ('send_message', 'Sends a message to a person.', ['send a message to V', 'write to V', 'message V', 'tell V that I am coming'], ['name', 'person'], None, [('status', ['sent', 'done'])], 'The message to V was R.'),
    ('call_person', 'Calls a person.', ['call V', 'please call V', 'phone V', 'ring V'], ['name', 'person'], None, [('status', ['connected', 'busy'])], 'V: R.'),
    ('set_timer', 'Sets a timer.', ['set a timer for N minutes', 'timer for N minutes', 'wake me in N minutes', 'remind me in N minutes', 'start a N minute timer'], None, ['minutes'], [('status', ['started', 'done'])], 'The timer for N minutes is R.'),
    ('set_volume', 'Sets the volume.', ['set the volume to N', 'volume N', 'turn the volume to N', 'make it volume N'], None, ['level', 'number'], [('status', ['ok', 'done'])], 'The volume is now N.'),
    ('set_heating', 'Sets the heating of one room.', ['set the heating in the V to N', 'heat the V to N degrees', 'warm up the V to N'], ['room', 'place'], ['degrees', 'level'], [('status', ['ok', 'done'])], 'The V is set to N degrees.'),
    ('add_item', 'Adds an item to the list.', ['add N of V to the list', 'put N times V on the list', 'add V, N pieces'], ['item', 'name'], ['count', 'amount'], [('status', ['added', 'done'])], 'V, N pieces: R.'),
    ('turn_on_light', 'Turns on the light in a room.', ['turn on the light in the V', 'light on in the V', 'switch on the V light', 'I need light in the V'], ['room', 'place'], None, [('status', ['on'])], 'The light in the V is R.'),
    ('open_door', 'Opens a door.', ['open the door of the V', 'open the V door', 'please open the V', 'unlock the V'], ['room', 'id'], None, [('status', ['open'])], 'The door of the V is R.'),
    ('play_music', 'Plays music.', ['play V', 'play a song about V', 'play some V music', 'I want to hear V'], ['query', 'title', 'topic'], None, [('status', ['playing'])], 'Now R: V.'),
    ('get_price', 'Gets the price of an item.', ['what does the V cost', 'how much is the V', 'price of the V', 'get the price of V'], ['item', 'name'], None, [('price', None)], 'The V costs R.'),
    ('lookup_user', 'Looks up a user.', ['look up V', 'who is V', 'find the user V', 'show me the user V'], ['id', 'name', 'code'], None, [('age', range(5, 90))], 'V is R years old.'),
]
VERB = 'get set read open close check find start stop show count move fetch list measure lock clean'.split()
NOUN = 'lamp door window heater sensor pump fan camera clock lock gate oven robot printer speaker alarm valve motor battery tank light station file note task order ticket report'.split()


def made_tool(rng: Random):
    """A tool nobody has seen: its name and parameter can only be read from the developer message."""
    verb, noun = pick(rng, VERB), pick(rng, NOUN) if rng.random() < 0.8 else made_up(rng)
    key = rng.choice(['room', 'city', 'name', 'id', 'item', 'code', 'place'])
    name = rng.choice([f'{verb}_{noun}', f'{noun}_{verb}', f'{verb}{cap(noun)}', f'{verb}_{noun}'])
    if rng.random() < 0.25:
        return (name, f'{cap(verb)}s the {noun}.', [f'{verb} the {noun} number N', f'{verb} {noun} N', f'please {verb} {noun} N'], None, [rng.choice(INTS)], [('status', ['ok', 'done', 'ready'])], f'The {noun} N: R.')
    where = {'room': 'in the V', 'place': 'in the V', 'city': 'in V', 'name': 'of V', 'id': 'V', 'item': 'for the V', 'code': 'with the code V'}[key]
    return (name, f'{cap(verb)}s the {noun}.', [f'{verb} the {noun} {where}', f'please {verb} the {noun} {where}', f'can you {verb} the {noun} {where}', f'{verb} {noun} V'], [key], None,
            [(rng.choice(['status', 'result', 'value', 'state']), ['ok', 'done', 'ready', 'open', 'closed', 'empty', 'full', None])], f'The {noun} {where}: R.')


def typescript(tool: dict) -> str:
    """One function as the developer message shows it."""
    out = ''.join(f'// {line}\n' for line in tool['description'].split('\n'))
    if not tool['params']:
        return out + f'type {tool["name"]} = () => any;\n'
    out += f'type {tool["name"]} = (_: {{\n'
    for p in tool['params']:
        if p.get('comment'):
            out += f'// {p["comment"]}\n'
        kind = ' | '.join(f'"{x}"' for x in p['enum']) if p.get('enum') else p['type']
        out += f'{p["name"]}{"" if p["required"] else "?"}: {kind},\n'
    return out + '}) => any;\n'


def tools_section(tools: list[dict]) -> str:
    return '# Tools\n\n## functions\n\nnamespace functions {\n\n' + '\n'.join(typescript(t) for t in tools) + '\n} // namespace functions'


def concrete(rng: Random, t) -> tuple[dict, str | None, int | None]:
    """Fix the parameters of one tool: (schema, text value, number value)."""
    name, desc, _, texts, ints, _, _ = t
    params, text, number = [], None, None
    if texts:
        key = pick(rng, texts)
        text = VALUES[key](rng)
        p = dict(name=key, type='string', required=True)
        if rng.random() < 0.25 and key in ('room', 'place', 'city', 'color', 'location'):
            p['enum'] = sorted({text} | {VALUES[key](rng) for _ in range(rng.randint(1, 3))})
        if rng.random() < 0.3:
            p['comment'] = rng.choice([f'The {key}', f'Name of the {key}', f'{cap(key)} to use'])
        params.append(p)
    if ints:
        number = rng.randint(1, 60)
        params.append(dict(name=pick(rng, ints), type='number', required=True))
    if rng.random() < 0.15:
        params.append(dict(name=rng.choice(['unit', 'quiet', 'format', 'language']), type=rng.choice(['string', 'boolean']), required=False))
    return dict(name=name, description=desc, params=params), text, number


def tool_dialog(rng: Random) -> tuple[list[dict], dict]:
    """(tools offered, a turn that needs one of them)."""
    chosen = pick(rng, FIXED) if rng.random() < 0.5 else made_tool(rng)
    schema, text, number = concrete(rng, chosen)
    args = {}
    for p in schema['params']:
        if p['required']:
            args[p['name']] = text if p['type'] == 'string' else number
    fill = lambda s: ' '.join(w.replace('V', text) if text and w.strip('.,:') == 'V' else (w.replace('N', str(number)) if number is not None and w.strip('.,:') == 'N' else w) for w in s.split(' '))
    q = fill(say(rng, pick(rng, chosen[2])))
    q = noisy(rng, q, rng.random() < 0.5, exact=True)
    key, values = pick(rng, chosen[5])
    v = pick(rng, values) if values else None
    v = rng.choice([rng.randint(1, 40), rng.randint(-5, 40) + 0.5]) if v is None else v
    result = json.dumps({key: v}) if rng.random() < 0.75 else str(v)
    final = cap(' '.join(w.replace('R', str(v)) if w.strip('.,:') == 'R' else w for w in fill(chosen[6]).split(' ')))
    compact = (',', ':') if rng.random() < 0.7 else (', ', ': ')
    turn = dict(user=q, topic=f'something that {schema["name"]} can do', plan=f'call {schema["name"]}', call=schema['name'], args=json.dumps(args, separators=compact, ensure_ascii=False), result=result, final=final)
    return offered(rng, schema), turn


def offered(rng: Random, schema: dict | None = None) -> list[dict]:
    tools = [schema] if schema else []
    for _ in range(rng.choice([0, 0, 0, 1, 1, 2]) if schema else rng.choice([1, 1, 2])):
        other = concrete(rng, pick(rng, FIXED) if rng.random() < 0.6 else made_tool(rng))[0]
        if all(other['name'] != t['name'] for t in tools):
            tools.append(other)
    rng.shuffle(tools)
    return tools


def format_dialog(rng: Random) -> tuple[str, dict]:
    """(response format section, a turn answered in that JSON)."""
    props, out = {}, {}
    pool = [('name', 'string'), ('title', 'string'), ('age', 'integer'), ('count', 'integer'), ('city', 'string'), ('kind', 'enum'), ('good', 'boolean'), ('items', 'array'), ('answer', 'string'), ('color', 'enum'), ('v', 'enum'), ('text', 'string'), ('crew', 'integer'), (made_up(rng), 'string')]
    for key, kind in rng.sample(pool, rng.randint(1, 3)):
        if kind == 'string':
            props[key] = {'type': 'string'}
            out[key] = pick(rng, CITY) if key == 'city' else (pick(rng, NAMES) if key == 'name' else pick(rng, THINGS))
        elif kind == 'integer':
            props[key] = {'type': 'integer'}
            out[key] = rng.randint(1, 20)
        elif kind == 'boolean':
            props[key] = {'type': 'boolean'}
            out[key] = True
        elif kind == 'array':
            props[key] = {'type': 'array', 'items': {'type': 'string'}}
            out[key] = rng.sample(THINGS, 2)
        else:
            options = rng.sample(THINGS, rng.randint(1, 3))
            props[key] = {'type': 'string', 'enum': options}
            out[key] = options[0]
    schema = {'type': 'object', 'properties': props, 'required': list(props), 'additionalProperties': False}
    name = rng.choice(['answer', 'result', 'v', 'item', 'thing', 'person', 'data', 'boat', 'list'])
    section = f'# Response Formats\n\n## {name}\n\n' + rng.choice(['', f'// {cap(article(name))}\n']) + json.dumps(schema, separators=(',', ':'))
    q = say(rng, '{describe|tell me about|make|give me|invent} ') + rng.choice([article(pick(rng, THINGS)), 'a ' + name, pick(rng, NAMES), 'something'])
    return section, dict(user=noisy(rng, q, False), topic='an answer in a given JSON form', plan='answer with that JSON only', final=json.dumps(out, separators=(',', ':') if rng.random() < 0.5 else (', ', ': '), ensure_ascii=False))
