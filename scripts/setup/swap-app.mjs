// The real app with two models in its own folder, for checks of swaps; its own API; and a question to one of the models.
import { copyFileSync, linkSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readyApp } from './real-app.mjs';

/** `memory`: gigabytes for all models together. The models are called first and second; the first one is loaded. */
export async function swapApp({ first, second }, memory) {
  const data = mkdtempSync(join(tmpdir(), 'hearth-swap-'));
  const remove = () => rmSync(data, { recursive: true, force: true });
  mkdirSync(join(data, 'models'));
  put(first, join(data, 'models/first.gguf'));
  put(second, join(data, 'models/second.gguf'));
  try {
    const app = await readyApp(['--model', 'first', ...(memory ? ['--memory', String(memory)] : [])], data);
    return { ...app, models: ['first', 'second'], close: () => app.close().then(remove) };
  } catch (error) {
    remove();
    throw error;
  }
}

/** Large models are not copied where they lie on the same disk. */
function put(from, to) {
  try {
    linkSync(from, to);
  } catch {
    copyFileSync(from, to);
  }
}

export async function own(app, path, body) {
  const response = await fetch(`${app.url}/hearth/v1${path}`, {
    method: body ? 'POST' : 'GET',
    headers: { authorization: `Bearer ${app.token}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
  return response.status === 204 ? undefined : response.json();
}

/** The whole answer as text, and after how long it began; `onFirst` is told when it does. */
export async function ask(app, { model, prompt, tokens, onFirst = () => undefined }) {
  const begun = performance.now();
  const response = await fetch(`${app.url}/v1/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model, prompt, max_tokens: tokens, temperature: 1, seed: 7, stream: true }),
  });
  if (!response.ok) throw new Error(`${model} answered ${response.status}: ${await response.text()}`);
  let text = '';
  let held = '';
  let firstMs;
  const decoder = new TextDecoder();
  for await (const bytes of response.body) {
    held += decoder.decode(bytes, { stream: true });
    const events = held.split('\n\n');
    held = events.pop();
    // A line that begins with a colon only keeps the connection.
    for (const event of events.filter((lines) => lines.startsWith('data: ') && lines !== 'data: [DONE]')) {
      const { choices, error } = JSON.parse(event.slice('data: '.length));
      if (error) throw new Error(`an answer of ${model} ended with an error: ${error.message}`);
      for (const { text: piece, finish_reason: finish } of choices) {
        if (firstMs === undefined) onFirst();
        firstMs ??= performance.now() - begun;
        text += finish ? `${piece}|${finish}` : piece;
      }
    }
  }
  return { text, firstMs };
}
