// Failures prevented: uses of experts that the engine counts and nobody keeps, or keeps and nobody goes by. Counted by the real engine, kept
// by the real store, and asked for by the plan for a card with too little room; with a driver (VK_DRIVER_FILES) that plan is loaded, too.
// Software is called a card here, which by itself it is never taken for.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Device, LayerUses, ServedLayer } from '../../electron/contract/runtime';
import { entry } from '../../electron/entries';
import { openStore } from '../../electron/store/open';
import type { Store } from '../../electron/store/types';
import { GPU_RESERVE_BYTES, LEAST_CONTEXT } from '../../electron/supervisor/fit';
import { forkHosts, type SpawnHost } from '../../electron/supervisor/host';
import { kvOn, sizesOf, total } from '../../electron/supervisor/placement/sizes';
import { createSupervisor } from '../../electron/supervisor/supervisor';
import type { GenerateWork, Supervisor } from '../../electron/supervisor/types';
import { collect } from '../unit/supervisor/harness';
import { missing, modelPath } from './engine-model';

const model = { name: 'starter', path: modelPath };
const [LAYERS, EXPERTS, USED] = [6, 8, 2];
/** Of the experts, what the card has room for. */
const ROOM = 0.6;

const work: GenerateWork = {
  input: { kind: 'text', text: 'Once upon a time there was a fox. '.repeat(12) },
  sampling: { seed: 7, temperature: 0 },
  maxTokens: 12,
};

const absent: Device = {
  id: `vulkan:${'a'.repeat(32)}`,
  name: 'Card',
  kind: 'gpu',
  memoryTotal: 0,
  memoryFree: 0,
  features: [],
  cores: 0,
  graphics: {
    type: 'discrete',
    uuid: 'a'.repeat(32),
    pci: '',
    driver: 'none',
    api: '1.3',
    unified: false,
    budgetKnown: true,
    heaps: [],
    off: [],
  },
};

/** Children whose probe sees this card and no other. */
function seeing(card: Device): SpawnHost {
  const fork = forkHosts(entry('runtime'));
  const changed = (message: unknown) => {
    const { result } = message as { result?: { devices?: Device[] } };
    return result?.devices ? { ...(message as object), result: { ...result, devices: [card] } } : message;
  };
  return (kind) => {
    const child = fork(kind);
    return kind === 'probe'
      ? { ...child, onMessage: (listener) => child.onMessage((each) => listener(changed(each))) }
      : child;
  };
}

describe.skipIf(missing)('experts that are used', { timeout: 240_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'hearth-uses-'));
  const open: Supervisor[] = [];
  let store: Store;
  let modelId = '';
  let memory = 0;

  /** So that what little such a model reads weighs more than the ways between devices. */
  const measured = (subject: string, readBytesPerSecond: number) =>
    store.addMeasurement({ at: 0, kind: 'bandwidth', subject, values: { readBytesPerSecond } });

  function start(spawn: SpawnHost, device: string): Supervisor {
    const supervisor = createSupervisor({ spawn, store, devices: () => ({ device, gpuRequired: false }) });
    open.push(supervisor);
    return supervisor;
  }

  const uses = async (): Promise<LayerUses[]> => (await store.expertUses(modelId))?.layers ?? [];
  const withRoom = (device: Device): Device => ({
    ...device,
    memoryTotal: 2 * memory,
    memoryFree: memory,
    ...(device.graphics && { graphics: { ...device.graphics, type: 'discrete', unified: false } }),
  });

  /** Of layers that are parted: whatever stays is used as often as what goes. */
  function expectColdest(served: readonly ServedLayer[], all: readonly LayerUses[]): void {
    const lists = served.flatMap(({ layer, experts }) => (experts ? [{ layer, experts }] : []));
    expect(lists.length).toBeGreaterThan(0);
    const of = (goes: boolean) =>
      lists.flatMap(({ layer, experts }) => all[layer]?.experts.filter((_, id) => experts.includes(id) === goes) ?? []);
    expect(Math.min(...of(false))).toBeGreaterThanOrEqual(Math.max(...of(true)));
    expect(Math.max(...of(false))).toBeGreaterThan(Math.min(...of(true)));
  }

  beforeAll(async () => {
    store = await openStore({ path: join(folder, 'hearth.db') });
    await measured('cpu', 1e8);
    await measured(absent.id, 1e11);
  });
  afterEach(async () => void (await Promise.all(open.splice(0).map((supervisor) => supervisor.close()))));
  afterAll(async () => {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('are counted by the engine and kept when the model goes', async () => {
    const supervisor = start(forkHosts(entry('runtime')), 'cpu');
    const { plan } = await supervisor.known(model);
    const sizes = sizesOf(plan, LEAST_CONTEXT, 'f16');
    ({ modelId } = plan.model);
    const shared = sizes.embedding + sizes.output + total(sizes.layers.map((layer) => layer.shared));
    const experts = total(sizes.layers.map((layer) => layer.experts));
    const besides = kvOn(sizes.layers, sizes.kvPerLayer) + sizes.scratch.gpu + GPU_RESERVE_BYTES;
    memory = Math.ceil(shared + besides + ROOM * experts);

    const answer = await collect(supervisor.generate(model, work));
    await supervisor.unload(model);
    // The last token is written and not read.
    const rows = (answer.end?.usage.promptTokens ?? 0) + answer.tokens.length - 1;
    const all = await uses();
    expect(all.map((layer) => layer.rows)).toEqual(Array.from({ length: LAYERS }, () => rows));
    for (const layer of all) {
      expect(layer.experts).toHaveLength(EXPERTS);
      expect(total(layer.experts)).toBe(USED * rows);
    }
    await collect(supervisor.generate(model, work));
    await supervisor.unload(model);
    expect(Math.round((await uses())[0]?.rows ?? 0)).toBeGreaterThan(rows);
  });

  it('stay on a card that has not room for all, and the others go', async () => {
    const card = withRoom(absent);
    const { placement } = await start(seeing(card), card.id).plan(model);
    expect(placement).toMatchObject({ kind: 'experts_in_ram' });
    expectColdest(placement?.served ?? [], await uses());
  });

  it.skipIf(!process.env['VK_DRIVER_FILES'])(
    'are where the plan says at the next load, and stay there at the one after',
    async () => {
      const supervisor = start(forkHosts(entry('runtime')), 'cpu');
      const device = (await supervisor.probe.devices()).devices.find(({ graphics }) => graphics);
      if (!device) return expect.fail('There is no graphics device.');
      const card = withRoom(device);
      await measured(card.id, 1e11);
      const shared = start(seeing(card), card.id);
      const { placement } = await shared.plan(model);
      expectColdest(placement?.served ?? [], await uses());
      const before = (await uses())[0]?.rows ?? 0;
      const { kernels } = await shared.load(model);
      expect(kernels).toMatch(/experts of \d+ \(some of \d+, [0-9a-f]{8}\)/);
      const { tokens } = await collect(shared.generate(model, work));
      expect(tokens.length).toBeGreaterThan(1);
      await shared.unload(model);
      // Layers whose experts are in two places are counted on.
      const parted = placement?.served?.map(({ layer }) => layer) ?? [];
      const after = await uses();
      for (const layer of parted) expect(after[layer]?.rows).toBeGreaterThan(before);
      expect((await store.expertUses(modelId))?.served).toEqual(placement?.served);
      expect((await shared.plan(model)).placement?.served).toEqual(placement?.served);
    },
  );
});
