// A whole server over a real database and a scripted supervisor, and ways of asking it.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { notFound } from '../../../electron/library/items';
import { createNetwork } from '../../../electron/library/network';
import { openLedger } from '../../../electron/library/network/ledger';
import type { Library, LibraryModel } from '../../../electron/library/types';
import { createServer } from '../../../electron/server/server';
import type { ServerOptions } from '../../../electron/server/types';
import { createCalls, type Calls } from '../../../electron/store/database';
import { closeDatabase, openDatabase } from '../../../electron/store/migrate';
import type { Store } from '../../../electron/store/types';
import { openRemoteEngines } from '../../../electron/supervisor/remote/engines';
import { createMatrix } from '../../../electron/supervisor/matrix/matrix';
import { abilities, FakeSupervisor, modelInfo } from './fake-supervisor';

export const TOKEN = 'token-of-the-app';

export function libraryModel(name: string, fields: Partial<LibraryModel> = {}): LibraryModel {
  return {
    name,
    path: `/models/${name}.gguf`,
    fileBytes: 1000,
    builtin: false,
    modifiedAt: 1_700_000_000_000,
    info: modelInfo(name),
    abilities,
    ...fields,
  };
}

export function listLibrary(models: LibraryModel[]): Library {
  return {
    list: () => models,
    content: () => [],
    find: (name) => {
      const model = models.find((entry) => entry.name === name);
      if (!model)
        throw notFound(
          name,
          models.map((entry) => entry.name),
        );
      return model;
    },
    open: async () => {
      throw new Error('not in these tests');
    },
    refresh: async () => undefined,
    watch: () => () => undefined,
    ready: async () => undefined,
    identified: async () => undefined,
    version: () => 0,
    folders: async () => [],
    folderAt: async () => {
      throw new Error('not in these tests');
    },
    configure: async () => undefined,
    checkedAlias: (alias) => alias,
    remove: async () => {
      throw new Error('not in these tests');
    },
    used: () => undefined,
    knows: async () => undefined,
    moved: async () => undefined,
    close: () => undefined,
  };
}

export const broken = libraryModel('broken', {
  info: undefined,
  abilities: undefined,
  error: { code: 'bad_file', message: 'The file ends within its header.' },
});

export const plain = libraryModel('plain', {
  abilities: { chat: true, reasoning: false, tools: false, harmony: false },
});

/** The real database without its thread: starting one takes longer than most tests. */
export function directStore(path: string): Store {
  const db = openDatabase(path);
  const calls = createCalls(db);
  calls.markInterrupted();
  const later = Object.entries(calls).map(([name, call]) => [
    name,
    async (...args: unknown[]) => (call as (...args: unknown[]) => unknown)(...args),
  ]);
  return {
    ...(Object.fromEntries(later) as unknown as Omit<Store, 'append' | 'close' | 'moveTo'>),
    append: (...args: Parameters<Calls['append']>) => calls.append(...args),
    moveTo: async () => {
      throw new Error('not in these tests');
    },
    close: async () => closeDatabase(db),
  };
}

export interface Harness {
  url: string;
  port: number;
  supervisor: FakeSupervisor;
  options: ServerOptions;
  close(): Promise<void>;
}

export async function startServer(given: Partial<ServerOptions> & { dbPath?: string } = {}): Promise<Harness> {
  const folder = mkdtempSync(join(tmpdir(), 'hearth-server-'));
  const { dbPath = join(folder, 'hearth.db'), ...overrides } = given;
  const supervisor = new FakeSupervisor();
  mkdirSync(join(folder, 'page'));
  writeFileSync(join(folder, 'page/index.html'), '<!doctype html><title>Hearth</title>');
  const store = directStore(dbPath);
  const door = createNetwork({ settings: () => ({ offline: false, proxy: '' }), ledger: openLedger() });
  const engines = await openRemoteEngines({ store, door, localNames: () => new Set() });
  const options: ServerOptions = {
    supervisor,
    library: listLibrary([libraryModel('gpt-oss-20b', { builtin: true }), plain, broken]),
    store,
    matrix: createMatrix({ store, supervisor, exact: () => supervisor }),
    engines,
    token: TOKEN,
    version: '0.0.1',
    staticDir: join(folder, 'page'),
    ...overrides,
  };
  const server = await createServer(options);
  const { url, port } = await server.listen(0);
  let closed: Promise<void> | undefined;
  const close = () =>
    (closed ??= (async () => {
      engines.close();
      await server.close();
      await store.close();
      rmSync(folder, { recursive: true, force: true });
    })());
  onTestFinished(close);
  return { url, port, supervisor, options, close };
}

export interface Reply {
  status: number;
  headers: IncomingHttpHeaders;
  raw: string;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  body: any;
}

/** Any request, headers as they are: `fetch` would not let a test lie about Host. */
export function ask(
  { port }: { port: number },
  method: string,
  path: string,
  {
    headers = {},
    body,
  }: { headers?: Record<string, string | string[] | undefined>; body?: string | Buffer | object } = {},
): Promise<Reply> {
  const bytes =
    body === undefined ? undefined : typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
  const type = bytes !== undefined && !('content-type' in headers) ? { 'content-type': 'application/json' } : {};
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      { host: '127.0.0.1', port, path, method, headers: { ...type, ...headers }, agent: false },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const raw = Buffer.concat(chunks).toString();
          let parsed: unknown;
          try {
            parsed = JSON.parse(raw);
          } catch {
            parsed = undefined;
          }
          resolve({ status: response.statusCode ?? 0, headers: response.headers, raw, body: parsed });
        });
      },
    );
    request.on('error', reject);
    if (bytes !== undefined) request.setHeader('content-length', Buffer.byteLength(bytes));
    request.end(bytes);
  });
}

export const authorized = { authorization: `Bearer ${TOKEN}` };

export const own = (server: { port: number }, method: string, path: string, body?: object) =>
  ask(server, method, `/hearth/v1${path}`, { headers: authorized, ...(body && { body }) });

export const chat = (server: { port: number }, fields: object) =>
  ask(server, 'POST', '/v1/chat/completions', {
    body: { model: 'gpt-oss-20b', messages: [{ role: 'user', content: 'Hi' }], ...fields },
  });

/** The data lines of a stream, parsed; [DONE] stays a word. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export function eventsOf(raw: string): any[] {
  return raw
    .split('\n\n')
    .map((block) =>
      block
        .split('\n')
        .find((line) => line.startsWith('data: '))
        ?.slice(6),
    )
    .filter((data) => data !== undefined)
    .map((data) => (data === '[DONE]' ? data : JSON.parse(data)));
}
