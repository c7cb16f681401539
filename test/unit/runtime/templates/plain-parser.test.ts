// Thoughts, calls and answers of models without harmony.
import { describe, expect, it } from 'vitest';
import { PlainParser, type PlainParserOptions } from '../../../../electron/runtime/templates';
import { createTokenizer } from '../../../../electron/runtime/tokenizer';
import { smallSource } from '../small-tokenizer';

const tokenizer = createTokenizer(smallSource);
const eos = smallSource.eos!;

/** `text` as output, each token one byte where `bytewise`. */
function parse(text: string, options: PlainParserOptions = {}, bytewise = true) {
  const parser = new PlainParser(tokenizer, options);
  const ids = bytewise ? [...Buffer.from(text)].flatMap((b) => byteToken(b)) : tokenizer.encode(text);
  const parts = ids.flatMap((id) => parser.push(id));
  parts.push(...parser.push(eos), ...parser.finish());
  const joined = (channel: string) => parts.flatMap((p) => (p.channel === channel ? [p.delta] : [])).join('');
  expect(joined('text')).toBe(parser.result().content);
  expect(joined('reasoning')).toBe(parser.result().reasoning);
  return { ...parser.result(), parts, parser };
}

const byBytes = new Map(
  Array.from({ length: tokenizer.size }, (_, id) => [Buffer.from(tokenizer.bytes(id)).toString('latin1'), id]),
);
function byteToken(byte: number): number[] {
  const id = byBytes.get(String.fromCharCode(byte));
  return id === undefined ? [] : [id];
}

describe.each([true, false])('output without harmony (byte by byte: %s)', (bytewise) => {
  it.each<[string, string, string]>([
    ['Just an answer.', 'Just an answer.', ''],
    ['<think>\nHm.\n</think>\n\nYes.', 'Yes.', 'Hm.\n'],
    ['\n<think>Hm.</think>Yes.', 'Yes.', 'Hm.'],
    ['<think>cut off', '', 'cut off'],
    ['<thin', '<thin', ''],
    ['<b>bold</b>', '<b>bold</b>', ''],
    ['Say <think> aloud.', 'Say <think> aloud.', ''],
    ['', '', ''],
    ['漢字 🏔️', '漢字 🏔️', ''],
  ])('%j', (text, content, reasoning) => {
    expect(parse(text, {}, bytewise)).toMatchObject({ content, reasoning });
  });

  it('begins with thought where the prompt has opened it', () => {
    expect(parse('Hm.</think>\nYes.', { thinking: true }, bytewise)).toMatchObject({
      content: 'Yes.',
      reasoning: 'Hm.',
    });
  });

  it('delivers calls of offered tools, everything else as text', () => {
    const call = '<tool_call>\n{"name": "look", "arguments": {"way": "north"}}\n</tool_call>';
    const got = parse(`I look.\n${call}`, { tools: ['look'] }, bytewise);
    expect(got.toolCalls).toEqual([{ id: 'call_0', name: 'look', arguments: '{"way":"north"}' }]);
    expect(got.content).toBe('I look.\n');
    expect(parse(call, {}, bytewise).content).toBe(call);
    expect(parse(call, { tools: ['hear'] }, bytewise).content).toBe(call);
    expect(parse('<tool_call>not JSON</tool_call>', { tools: ['look'] }, bytewise).content).toBe(
      '<tool_call>not JSON</tool_call>',
    );
    expect(parse('<tool_call>{"name": "lo', { tools: ['look'] }, bytewise).content).toBe('<tool_call>{"name": "lo');
  });

  it('takes a constrained answer for the call that it is', () => {
    const options = { tools: ['look'], wholeCall: true };
    const got = parse('{"name":"look","arguments":{"way":"north"}}', options, bytewise);
    expect(got.toolCalls).toEqual([{ id: 'call_0', name: 'look', arguments: '{"way":"north"}' }]);
    expect(got.content).toBe('');
    expect(parse('{"name":"look","argum', options, bytewise).content).toBe('{"name":"look","argum');
  });
});

it('begins the answer when thoughts have run long enough', () => {
  const parser = new PlainParser(tokenizer);
  for (const id of tokenizer.encode('<think>Hm, let me see')) parser.push(id);
  expect(parser.place).toBe('analysis');
  for (const id of parser.forceFinal()) parser.push(id);
  expect(parser.place).toBe('final');
  expect(parser.forceFinal()).toEqual([]);
  for (const id of tokenizer.encode('Yes.')) parser.push(id);
  parser.finish();
  expect(parser.result()).toMatchObject({ content: 'Yes.', reasoning: 'Hm, let me see\n' });
  expect(parser.counts.text).toBeGreaterThanOrEqual(tokenizer.encode('Yes.').length);
});

it('does not take the beginning for the answer while a thought may still begin', () => {
  for (const options of [{}, { tools: ['look'], wholeCall: true }]) {
    const parser = new PlainParser(tokenizer, options);
    const answer = options.wholeCall ? 'tool' : 'final';
    expect(parser.place).toBe('between');
    for (const id of tokenizer.encode('\n')) parser.push(id);
    expect(parser.place).toBe('between');
    for (const id of tokenizer.encode('<think>')) parser.push(id);
    expect(parser.place).toBe('analysis');
    for (const id of tokenizer.encode('</think>')) parser.push(id);
    expect(parser.place).toBe(answer);
    const plain = new PlainParser(tokenizer, options);
    for (const id of tokenizer.encode('<b')) plain.push(id);
    expect(plain.place).toBe(answer);
  }
});

it('ignores everything after the end, and control tokens anywhere', () => {
  const parser = new PlainParser(tokenizer);
  const ids = [...tokenizer.encodeTrusted('a<|call|>b<|return|>c'), -1, 1e9];
  for (const id of ids) parser.push(id);
  expect(parser.result().content).toBe('ab');
  expect(parser.place).toBe('ended');
});
