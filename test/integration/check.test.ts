// `hearth check` on the real engine: recorded once, the same the next time, and what changed is said.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { check } from '../../electron/cli/check';
import { main } from '../../electron/cli/command';
import { matrixCheck, type MatrixCheck } from '../../electron/contract/models';
import { startApp } from '../../electron/app';
import { openStore } from '../../electron/store/open';
import { PROMPT_SET } from '../../electron/supervisor/matrix/prompts';
import { missing, modelPath } from './engine-model';

const TIMEOUT = 180_000;

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'hearth-check-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

async function hearthCheck(
  folder: string,
  model: string,
  ...args: string[]
): Promise<{ code: number | undefined; result: MatrixCheck }> {
  let out = '';
  const io = { out: (text: string) => void (out += text), err: () => undefined, terminal: false };
  const code = await main(['check', model, '--json', '--data-dir', folder, ...args], io);
  return { code, result: matrixCheck.parse(JSON.parse(out)) };
}

it.skipIf(missing)(
  'a check records, passes the next time, and a changed hash shows as changed',
  async () => {
    const folder = newFolder();
    const first = await hearthCheck(folder, modelPath);
    expect(first).toMatchObject({ code: 0, result: { recorded: true, row: { selfCheck: 'passed', regressions: [] } } });
    const { row } = first.result;
    // The fast path computes with 8-bit activations: near the exact one, and not the same.
    expect(row?.kl).toBeGreaterThan(0);
    expect(row?.kl).toBeLessThan(0.05);
    expect(Math.min(row?.prefillTps ?? 0, row?.decodeTps ?? 0, row?.memoryBytes ?? 0)).toBeGreaterThan(0);
    const second = await hearthCheck(folder, modelPath);
    expect(second).toMatchObject({ code: 0, result: { recorded: false, row: { selfCheck: 'passed' } } });
    expect(second.result.row?.kl).toBe(row?.kl);

    const store = await openStore({ path: join(folder, 'hearth.db') });
    const { modelId = '', device = '', kvType = '' } = row ?? {};
    const expected = await store.expectedTokens({ modelId, device, kvType, prompts: PROMPT_SET });
    if (!expected) throw new Error('nothing was recorded');
    await store.setExpectedTokens({ ...expected, hashes: { ...expected.hashes, code: 'of another build' } });
    await store.close();
    const third = await hearthCheck(folder, modelPath);
    expect(third).toMatchObject({ code: 1, result: { row: { selfCheck: 'changed', regressions: ['tokens'] } } });
    expect(await hearthCheck(folder, modelPath, '--accept')).toMatchObject({
      code: 0,
      result: { row: { selfCheck: 'passed' } },
    });
  },
  TIMEOUT,
);

it.skipIf(missing)(
  'with a Hearth that runs, the check is made there and its row is there',
  async () => {
    const folder = newFolder();
    const app = await startApp({ dataDir: folder, port: 0, model: modelPath, diskCache: false });
    onTestFinished(() => app.close());
    const name = (await app.library.open(modelPath)).name;
    // In one process the lock is our own; as another one sees it, it is a running Hearth.
    const { result } = await hearthCheckAt(app, name);
    expect(result).toMatchObject({ model: name, state: 'done', row: { selfCheck: 'passed', source: 'check' } });
    const response = await fetch(new URL('/hearth/v1/matrix', app.url), {
      headers: { authorization: `Bearer ${app.token}` },
    });
    expect(await response.json()).toMatchObject({ rows: [{ model: name, selfCheck: 'passed' }] });
  },
  TIMEOUT,
);

async function hearthCheckAt(app: { url: string; token: string; version: string }, model: string) {
  let out = '';
  const io = { out: (text: string) => void (out += text), err: () => undefined, terminal: false };
  const server = { url: app.url, token: app.token, version: app.version, pid: process.pid };
  const code = await check(model, { json: true }, io, async () => server);
  return { code, result: matrixCheck.parse(JSON.parse(out)) };
}
