// A graphics device that fails while answers are written, in each way that drivers have, with the real engine. The device is a driver of software
// behind a layer that makes it fail (native/test/fault_layer); `npm run long -- gpu-faults` builds the layer and runs this. Every answer must be
// whole, on the processor in the end, and no token behind a cut worse than rounding explains.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Device } from '../../electron/contract/runtime';
import type { Supervisor } from '../../electron/supervisor/types';
import { until } from '../unit/supervisor/harness';
import {
  CODES,
  codeOf,
  expectNoOrders,
  lost,
  makeSupervisor,
  model,
  Oracle,
  ROUNDS,
  skipped,
  spawning,
  withdrawOrders,
  type Fault,
  type Made,
} from './faults';

if (skipped) console.log(`gpu-faults.test.ts is skipped: ${skipped}.`);

/** Two for each round of answers: after the first they go on on the device, after the second on the processor. */
function pairs(rounds: number): [Fault, Fault][] {
  return Array.from({ length: rounds }, (_, round): [Fault, Fault][] =>
    round % 2 === 0
      ? [
          [lost(round), 'memory'],
          ['hang', 'kill'],
        ]
      : [
          ['kill', 'hang'],
          ['memory', lost(round)],
        ],
  ).flat();
}

describe.skipIf(skipped)('a device that fails in mid-stream', { timeout: 900_000 }, () => {
  const kernelCachePath = mkdtempSync(join(tmpdir(), 'hearth-faults-'));
  const open: Supervisor[] = [];
  const oracle = new Oracle();
  let device: Device | undefined;

  function start(wish: { device?: string; gpuRequired?: boolean } = {}): Made {
    const devices = () => ({ device: device?.id ?? 'auto', gpuRequired: false, ...wish });
    const made = makeSupervisor(spawning(), { devices, load: { kernelCachePath } });
    open.push(made.supervisor);
    return made;
  }

  beforeAll(async () => {
    const { devices } = await start({ device: 'cpu' }).supervisor.probe.devices();
    device = devices.find(({ graphics }) => graphics);
    expect(device?.id).toMatch(/^vulkan:[0-9a-f]{32}$/);
    await oracle.start();
  });
  afterEach(async () => {
    await Promise.all(open.splice(0).map((supervisor) => supervisor.close()));
    expectNoOrders();
  });
  afterAll(async () => {
    await oracle.close();
    rmSync(kernelCachePath, { recursive: true, force: true });
  });

  it('costs no answer a token: they go on there, then on the processor, and it is said of which device', async () => {
    const made = start();
    const { name, graphics } = device ?? {};
    for (const [round, faults] of pairs(ROUNDS).entries()) {
      const before = made.runtimes.length;
      made.log.length = 0;
      await made.supervisor.load(model); // asked for as such: the device has its chance again
      const title = `round ${round}: ${faults.join(', then ')}`;
      await oracle.expectWhole(await oracle.answers(made, faults, [1 + (round % 4), 6 + (round % 5)]), title);
      expect(made.runtimes.length - before, title).toBe(3);
      const fallback = { device: name, driver: graphics?.driver, code: codeOf(faults) };
      expect(made.supervisor.active(), title).toMatchObject({ device: 'cpu', fallback });
      const told = made.log.filter((line) => line.includes(`(${name}, driver ${graphics?.driver}`));
      expect(told, made.log.join('\n')).toHaveLength(faults.filter((fault) => fault !== 'kill').length);
      await made.supervisor.unload();
    }
  });

  it('ends an answer with its error where a card is required, and with nothing else', async () => {
    const cases: Fault[] = ROUNDS > 1 ? ['memory', 'lost-at-submit', 'lost-at-wait', 'hang', 'kill'] : ['memory'];
    for (const fault of cases) {
      const made = start({ gpuRequired: true });
      const [first] = await oracle.answers(made, [fault, fault, fault], [2, 4, 6]);
      expect(first?.end, fault).toMatchObject({ reason: 'error', error: { code: CODES[fault] } });
      if (fault !== 'kill') expect(first?.end?.error?.message).toContain(`${device?.name}, driver `);
      expect(made.supervisor.loaded()?.device ?? device?.id, fault).toBe(device?.id);
      expect(made.supervisor.active()?.fallback, fault).toBeUndefined();
      withdrawOrders();
      await made.supervisor.close();
    }
  });

  // The series of kills (kill-series.mjs) has a short form of its own.
  it.skipIf(ROUNDS === 1)('on the processor alone: a killed runtime changes no byte', async () => {
    const made = start({ device: 'cpu' });
    const work = { sampling: { seed: 42, temperature: 1.2 }, maxTokens: 40 };
    const whole = await oracle.answers(made, [], [], work);
    for (let round = 0; round < ROUNDS; round++) {
      const given = await oracle.answers(made, ['kill'], [1 + ((round * 7) % 30)], work);
      expect(given.map(({ tokens, text }) => ({ tokens, text }))).toEqual(
        whole.map(({ tokens, text }) => ({ tokens, text })),
      );
      await until(() => made.supervisor.active()?.state === 'ready');
      await made.supervisor.unload();
    }
  });
});
