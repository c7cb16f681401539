// What a model may say under a constraint, over whole answers of a small vocabulary.
import { describe, expect, it } from 'vitest';
import { chatInput, type JsonSchema } from '../../../../electron/contract/chat';
import { HearthError } from '../../../../electron/contract/errors';
import { ConstraintMaker, type Constraint } from '../../../../electron/runtime/constraints';
import { HarmonyParser } from '../../../../electron/runtime/harmony';
import { PlainParser } from '../../../../electron/runtime/templates';
import { createTokenizer } from '../../../../electron/runtime/tokenizer';
import { control, smallSource, tokenizer } from '../small-tokenizer';

const SIZE = 384; // wider than the vocabulary, as logits often are
const plainTokens = (smallSource.tokens as string[]).map((t) => (t === '<|start|>' ? '<|other|>' : t));
const plainTokenizer = createTokenizer({ ...smallSource, tokens: plainTokens });
const harmony = new ConstraintMaker(tokenizer, SIZE, control);
const plain = new ConstraintMaker(plainTokenizer, SIZE, null);

function seeded(seed: number): () => number {
  let state = Math.imul(seed + 1, 2_654_435_761) >>> 0;
  return () => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0) / 2 ** 32;
}

const bits = (mask: Uint32Array) =>
  Array.from({ length: SIZE }, (_, t) => t).filter((t) => (mask[t >>> 5]! >>> (t & 31)) & 1);

const ENDS = [control.return, control.call];

/**
 * A model that says random things within the mask. After `patience` tokens it ends what it can, else takes the shortest way by
 * preferring quotes and brackets. Null where it did not end within the limit.
 */
function babble(constraint: Constraint, random: () => number, patience = 40, limit = 600): number[] | null {
  const out: number[] = [];
  const closers = new Set(['"', '}', ']', '"}', '}}', '"]'].flatMap((s) => tokenizer.encode(s)));
  while (!constraint.isDone()) {
    if (out.length > limit) return null;
    const forced = constraint.force();
    const mask = constraint.mask();
    const allowed = bits(mask!);
    // plain checks: an assertion per token would take most of the time
    if (allowed.length === 0 || allowed.at(-1)! >= tokenizer.size) throw new Error('an empty mask, or one too wide');
    if (forced.length > 0) expect(allowed).toEqual([forced[0]]);
    let choice = allowed[Math.floor(random() * allowed.length)]!;
    if (out.length > patience)
      choice =
        allowed.find((t) => ENDS.includes(t)) ??
        allowed.find((t) => t === control.end) ??
        allowed.find((t) => closers.has(t)) ??
        choice;
    out.push(choice);
    if (!constraint.accept(choice)) throw new Error('an allowed token was refused');
  }
  constraint.dispose();
  return out;
}

const object = (properties: Record<string, unknown>, required = Object.keys(properties)) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
});

const SCHEMAS: Record<string, JsonSchema> = {
  'nesting, enum, integer and null': object({
    name: { type: 'string' },
    kind: { type: 'string', enum: ['sail', 'motor'] },
    crew: { type: 'integer' },
    home: { type: ['string', 'null'] },
    engine: object({ hp: { type: 'number' } }),
  }),
  'optional properties': object({ a: { type: 'string' }, b: { type: 'boolean' }, c: { type: 'null' } }, ['b']),
  'a free object': { type: 'object' },
  'an open object': {
    type: 'object',
    properties: { a: { type: 'integer' } },
    additionalProperties: { type: 'integer' },
  },
  lists: { type: 'array', items: { type: 'integer' }, minItems: 2, maxItems: 4 },
  tuples: { type: 'array', prefixItems: [{ type: 'boolean' }, { enum: ['x', 1, null] }], items: false },
  choices: { anyOf: [{ type: 'boolean' }, object({ v: { const: 'yes' } }), { type: 'null' }] },
  nullable: object({ v: { type: 'boolean', nullable: true } }),
  bounds: { type: 'integer', minimum: -3, exclusiveMaximum: 4 },
  'an exclusive lower bound': { type: 'integer', exclusiveMinimum: 3 },
  lengths: { type: 'string', minLength: 2, maxLength: 4 },
  'a recursive list': {
    $ref: '#/$defs/node',
    $defs: {
      node: object({ value: { type: 'boolean' }, next: { anyOf: [{ $ref: '#/$defs/node' }, { type: 'null' }] } }),
    },
  },
  'text beyond ASCII': object({ v: { type: 'string', enum: ['🏔️ 漁師 🧑‍🚀 é "quoted" a/b \\ \n'] } }),
  'odd property names': object({
    é漢: { type: 'boolean' },
    'a b-c.$/x': { type: 'boolean' },
    "it's": { type: 'null' },
  }),
  'a pattern': { type: 'string', pattern: '^[a-c]{2}(x|yz)?\\.\\d$' },
  'a pattern with an escape that is none': object({ v: { type: 'string', pattern: '^ahoy there\\!$' } }),
  'a pattern of anything': { type: 'string', pattern: '^.[^a-z]\\s\\w$' },
  'a pattern with a caret and a dash': { type: 'string', pattern: '^[\\^a\\-]{1,3}[^\\^b]$' },
  'a date': { type: 'string', format: 'date' },
};

