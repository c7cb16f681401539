// A remote engine over real sockets: what it says comes through, a cancel closes its connection, and nothing that it does ends this process
// or holds an answer for ever.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { chatInput } from '../../../../electron/contract/chat';
import type { HearthError } from '../../../../electron/contract/errors';
import type { GenerateRequest, GenerationEvent } from '../../../../electron/contract/runtime';
import { createNetwork } from '../../../../electron/library/network';
import { openLedger } from '../../../../electron/library/network/ledger';
import { Answer } from '../../../../electron/supervisor/answer';
import { RemoteClient, type Door } from '../../../../electron/supervisor/remote/client';
import { openRemoteEngines } from '../../../../electron/supervisor/remote/engines';
import { LIMITS, type Limits } from '../../../../electron/supervisor/remote/patience';
import { RemoteHost } from '../../../../electron/supervisor/remote/remote-host';
import { temporaryStore } from '../../store/samples';
import {
  callsTool,
  DONE,
  endless,
  event,
  json,
  KEY,
  says,
  sleep,
  startRaw,
  startStub,
  stream,
  USAGE,
} from './stub-engine';

const ledger = openLedger();
const doorWhen = (offline: boolean): Door => createNetwork({ settings: () => ({ offline, proxy: '' }), ledger });
const online = doorWhen(false);
const MODEL = 'Org/Big-Model';
const ref = { name: 'org/big-model@lab', path: `remote:1/${MODEL}`, remote: '1' };

function hostOf(url: string, limits: Partial<Limits> = {}, door: Door = online) {
  const client = new RemoteClient({ name: 'lab', url, key: KEY }, door, { ...LIMITS, ...limits });
  const host = new RemoteHost(ref, { client, id: MODEL, listener: { onChange: () => undefined } });
  onTestFinished(() => host.close());
  return host;
}

let arrivals = 0;
function work(more: Partial<GenerateRequest> = {}): GenerateRequest {
  const chat = chatInput.parse({ messages: [{ role: 'user', content: 'Hi' }] });
  return { id: `r${++arrivals}`, input: { kind: 'chat', chat }, sampling: { seed: 1 }, ...more };
}

function begin(host: RemoteHost, more: Partial<GenerateRequest> = {}) {
  const answer = new Answer(work(more), arrivals);
  host.take(answer);
  return answer;
}

async function collect(answer: Answer) {
  const events: GenerationEvent[] = [];
  for await (const one of answer.events()) events.push(one);
  const parts = events.flatMap((one) => (one.kind === 'parts' ? one.parts : []));
  const text = parts.map((part) => (part.channel === 'text' ? part.delta : '')).join('');
  const end = events.at(-1);
  if (end?.kind !== 'end') throw new Error('no end');
  return { events, parts, text, end };
}
const ask = (host: RemoteHost, more: Partial<GenerateRequest> = {}) => collect(begin(host, more));

describe('an engine that behaves', () => {
  it('is known by its name and address, and not by its key', async () => {
    const stub = await startStub();
    const loaded = await hostOf(stub.url).start();
    expect(loaded).toMatchObject({
      remote: 'lab',
      engineBuild: 'lab',
      kernels: `remote ${stub.url}`,
      context: 8192,
      model: { modelId: 'remote', name: MODEL, path: ref.path },
    });
    expect(JSON.stringify(loaded)).not.toContain(KEY);
  });

  it('streams an answer, with its use and the time that it took', async () => {
    const stub = await startStub();
    const { events, text, end } = await ask(hostOf(stub.url));
    expect(events.map(({ kind }) => kind)).toEqual(['start', 'parts', 'parts', 'end']);
    expect(text).toBe('Hello there.');
    expect(end).toMatchObject({ reason: 'stop', usage: { promptTokens: 12, completionTokens: 8 } });
    expect(end.timings.ttftMs).toBeGreaterThan(0);
    expect(stub.asked).toMatchObject([
      { path: '/v1/chat/completions', authorization: `Bearer ${KEY}`, body: { model: MODEL, stream: true } },
    ]);
  });

  it('thinks and calls a tool', async () => {
    const stub = await startStub(callsTool);
    const { parts, end } = await ask(hostOf(stub.url));
    expect(parts).toEqual([
      { channel: 'reasoning', delta: 'I need' },
      { channel: 'reasoning', delta: ' the weather.' },
      { channel: 'tool', call: 0, id: 'call_7', name: 'weather', delta: '' },
      { channel: 'tool', call: 0, delta: '{"city":' },
      { channel: 'tool', call: 0, delta: '"Ulm"}' },
    ]);
    expect(end.reason).toBe('tool_calls');
  });

  it('that does not stream is heard, too', async () => {
    const stub = await startStub(json(200, { choices: [{ message: { content: 'Whole.' }, finish_reason: 'stop' }] }));
    expect((await ask(hostOf(stub.url))).text).toBe('Whole.');
  });

  it('is cut off at the length of the answer that was asked for', async () => {
    const stub = await startStub(endless);
    const { text, end } = await ask(hostOf(stub.url), { answerTokens: 3 });
    expect([text, end.reason]).toEqual(['word0 word1 word2 ', 'length']);
    await expect.poll(() => stub.cutOff.length).toBe(1);
  });

  it('a chat that is too long there loses its oldest turns where that is allowed', async () => {
    const tooLong = json(400, { error: { message: 'maximum context length is 50 tokens', code: 400 } });
    const stub = await startStub((response, asked) =>
      (asked.body.messages.length > 3 ? tooLong : says('Short.'))(response, asked),
    );
    const turn = (n: number) => [
      { role: 'user' as const, content: `q${n}` },
      { role: 'assistant' as const, content: `a${n}` },
    ];
    const chat = chatInput.parse({
      messages: [...[1, 2, 3, 4, 5, 6, 7].flatMap(turn), { role: 'user', content: 'last' }],
    });
    const input = { kind: 'chat' as const, chat };
    const { events, text } = await ask(hostOf(stub.url), { input, fit: true });
    expect(text).toBe('Short.');
    expect(stub.asked.at(-1)?.body.messages.at(-1)).toEqual({ role: 'user', content: 'last' });
    expect(events[0]).toMatchObject({
      kind: 'start',
      droppedTurns: 8 - Math.ceil((stub.asked.at(-1)?.body.messages.length ?? 0) / 2),
    });
    await expect(ask(hostOf(stub.url), { input })).rejects.toMatchObject({ code: 'context_length_exceeded' });
  });
});

