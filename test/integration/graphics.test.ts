// The app's own path onto a graphics device, with the real engine: software where VK_DRIVER_FILES names its driver, or a card.
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Device } from '../../electron/contract/runtime';
import { entry } from '../../electron/entries';
import { forkHosts, type HostHandle } from '../../electron/supervisor/host';
import { createSupervisor } from '../../electron/supervisor/supervisor';
import type { GenerateWork, Supervisor } from '../../electron/supervisor/types';
import { collect, until } from '../unit/supervisor/harness';
import { missing, modelPath } from './engine-model';

const model = { name: 'starter', path: modelPath };
const drivers = process.env['VK_DRIVER_FILES'];
if (!drivers) console.log('graphics.test.ts is skipped: VK_DRIVER_FILES names no driver.');

/** How often it is killed on the device; software is slow. */
const ROUNDS = Number(process.env['HEARTH_KILLS'] ?? 1);

const work: GenerateWork = {
  input: { kind: 'text', text: 'Once upon a time' },
  sampling: { seed: 42, temperature: 1 },
  maxTokens: 12,
};

describe.skipIf(missing || !drivers)('a model on a graphics device', { timeout: 240_000 }, () => {
  const open: Supervisor[] = [];
  let device: Device | undefined;
  afterEach(async () => void (await Promise.all(open.splice(0).map((supervisor) => supervisor.close()))));

  function start(wish: { device?: string; gpuRequired?: boolean } = {}): {
    supervisor: Supervisor;
    runtimes: HostHandle[];
  } {
    const fork = forkHosts(entry('runtime'));
    const runtimes: HostHandle[] = [];
    const supervisor = createSupervisor({
      devices: () => ({ device: device?.id ?? 'auto', gpuRequired: false, ...wish }),
      spawn: (kind) => {
        const child = fork(kind);
        if (kind === 'runtime') runtimes.push(child);
        return child;
      },
    });
    open.push(supervisor);
    return { supervisor, runtimes };
  }

  /** Kills the runtime each time that so many tokens have come. */
  async function answerWithKills({ supervisor, runtimes }: ReturnType<typeof start>, at: number[]): Promise<number[]> {
    const tokens: number[] = [];
    const left = [...at];
    for await (const event of supervisor.generate(model, work)) {
      if (event.kind === 'end') expect(event.error).toBeUndefined();
      if (event.kind !== 'parts') continue;
      expect(event.index).toBe(tokens.length);
      tokens.push(...event.tokenIds);
      if (left[0] === undefined || tokens.length < left[0]) continue;
      left.shift();
      process.kill(runtimes.at(-1)?.pid ?? 0, 'SIGKILL');
    }
    return tokens;
  }

  beforeAll(async () => {
    const { supervisor } = start({ device: 'cpu' });
    const { devices } = await supervisor.probe.devices();
    device = devices.find(({ graphics }) => graphics);
    expect(device?.id).toMatch(/^vulkan:[0-9a-f]{32}$/);
    await supervisor.close();
  });

  it('says on which device and with which kernels it runs, and holds memory there', async () => {
    const { supervisor } = start();
    const loaded = await supervisor.load(model);
    expect(loaded.device).toBe(device?.id);
    expect(loaded.kernels).toContain(device?.name);
    expect((await supervisor.plan(model)).device).toBe(device?.id);
    await until(() => (supervisor.stats()?.deviceBytes ?? 0) > 0);
    expect(supervisor.models()[0]).toMatchObject({ gpu: device?.name, device: device?.id });
  });

  it('goes on after kill -9 on the same device, with every token once and those before the cut as they were', async () => {
    const made = start({ gpuRequired: true });
    const whole = await collect(made.supervisor.generate(model, work));
    expect(whole.tokens).toHaveLength(12);
    for (let round = 0; round < ROUNDS; round++) {
      const cut = 1 + ((3 + round) % 11);
      const tokens = await answerWithKills(made, [cut]);
      expect(tokens).toHaveLength(12);
      // Faster kernels add in another order when what was written is read again at once: behind the cut another token may come.
      expect(tokens.slice(0, cut)).toEqual(whole.tokens.slice(0, cut));
      expect(made.supervisor.loaded()?.device).toBe(device?.id);
      // Kept apart, as accidents are: a model that dies again and again is given up.
      if (round + 1 < ROUNDS) await made.supervisor.unload();
    }
  });

  it('goes on on the processor after two deaths, every token once, and says so', async () => {
    const made = start();
    const tokens = await answerWithKills(made, [3, 6]);
    expect(tokens).toHaveLength(12);
    expect(made.supervisor.active()).toMatchObject({ device: 'cpu', fallback: { device: device?.name } });
  });

  it('is not chosen where it is software and nobody names it', async () => {
    const { supervisor } = start({ device: 'auto' });
    const loaded = await supervisor.load(model);
    expect(loaded.device).toBe(device?.graphics?.type === 'software' ? 'cpu' : device?.id);
  });
});