describe.each(Object.entries(SCHEMAS))('the answer keeps to the schema: %s', (_, schema) => {
  const responseFormat = { type: 'json_schema', name: 's', schema };
  const chat = chatInput.parse({ messages: [], responseFormat });

  it('in harmony, after free thoughts', async () => {
    const plan = (await harmony.plan(chat))!;
    let ended = 0;
    for (let seed = 0; seed < 12; seed++) {
      const tokens = babble(plan.begin(), seeded(seed));
      if (!tokens) continue; // numbers may run on for ever
      ended++;
      const parser = new HarmonyParser(tokenizer, control);
      for (const id of tokens) parser.push(id);
      const result = parser.result();
      expect(plan.check(result), result.content).toBeNull();
      expect(result.malformed).toBe(false);
      expect(tokens.at(-1)).toBe(control.return);
    }
    expect(ended).toBeGreaterThan(6);
  });

  it('without harmony, from the first token on', async () => {
    const plan = (await plain.plan(chat))!;
    let ended = 0;
    for (let seed = 20; seed < 30; seed++) {
      const tokens = babble(plan.begin(), seeded(seed));
      if (!tokens) continue;
      ended++;
      const parser = new PlainParser(plainTokenizer);
      for (const id of tokens) parser.push(id);
      expect(plan.check(parser.result()), parser.result().content).toBeNull();
    }
    expect(ended).toBeGreaterThan(5);
  });
});

const LOOK = { name: 'look', parameters: object({ way: { type: 'string', enum: ['north', 'south'] } }) };
const TREE = {
  name: 'tree.grow',
  parameters: {
    ...object({ root: { $ref: '#/$defs/n' } }),
    $defs: { n: object({ leaf: { type: 'boolean' }, more: { anyOf: [{ $ref: '#/$defs/n' }, { type: 'null' }] } }) },
  },
};
const CLOCK = { name: 'clock' };

describe('a required call is made', () => {
  const call = (toolChoice: unknown) => chatInput.parse({ messages: [], tools: [LOOK, TREE, CLOCK], toolChoice });

  it.each<[string, unknown, string[]]>([
    ['any', 'required', ['look', 'tree.grow', 'clock']],
    ['the named one', { name: 'look' }, ['look']],
    ['one without parameters', { name: 'clock' }, ['clock']],
  ])('of the tools: %s', async (_, toolChoice, names) => {
    for (const maker of [harmony, plain]) {
      const plan = (await maker.plan(call(toolChoice)))!;
      for (let seed = 0; seed < 15; seed++) {
        const tokens = babble(plan.begin(), seeded(seed))!;
        const tools = ['look', 'tree.grow', 'clock'];
        const parser =
          maker === harmony
            ? new HarmonyParser(tokenizer, control, { tools })
            : new PlainParser(plainTokenizer, { tools, wholeCall: plan.wholeCall });
        for (const id of tokens) parser.push(id);
        const result = parser.result();
        expect(result.content).toBe('');
        expect(result.toolCalls).toHaveLength(1);
        expect(names).toContain(result.toolCalls[0]!.name);
        expect(plan.check(result)).toBeNull();
      }
    }
  });

  it('also when the thoughts are cut off', async () => {
    const plan = (await harmony.plan(call({ name: 'look' })))!;
    const constraint = plan.begin();
    const parser = new HarmonyParser(tokenizer, control, { tools: ['look'] });
    const feed = (id: number) => {
      expect(constraint.accept(id)).toBe(true);
      parser.push(id);
    };
    for (const id of tokenizer.encodeTrusted('<|channel|>analysis<|message|>Hm, let me')) feed(id);
    const forced = constraint.endThoughts();
    expect(forced[0]).toBe(control.end);
    for (const id of forced) feed(id);
    for (const id of babble(constraint, seeded(1), 0)!) parser.push(id);
    expect(parser.result()).toMatchObject({ reasoning: 'Hm, let me', toolCalls: [{ name: 'look' }] });
  });

  it('and cannot be asked for without tools', async () => {
    await expect(harmony.plan(chatInput.parse({ messages: [], toolChoice: 'required' }))).rejects.toThrow(HearthError);
    await expect(harmony.plan(call({ name: 'nothing' }))).rejects.toThrow(/nothing/);
  });
});