describe('letting go', () => {
  it('a cancel ends the answer and closes the connection, both at once', async () => {
    const stub = await startStub(endless);
    const host = hostOf(stub.url);
    const answer = begin(host);
    const reading = collect(answer);
    await expect.poll(() => stub.asked.length).toBe(1);
    await sleep(50);
    const cancelled = performance.now();
    host.cancel(answer);
    expect((await reading).end.reason).toBe('cancelled');
    expect(performance.now() - cancelled).toBeLessThan(300);
    await expect.poll(() => stub.cutOff.length).toBe(1);
    expect((stub.cutOff[0] ?? 0) - cancelled).toBeLessThan(300);
    expect(host.running).toBe(0);
  });

  it('a cancel before the first word, too', async () => {
    const stub = await startStub(() => undefined);
    const host = hostOf(stub.url);
    const answer = begin(host);
    await expect.poll(() => stub.asked.length).toBe(1);
    host.cancel(answer);
    expect((await collect(answer)).end.reason).toBe('cancelled');
    await expect.poll(() => stub.cutOff.length).toBe(1);
  });

  it('a drain waits for running answers, a close does not', async () => {
    const stub = await startStub(async (response) => {
      stream(response).write(event({ content: 'a' }));
      await sleep(100);
      response.end(event({ content: 'b' }, 'stop') + DONE);
    });
    const host = hostOf(stub.url);
    await host.start();
    const reading = ask(host);
    await host.drain();
    expect((await reading).text).toBe('ab');
    expect(host.state).toBe('closed');
    stub.respond = endless;
    const other = hostOf(stub.url);
    const cut = ask(other);
    await expect.poll(() => stub.asked.length).toBe(2);
    await other.close();
    expect((await cut).end.reason).toBe('cancelled');
  });
});

