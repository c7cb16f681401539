// A graphics device that fails while answers are written, in each way that drivers have, with the real engine. The device is a driver of software
// behind a layer that makes it fail (native/test/fault_layer); `npm run long -- gpu-faults` builds the layer and runs this. Every answer must be
// whole, on the processor in the end, and no token behind a cut worse than rounding explains.
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Device, GenerationEvent } from '../../electron/contract/runtime';
import { forkHosts, type HostHandle } from '../../electron/supervisor/host';
import { createSupervisor } from '../../electron/supervisor/supervisor';
import type { GenerateWork, Supervisor } from '../../electron/supervisor/types';
import { collect, until } from '../unit/supervisor/harness';
import { missing, modelPath } from './engine-model';

const model = { name: 'starter', path: modelPath };
/** As built: many are started, and the sources take their time. */
const runtime = { path: resolve(import.meta.dirname, '../../dist/runtime.js'), execArgv: [] };
/** Where orders for the layer are put; the next submission takes one. */
const orders = process.env['HEARTH_FAULTS'] ?? '';
if (!orders) console.log('gpu-faults.test.ts is skipped: it is run by `npm run long -- gpu-faults`.');

/** How often each fault happens. */
const ROUNDS = Number(process.env['HEARTH_FAULT_ROUNDS'] ?? 1);
/** How much worse than the oracle's best a token may be. */
const LOGIT = 0.05;

type Fault = 'lost-at-submit' | 'lost-at-wait' | 'memory' | 'hang' | 'kill';
const lost = (round: number): Fault => (round % 2 === 0 ? 'lost-at-submit' : 'lost-at-wait');

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

const CODES: Record<Fault, string> = {
  'lost-at-submit': 'device_lost',
  'lost-at-wait': 'device_lost',
  hang: 'device_lost',
  memory: 'out_of_vram',
  kill: 'runtime_crashed',
};

interface Made {
  supervisor: Supervisor;
  runtimes: HostHandle[];
  log: string[];
}

interface Given {
  prompt: number[];
  tokens: number[];
  text: string;
  end: Extract<GenerationEvent, { kind: 'end' }> | undefined;
}

/** An answer: its tokens come in order, without a gap and without a repeat. */
async function read(
  { supervisor }: Made,
  prompt: number[],
  work: Omit<GenerateWork, 'input'>,
  onTokens: (count: number) => void = () => undefined,
): Promise<Given> {
  const given: Given = { prompt, tokens: [], text: '', end: undefined };
  for await (const event of supervisor.generate(model, { ...work, input: { kind: 'tokens', tokens: prompt } })) {
    if (event.kind === 'end') given.end = event;
    if (event.kind !== 'parts') continue;
    expect(event.index).toBe(given.tokens.length);
    given.tokens.push(...event.tokenIds);
    given.text += event.parts.map(({ delta }) => delta).join('');
    onTokens(given.tokens.length);
  }
  return given;
}

