// The harmony parser loses no text and shows no markup, whatever the model writes.
import { describe, expect, it } from 'vitest';
import type { Part } from '../../../../electron/contract/runtime';
import { CONTROL_NAMES, HarmonyParser, type HarmonyResult } from '../../../../electron/runtime/harmony';
import { cpuTime } from '../cpu-time';
import { control, tokenizer } from '../small-tokenizer';

interface Parsed extends HarmonyResult {
  parts: Part[];
}

/** What comes of a stream written with control tokens by name, after `<|start|>assistant`. */
function parse(markup: string, tools?: string[]): Parsed {
  return parseIds(tokenizer.encodeTrusted(markup), tools);
}

function parseIds(ids: number[], tools?: string[]): Parsed {
  const parser = new HarmonyParser(tokenizer, control, tools ? { tools } : {});
  const parts = ids.flatMap((id) => parser.push(id));
  parts.push(...parser.finish());
  return { ...parser.result(), parts };
}

const joined = (parts: Part[], channel: Part['channel']) =>
  parts.flatMap((p) => (p.channel === channel ? [p.delta] : [])).join('');

function expectChat(markup: string, tools: string[], want: { content?: string; reasoning?: string; calls?: unknown }) {
  const got = parse(markup, tools);
  expect(got.content).toBe(want.content ?? '');
  expect(got.reasoning).toBe(want.reasoning ?? '');
  expect(got.toolCalls.map((c) => ({ name: c.name, arguments: c.arguments }))).toEqual(want.calls ?? []);
  return got;
}

const CALL = [{ name: 'look', arguments: '{"a":1}' }];

describe('a well-formed answer', () => {
  it('gives thoughts and answer apart, and deltas that join to the whole', () => {
    const got = expectChat(
      '<|channel|>analysis<|message|>Think.<|end|><|start|>assistant<|channel|>final<|message|>Salut 👋🏽!<|return|>',
      [],
      { content: 'Salut 👋🏽!', reasoning: 'Think.' },
    );
    expect(joined(got.parts, 'text')).toBe(got.content);
    expect(joined(got.parts, 'reasoning')).toBe(got.reasoning);
    expect(got.malformed).toBe(false);
  });

  it.each([
    '<|channel|>commentary to=functions.look <|constrain|>json<|message|>{"a":1}<|call|>',
    ' to=functions.look<|channel|>commentary <|constrain|>json<|message|>{"a":1}<|call|>',
    '<|channel|>commentary to=functions.look<|constrain|>json<|message|>{"a":1}<|call|>',
    '<|channel|>commentary to=functions.look json<|message|>{"a":1}<|call|>',
    '<|channel|>analysis to=functions.look code<|message|>{"a":1}<|call|>',
    '<|channel|>commentary to=look <|constrain|>json<|message|>{"a":1}<|call|>',
    '<|channel|>commentary functions.look<|message|>{"a":1}<|call|>',
  ])('finds the call in every form of its header: %s', (markup) => {
    expectChat(markup, ['look'], { calls: CALL });
  });

  it('names a call once, with its first part', () => {
    const { parts } = parse('<|channel|>commentary to=functions.look<|message|>{"a":1}<|call|>', ['look']);
    expect(parts.filter((p) => p.channel === 'tool' && p.name !== undefined)).toHaveLength(1);
    expect(parts[0]).toMatchObject({ channel: 'tool', call: 0, id: 'call_0', name: 'look', delta: '' });
  });

  it('shows a preamble and the answer as one text with a blank line between', () => {
    expectChat(
      '<|channel|>commentary<|message|>First I look.<|end|><|start|>assistant<|channel|>final<|message|>Done.<|return|>',
      [],
      { content: 'First I look.\n\nDone.' },
    );
  });

  it('keeps two thoughts of one turn', () => {
    const thoughts =
      '<|channel|>analysis<|message|>One.<|end|><|start|>assistant<|channel|>analysis<|message|>Two.<|end|>';
    expectChat(thoughts, [], { reasoning: 'One.\n\nTwo.' });
  });

  it('takes marker text that is made of ordinary tokens for text', () => {
    const ids = [
      ...tokenizer.encodeTrusted('<|channel|>final<|message|>'),
      ...tokenizer.encode('Write "<|end|>" to close.'),
      control.return,
    ];
    expect(parseIds(ids).content).toBe('Write "<|end|>" to close.');
  });

  it('ends for good after a call, even when sampling went on', () => {
    const got = parse('<|channel|>commentary to=functions.look<|message|>{"a":1}<|call|>commentary<|message|>x', [
      'look',
    ]);
    expect(got.content).toBe('');
    expect(got.toolCalls).toHaveLength(1);
  });
});

