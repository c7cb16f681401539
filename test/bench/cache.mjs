// `npm run long -- cache --model FILE [--chat 8192] [--system 4096] [--long 30720] [--repeat 3]`: what the prefix cache saves, over the
// HTTP API of the real app: the second turn of a chat, a second request with the same system prompt, and a long chat after a restart of the
// app (disk tier). Texts are random, so that nothing is found by chance. JSON on standard output.
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { readyApp } from '../../scripts/setup/real-app.mjs';
import { giveUp, say } from '../../scripts/setup/say.mjs';
import { median } from './peer/summary.mjs';

const { values } = parseArgs({
  options: {
    model: { type: 'string' },
    chat: { type: 'string', default: '8192' },
    system: { type: 'string', default: '4096' },
    long: { type: 'string', default: '30720' },
    repeat: { type: 'string', default: '3' },
  },
});
if (!values.model || !existsSync(values.model)) giveUp('Which model? npm run long -- cache --model FILE.gguf');
const [chatTokens, systemTokens, longTokens, repeat] = ['chat', 'system', 'long', 'repeat'].map((name) =>
  Number(values[name]),
);
const data = mkdtempSync(join(tmpdir(), 'hearth-cache-'));
let app = await readyApp(['--model', resolve(values.model)], data);

/** Streams one chat request of a few tokens: time to the first event of the answer, and the usage. */
async function ask(messages) {
  const begun = performance.now();
  const response = await fetch(`${app.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      model: app.model,
      messages,
      temperature: 0,
      max_tokens: 8,
      stream: true,
      stream_options: { include_usage: true },
    }),
  });
  if (!response.ok) throw new Error(await response.text());
  let held = '';
  let first;
  let usage;
  const decoder = new TextDecoder();
  for await (const bytes of response.body) {
    held += decoder.decode(bytes, { stream: true });
    const events = held.split('\n\n');
    held = events.pop();
    for (const event of events.map((lines) => lines.replace(/^data: /, '')).filter((line) => line.startsWith('{'))) {
      const { choices = [], usage: told, error } = JSON.parse(event);
      if (error) throw new Error(error.message);
      usage = told ?? usage;
      const { content, reasoning_content: thought } = choices[0]?.delta ?? {};
      if (content || thought || choices[0]?.finish_reason) first ??= performance.now();
    }
  }
  return { ttftMs: first - begun, prompt: usage.prompt_tokens, cached: usage.prompt_tokens_details.cached_tokens };
}

/** About `tokens` tokens of words that nobody has said before; their number in tokens is learnt from a first look. */
let wordsPerToken = 0;
async function learn() {
  const { prompt } = await ask([{ role: 'user', content: words(400) }]);
  const { prompt: without } = await ask([{ role: 'user', content: 'x' }]);
  wordsPerToken = 400 / (prompt - without);
}
function words(count) {
  const word = () => Math.random().toString(36).slice(2, 7);
  return Array.from({ length: Math.max(1, Math.round(count)) }, word).join(' ');
}
const text = (tokens) => words(tokens * wordsPerToken);

const user = (content) => ({ role: 'user', content });
const assistant = (content) => ({ role: 'assistant', content });

async function secondTurn() {
  const turns = [user(text(chatTokens))];
  const first = await ask(turns);
  const second = await ask([...turns, assistant(text(20)), user(text(20))]);
  return { first, second, read: second.prompt - second.cached, added: second.prompt - first.prompt };
}

async function sameSystemPrompt() {
  const system = { role: 'system', content: text(systemTokens) };
  const first = await ask([system, user(text(20))]);
  const second = await ask([system, user(text(20))]);
  return { first, second, share: second.ttftMs / first.ttftMs };
}

async function afterRestart() {
  const turns = [user(text(longTokens))];
  const cold = await ask(turns);
  // What ended is handed down by a thread of low priority.
  await new Promise((wake) => setTimeout(wake, 5000));
  await app.close();
  app = await readyApp(['--model', resolve(values.model)], data);
  // The first request of a process pays for pages and caches that have nothing to do with the chat.
  await ask([user(text(50))]);
  const warm = await ask([...turns, assistant(text(20)), user(text(20))]);
  return { cold, warm, share: warm.ttftMs / cold.ttftMs };
}

async function repeated(title, measure, summary) {
  const rounds = [];
  for (let i = 0; i < repeat; i++) rounds.push(await measure());
  const middle = median(rounds.map(summary));
  say(`${title}: ${middle.toFixed(3)}`);
  return { median: middle, rounds };
}

try {
  await learn();
  const result = {
    second_turn_read_beyond_added: await repeated(
      'second turn, tokens read beyond those added',
      secondTurn,
      (r) => r.read - r.added,
    ),
    same_system_ttft_share: await repeated('same system prompt, TTFT of the first', sameSystemPrompt, (r) => r.share),
    restart_ttft_share: await repeated('after a restart, TTFT of cold', afterRestart, (r) => r.share),
  };
  process.stdout.write(`${JSON.stringify(result, null, 1)}\n`);
} finally {
  await app.close();
  rmSync(data, { recursive: true, force: true });
}
