// The command line as a person or a script meets it: real processes, real files, real ports.
import { spawn, type ChildProcess } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isAlive, pause, until } from '../unit/supervisor/harness';
import { missing, modelPath } from './engine-model';

const root = resolve(import.meta.dirname, '../..');

/** The built command where it is newer than every source (it starts much faster), else the sources. */
function command(): string[] {
  const built = join(root, 'dist/cli.js');
  const sources = readdirSync(join(root, 'electron'), { recursive: true, withFileTypes: true });
  const newest = Math.max(
    ...sources.map((file) => (file.isFile() ? statSync(join(file.parentPath, file.name)).mtimeMs : 0)),
  );
  if (existsSync(built) && statSync(built).mtimeMs > newest) return [built];
  const loader = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;
  return ['--import', loader, join(root, 'electron/cli/index.ts')];
}
const COMMAND = command();

let folder: string;
let running: ChildProcess[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'hearth-cli-'));
  running = [];
});
afterEach(async () => {
  for (const child of running) child.kill('SIGKILL');
  await until(() => running.every((child) => child.exitCode !== null || child.signalCode !== null));
  await pause(100);
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});

function start(...args: string[]) {
  const child = spawn(process.execPath, [...COMMAND, ...args], {
    cwd: folder,
    // A process group of its own, as a terminal gives one.
    detached: true,
    env: { ...process.env, HEARTH_DATA_DIR: folder },
  });
  running.push(child);
  const output = { out: '', err: '' };
  child.stdout.on('data', (data) => (output.out += String(data)));
  child.stderr.on('data', (data) => (output.err += String(data)));
  const code = new Promise<number | null>((resolve) => child.on('close', (code) => resolve(code)));
  return { child, output, code };
}

async function hearth(...args: string[]) {
  const { output, code } = start(...args);
  return { code: await code, ...output };
}

async function serve(...args: string[]) {
  const started = start('serve', '--json', '--port', '0', ...args);
  await until(() => started.output.out.includes('\n'), 20_000);
  return {
    ...started,
    server: JSON.parse(started.output.out.split('\n')[0] ?? '') as { url: string; token: string; pid: number },
  };
}

const serverFile = () => join(folder, 'server.json');

describe('hearth serve', () => {
  it('says where it is, for this user only, and takes that back at the end', async () => {
    const { child, server, code, output } = await serve();
    expect(JSON.parse(readFileSync(serverFile(), 'utf8'))).toMatchObject(server);
    if (process.platform !== 'win32') expect(statSync(serverFile()).mode & 0o777).toBe(0o600);
    expect((await fetch(`${server.url}/health`)).status).toBe(200);
    child.kill('SIGTERM');
    expect(await code).toBe(0);
    expect(existsSync(serverFile())).toBe(false);
    expect(output.out.trim().split('\n')).toHaveLength(1);
  });

  it('a second one names the address of the first, and leaves it alone', async () => {
    const { server } = await serve();
    const second = await hearth('serve', '--port', '0');
    expect(second).toMatchObject({ code: 1, out: '' });
    expect(second.err).toContain(server.url);
    const asJson = await hearth('serve', '--json');
    expect(JSON.parse(asJson.out)).toMatchObject({ error: { code: 'already_running' } });
    expect((await fetch(`${server.url}/health`)).status).toBe(200);
  });

  it('starts again after a kill -9 left its file behind, and leaves no runtime of the dead one', async () => {
    const first = await serve();
    first.child.kill('SIGKILL');
    await first.code;
    expect(existsSync(serverFile())).toBe(true);
    const second = await serve();
    expect(second.server.pid).not.toBe(first.server.pid);
    expect(JSON.parse(readFileSync(serverFile(), 'utf8')).pid).toBe(second.server.pid);
  });

  it('is not kept out by a file whose process id belongs to another program now', async () => {
    const stale = { url: 'http://127.0.0.1:9', token: 'x', pid: process.pid, version: '0' };
    writeFileSync(serverFile(), JSON.stringify(stale));
    const { server } = await serve();
    expect((await fetch(`${server.url}/health`)).status).toBe(200);
  });

  it('takes the next free port when its own is taken, and says so', async () => {
    const blocker = createServer();
    const port = await new Promise<number>((resolve) =>
      blocker.listen(0, '127.0.0.1', () => resolve((blocker.address() as { port: number }).port)),
    );
    const started = start('serve', '--json', '--port', String(port));
    await until(() => started.output.out.includes('\n'), 20_000);
    blocker.close();
    const { url } = JSON.parse(started.output.out) as { url: string };
    expect(Number(new URL(url).port)).toBeGreaterThan(port);
    expect(started.output.err).toContain(`Port ${port} is taken`);
    started.child.kill('SIGTERM');
    await started.code;
    const again = start('serve', '--json', '--port', String(port));
    await until(() => again.output.out.includes('\n'), 20_000);
    expect(JSON.parse(again.output.out)).toMatchObject({ url: `http://127.0.0.1:${port}` });
  });

  it('says which port is taken and does not run where there is no next one', async () => {
    const blocker = createServer();
    await new Promise<void>((resolve) => blocker.listen(65_535, '127.0.0.1', resolve).on('error', () => resolve()));
    const { code, out, err } = await hearth('serve', '--port', '65535');
    blocker.close();
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toContain('Port 65535 is taken by another program.');
    expect(existsSync(serverFile())).toBe(false);
  });

  it('ends quickly and in order on Ctrl-C, which a terminal sends to its children as well', async () => {
    const { child, code, output } = await serve();
    await pause(1000);
    const before = Date.now();
    process.kill(-(child.pid ?? 0), 'SIGINT');
    expect(await code).toBe(0);
    expect(Date.now() - before).toBeLessThan(4000);
    expect(readFileSync(join(folder, 'logs/hearth.log'), 'utf8')).not.toContain('ended (SIGINT)');
    expect(output.err.trim()).toBe('Stopping.');
  });

  it('lets exactly one of many in that start at once over a stale file', async () => {
    writeFileSync(serverFile(), JSON.stringify({ url: '', token: 'x', pid: 2 ** 22 + 1, version: '0' }));
    const all = [1, 2, 3].map(() => start('serve', '--json', '--port', '0'));
    await until(() => all.every(({ output }) => output.out.includes('\n')), 20_000);
    const answers = all.map(
      ({ output }) => JSON.parse(output.out.split('\n')[0] ?? '') as { url?: string; error?: { code: string } },
    );
    expect(answers.filter(({ url }) => url !== undefined)).toHaveLength(1);
    expect(answers.filter(({ error }) => error?.code === 'already_running')).toHaveLength(2);
  });
});

