// What is promised of a model's memory before its load, held against what the runtime takes when a conversation fills its context.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Device } from '../../electron/contract/runtime';
import { entry } from '../../electron/entries';
import { readCatalogue, shapeOf } from '../../electron/library/hub/catalogue';
import { parseStatus } from '../../electron/runtime/process-memory';
import { estimatedPlan } from '../../electron/supervisor/estimate';
import { fitOf, heldBytesOf, kvBytesOf, loadOf, RESERVE_BYTES } from '../../electron/supervisor/fit';
import { forkHosts, type HostHandle } from '../../electron/supervisor/host';
import { createSupervisor, type SupervisorOptions } from '../../electron/supervisor/supervisor';
import type { Supervisor } from '../../electron/supervisor/types';
import { missingOracles, smollm2 } from '../oracles/oracle';
import { collect } from '../unit/supervisor/harness';
import { missing, modelPath } from './engine-model';

/** A large model of your own to measure, e.g. of gpt-oss-20b's shape. */
const large = process.env['HEARTH_LARGE_MODEL'];
const LOOK_MS = 10;
/** Software takes minutes for long ones. */
const GRAPHICS_CONTEXTS = [256, 512, 1024];

/** Taken by another program, of a model that has half of it to spare: the rest is for what other programs do meanwhile. */
const HOG_BYTES = 6e9;

const catalogue = await readCatalogue(resolve(import.meta.dirname, '../../resources/catalogue.json'));

/** As it is shipped, where it was built: from its sources a process holds the compiler, too. */
const shipped = resolve(import.meta.dirname, '../../dist/runtime.js');
const runtime = existsSync(shipped) ? { path: shipped, execArgv: [] } : entry('runtime');

async function withSupervisor<T>(
  options: Partial<SupervisorOptions>,
  use: (supervisor: Supervisor, runtimes: HostHandle[]) => Promise<T>,
): Promise<T> {
  const fork = forkHosts(runtime);
  const runtimes: HostHandle[] = [];
  const supervisor = createSupervisor({
    ...options,
    spawn: (kind) => {
      const child = fork(kind);
      if (kind === 'runtime') runtimes.push(child);
      return child;
    },
  });
  try {
    return await use(supervisor, runtimes);
  } finally {
    await supervisor.close();
  }
}

/**
 * The most anonymous memory of a runtime that loads the model and fills its context with one conversation; on a graphics device with what
 * it holds there, which of software is the same memory.
 */
function peakOf(path: string, context: number, device?: Device): Promise<number> {
  const options = device ? { devices: () => ({ device: device.id, gpuRequired: true }) } : {};
  return withSupervisor(options, async (supervisor, runtimes) => {
    let peak = 0;
    const besides = () => (device?.graphics?.type === 'software' ? 0 : (supervisor.stats()?.deviceBytes ?? 0));
    const timer = setInterval(() => {
      const file = `/proc/${runtimes[0]?.pid}/status`;
      if (!existsSync(file)) return;
      peak = Math.max(peak, (parseStatus(readFileSync(file, 'utf8'))?.rssAnonBytes ?? 0) + besides());
    }, LOOK_MS);
    try {
      const model = { name: 'measured', path };
      const loaded = await supervisor.load(model, { context });
      expect(loaded.context).toBe(context);
      const { vocabulary } = loaded.model;
      const tokens = Array.from({ length: context - 20 }, (_, i) => (i * 7919 + 13) % vocabulary);
      const work = { input: { kind: 'tokens' as const, tokens }, sampling: { seed: 1, temperature: 1 }, maxTokens: 16 };
      expect((await collect(supervisor.generate(model, work))).end?.error).toBeUndefined();
      return peak;
    } finally {
      clearInterval(timer);
    }
  });
}

const models: { name: string; path: () => string; contexts: number[]; skipped: boolean }[] = [
  { name: 'the starter', path: () => modelPath, contexts: [512, 2048, 4096], skipped: false },
  { name: 'SmolLM2', path: smollm2, contexts: [512, 2048, 8192], skipped: Boolean(missingOracles) },
  { name: 'a large model', path: () => large ?? '', contexts: [512, 1024, 2048], skipped: large === undefined },
];

const said = (name: string, context: number, expected: number, peak: number): void =>
  console.log(
    `${name}, context ${context}: expected ${(expected / 1e6).toFixed(0)} MB, took ${(peak / 1e6).toFixed(0)} MB`,
  );

/** Software where its driver is named, or cards. */
const drivers = process.env['VK_DRIVER_FILES'];