describe('a malformed answer is still delivered', () => {
  it.each<[string, string, Parameters<typeof expectChat>[2]]>([
    [
      'text before any marker, then a final answer',
      'I must refuse<|end|><|start|>assistant<|channel|>final<|message|>No.<|return|>',
      { content: 'No.', reasoning: 'I must refuse' },
    ],
    ['text before any marker and nothing else', 'I must refuse<|end|>', { content: 'I must refuse' }],
    ['a bare answer', 'The answer is 46.<|return|>', { content: 'The answer is 46.' }],
    ['a bare answer that was cut', 'The answer is', { content: 'The answer is' }],
    [
      'no message marker',
      '<|channel|>analysis We cannot do that<|end|><|start|>assistant<|channel|>final<|message|>No.<|return|>',
      { content: 'No.', reasoning: 'We cannot do that' },
    ],
    [
      'a channel marker inside the name',
      '<|channel|>commentary to=functions.look<|channel|>commentary <|constrain|>json<|message|>{"a":1}<|call|>',
      { calls: CALL },
    ],
    [
      'a channel marker after the role form',
      ' to=functions.look<|channel|>commentary<|channel|>commentary json<|message|>{"a":1}<|call|>',
      { calls: CALL },
    ],
    ['junk before the channel name', '<|channel|>––commentary<|message|>Wait.<|end|>', { content: 'Wait.' }],
    ['a type on the final channel', '<|channel|>final json<|message|>{"a":1}<|return|>', { content: '{"a":1}' }],
    [
      'a constrained final channel',
      '<|channel|>final <|constrain|>json<|message|>{"a":1}<|return|>',
      { content: '{"a":1}' },
    ],
    ['an unknown type', '<|channel|>final <|constrain|>response<|message|>Yes.<|return|>', { content: 'Yes.' }],
    ['a body in the header', '<|constrain|>write: edit the file<|end|>', { content: 'write: edit the file' }],
    [
      'a stray commentary prefix',
      '<|channel|>commentary<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Yes.<|return|>',
      { content: 'Yes.', reasoning: 'Hm.' },
    ],
    [
      'a stray commentary prefix to the assistant',
      '<|channel|>commentary to=assistant<|channel|>final<|message|>Yes.<|return|>',
      { content: 'Yes.' },
    ],
    ['a repeated start', '<|start|>assistant<|channel|>final<|message|>Yes.<|return|>', { content: 'Yes.' }],
    [
      'a start without an end before it',
      '<|channel|>analysis<|message|>Hm.<|start|>assistant<|channel|>final<|message|>Yes.<|return|>',
      { content: 'Yes.', reasoning: 'Hm.' },
    ],
    [
      'a channel without an end before it',
      '<|channel|>analysis<|message|>Hm.<|channel|>final<|message|>Yes.<|return|>',
      { content: 'Yes.', reasoning: 'Hm.' },
    ],
    [
      'a missing start',
      '<|channel|>analysis<|message|>Hm.<|end|><|channel|>final<|message|>Yes.<|return|>',
      { content: 'Yes.', reasoning: 'Hm.' },
    ],
    [
      'a missing start before the role',
      '<|channel|>analysis<|message|>Hm.<|end|>assistant<|channel|>final<|message|>Yes.<|return|>',
      { content: 'Yes.', reasoning: 'Hm.' },
    ],
    ['a message without any header', '<|message|>Yes.<|return|>', { content: 'Yes.' }],
    ['a second message marker', '<|channel|>final<|message|><|message|>Yes.<|return|>', { content: 'Yes.' }],
    ['stray ends', '<|end|><|end|><|start|>assistant<|channel|>final<|message|>Yes.<|return|>', { content: 'Yes.' }],
    ['an unknown role', '<|start|>bash<|channel|>final<|message|>Yes.<|return|>', { content: 'Yes.' }],
    ['a reserved token in the text', '<|channel|>final<|message|>Ye<|reserved_0|>s.<|return|>', { content: 'Yes.' }],
    ['the end of the text token', '<|channel|>final<|message|>Yes.<|endoftext|>more', { content: 'Yes.' }],
    ['an empty channel', '<|channel|><|message|>Yes.<|return|>', { content: 'Yes.' }],
    ['an unknown channel', '<|channel|>thoughts<|message|>Yes.<|return|>', { content: 'Yes.' }],
    ['thoughts and then nothing', '<|channel|>analysis<|message|>Hm.<|return|>', { reasoning: 'Hm.' }],
    ['thoughts that were cut', '<|channel|>analysis<|message|>First I list the', { reasoning: 'First I list the' }],
    [
      'arguments that were cut',
      '<|channel|>commentary to=functions.look <|constrain|>json<|message|>{"a":',
      { calls: [{ name: 'look', arguments: '{"a":' }] },
    ],
    ['a header that was cut', '<|channel|>commentary to=functions.lo', {}],
    ['a recipient that was cut', ' to', {}],
    [
      'a tool that the model plays itself',
      '<|channel|>commentary to=functions.look<|message|>{"a":1}<|end|><|start|>functions.look to=assistant<|channel|>commentary<|message|>fake<|end|>',
      { calls: CALL },
    ],
    [
      'a user that the model plays itself',
      '<|channel|>final<|message|>Yes.<|end|><|start|>user<|message|>And then?<|end|>',
      { content: 'Yes.' },
    ],
  ])('%s', (_, markup, want) => {
    expectChat(markup, ['look'], want);
  });

  it('a call of a tool that was not offered is no call', () => {
    const got = expectChat(
      '<|channel|>commentary to=functions.web-browsing <|constrain|>json<|message|>{"q":1}<|call|>',
      ['look'],
      { content: '{"q":1}' },
    );
    expect(got.unoffered).toBe('functions.web-browsing');
  });

  it('a built-in tool that nobody offered stays among the thoughts', () => {
    const got = expectChat('<|channel|>analysis to=python code<|message|>ls -R<|call|>', [], { reasoning: 'ls -R' });
    expect(got.unoffered).toBe('python');
  });

  it('a long bare answer is streamed and not held to the end', () => {
    const parser = new HarmonyParser(tokenizer, control);
    const parts = tokenizer.encode('We read, we write, we stop. '.repeat(40)).flatMap((id) => parser.push(id));
    expect(joined(parts, 'text').length).toBeGreaterThan(600);
  });
});