describe('failures', () => {
  it('a file that is not there is one sentence and a remedy', async () => {
    const result = await hearth('run', './nothing.gguf', 'hi');
    expect(result).toMatchObject({ code: 1, out: '' });
    expect(result.err).toMatch(/^There is no file[^\n]+\n$/);
  });

  it('the same as JSON where that was asked for', async () => {
    const result = await hearth('run', 'no-such-model', 'hi', '--json');
    expect(result.code).toBe(1);
    expect(JSON.parse(result.out)).toMatchObject({ error: { code: 'model_not_found' } });
  });

  it('nonsense options are refused before anything starts', async () => {
    expect((await hearth('bench', 'x', '--prefill', '-3')).code).toBe(1);
    expect((await hearth('serve', '--port', '70000')).err).toContain('65535');
    writeFileSync(join(folder, 'ids.json'), '{"not": "tokens"}');
    expect((await hearth('logits', 'x.gguf', '--tokens', 'ids.json')).err).toContain('ids.json');
  });
});

describe.skipIf(missing)('with a model', () => {
  it('run answers in one JSON object, the same one for the same seed', async () => {
    const ask = () => hearth('run', modelPath, 'Hello', '--temperature', '0', '--max-tokens', '30', '--json');
    const [one, two] = [await ask(), await ask()];
    const answer = JSON.parse(one.out);
    expect(Object.keys(answer)).toEqual(['text', 'reasoning', 'tokens', 'finish_reason', 'usage', 'timings']);
    expect(answer.tokens).toHaveLength(answer.usage.completion_tokens);
    expect(JSON.parse(two.out).tokens).toEqual(answer.tokens);
  });

  it('run gives a pipe the answer and nothing else', async () => {
    const result = await hearth('run', modelPath, 'Hello', '--temperature', '0');
    expect(result).toMatchObject({ code: 0, err: '' });
    expect(result.out).not.toContain('\u001b');
    expect(result.out.trim()).not.toBe('');
  });

  it('run asks the Hearth that runs already', async () => {
    const { server } = await serve('--model', modelPath);
    const models = async () =>
      ((await (await fetch(`${server.url}/v1/models`)).json()) as { data: { id: string }[] }).data;
    let names: { id: string }[] = [];
    for (let i = 0; i < 100 && names.length === 0; i++) {
      await pause(100);
      names = await models();
    }
    const result = await hearth('run', names[0]?.id ?? '', 'Hello', '--temperature', '0');
    expect(result).toMatchObject({ code: 0 });
    const { requestsServed } = (await (
      await fetch(`${server.url}/hearth/v1/state`, { headers: { authorization: `Bearer ${server.token}` } })
    ).json()) as { requestsServed: number };
    expect(requestsServed).toBe(1);
  });

  it('load, ps and unload show and change what the Hearth that runs has in memory', { timeout: 60_000 }, async () => {
    expect(await hearth('ps')).toMatchObject({ code: 1, err: expect.stringContaining('hearth serve') });
    await serve('--model', modelPath);
    const loaded = await hearth('load', 'starter', '--context', '1024');
    expect(loaded).toMatchObject({
      code: 0,
      out: 'starter is loaded, with a context of 1024 tokens, on the processor.\n',
    });
    const { loaded: models } = JSON.parse((await hearth('ps', '--json')).out);
    expect(models).toMatchObject([{ name: 'starter', state: 'ready', context: 1024, running: 0 }]);
    expect((await hearth('ps')).out).toMatch(/^NAME.*\nstarter +ready +1024 /);
    expect((await hearth('load', 'startr')).err).toContain('Did you mean starter?');
    expect((await hearth('unload', 'starter')).out).toBe('No model is loaded.\n');
    expect((await hearth('ps')).out).toBe('No model is loaded.\n');
  });

  it('no runtime outlives a killed main', async () => {
    const { child, server, code } = await serve('--model', modelPath);
    const children = () =>
      readFileSync(`/proc/${server.pid}/task/${server.pid}/children`, 'utf8')
        .trim()
        .split(' ')
        .filter(Boolean)
        .map(Number);
    await until(() => children().length > 0, 10_000);
    await pause(1500);
    const pids = children();
    child.kill('SIGKILL');
    await code;
    await until(() => pids.every((pid) => !isAlive(pid)), 5000);
  });

  it('logits are one array over the vocabulary, the same for any number of threads', async () => {
    writeFileSync(join(folder, 'ids.json'), '[1, 20, 300, 7]');
    const of = (threads: string) =>
      hearth('logits', modelPath, '--tokens', 'ids.json', '--exact', '--threads', threads);
    const [one, two] = [await of('1'), await of('2')];
    expect(JSON.parse(one.out).length).toBeGreaterThan(1000);
    expect(two.out).toBe(one.out);
  });

  it('bench says all that a script wants to know', async () => {
    const options = ['--prefill', '16,32', '--decode', '100', '--sequences', '1,2', '--repeat', '2', '--json'];
    const result = JSON.parse((await hearth('bench', modelPath, ...options)).out) as {
      load_ms: number;
      measurements: Record<string, unknown>[];
    };
    const { measurements } = result;
    expect(measurements.map(({ prefill, sequences }) => [prefill, sequences])).toEqual([
      [16, 1],
      [32, 1],
      [16, 2],
      [32, 2],
    ]);
    for (const { decode_tps: decode, fractions, decode_bytes_per_step: perStep } of measurements as {
      decode_tps: { median: number; least: number; most: number };
      fractions: { decode_bandwidth: number; prefill_compute: number };
      decode_bytes_per_step: number;
    }[]) {
      expect(decode.least).toBeGreaterThan(0);
      expect(decode.most).toBeGreaterThanOrEqual(decode.median);
      expect(fractions.decode_bandwidth).toBeGreaterThan(0);
      expect(fractions.prefill_compute).toBeGreaterThan(0);
      expect(perStep).toBeGreaterThan(1e6);
    }
  });

  it('ls and doctor say what is wrong with each model', async () => {
    const models = join(folder, 'models');
    mkdirSync(models, { recursive: true });
    writeFileSync(join(models, 'broken.gguf'), 'GGUF and then nothing of worth');
    const listed = await hearth('ls');
    expect(listed.out).toMatch(/broken.*\n/);
    const { findings } = JSON.parse((await hearth('doctor', '--json')).out) as {
      findings: { subject: string; ok: boolean; text: string }[];
    };
    expect(findings.find(({ subject }) => subject === 'Model broken')).toMatchObject({ ok: false });
    expect(findings.find(({ subject }) => subject === 'Processor')).toMatchObject({ ok: true });
  });
});
