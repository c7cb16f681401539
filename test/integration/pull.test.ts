// `hearth pull` as a person meets it: a real process, a hub on loopback, alone and beside a running Hearth.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { FakeHub, REPO } from './fake-hub';

vi.setConfig({ testTimeout: 120_000 });

const root = resolve(import.meta.dirname, '../..');
const loader = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;
const KB = 1024;

async function bench(files: Record<string, Buffer>) {
  const folder = mkdtempSync(join(tmpdir(), 'hearth-pull-'));
  const hub = new FakeHub(files);
  await hub.listen();
  onTestFinished(async () => {
    await hub.close();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  });
  const hearth = (...args: string[]) => {
    const child = spawn(process.execPath, ['--import', loader, join(root, 'electron/cli/index.ts'), ...args], {
      env: { ...process.env, HEARTH_DATA_DIR: folder, HF_ENDPOINT: hub.url },
    });
    const output = { out: '', err: '' };
    child.stdout.on('data', (data) => (output.out += String(data)));
    child.stderr.on('data', (data) => (output.err += String(data)));
    const ended = new Promise<{ code: number | null; out: string; err: string }>((done) =>
      child.once('close', (code) => done({ code, ...output })),
    );
    onTestFinished(() => void child.kill('SIGKILL'));
    return { child, output, ended };
  };
  return { folder, hub, hearth, place: (file: string) => join(folder, 'models', REPO, file) };
}

describe('hearth pull', () => {
  it('takes the usual file of a repository, and says what it took', async () => {
    const files = { 'a-Q8_0.gguf': randomBytes(90 * KB), 'a-Q4_K_M.gguf': randomBytes(50 * KB) };
    const { hearth, place } = await bench(files);
    const { code, out, err } = await hearth('pull', REPO).ended;
    // Both fit: the better one is taken.
    expect({ code, out }).toEqual({ code: 0, out: 'a-q8_0 is here (92.2 kB).\n' });
    expect(err).toContain('a-Q8_0.gguf');
    expect(readFileSync(place('a-Q8_0.gguf')).equals(files['a-Q8_0.gguf'])).toBe(true);
  });

  it('is paused by Ctrl-C and goes on with the same command, as JSON', async () => {
    const file = randomBytes(400 * KB);
    const { hub, hearth, place } = await bench({ 'x.gguf': file });
    hub.behaviour = (count) => (count === 1 ? { stallAt: 200 * KB } : undefined);
    const first = hearth('pull', `${REPO}/x.gguf`);
    await expect.poll(() => hub.sent, { timeout: 60_000 }).toBe(200 * KB);
    await new Promise((done) => setTimeout(done, 500));
    first.child.kill('SIGINT');
    expect(await first.ended).toMatchObject({ code: 130, err: expect.stringContaining('Paused') });
    const { code, out } = await hearth('pull', `${REPO}/x.gguf`, '--json').ended;
    expect(code).toBe(0);
    expect(JSON.parse(out).download).toMatchObject({ phase: 'done', model: 'x', doneBytes: file.length });
    expect(hub.sent).toBeLessThan(file.length + 100 * KB);
    expect(readFileSync(place('x.gguf')).equals(file)).toBe(true);
  });

  it('fails with a typed error, a remedy and an exit code', async () => {
    const { hub, hearth } = await bench({ 'x.gguf': randomBytes(KB) });
    const none = await hearth('pull', 'test/none', '--json').ended;
    expect(none.code).toBe(1);
    expect(JSON.parse(none.out).error).toMatchObject({ code: 'not_found', remedy: expect.any(String) });
    hub.evilNames = ['../../evil.gguf'];
    expect(await hearth('pull', REPO).ended).toMatchObject({
      code: 1,
      err: expect.stringContaining('../../evil.gguf'),
    });
    expect((await hearth('pull', 'nonsense').ended).code).toBe(1);
  });

  it('leaves it to the Hearth that runs', async () => {
    const file = randomBytes(60 * KB);
    const { hearth, place } = await bench({ 'x.gguf': file });
    const server = hearth('serve', '--json', '--port', '0');
    await expect.poll(() => server.output.out, { timeout: 60_000 }).toContain('token');
    const { code, out } = await hearth('pull', `${REPO}/x.gguf`, '--json').ended;
    expect(code).toBe(0);
    expect(JSON.parse(out).download).toMatchObject({ phase: 'done', model: 'x' });
    expect(readFileSync(place('x.gguf')).equals(file)).toBe(true);
    server.child.kill('SIGTERM');
    await server.ended;
  });
});