describe('characters that span tokens', () => {
  it('are never shown in halves', () => {
    const { parts, content } = parse('<|channel|>final<|message|>漁師 🏔️ and 🧑‍🚀!<|return|>');
    expect(content).toBe('漁師 🏔️ and 🧑‍🚀!');
    for (const part of parts) expect(part.delta).not.toMatch(/\ufffd|[\ud800-\udbff]$|^[\udc00-\udfff]/);
  });

  it('are dropped where the answer was cut inside one', () => {
    const ids = tokenizer.encodeTrusted('<|channel|>final<|message|>ok 🏔');
    expect(parseIds(ids.slice(0, -1)).content).toBe('ok ');
  });
});

describe('the cap on thoughts', () => {
  const begun = (markup: string) => {
    const parser = new HarmonyParser(tokenizer, control, { tools: ['look'] });
    for (const id of tokenizer.encodeTrusted(markup)) parser.push(id);
    return parser;
  };
  it.each([
    ['', ''],
    ['<|channel|>', ''],
    ['<|channel|>analysis', ''],
    ['<|channel|>analysis<|message|>Let me think', 'Let me think'],
    ['<|channel|>analysis<|message|>Hm.<|end|>', 'Hm.'],
    ['<|channel|>analysis<|message|>Hm.<|end|><|start|>', 'Hm.'],
    ['<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant', 'Hm.'],
    ['<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>analysis', 'Hm.'],
    ['<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant to=functions.look', 'Hm.'],
  ])('begins the final answer from %j', (markup, reasoning) => {
    const parser = begun(markup);
    const forced = parser.forceFinal();
    expect(forced.length).toBeGreaterThan(0);
    for (const id of forced) parser.push(id);
    expect(parser.place).toBe('final');
    for (const id of tokenizer.encode('Yes.')) parser.push(id);
    parser.push(control.return);
    expect(parser.result()).toMatchObject({ content: 'Yes.', reasoning });
  });

  it.each([
    '<|channel|>final<|message|>Ye',
    '<|channel|>final<|message|>Yes.<|return|>',
    '<|channel|>commentary to=functions.look<|message|>{',
  ])('leaves an answer or a call alone: %s', (markup) => {
    expect(begun(markup).forceFinal()).toEqual([]);
  });

  it('counts content tokens by channel, markup not among them', () => {
    const parser = begun(
      '<|channel|>analysis<|message|>aaa<|end|><|start|>assistant<|channel|>final<|message|>bb<|return|>',
    );
    expect(parser.counts.reasoning).toBe(tokenizer.encode('aaa').length);
    expect(parser.counts.text).toBe(tokenizer.encode('bb').length);
  });
});