describe.skipIf(missing || !orders)('a device that fails in mid-stream', { timeout: 900_000 }, () => {
  const kernelCachePath = mkdtempSync(join(tmpdir(), 'hearth-faults-'));
  const open: Supervisor[] = [];
  const prompts: number[][] = [];
  let device: Device | undefined;
  let oracle: Supervisor;
  const worst = { logit: 0, tokens: 0 };

  function start(wish: { device?: string; gpuRequired?: boolean } = {}): Made {
    const fork = forkHosts(runtime);
    const runtimes: HostHandle[] = [];
    const log: string[] = [];
    const supervisor = createSupervisor({
      devices: () => ({ device: device?.id ?? 'auto', gpuRequired: false, ...wish }),
      load: { kernelCachePath },
      spawn: (kind) => {
        const child = fork(kind);
        if (kind === 'runtime') runtimes.push(child);
        return child;
      },
      log: (level, text) => void (level === 'warn' && log.push(text)),
    });
    open.push(supervisor);
    return { supervisor, runtimes, log };
  }

  function strike(fault: Fault, { runtimes }: Made): void {
    if (fault === 'kill') process.kill(runtimes.at(-1)?.pid ?? 0, 'SIGKILL');
    else writeFileSync(join(orders, fault), '');
  }

  /** All prompts at once; a fault each time that the first answer has so many tokens. */
  function answers(made: Made, faults: readonly Fault[], cuts: readonly number[], work = greedy): Promise<Given[]> {
    let next = 0;
    const onTokens = (count: number) => {
      const [fault, cut] = [faults[next], cuts[next]];
      if (fault === undefined || cut === undefined || count < cut) return;
      next += 1;
      strike(fault, made);
    };
    return Promise.all(prompts.map((prompt, index) => read(made, prompt, work, index === 0 ? onTokens : undefined)));
  }

  const greedy = { sampling: { seed: 1, temperature: 0 }, maxTokens: 24 };

  /** How far below the best each token was, in logits: the whole text read at once by the reference, in its exact numbers. */
  async function belowTheBest(prompt: number[], tokens: number[]): Promise<number[]> {
    const input = { kind: 'tokens' as const, tokens: [...prompt, ...tokens] };
    const work = { input, echo: true, logprobs: 1, maxTokens: 1, sampling: { seed: 1, temperature: 0 } };
    const { end } = await collect(oracle.generate(model, work));
    const forced = end?.echo?.logprobs.slice(prompt.length) ?? [];
    return forced.map((each) => Math.max(...(each?.top.map(({ logprob }) => logprob) ?? [])) - (each?.logprob ?? NaN));
  }

  async function expectNearTheOracle({ prompt, tokens }: Given): Promise<void> {
    const below = await belowTheBest(prompt, tokens);
    expect(below).toHaveLength(tokens.length);
    worst.tokens += tokens.length;
    worst.logit = Math.max(worst.logit, ...below);
    expect(
      below.findIndex((each) => !(each <= LOGIT)),
      `${below.join(' ')} of ${tokens.join(' ')}`,
    ).toBe(-1);
  }

  beforeAll(async () => {
    const made = start({ device: 'cpu' });
    ({ device } = await made.supervisor.probe.devices().then(({ devices }) => ({
      device: devices.find(({ graphics }) => graphics),
    })));
    expect(device?.id).toMatch(/^vulkan:[0-9a-f]{32}$/);
    for (const text of ['Once upon a time', 'Count: one, two, three, four,', '1 2 3 4 5 6']) {
      prompts.push((await made.supervisor.call(model, 'tokenize', { text })).tokens);
    }
    await made.supervisor.close();
    oracle = createSupervisor({
      spawn: forkHosts(runtime),
      load: { device: 'reference', precision: 'exact' },
    });
  });
  afterEach(async () => {
    await Promise.all(open.splice(0).map((supervisor) => supervisor.close()));
    expect(readdirSync(orders)).toEqual([]); // each order was carried out
  });
  afterAll(async () => {
    await oracle.close();
    rmSync(kernelCachePath, { recursive: true, force: true });
    console.log(`${worst.tokens} tokens compared, the worst ${worst.logit.toFixed(4)} below the oracle's best.`);
  });

  it('costs no answer a token: they go on there, then on the processor, and it is said of which device', async () => {
    const made = start();
    const { name, graphics } = device ?? {};
    for (const [round, faults] of pairs(ROUNDS).entries()) {
      const before = made.runtimes.length;
      made.log.length = 0;
      const cuts = [1 + (round % 4), 6 + (round % 5)];
      const given = await answers(made, faults, cuts);
      const title = `round ${round}: ${faults.join(', then ')}`;
      for (const each of given) {
        expect(each.end?.error, title).toBeUndefined();
        expect(['stop', 'length'], title).toContain(each.end?.reason);
        if (each.end?.reason === 'length') expect(each.tokens, title).toHaveLength(greedy.maxTokens);
        await expectNearTheOracle(each);
      }
      expect(made.runtimes.length - before, title).toBe(3);
      const code = faults.map((fault) => CODES[fault]).findLast((each) => each !== 'runtime_crashed');
      const fallback = { device: name, driver: graphics?.driver, code };
      expect(made.supervisor.active(), title).toMatchObject({ device: 'cpu', fallback });
      const told = made.log.filter((line) => line.includes(`${name}, driver ${graphics?.driver}`));
      expect(told, made.log.join('\n')).toHaveLength(faults.filter((fault) => fault !== 'kill').length);
      await made.supervisor.unload();
    }
  });

  it('ends an answer with its error where a card is required, and with nothing else', async () => {
    const cases: Fault[] = ROUNDS > 1 ? ['memory', 'lost-at-submit', 'lost-at-wait', 'hang', 'kill'] : ['memory'];
    for (const fault of cases) {
      const made = start({ gpuRequired: true });
      const [first] = await answers(made, [fault, fault, fault], [2, 4, 6]);
      expect(first?.end, fault).toMatchObject({ reason: 'error', error: { code: CODES[fault] } });
      if (fault !== 'kill') expect(first?.end?.error?.message).toContain(`${device?.name}, driver `);
      expect(made.supervisor.loaded()?.device ?? device?.id, fault).toBe(device?.id);
      expect(made.supervisor.active()?.fallback, fault).toBeUndefined();
      for (const order of readdirSync(orders)) rmSync(join(orders, order));
      await made.supervisor.close();
    }
  });

  // The series of kills (kill-series.mjs) has a short form of its own.
  it.skipIf(ROUNDS === 1)('on the processor alone: a killed runtime changes no byte', async () => {
    const made = start({ device: 'cpu' });
    const work = { sampling: { seed: 42, temperature: 1.2 }, maxTokens: 40 };
    const whole = await answers(made, [], [], work);
    for (let round = 0; round < ROUNDS; round++) {
      const given = await answers(made, ['kill'], [1 + ((round * 7) % 30)], work);
      expect(given.map(({ tokens, text }) => ({ tokens, text }))).toEqual(
        whole.map(({ tokens, text }) => ({ tokens, text })),
      );
      await until(() => made.supervisor.active()?.state === 'ready');
      await made.supervisor.unload();
    }
  });
});
