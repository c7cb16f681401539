// The walls of the house: which folder may import which. A breach is printed with its file and line.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = resolve(import.meta.dirname, '../..');

interface Line {
  file: string;
  line: number;
  text: string;
  target: string;
}

function files(folder: string, pattern: RegExp): string[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && pattern.test(entry.name))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).split(sep).join('/'));
}

function lines(file: string, pattern: RegExp): Line[] {
  return readFileSync(join(root, file), 'utf8')
    .split('\n')
    .flatMap((text, index) => {
      const target = pattern.exec(text)?.[1];
      return target === undefined ? [] : [{ file, line: index + 1, text: text.trim(), target }];
    });
}

const show = (breach: Line) => `${breach.file}:${breach.line}: ${breach.text}`;

/** The room that a path under electron/ belongs to: a folder, or an entry file. */
function room(path: string): string {
  const [, first = ''] = path.split('/');
  return first.replace(/\.ts$/, '');
}

/** What each room of electron/ may import from electron/. */
const ROOMS: Record<string, string[]> = {
  contract: [],
  entries: [],
  runtime: ['contract'],
  store: ['contract', 'entries'],
  telemetry: ['contract'],
  library: ['contract', 'store', 'telemetry', 'entries', 'supervisor/types'],
  supervisor: ['contract', 'store', 'telemetry', 'entries'],
  server: ['contract', 'supervisor', 'library', 'store', 'telemetry'],
  shell: ['contract', 'app'],
  app: ['contract', 'entries', 'runtime', 'store', 'telemetry', 'library', 'supervisor', 'server', 'cli'],
  cli: ['contract', 'app', 'entries'],
  headless: ['contract', 'app', 'cli', 'entries'],
  main: ['contract', 'app', 'shell', 'entries'],
  preload: ['contract'],
};

const IMPORT = /(?:from\s+|import\s*\(\s*|import\s+)['"]([^'"]+)['"]/;

describe('walls of the TypeScript', () => {
  it('no room of electron/ imports one that it may not', () => {
    const breaches = files('electron', /\.ts$/).flatMap((file) =>
      lines(file, IMPORT).filter(({ target }) => {
        if (!target.startsWith('.')) return false;
        const path = relative(root, resolve(root, dirname(file), target))
          .split(sep)
          .join('/');
        if (!path.startsWith('electron/')) return true;
        const from = room(file);
        const to = room(path);
        return from !== to && !ROOMS[from]?.some((allowed) => allowed === to || path === `electron/${allowed}`);
      }),
    );
    expect(breaches.map(show)).toEqual([]);
  });

  it('every room of electron/ has its rule', () => {
    const rooms = new Set(files('electron', /\.ts$/).map(room));
    expect([...rooms].filter((name) => !(name in ROOMS))).toEqual([]);
  });

  it('the page imports the contract and nothing else of electron/', () => {
    const breaches = files('renderer', /\.tsx?$/).flatMap((file) =>
      lines(file, IMPORT).filter(({ target }) => {
        if (target.startsWith('@contract/')) return false;
        if (/^(node:|electron$|fastify)/.test(target)) return true;
        return target.startsWith('.') && !resolve(root, dirname(file), target).startsWith(join(root, 'renderer'));
      }),
    );
    expect(breaches.map(show)).toEqual([]);
  });

  it('only the entries of Electron import electron, others its types', () => {
    const breaches = files('electron', /\.ts$/)
      .filter((file) => !['electron/main.ts', 'electron/preload.ts'].includes(file))
      .flatMap((file) =>
        lines(file, IMPORT).filter(({ target, text }) => target === 'electron' && !text.startsWith('import type')),
      );
    expect(breaches.map(show)).toEqual([]);
  });

  it('one door leads off this machine: library/network', () => {
    const reaching = /(?:from\s+['"](node:(?:https?|tls|net|dgram|http2)|undici)['"]|(?<![.\w])(fetch)\()/;
    // The server listens, and never calls; commands and the lock ask the Hearth on this machine.
    const allowed = /^electron\/(library\/network(\.ts|\/)|server\/listen\.ts|cli\/|app\/server-file\.ts)/;
    const breaches = files('electron', /\.ts$/)
      .filter((file) => !allowed.test(file))
      .flatMap((file) =>
        readFileSync(join(root, file), 'utf8')
          .split('\n')
          .map((text) => ({ file, text })),
      )
      .filter(({ text }) => reaching.test(text) && !/^\s*(private |\/\/|\*)/.test(text));
    expect(breaches.map(({ file, text }) => `${file}: ${text.trim()}`)).toEqual([]);
  });

  it('only runtime/addon.ts knows where the addon is, and main.ts where a package has it', () => {
    const breaches = files('electron', /\.ts$/)
      .filter((file) => !['electron/runtime/addon.ts', 'electron/main.ts'].includes(file))
      .flatMap((file) => lines(file, /(hearth\.node)/));
    expect(breaches.map(show)).toEqual([]);
  });
});

/** What each folder of native/ may include besides its own. */
const FOLDERS: Record<string, string[]> = {
  include: [],
  backend: ['hearth'],
  mesh: ['hearth', 'backend'],
  cache: ['hearth', 'backend'],
  model: ['hearth', 'backend'],
  engine: ['hearth', 'backend', 'cache', 'model', 'mesh'],
  addon: ['hearth', 'bench'],
  bench: ['hearth', 'backend', 'model'],
};

describe('walls of the engine', () => {
  // mesh/ has its rule before it has code.
  const present = Object.keys(FOLDERS).filter((folder) => existsSync(join(root, 'native', folder)));

  it.each(present)('native/%s includes only what it may', (folder) => {
    const allowed = [...(FOLDERS[folder] ?? []), folder === 'include' ? 'hearth' : folder];
    const breaches = files(`native/${folder}`, /\.(h|cpp)$/).flatMap((file) =>
      lines(file, /^\s*#include\s+"([^"]+)"/).filter(({ target }) => {
        const first = target.split('/')[0] ?? '';
        return target.includes('/') && first in { ...FOLDERS, hearth: 0 } && !allowed.includes(first);
      }),
    );
    expect(breaches.map(show)).toEqual([]);
  });
});

describe('one list of errors', () => {
  it('every code of the engine is in the contract', async () => {
    const { errorCodes } = await import('../../electron/contract/errors');
    const header = readFileSync(join(root, 'native/include/hearth/error.h'), 'utf8');
    const native = [...header.matchAll(/case ErrorCode::(\w+): return "(\w+)"/g)];
    expect(native.length).toBeGreaterThan(10);
    for (const [, name, text] of native) {
      expect(text).toBe(name);
      expect(errorCodes).toContain(name);
    }
  });
});