describe('an engine that is not well', () => {
  it.each<[string, number, string]>([
    ['refuses the key', 401, 'remote_key_refused'],
    ['has lost the model', 404, 'model_not_found'],
    ['is full', 429, 'queue_full'],
    ['is broken', 500, 'remote_failed'],
    ['moved', 307, 'remote_failed'],
  ])('%s: a typed error before anything was said', async (_name, status, code) => {
    const stub = await startStub(json(status, { error: { message: `No, ${KEY}.` } }));
    const error = await ask(hostOf(stub.url)).catch((thrown: unknown) => thrown as HearthError);
    expect(error).toMatchObject({ code });
    expect((error as HearthError).message).toMatch(/^lab /);
    expect((error as HearthError).message).not.toContain(KEY);
  });

  it('is not there', async () => {
    const stub = await startStub();
    await stub.close();
    await expect(hostOf(stub.url).start()).rejects.toMatchObject({ code: 'unreachable' });
    await expect(ask(hostOf(stub.url))).rejects.toMatchObject({ code: 'unreachable' });
  });

  it('does not have the model any more', async () => {
    const stub = await startStub();
    stub.models = { data: [{ id: 'another' }] };
    await expect(hostOf(stub.url).start()).rejects.toMatchObject({ code: 'model_not_found' });
  });

  it('a redirect is not followed: neither the words nor the key go anywhere else', async () => {
    const elsewhere: string[] = [];
    const other = createServer((request, response) => {
      elsewhere.push(request.headers.authorization ?? 'no key');
      response.end('{}');
    });
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void other.close());
    const to = `http://127.0.0.1:${(other.address() as AddressInfo).port}/v1/chat/completions`;
    const stub = await startStub((response) => void response.writeHead(302, { location: to }).end());
    await expect(ask(hostOf(stub.url))).rejects.toMatchObject({ code: 'remote_failed' });
    expect(elsewhere).toEqual([]);
  });

  it('dies in the middle: what it said stays, the end has the error', async () => {
    const stub = await startStub(async (response) => {
      stream(response).write(event({ content: 'Half' }));
      await sleep(30);
      response.destroy();
    });
    const { text, end } = await ask(hostOf(stub.url));
    expect(text).toBe('Half');
    expect(end).toMatchObject({ reason: 'error', error: { code: 'remote_failed' } });
  });

  it.each<[string, Partial<Limits>, (write: (text: string) => void) => void]>([
    ['says nothing', { firstMs: 100 }, () => undefined],
    ['says comments only', { firstMs: 150 }, (write) => setInterval(() => write(': ping\n\n'), 10).unref()],
    ['stops after a word', { gapMs: 100 }, (write) => write(event({ content: 'One' }))],
  ])('%s: given up in time, its connection closed', async (_name, limits, talk) => {
    const stub = await startStub((response) => {
      stream(response).flushHeaders();
      talk((text) => void (response.destroyed || response.write(text)));
    });
    const started = performance.now();
    const { end } = await ask(hostOf(stub.url, limits));
    expect(end).toMatchObject({ reason: 'error', error: { code: 'unreachable' } });
    expect(performance.now() - started).toBeLessThan(3000);
    await expect.poll(() => stub.cutOff.length).toBe(1);
  });

  it('never sends a head: given up in time', async () => {
    const stub = await startStub(() => undefined);
    await expect(ask(hostOf(stub.url, { firstMs: 100 }))).rejects.toMatchObject({ code: 'unreachable' });
  });
});

describe('a hostile engine', () => {
  const head = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n';
  it.each<[string, string[]]>([
    ['a line without end', [head, 'data: ', ...Array<string>(400).fill('x'.repeat(16_384))]],
    ['an event of endless lines', [head, ...Array<string>(400).fill(`data: ${'x'.repeat(16_384)}\n`)]],
    ['bytes that are no text', [head, 'data: \u00ff\u00fe{"choices"\u0000\n\n']],
    ['JSON that never closes', [head, `data: ${'['.repeat(100_000)}\n\n`]],
    ['no HTTP', ['SSH-2.0-OpenSSH_9.9\r\n']],
    ['headers without end', ['HTTP/1.1 200 OK\r\n', ...Array<string>(3000).fill('x-header: value of it\r\n')]],
    [
      'a wrong length',
      ['HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 50\r\n\r\n{"choices": []}'],
    ],
    ['a wrong type', ['HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 3\r\n\r\nhi!']],
    ['no type', ['HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nhi!']],
    [
      'an error page without end',
      ['HTTP/1.1 500 No\r\ncontent-type: text/html\r\n\r\n', ...Array<string>(50).fill('x'.repeat(16_384))],
    ],
    [
      'packed bytes',
      ['HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-encoding: gzip\r\n\r\n\u001f\u008b\b\u0000'],
    ],
  ])('sends %s: a typed error, in time', async (_name, pieces) => {
    const url = await startRaw((socket) => {
      const talk = async () => {
        for (const piece of pieces) {
          if (!socket.write(Buffer.from(piece, 'latin1'))) {
            await new Promise((resolve) => socket.once('drain', resolve).once('close', resolve));
          }
          if (socket.destroyed) return;
        }
        socket.end();
      };
      socket.once('data', () => void talk());
    });
    const started = performance.now();
    const outcome = await ask(hostOf(url)).then(
      ({ end }) => end.error?.code,
      (error: HearthError) => error.code,
    );
    expect(['remote_failed', 'unreachable']).toContain(outcome);
    expect(performance.now() - started).toBeLessThan(5000);
  });

  it('drips its headers: given up in time', async () => {
    const url = await startRaw((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n');
      const timer = setInterval(() => socket.write('x: y\r\n'), 20).unref();
      socket.on('close', () => clearInterval(timer));
    });
    await expect(ask(hostOf(url, { firstMs: 200 }))).rejects.toMatchObject({ code: 'unreachable' });
    await expect(hostOf(url, { listMs: 200 }).start()).rejects.toMatchObject({ code: 'unreachable' });
  });

  it('a list of models is bounded and may hold anything', async () => {
    const stub = await startStub();
    const data = [
      null,
      5,
      { id: '' },
      { id: 'x'.repeat(1000) },
      { id: 'ok', max_model_len: 'no' },
      { id: 'there', hearth: { remote: 'here' } },
    ];
    stub.models = { data: [...data, ...Array.from({ length: 2000 }, (_, i) => ({ id: `m${i}` }))] };
    const client = new RemoteClient({ name: 'lab', url: stub.url }, online);
    const models = await client.models();
    expect(models[0]).toEqual({ id: 'ok' });
    expect(models.length).toBeLessThanOrEqual(500);
    stub.models = { nothing: true };
    await expect(client.models()).rejects.toMatchObject({ code: 'remote_failed' });
  });
});

