// Constraints over gpt-oss's vocabulary: what they allow, and what they cost. Times are printed, and bounded generously.
import { beforeAll, describe, expect, it } from 'vitest';
import { chatInput, type JsonSchema } from '../../../../electron/contract/chat';
import { ConstraintMaker, type ConstraintPlan } from '../../../../electron/runtime/constraints';
import { harmonyTokens, HarmonyParser, type HarmonyTokens } from '../../../../electron/runtime/harmony';
import type { Tokenizer } from '../../../../electron/runtime/tokenizer';
import { missingOracles } from '../../../oracles/oracle';
import { o200kTokenizer } from '../../../oracles/o200k';

const SIZE = 201_088;
const BOAT = {
  type: 'object',
  properties: {
    name: { type: 'string' },
    kind: { type: 'string', enum: ['sail', 'motor'] },
    crew: { type: 'integer' },
    home: { type: ['string', 'null'] },
    tags: { type: 'array', items: { type: 'string' } },
    engine: { type: 'object', properties: { hp: { type: 'number' } }, required: ['hp'], additionalProperties: false },
  },
  required: ['name', 'kind', 'crew', 'home', 'tags', 'engine'],
  additionalProperties: false,
};
const VALUE = { name: 'Måsen 🏔️', kind: 'sail', crew: 3, home: null, tags: ['blå', '漁師'], engine: { hp: 7.5 } };

describe.skipIf(missingOracles)('over 201,088 tokens', () => {
  let tokenizer: Tokenizer;
  let control: HarmonyTokens;
  let maker: ConstraintMaker;
  beforeAll(() => {
    tokenizer = o200kTokenizer();
    control = harmonyTokens(tokenizer)!;
    maker = new ConstraintMaker(tokenizer, SIZE, control);
  });

  const planOf = async (schema: JsonSchema): Promise<ConstraintPlan> => {
    const responseFormat = { type: 'json_schema', name: 's', schema };
    return (await maker.plan(chatInput.parse({ messages: [], responseFormat })))!;
  };

  it('a good answer as a model writes it is allowed, token by token, and cheap', async () => {
    const started = performance.now();
    const plan = await planOf(BOAT);
    const compiled = performance.now() - started;
    const times: number[] = [];
    for (const json of [JSON.stringify(VALUE), JSON.stringify(VALUE).replaceAll(/(?<=[:,])(?=\S)/g, ' ')]) {
      const constraint = plan.begin();
      const ids = [
        ...tokenizer.encodeTrusted('<|channel|>analysis<|message|>A boat.<|end|><|start|>assistant'),
        ...tokenizer.encodeTrusted('<|channel|>final <|constrain|>json<|message|>'),
        ...tokenizer.encode(json),
        control.return,
      ];
      for (const id of ids) {
        const before = performance.now();
        const mask = constraint.mask()!;
        times.push(performance.now() - before);
        expect(mask[id >>> 5]! & (1 << (id & 31)), `${tokenizer.decode([id], { control: true })} in ${json}`).not.toBe(
          0,
        );
        expect(constraint.accept(id)).toBe(true);
      }
      expect(constraint.isDone()).toBe(true);
      constraint.dispose();
    }
    expect(plan.check({ content: JSON.stringify(VALUE), toolCalls: [] })).toBeNull();
    times.sort((a, b) => a - b);
    const ms = (q: number) => times[Math.floor((times.length - 1) * q)]!.toFixed(2);
    console.info(
      `o200k constraint: first compile ${compiled.toFixed(0)} ms, mask p50 ${ms(0.5)}, p99 ${ms(0.99)}, max ${ms(1)} ms`,
    );
    expect(Number(ms(0.5))).toBeLessThan(20);
  }, 60_000);

  it('bad answers are cut off where they go wrong', async () => {
    const plan = await planOf(BOAT);
    for (const bad of [
      'Sure! {"name"',
      '{"kind"',
      '{"name":"x","kind":"rowing"',
      '{"name":"x","kind":"sail","crew":"3"',
      '{"name":"a\nb"',
    ]) {
      const constraint = plan.begin();
      for (const id of tokenizer.encodeTrusted('<|channel|>final<|message|>')) constraint.accept(id);
      expect(
        tokenizer.encode(bad).every((id) => constraint.accept(id)),
        bad,
      ).toBe(false);
      constraint.dispose();
    }
  }, 60_000);

  it('a named call is led from the header to its end', async () => {
    const tools = [
      {
        name: 'read_sensor',
        parameters: { type: 'object', properties: { room: { enum: ['attic', 'cellar'] } }, required: ['room'] },
      },
    ];
    const plan = (await maker.plan(chatInput.parse({ messages: [], tools, toolChoice: { name: 'read_sensor' } })))!;
    const constraint = plan.begin();
    const parser = new HarmonyParser(tokenizer, control, { tools: ['read_sensor'] });
    const ids = tokenizer.encodeTrusted(
      '<|channel|>commentary to=functions.read_sensor <|constrain|>json<|message|>{"room":"attic"}<|call|>',
    );
    for (const id of ids) {
      expect(constraint.accept(id), tokenizer.decode([id], { control: true })).toBe(true);
      parser.push(id);
    }
    expect(constraint.isDone()).toBe(true);
    expect(plan.check(parser.result())).toBeNull();
  }, 60_000);
});
