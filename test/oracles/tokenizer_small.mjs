// Makes test/fixtures/tokenizer/small.json: a byte-level BPE vocabulary of a few hundred tokens with harmony's control tokens,
// learnt from the sentences below. Run it again after changing them: node test/oracles/tokenizer_small.mjs
import { writeFileSync } from 'node:fs';

const CONTROLS = [
  '<|startoftext|>',
  '<|endoftext|>',
  '<|return|>',
  '<|constrain|>',
  '<|channel|>',
  '<|start|>',
  '<|end|>',
  '<|message|>',
  '<|call|>',
  '<|reserved_0|>',
];
const TEXT = `
system developer user assistant analysis commentary final functions json to=functions. assistant analysis final message
The lighthouse keeper counts the ships, and the ships count the nights. Nobody asked the lamp what it thinks.
A small model can answer a small question; a kind answer is better than a long one. {"room":"attic"} {"city":"Bergen"}
Reasoning: low Reasoning: medium Reasoning: high You are a large language model. Valid channels: analysis, commentary, final.
We read, we write, we stop. 12 and 34 make 46. It's here, isn't it? They'll come. "name": "value", "list": [1, 2, 3]
漢字 kana かな привет мир naïve café → fin`;

function alphabet() {
  const codes = [];
  let next = 256;
  for (let b = 0; b < 256; b++) {
    const printable = (b >= 0x21 && b <= 0x7e) || (b >= 0xa1 && b <= 0xac) || b >= 0xae;
    codes.push(String.fromCharCode(printable ? b : next++));
  }
  return codes;
}

function pairCounts(words) {
  const counts = new Map();
  for (const { symbols, count } of words) {
    for (let i = 0; i + 1 < symbols.length; i++) {
      const pair = `${symbols[i]} ${symbols[i + 1]}`;
      counts.set(pair, (counts.get(pair) ?? 0) + count);
    }
  }
  return [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
}

function merge(word, left, right) {
  const symbols = [];
  for (let i = 0; i < word.symbols.length; i++) {
    if (word.symbols[i] === left && word.symbols[i + 1] === right) {
      symbols.push(left + right);
      i++;
    } else symbols.push(word.symbols[i]);
  }
  word.symbols = symbols;
}

const codes = alphabet();
const seen = new Map();
for (const word of TEXT.match(/ ?\p{L}+| ?\p{N}{1,3}| ?[^\s\p{L}\p{N}]+|\s+/gu)) {
  const spelt = [...Buffer.from(word)].map((b) => codes[b]).join('');
  seen.set(spelt, (seen.get(spelt) ?? 0) + 1);
}
const words = [...seen].map(([spelt, count]) => ({ symbols: [...spelt], count }));
const tokens = [...codes];
const merges = [];
while (merges.length < 240) {
  const [best] = pairCounts(words);
  if (!best || best[1] < 2) break;
  const [left, right] = best[0].split(' ');
  merges.push(best[0]);
  if (!tokens.includes(left + right)) tokens.push(left + right);
  for (const word of words) merge(word, left, right);
}
const types = [...tokens.map(() => 1), ...CONTROLS.map(() => 3)];
tokens.push(...CONTROLS);
const fixture = { model: 'gpt2', pre: 'gpt-4o', tokens, merges, types, eos: tokens.indexOf('<|return|>') };
const path = new URL('../fixtures/tokenizer/small.json', import.meta.url);
writeFileSync(path, `${JSON.stringify(fixture)}\n`);
console.log(`${tokens.length} tokens, ${merges.length} merges`);
