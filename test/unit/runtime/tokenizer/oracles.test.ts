// Our ids against other implementations' on a megabyte each of English, Chinese, code and noise; and our speed, printed.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Tokenizer as HuggingFace } from '@huggingface/tokenizers';
import { beforeAll, describe, expect, it } from 'vitest';
import { createTokenizer, type Tokenizer, type TokenizerSource } from '../../../../electron/runtime/tokenizer';
import { cacheFolder, missingOracles, python, smollm2 } from '../../../oracles/oracle';
import { o200kJson, o200kTokenizer, script, tiktokenIds } from '../../../oracles/o200k';
import { oracleTexts, type TextName } from '../../../oracles/texts';
import { cpuTime } from '../cpu-time';

const NAMES: TextName[] = ['english', 'chinese', 'code', 'noise'];

function int32(path: string): Int32Array {
  const bytes = readFileSync(path);
  return new Int32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
}

/** Encodes, compares and gives MB per second of processor time, of the first and of the second run. */
function compare(tokenizer: Tokenizer, text: string, want: Int32Array): string {
  const times = [0, 0].map(() => {
    let got: number[] = [];
    const ms = cpuTime(() => (got = tokenizer.encode(text)));
    const differs = got.findIndex((id, i) => id !== want[i]);
    const at = differs < 0 && got.length !== want.length ? Math.min(got.length, want.length) : differs;
    if (at >= 0)
      throw new Error(`token ${at}: ${got.slice(at, at + 5).join()} instead of ${want.slice(at, at + 5).join()}`);
    expect(tokenizer.decode(got)).toBe(text);
    return ms;
  });
  return times.map((ms) => (Buffer.byteLength(text) / 1000 / ms).toFixed(1)).join(', then ');
}

describe.skipIf(missingOracles)('o200k', () => {
  let tokenizer: Tokenizer;
  let paths: Record<TextName, string>;
  beforeAll(() => {
    tokenizer = o200kTokenizer();
    paths = oracleTexts();
  });

  it('agrees with tiktoken', () => {
    const ids = tiktokenIds(NAMES.map((n) => paths[n]));
    NAMES.forEach((name, i) => {
      const speed = compare(tokenizer, readFileSync(paths[name], 'utf8'), ids[i]!);
      console.info(`o200k ${name}: ${ids[i]!.length} tokens agree; ${speed} MB per CPU second`);
    });
  }, 120_000);

  it('is the same from GGUF metadata, padded and with control tokens, and is built in little time and memory', () => {
    const json = JSON.parse(readFileSync(o200kJson(), 'utf8')) as {
      added_tokens: { id: number; content: string }[];
      model: { vocab: Record<string, number>; merges: [string, string][] };
    };
    const tokens: string[] = [];
    for (const [token, id] of Object.entries(json.model.vocab)) tokens[id] = token;
    const types: number[] = tokens.map(() => 1);
    for (const { id, content } of json.added_tokens) [tokens[id], types[id]] = [content, 3];
    while (tokens.length < 201_088)
      [types[tokens.length], tokens[tokens.length]] = [3, `<|reserved_${tokens.length}|>`];
    const merges = json.model.merges.map((m) => m.join(' '));
    const source = { model: 'gpt2', pre: 'gpt-4o', tokens, merges, types, eos: 200_002, padding: 199_999 };
    let other = tokenizer;
    const ms = cpuTime(() => (other = createTokenizer(source)));
    console.info(`o200k from GGUF metadata: built in ${Math.round(ms)} ms of processor time`);
    for (const name of NAMES) {
      const text = readFileSync(paths[name], 'utf8').slice(0, 100_000);
      expect(other.encode(text)).toEqual(tokenizer.encode(text));
    }
    expect(other.encodeTrusted('<|start|>user<|message|>hi<|end|>')).toEqual([200006, 1428, 200008, 3686, 200007]);
    expect(other.encode('<|start|>').every((id) => id < 199_998)).toBe(true);
  }, 120_000);

  it('agrees with @huggingface/tokenizers', () => {
    const other = new HuggingFace(JSON.parse(readFileSync(o200kJson(), 'utf8')) as object, {});
    for (const name of NAMES) {
      const text = readFileSync(paths[name], 'utf8').slice(0, 60_000);
      expect(tokenizer.encode(text), name).toEqual(Array.from(other.encode(text, { add_special_tokens: false }).ids));
    }
  }, 120_000);
});

describe.skipIf(missingOracles)('SmolLM2', () => {
  it("agrees with Hugging Face's Rust tokenizers on the vocabulary of its GGUF file", () => {
    const paths = oracleTexts();
    const folder = join(cacheFolder, 'smollm2-tokenizer');
    python([script('tokenizer_smollm2.py'), smollm2(), folder, ...NAMES.map((n) => paths[n])]);
    const source = JSON.parse(readFileSync(join(folder, 'source.json'), 'utf8')) as TokenizerSource;
    const tokenizer = createTokenizer(source);
    const fromJson = createTokenizer({
      model: '',
      tokenizerJson: readFileSync(join(folder, 'tokenizer.json'), 'utf8'),
    });
    for (const name of NAMES) {
      const text = readFileSync(paths[name], 'utf8');
      const want = int32(`${paths[name]}.smollm2`);
      const speed = compareLossy(tokenizer, text, want);
      console.info(`SmolLM2 ${name}: ${want.length} tokens agree; ${speed} MB per CPU second`);
      compareLossy(fromJson, text, want);
    }
    const trusted = tokenizer.encodeTrusted('<|im_start|>user\nHi<|im_end|>');
    expect(trusted[0]).toBe(1);
    expect(trusted.at(-1)).toBe(2);
  }, 120_000);
});

describe.skipIf(missingOracles)('vocabularies of the model families', () => {
  const folder = join(cacheFolder, 'family-tokenizers');
  let paths: Record<TextName, string>;
  beforeAll(() => {
    paths = oracleTexts();
    python([script('tokenizer_families.py'), folder, ...NAMES.map((n) => paths[n])]);
  }, 300_000);

  it.each(['qwen2', 'llama-bpe', 'tekken', 'spm', 'gemma'])(
    "agree with Hugging Face's Rust tokenizers: %s",
    (family) => {
      const source = JSON.parse(readFileSync(join(folder, `${family}.source.json`), 'utf8')) as TokenizerSource;
      const tokenizerJson = readFileSync(join(folder, `${family}.json`), 'utf8');
      for (const tokenizer of [createTokenizer(source), createTokenizer({ model: '', tokenizerJson })]) {
        // The oracle's NFC is of an older Unicode than ours: it orders the marks of the noise otherwise.
        for (const name of family === 'qwen2' ? NAMES.slice(0, 3) : NAMES) {
          compareLossy(tokenizer, readFileSync(paths[name], 'utf8'), int32(`${paths[name]}.${family}`));
        }
      }
    },
    120_000,
  );
});

/** As compare, without the way back: this vocabulary lacks some bytes. */
function compareLossy(tokenizer: Tokenizer, text: string, want: Int32Array): string {
  let got: number[] = [];
  const ms = cpuTime(() => (got = tokenizer.encode(text)));
  expect(got.length).toBe(want.length);
  expect(got.findIndex((id, i) => id !== want[i])).toBe(-1);
  return (Buffer.byteLength(text) / 1000 / ms).toFixed(1);
}