describe('the engines', () => {
  async function open(local: string[] = [], offline = false) {
    const store = await temporaryStore();
    const given = { store, door: doorWhen(offline), localNames: () => new Set(local) };
    const engines = await openRemoteEngines(given);
    onTestFinished(() => engines.close());
    return { engines, again: () => openRemoteEngines(given) };
  }

  it('are asked when they are added, and again after a restart; a key is never given back', async () => {
    const stub = await startStub();
    const { engines, again } = await open(['org/big-model@lab']);
    const added = await engines.add({ name: 'Lab', url: stub.url.replace('/v1', ''), key: KEY });
    expect(added).toMatchObject({
      url: stub.url,
      hasKey: true,
      health: { state: 'ok' },
      models: ['org/big-model@lab-2'],
    });
    expect(JSON.stringify([added, engines.list(), engines.models()])).not.toContain(KEY);
    await expect(engines.add({ name: ' LAB', url: stub.url })).rejects.toMatchObject({ code: 'invalid_request' });
    const restarted = await again();
    onTestFinished(() => restarted.close());
    await expect.poll(() => restarted.list()).toMatchObject([{ models: ['org/big-model@lab-2'], hasKey: true }]);
    await engines.remove(added.id);
    expect(engines.list()).toEqual([]);
    await expect(engines.check(added.id)).rejects.toMatchObject({ code: 'not_found' });
  });

  it('one that does not answer is kept, says so, and is well again when it is', async () => {
    const stub = await startStub();
    const { engines } = await open();
    const { id } = await engines.add({ name: 'lab', url: stub.url, key: 'wrong' });
    expect(engines.list()[0]?.health).toMatchObject({ state: 'refused', error: { code: 'remote_key_refused' } });
    stub.models = { data: [{ id: 'a' }] };
    const fine = await engines.add({ name: 'fine', url: stub.url });
    expect(fine.models).toEqual(['a@fine']);
    await stub.close();
    expect(await engines.check(fine.id)).toMatchObject({ health: { state: 'unreachable' }, models: ['a@fine'] });
    await engines.remove(id);
  });

  it('removing one ends its running answers', async () => {
    const stub = await startStub(endless);
    const { engines } = await open();
    const { id } = await engines.add({ name: 'lab', url: stub.url });
    const model = engines.models()[0];
    const host = engines.host(
      { name: model?.name ?? '', path: model?.path ?? '', remote: id },
      { onChange: () => undefined, onCrash: () => undefined },
    );
    await host.start();
    const reading = ask(host as RemoteHost);
    await expect.poll(() => stub.asked.length).toBe(1);
    await engines.remove(id);
    expect((await reading).end.reason).toBe('cancelled');
    expect(() => engines.host(host.ref, { onChange: () => undefined, onCrash: () => undefined })).toThrow(/not there/);
  });

  it('offline, nothing off this machine is contacted; this machine is', async () => {
    const stub = await startStub();
    const { engines } = await open([], true);
    const away = await engines.add({ name: 'away', url: 'http://engine.invalid:8000' });
    expect(away.health).toMatchObject({ state: 'refused', error: { code: 'offline' } });
    expect(ledger.list()[0]).toMatchObject({
      host: 'engine.invalid:8000',
      purpose: 'remote_engine',
      outcome: 'refused',
    });
    expect((await engines.add({ name: 'here', url: stub.url })).health.state).toBe('ok');
  });
});

it('the use that is told once more at the end counts once', async () => {
  const stub = await startStub(
    (response) => void stream(response).end(event({ content: 'a' }, 'stop') + USAGE + USAGE + DONE),
  );
  expect((await ask(hostOf(stub.url))).end.usage.completionTokens).toBe(8);
});