describe('an answer in a format, beside tools', () => {
  it('is either the format or a call', async () => {
    const responseFormat = { type: 'json_schema', name: 's', schema: object({ v: { type: 'boolean' } }) };
    const plan = (await harmony.plan(chatInput.parse({ messages: [], tools: [LOOK], responseFormat })))!;
    const seen = new Set<string>();
    for (let seed = 0; seed < 40; seed++) {
      const parser = new HarmonyParser(tokenizer, control, { tools: ['look'] });
      for (const id of babble(plan.begin(), seeded(seed))!) parser.push(id);
      const result = parser.result();
      expect(plan.check(result)).toBeNull();
      seen.add(result.toolCalls.length > 0 ? 'call' : 'content');
    }
    expect([...seen].sort()).toEqual(['call', 'content']);
  });
});

describe('thoughts', () => {
  const chat = chatInput.parse({ messages: [], responseFormat: { type: 'json_object' } });

  it('are free, but cannot end the turn, and do not go on for ever', async () => {
    const constraint = (await harmony.plan(chat))!.begin();
    const thought = tokenizer.encodeTrusted('<|channel|>analysis<|message|>a{"}<|end|><|start|>assistant');
    for (let n = 0; n < 4; n++) {
      for (const id of thought) {
        expect(bits(constraint.mask()!)).toContain(id);
        expect(bits(constraint.mask()!)).not.toContain(control.return);
        constraint.accept(id);
      }
    }
    // after the fourth the header must lead on
    constraint.accept(control.channel);
    expect(bits(constraint.mask()!)).toEqual([tokenizer.encode('final', false)[0]]);
  });

  it('of a model without harmony are free until they end', async () => {
    const constraint = (await plain.plan(chat))!.begin({ thinking: true });
    for (const id of plainTokenizer.encode('Hm, what {}?')) expect(constraint.accept(id)).toBe(true);
    expect(constraint.isDone()).toBe(false);
    for (const id of constraint.endThoughts()) expect(constraint.accept(id)).toBe(true);
    expect(bits(constraint.mask()!).map((id) => plainTokenizer.decode([id])[0])).toEqual(expect.arrayContaining(['{']));
    expect(bits(constraint.mask()!).every((id) => plainTokenizer.decode([id]).startsWith('{'))).toBe(true);
  });
});

describe('a token that is not allowed', () => {
  it('leaves only the end, and never an empty mask', async () => {
    const chat = chatInput.parse({ messages: [], responseFormat: { type: 'json_object' } });
    const header = tokenizer.encodeTrusted('<|channel|>final<|message|>');
    for (const wrong of [tokenizer.encode('x')[0]!, control.call, -1, 1e9, control.start]) {
      const constraint = (await harmony.plan(chat))!.begin();
      for (const id of header) constraint.accept(id);
      expect(constraint.accept(wrong)).toBe(false);
      expect(bits(constraint.mask()!)).toEqual([control.return]);
      constraint.accept(control.return);
      expect(constraint.isDone()).toBe(true);
    }
  });

  it('in a header does no harm either', async () => {
    const constraint = (await harmony.plan(
      chatInput.parse({ messages: [], responseFormat: { type: 'json_object' } }),
    ))!.begin();
    expect(constraint.accept(tokenizer.encode('x')[0]!)).toBe(false);
    expect(bits(constraint.mask()!)).toEqual([control.return]);
  });
});

