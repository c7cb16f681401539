// Bodies and addresses in every bad shape, and the words that errors have for clients.
import { describe, expect, it } from 'vitest';
import { MAX_DEPTH, nesting, parseJson } from '../../../electron/server/body';
import { fromThrown, openAiError, sentence } from '../../../electron/server/errors';
import { HearthError } from '../../../electron/contract/errors';
import { ask, chat, startServer } from './harness';

const post = (server: { port: number }, body: string | Buffer, type = 'application/json') =>
  ask(server, 'POST', '/v1/chat/completions', { headers: { 'content-type': type }, body });

describe('bodies', () => {
  it('depth counts brackets, not those in texts', () => {
    expect(nesting(Buffer.from('{"a":[[1]],"b":"[[[[\\"[["}'))).toBe(3);
    expect(nesting(Buffer.from('"' + '['.repeat(1000)))).toBe(0);
    expect(nesting(Buffer.from('['.repeat(100_000)))).toBe(100_000);
  });

  it('a key that would become a prototype is gone, however it is spelled', () => {
    for (const key of ['__proto__', '\\u005f_proto__', '__pr\\u006fto__']) {
      const value = parseJson(Buffer.from(`{"a":{"${key}":{"polluted":1}},"b":"__proto__"}`)) as Record<string, object>;
      const copy = Object.assign({}, value.a) as { polluted?: number };
      expect(copy.polluted).toBeUndefined();
      expect(value.b).toBe('__proto__');
    }
  });

  const bodies: [string, string | Buffer, string | undefined, number][] = [
    ['no JSON', '{"model": ', undefined, 400],
    ['nothing', '', undefined, 400],
    ['a number', '5', undefined, 400],
    ['null', 'null', undefined, 400],
    ['a list', '[]', undefined, 400],
    ['bytes that are no UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]), undefined, 400],
    ['100,000 brackets', `{"model":"m","messages":${'['.repeat(100_000)}${']'.repeat(100_000)}}`, undefined, 400],
    [
      'a deep schema',
      `{"model":"m","messages":[],"x":${'{"a":'.repeat(MAX_DEPTH)}1${'}'.repeat(MAX_DEPTH)}}`,
      undefined,
      400,
    ],
    ['form data', 'model=x', 'application/x-www-form-urlencoded', 415],
    ['plain text', '{}', 'text/plain', 415],
    ['no content type that anybody knows', '{}', 'x', 415],
    ['17 MiB', `{"model":"${'x'.repeat(17 * 1024 ** 2)}"}`, undefined, 413],
  ];
  it.each(bodies)('%s gets an error object and no crash', async (_name, body, type, status) => {
    const server = await startServer();
    const reply = await post(server, body, type);
    expect(reply.status).toBe(status);
    expect(reply.headers['content-type']).toMatch(/application\/json/);
    expect(reply.body.error).toMatchObject({ type: 'invalid_request_error', message: expect.any(String) });
    expect(Object.keys(reply.body)).toEqual(['error']);
    expect((await chat(server, {})).status).toBe(200);
  });

  it('JSON in its other spellings of content type is accepted', async () => {
    const server = await startServer();
    const body = JSON.stringify({ model: 'gpt-oss-20b', messages: [{ role: 'user', content: 'Hi' }] });
    for (const type of ['application/json; charset=utf-8', 'Application/JSON', 'application/vnd.api+json']) {
      expect((await post(server, body, type)).status).toBe(200);
    }
  });

  it('lone surrogates and zero bytes in a text arrive and harm nobody', async () => {
    const server = await startServer();
    const reply = await post(
      server,
      '{"model":"gpt-oss-20b","messages":[{"role":"user","content":"\\ud800 \\u0000 x"}]}',
    );
    expect(reply.status).toBe(200);
  });
});

describe('addresses', () => {
  it.each([
    ['GET', '/v1/unknown', 404, 'not_found'],
    ['GET', '/v1/chat/completions', 405, 'method_not_allowed'],
    ['POST', '/v1/models', 405, 'method_not_allowed'],
    ['DELETE', '/health', 405, 'method_not_allowed'],
    ['GET', '/nothing', 404, 'not_found'],
    ['GET', '/%ff', 400, null],
  ])('%s %s is an error object with status %i', async (method, path, status, code) => {
    const server = await startServer();
    const reply = await ask(server, method, path);
    expect([reply.status, reply.body.error.code]).toEqual([status, code]);
    if (status === 405) expect(reply.headers.allow).toMatch(/GET|POST/);
  });

  it('every answer can be traced', async () => {
    const server = await startServer();
    const ids = [await ask(server, 'GET', '/health'), await ask(server, 'GET', '/nowhere')].map(
      (reply) => reply.headers['x-request-id'],
    );
    expect(ids.every((id) => /^req_[0-9a-f]{32}$/.test(String(id)))).toBe(true);
    expect(new Set(ids).size).toBe(2);
  });

  it('health says whether a model is being loaded', async () => {
    const server = await startServer();
    expect((await ask(server, 'GET', '/health')).body).toMatchObject({ status: 'ok' });
    server.supervisor.change({ name: 'gpt-oss-20b', state: 'loading' });
    expect((await ask(server, 'GET', '/health')).body).toMatchObject({ status: 'loading' });
  });
});

describe('words of errors', () => {
  it('numbers and the remedy are in the sentence', () => {
    const full = new HearthError('out_of_vram', 'The model does not fit', {
      needed: 13 * 1024 ** 3,
      available: 8 * 1024 ** 3,
    });
    expect(sentence(full)).toMatch(/13\.0 GiB needed, 8\.0 GiB available.*smaller model/);
    const long = new HearthError('context_length_exceeded', 'The prompt is too long', {
      needed: 60_000,
      available: 4096,
    });
    expect(openAiError(long).error.message).toMatch(/60000.*4096/);
    const said = new HearthError('context_length_exceeded', '60000 tokens, 4096 possible.', {
      needed: 60_000,
      available: 4096,
    });
    expect(sentence(said).match(/60000/g)?.length).toBe(1);
    const file = new HearthError('bad_file', 'a.gguf is too short; download it again');
    expect(sentence(file)).toBe('a.gguf is too short; download it again.');
  });

  it('the size of a file is not told in tokens', () => {
    const short = new HearthError('bad_file', 'a.gguf ends too early', { needed: 24, available: 12 });
    expect(sentence(short)).toMatch(/^a\.gguf ends too early \(24 bytes needed, 12 bytes available\)\. /);
    const large = new HearthError('bad_file', 'a.gguf ends too early', { needed: 3 * 1024 ** 2, available: 12 });
    expect(sentence(large)).toContain('(3.0 MiB needed, 12 bytes available)');
  });

  it('a question keeps its mark and gets no full stop', () => {
    expect(sentence(new HearthError('invalid_request', 'temperature: did you mean 0.7?'))).toBe(
      'temperature: did you mean 0.7?',
    );
    const file = new HearthError('bad_file', 'Is this a model?', { needed: 24, available: 12 });
    expect(sentence(file)).toMatch(/^Is this a model\? \(24 bytes needed, 12 bytes available\.\) Download/);
  });

  it('what broke inside is not told to strangers', () => {
    const error = fromThrown(new TypeError('cannot read /home/user/secret of undefined'));
    expect(error.status).toBe(500);
    expect(sentence(error)).not.toContain('secret');
    expect(fromThrown('nonsense').code).toBe('internal');
    expect(fromThrown(undefined).code).toBe('internal');
    expect(fromThrown(null).code).toBe('internal');
  });
});
