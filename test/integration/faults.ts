// What tests of failing devices share: orders for the layer that makes a device fail (native/test/fault_layer), answers that are read token by
// token, and the oracle's word on them. `npm run long -- gpu-faults` sets the environment; without it those tests are skipped.
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect } from 'vitest';
import type { Device, GenerationEvent } from '../../electron/contract/runtime';
import { forkHosts, type HostHandle, type SpawnHost } from '../../electron/supervisor/host';
import { createSupervisor, type SupervisorOptions } from '../../electron/supervisor/supervisor';
import type { GenerateWork, Supervisor } from '../../electron/supervisor/types';
import { collect } from '../unit/supervisor/harness';
import { missing, modelPath } from './engine-model';

export const model = { name: 'starter', path: modelPath };
/** As built: many are started, and the sources take their time. */
export const runtime = { path: resolve(import.meta.dirname, '../../dist/runtime.js'), execArgv: [] };
/** Where orders for the layer are put; the next submission takes one. */
export const orders = process.env['HEARTH_FAULTS'] ?? '';
export const skipped = missing ?? (orders ? undefined : 'it is run by `npm run long -- gpu-faults`');

/** How often each fault happens. */
export const ROUNDS = Number(process.env['HEARTH_FAULT_ROUNDS'] ?? 1);
/** How much worse than the oracle's best a token may be. */
const LOGIT = 0.05;

export type Fault = 'lost-at-submit' | 'lost-at-wait' | 'memory' | 'hang' | 'kill';
export const lost = (round: number): Fault => (round % 2 === 0 ? 'lost-at-submit' : 'lost-at-wait');

export const CODES: Record<Fault, string> = {
  'lost-at-submit': 'device_lost',
  'lost-at-wait': 'device_lost',
  hang: 'device_lost',
  memory: 'out_of_vram',
  kill: 'runtime_crashed',
};

/** The one that a round of faults is told with. */
export const codeOf = (faults: readonly Fault[]): string | undefined =>
  faults.map((fault) => CODES[fault]).findLast((each) => each !== 'runtime_crashed');

export const greedy = { sampling: { seed: 1, temperature: 0 }, maxTokens: 24 };

export interface Spawned {
  spawn: SpawnHost;
  runtimes: HostHandle[];
}

/** Children with this environment; `seen`: what becomes of the probe's list of devices. */
export function spawning(env: Record<string, string> = {}, seen = (devices: Device[]): Device[] => devices): Spawned {
  const fork = forkHosts(runtime, env);
  const runtimes: HostHandle[] = [];
  const changed = (message: unknown) => {
    const { result } = message as { result?: { devices?: Device[] } };
    return result?.devices ? { ...(message as object), result: { ...result, devices: seen(result.devices) } } : message;
  };
  const spawn: SpawnHost = (kind) => {
    const child = fork(kind);
    if (kind === 'probe')
      return { ...child, onMessage: (listener) => child.onMessage((each) => listener(changed(each))) };
    runtimes.push(child);
    return child;
  };
  return { spawn, runtimes };
}

export interface Made {
  supervisor: Supervisor;
  runtimes: HostHandle[];
  /** Warnings. */
  log: string[];
}

export function makeSupervisor({ spawn, runtimes }: Spawned, options: Partial<SupervisorOptions>): Made {
  const log: string[] = [];
  const supervisor = createSupervisor({
    ...options,
    spawn,
    log: (level, text) => void (level === 'warn' && log.push(text)),
  });
  return { supervisor, runtimes, log };
}

export function strike(fault: Fault, runtimes: readonly HostHandle[]): void {
  if (fault === 'kill') process.kill(runtimes.at(-1)?.pid ?? 0, 'SIGKILL');
  else writeFileSync(join(orders, fault), '');
}

/** Each order was carried out. */
export const expectNoOrders = (): void => expect(readdirSync(orders)).toEqual([]);

export function withdrawOrders(): void {
  for (const order of readdirSync(orders)) rmSync(join(orders, order));
}

/** For the first answer: a fault each time that it has so many tokens. */
export function striker(faults: readonly Fault[], cuts: readonly number[], runtimes: readonly HostHandle[]) {
  let next = 0;
  return (count: number): void => {
    const [fault, cut] = [faults[next], cuts[next]];
    if (fault === undefined || cut === undefined || count < cut) return;
    next += 1;
    strike(fault, runtimes);
  };
}

export interface Given {
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

/** The reference in its exact numbers, which says how far from the best a token was; and the prompts of these tests. */
export class Oracle {
  readonly prompts: number[][] = [];
  readonly worst = { logit: 0, tokens: 0 };
  private readonly supervisor = createSupervisor({
    spawn: forkHosts(runtime),
    load: { device: 'reference', precision: 'exact' },
  });

  async start(): Promise<void> {
    for (const text of ['Once upon a time', 'Count: one, two, three, four,', '1 2 3 4 5 6']) {
      this.prompts.push(await this.tokensOf(text));
    }
  }

  async tokensOf(text: string): Promise<number[]> {
    return (await this.supervisor.call(model, 'tokenize', { text })).tokens;
  }

  /** All prompts at once, with these faults in the course of the first answer. */
  answers(made: Made, faults: readonly Fault[], cuts: readonly number[], work = greedy): Promise<Given[]> {
    const onTokens = striker(faults, cuts, made.runtimes);
    return Promise.all(
      this.prompts.map((prompt, index) => read(made, prompt, work, index === 0 ? onTokens : undefined)),
    );
  }

  /** Every answer has come to its own end, and no token is worse than rounding explains. */
  async expectWhole(given: readonly Given[], title: string): Promise<void> {
    for (const { prompt, tokens, end } of given) {
      expect(end?.error, title).toBeUndefined();
      expect(['stop', 'length'], title).toContain(end?.reason);
      if (end?.reason === 'length') expect(tokens, title).toHaveLength(greedy.maxTokens);
      await this.expectNear(prompt, tokens);
    }
  }

  async expectNear(prompt: readonly number[], tokens: readonly number[]): Promise<void> {
    const below = await this.belowTheBest(prompt, tokens);
    expect(below).toHaveLength(tokens.length);
    this.worst.tokens += tokens.length;
    this.worst.logit = Math.max(this.worst.logit, ...below);
    expect(
      below.findIndex((each) => !(each <= LOGIT)),
      `${below.join(' ')} of ${tokens.join(' ')}`,
    ).toBe(-1);
  }

  /** How far below the best each token was, in logits: the whole text read at once. */
  private async belowTheBest(prompt: readonly number[], tokens: readonly number[]): Promise<number[]> {
    const input = { kind: 'tokens' as const, tokens: [...prompt, ...tokens] };
    const work = { input, echo: true, logprobs: 1, maxTokens: 1, sampling: { seed: 1, temperature: 0 } };
    const { end } = await collect(this.supervisor.generate(model, work));
    const forced = end?.echo?.logprobs.slice(prompt.length) ?? [];
    return forced.map((each) => Math.max(...(each?.top.map(({ logprob }) => logprob) ?? [])) - (each?.logprob ?? NaN));
  }

  async close(): Promise<void> {
    await this.supervisor.close();
    const { tokens, logit } = this.worst;
    console.log(`${tokens} tokens compared, the worst ${logit.toFixed(4)} below the oracle's best.`);
  }
}