describe('a schema that cannot be enforced is refused by name', () => {
  it.each<[string, JsonSchema, RegExp]>([
    ['look-ahead', { type: 'string', pattern: '^(?=a)b$' }, /pattern/],
    ['a back reference', { type: 'string', pattern: '(a)\\1' }, /pattern/],
    ['a quote in a pattern', { type: 'string', pattern: '^"$' }, /pattern/],
    ['half-anchored branches', { type: 'string', pattern: '^a|b$' }, /pattern/],
    ['no anchors', { type: 'string', pattern: 'b+' }, /pattern/],
    ['a class beyond ASCII', { type: 'string', pattern: '^[à-ü]$' }, /pattern/],
    ['a broken pattern', { type: 'string', pattern: '(' }, /pattern/],
    ['multipleOf', object({ a: { type: 'integer', multipleOf: 5 } }), /multipleOf/],
    ['not', { not: { type: 'string' } }, /"not"/],
    ['uniqueItems', { type: 'array', uniqueItems: true }, /uniqueItems/],
    ['several allOf', { allOf: [{ type: 'object' }, { type: 'object' }] }, /allOf/],
    ['if', { if: { type: 'string' } }, /"if"/],
    ['patternProperties', { type: 'object', patternProperties: {} }, /patternProperties/],
    ['a reference outside', { $ref: 'https://example.org/x' }, /refers/],
    ['a missing reference', { $ref: '#/$defs/x' }, /does not exist/],
    ['a property name with a quote', object({ 'a"b': { type: 'null' } }), /property name/],
    ['required but not described', { type: 'object', required: ['x'] }, /requires/],
    ['an unknown type', { type: 'wish' }, /type/],
    ['an empty enum', { enum: [] }, /enum/],
    [
      'too much nesting',
      JSON.parse('{"type":"array","items":'.repeat(100) + '{}' + '}'.repeat(100)) as JsonSchema,
      /nested/,
    ],
    [
      'too many properties',
      object(Object.fromEntries(Array.from({ length: 6000 }, (_, i) => [`p${i}`, { type: 'null' }]))),
      /too large/,
    ],
    ['false', { type: 'object', properties: { a: false } }, /not an object/],
  ])('%s', async (_, schema, message) => {
    const chat = chatInput.parse({ messages: [], responseFormat: { type: 'json_schema', name: 's', schema } });
    const error = await harmony.plan(chat).catch((e: unknown) => e);
    expect(error).toBeInstanceOf(HearthError);
    expect((error as HearthError).code).toBe('unsupported_schema');
    expect((error as HearthError).message).toMatch(message);
  });

  it('naming the tool where it is a tool', async () => {
    const tools = [{ name: 'bad', parameters: object({ a: { type: 'string', pattern: '(?!x)' } }) }];
    for (const maker of [harmony, plain]) {
      await expect(maker.plan(chatInput.parse({ messages: [], tools, toolChoice: 'required' }))).rejects.toThrow(
        /tools\.bad/,
      );
    }
  });
});

describe('what a grammar leaves open the check finds', () => {
  it.each<[JsonSchema, string, string]>([
    [{ type: 'number', minimum: 0, maximum: 1 }, '0.25', '1.5'],
    [{ type: 'string', maxLength: 100_000 }, '"a"', `"${'a'.repeat(100_001)}"`],
    [{ oneOf: [{ type: 'integer' }, { type: 'number' }] }, '1.5', '1'],
  ])('%j', async (schema, good, bad) => {
    const plan = (await harmony.plan(
      chatInput.parse({ messages: [], responseFormat: { type: 'json_schema', name: 's', schema } }),
    ))!;
    expect(plan.check({ content: good, toolCalls: [] })).toBeNull();
    expect(plan.check({ content: bad, toolCalls: [] })).not.toBeNull();
    expect(plan.check({ content: bad.slice(0, -1) + ',', toolCalls: [] })).toMatch(/JSON/);
  });
});

it('a chat that asks for nothing special has no constraint', async () => {
  expect(await harmony.plan(chatInput.parse({ messages: [], tools: [LOOK] }))).toBeNull();
});
