// The probe survives hostile files, with a child that plays the engine.
import { afterEach, describe, expect, it } from 'vitest';
import { fileURLToPath } from 'node:url';
import { forkHosts } from '../../../electron/supervisor/host';
import { ProbeProcess } from '../../../electron/supervisor/probe';
import { isAlive, until } from './harness';

const FAKE = { path: fileURLToPath(new URL('../../fixtures/fake-runtime.mjs', import.meta.url)), execArgv: [] };
const pidOf = async (probe: ProbeProcess) => Number((await probe.devices()).notes[0]?.split(' ')[1]);

let probe: ProbeProcess;
const start = (times = { lookMs: 5000, idleMs: 5000 }) => (probe = new ProbeProcess(forkHosts(FAKE), undefined, times));
afterEach(() => probe.close());

describe('the probe', () => {
  it('blames the file that crashed it, and looks at the next one', async () => {
    start();
    const looks = ['/m/good.gguf', '/m/crash.gguf', '/m/other.gguf'].map((path) => probe.identify(path));
    const [good, bad, other] = await Promise.allSettled(looks);
    expect(good?.status).toBe('fulfilled');
    expect(bad).toMatchObject({
      status: 'rejected',
      reason: { code: 'bad_file', message: expect.stringContaining('crash.gguf') },
    });
    expect(other?.status).toBe('fulfilled');
  });

  it('does not wait for ever for a file that hangs the reader', async () => {
    start({ lookMs: 300, idleMs: 5000 });
    await expect(probe.identify('/m/hang.gguf')).rejects.toMatchObject({ code: 'bad_file' });
    await expect(probe.identify('/m/good.gguf')).resolves.toMatchObject({ model: { name: 'fake' } });
  });

  it('keeps the typed error of a broken file, without a new process', async () => {
    start();
    const pid = await pidOf(probe);
    await expect(probe.identify('/m/broken.gguf')).rejects.toMatchObject({
      code: 'bad_file',
      message: 'The file is damaged.',
    });
    expect(await pidOf(probe)).toBe(pid);
  });

  it('does not hold memory when nobody looks', async () => {
    start({ lookMs: 5000, idleMs: 50 });
    const pid = await pidOf(probe);
    await until(() => !isAlive(pid));
    expect(await pidOf(probe)).not.toBe(pid);
  });
});
