// The acceptance cases for harmony and o200k, where HEARTH_CASES names their folder. They need the o200k vocabulary.
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { chatInput } from '../../../../electron/contract/chat';
import { HarmonyParser, harmonyTokens, renderChat, type HarmonyTokens } from '../../../../electron/runtime/harmony';
import type { Tokenizer } from '../../../../electron/runtime/tokenizer';
import { missingOracles } from '../../../oracles/oracle';
import { o200kTokenizer } from '../../../oracles/o200k';

interface Case {
  id: string;
  kind: string;
  title: string;
  input: {
    tokens?: number[];
    declared_tools?: string[];
    messages?: ApiMessage[];
    tools?: { function: unknown }[];
    response_format?: { json_schema: object };
    reasoning_effort?: string;
    current_date?: string;
  };
  expect: {
    chat?: { content: string | null; reasoning?: string; tool_calls: { name: string; arguments: string | string[] }[] };
    any_of?: string[];
    tokens?: number[];
    n_tokens?: number;
    rows?: { text: string; ids: number[] }[];
  };
}
interface ApiMessage {
  role: string;
  content: string | null;
  reasoning_content?: string;
  tool_call_id?: string;
  tool_calls?: { id: string; function: { name: string; arguments: string } }[];
}

const folder = process.env.HEARTH_CASES;
const skip = missingOracles ?? (folder ? undefined : 'set HEARTH_CASES to the folder of the harmony cases');
if (skip && !missingOracles) console.info(`Cases skipped: ${skip}`);
const cases = skip
  ? []
  : readdirSync(folder!)
      .filter((f) => f.endsWith('.json'))
      .sort()
      .map(read);

function read(name: string): Case {
  return JSON.parse(readFileSync(join(folder!, name), 'utf8')) as Case;
}

describe.skipIf(skip)('acceptance cases', () => {
  let tokenizer: Tokenizer;
  let control: HarmonyTokens;
  beforeAll(() => {
    tokenizer = o200kTokenizer();
    control = harmonyTokens(tokenizer)!;
  });

  it('are there', () => expect(cases.length).toBeGreaterThan(0));

  const kinds = { parse: expectParsed, render: expectRendered, o200k: expectTokens };
  for (const c of cases) {
    const check = kinds[c.kind.split('/')[1] as keyof typeof kinds];
    it(`${c.id}: ${c.title}`, () => check(c, tokenizer, control));
  }
});

function expectParsed(c: Case, tokenizer: Tokenizer, control: HarmonyTokens): void {
  const parser = new HarmonyParser(tokenizer, control, { tools: c.input.declared_tools ?? [] });
  const deltas = c.input.tokens!.flatMap((id) => parser.push(id));
  deltas.push(...parser.finish());
  const got = parser.result();
  const want = c.expect.chat!;
  expect(got.content).toBe(want.content ?? '');
  expect(got.reasoning).toBe(want.reasoning ?? '');
  expect(got.toolCalls.map((t) => t.name)).toEqual(want.tool_calls.map((t) => t.name));
  got.toolCalls.forEach((t, i) => expect([want.tool_calls[i]!.arguments].flat()).toContain(t.arguments));
  const text = deltas.flatMap((p) => (p.channel === 'text' ? [p.delta] : [])).join('');
  expect(text).toBe(got.content);
  for (const { delta } of deltas) expect(delta).not.toMatch(/\ufffd|[\ud800-\udbff]$/);
}

function expectRendered(c: Case, tokenizer: Tokenizer, control: HarmonyTokens): void {
  const { input } = c;
  const chat = chatInput.parse({
    messages: input.messages!.map((m) => ({
      role: m.role,
      content: m.content ?? '',
      reasoning: m.reasoning_content,
      toolCallId: m.tool_call_id,
      toolCalls: m.tool_calls?.map((t) => ({ id: t.id, ...t.function })),
    })),
    tools: input.tools?.map((t) => t.function),
    responseFormat: input.response_format && { type: 'json_schema', ...input.response_format.json_schema },
    effort: input.reasoning_effort,
    date: input.current_date,
  });
  const { tokens } = renderChat(chat, tokenizer, control);
  expect(c.expect.any_of).toContain(tokenizer.decode(tokens, { control: true }));
  if (c.expect.tokens) expect(tokens).toEqual(c.expect.tokens);
  if (c.expect.n_tokens) expect(tokens).toHaveLength(c.expect.n_tokens);
}

function expectTokens(c: Case, tokenizer: Tokenizer): void {
  for (const { text, ids } of c.expect.rows!) {
    expect(tokenizer.encode(text), text).toEqual(ids);
    expect(tokenizer.decode(ids)).toBe(text);
  }
}