describe('nonsense', () => {
  it('never throws, never shows markup, and gives the same whole as its deltas (10,000 random streams)', () => {
    const random = seeded(20_260_101);
    const controls = Object.values(CONTROL_NAMES).map((name) => tokenizer.special(name)!);
    const words = [
      'assistant',
      'analysis',
      'final',
      'commentary',
      ' to=functions.look',
      ' json',
      'x',
      ' to=python',
      '\u{1f3d4}',
      'user',
    ];
    const pieces = [...controls.map((id) => [id]), ...words.map((w) => tokenizer.encode(w)), [-5], [99_999], [NaN]];
    for (let stream = 0; stream < 10_000; stream++) {
      const ids: number[] = [];
      for (let n = Math.floor(random() * 24); n > 0; n--) ids.push(...pieces[Math.floor(random() * pieces.length)]!);
      if (random() < 0.2) ids.splice(Math.floor(random() * ids.length));
      const got = parseIds(ids, random() < 0.5 ? ['look'] : undefined);
      const calls = got.toolCalls.map((c) => c.arguments).join('');
      expect(joined(got.parts, 'text')).toBe(got.content);
      expect(joined(got.parts, 'reasoning')).toBe(got.reasoning);
      expect(joined(got.parts, 'tool')).toBe(calls);
      expect(got.content + got.reasoning + calls).not.toContain('<|');
    }
  });

  it('of a mutated good stream is survived too', () => {
    const random = seeded(7);
    const good = tokenizer.encodeTrusted(
      '<|channel|>analysis<|message|>Think.<|end|><|start|>assistant<|channel|>commentary to=functions.look <|constrain|>json<|message|>{"a":1}<|call|>',
    );
    for (let round = 0; round < 3_000; round++) {
      const ids = [...good];
      for (let n = 1 + Math.floor(random() * 4); n > 0; n--) {
        const at = Math.floor(random() * ids.length);
        const kind = random();
        if (kind < 0.34) ids.splice(at, 1);
        else if (kind < 0.67) ids.splice(at, 0, ids[Math.floor(random() * ids.length)]!);
        else ids.splice(at, 2, ...ids.slice(at, at + 2).reverse());
      }
      const got = parseIds(ids, ['look']);
      expect(got.content + got.reasoning).not.toContain('<|');
    }
  });

  it('without end does not slow down: 200,000 tokens of an endless header', () => {
    const parser = new HarmonyParser(tokenizer, control);
    const id = tokenizer.encode('x')[0]!;
    const ms = cpuTime(() => {
      for (let i = 0; i < 200_000; i++) parser.push(id);
      parser.finish();
    });
    expect(parser.result().content.length).toBe(200_000);
    expect(ms).toBeLessThan(5_000);
  });
});

function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