describe.skipIf(missing || process.platform !== 'linux' || !drivers)(
  'the estimate of memory on a graphics device',
  () => {
    for (const { name, path, skipped } of models.slice(0, 2)) {
      for (const context of GRAPHICS_CONTEXTS) {
        it.skipIf(skipped)(
          `of ${name} with a context of ${context} is right within 5 %, or 100 MB`,
          { timeout: 600_000 },
          async () => {
            const [plan, { devices }] = await withSupervisor({}, ({ probe }) =>
              Promise.all([probe.plan(path()), probe.devices()]),
            );
            const device = devices.find(({ graphics }) => graphics);
            const gpu = device?.graphics && {
              id: device.id,
              name: device.name,
              type: device.graphics.type,
              unified: device.graphics.unified,
            };
            expect(gpu).toBeDefined();
            const { weightBytes, heldBytes, hostBytes } = loadOf(plan, gpu);
            const expected = weightBytes + heldBytes + hostBytes + kvBytesOf(plan, context, 'f16');
            const peak = await peakOf(path(), context, device);
            said(name, context, expected, peak);
            expect(Math.abs(expected - peak)).toBeLessThanOrEqual(Math.max(0.05 * peak, 100e6));
          },
        );
      }
    }
  },
);

describe.skipIf(missing || process.platform !== 'linux')('the estimate of memory', () => {
  for (const { name, path, contexts, skipped } of models) {
    for (const context of contexts) {
      it.skipIf(skipped)(
        `of ${name} with a context of ${context} is right within 5 %, or 100 MB`,
        { timeout: 600_000 },
        async () => {
          const plan = await withSupervisor({}, (supervisor) => supervisor.probe.plan(path()));
          const expected = heldBytesOf(plan) + kvBytesOf(plan, context, 'f16');
          const peak = await peakOf(path(), context);
          said(name, context, expected, peak);
          expect(Math.abs(expected - peak)).toBeLessThanOrEqual(Math.max(0.05 * peak, 100e6));
        },
      );
    }
  }

  // The one that ships is smaller than any that a hub has.
  for (const { name, path, skipped } of models.slice(1)) {
    it.skipIf(skipped)(`of ${name} from its size and family alone is near what its header says`, async () => {
      const plan = await withSupervisor({}, (supervisor) => supervisor.probe.plan(path()));
      const { architecture, parameters, quantization } = plan.model;
      const shape = shapeOf(catalogue, { repo: '', architecture, parameters });
      const facts = { bytes: plan.weightBytes, quantization, parameters, architecture, shape };
      const guess = estimatedPlan(facts).plan;
      const context = Math.min(4096, plan.model.context);
      const [expected, told] = [guess, plan].map((one) => heldBytesOf(one) + kvBytesOf(one, context, 'f16'));
      const reads = `${(guess.decodeBytes / 1e6).toFixed(0)} for ${(plan.decodeBytes / 1e6).toFixed(0)} MB a token`;
      const held = `${((expected ?? 0) / 1e6).toFixed(0)} for ${((told ?? 0) / 1e6).toFixed(0)} MB beside the weights`;
      console.log(`${name}, ${shape ? 'by its card' : 'by its size'}: ${held}, ${reads}`);
      expect(Math.abs((expected ?? 0) - (told ?? 0))).toBeLessThan(150e6);
      expect(guess.decodeBytes / plan.decodeBytes).toBeGreaterThan(0.7);
      expect(guess.decodeBytes / plan.decodeBytes).toBeLessThan(1.4);
    });
  }

  it('changes when another program takes the memory, and back when it gives it up', { timeout: 120_000 }, async () => {
    await withSupervisor({}, async (supervisor) => {
      const header = await supervisor.probe.plan(modelPath);
      const { freeBytes } = await supervisor.room();
      // A model that would just fit now, on this machine as it is, and reads all of its weights for each token.
      const model = { ...header.model, experts: 0, expertsUsed: 0 };
      const hogBytes = Math.min(HOG_BYTES, freeBytes / 2);
      const plan = { ...header, model, weightBytes: freeBytes - RESERVE_BYTES - heldBytesOf(header) - hogBytes / 2 };
      const verdict = async () => fitOf(plan, { context: 512, kvType: 'f16' }, await supervisor.room()).verdict;
      expect(await verdict()).toBe('fits');
      const hog = fork(resolve(import.meta.dirname, 'memory-hog.mjs'), [String(hogBytes)]);
      onTestFinished(() => void hog.kill('SIGKILL'));
      await once(hog, 'message');
      expect(await verdict()).toBe('too_big');
      hog.kill('SIGKILL');
      await once(hog, 'exit');
      await expect.poll(verdict, { timeout: 60_000 }).not.toBe('too_big');
    });
  });

  it('counts the blocks of a conversation as the engine does: not one too few, not one too many', async () => {
    const plan = await withSupervisor({}, (supervisor) => supervisor.probe.plan(modelPath));
    const model = { name: 'starter', path: modelPath };
    for (const context of [300, 1000, 4096]) {
      const kvBytes = kvBytesOf(plan, context, 'f16');
      const load = (bytes: number) =>
        withSupervisor({ load: { context, kvBytes: bytes } }, (supervisor) => supervisor.load(model));
      expect((await load(kvBytes)).context).toBe(context);
      await expect(load(kvBytes - 1)).rejects.toMatchObject({ code: 'out_of_ram' });
    }
  });
});
