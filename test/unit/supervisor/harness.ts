// A supervisor over real child processes that run the fake runtime; and what a stream gave, in one object.
import { fileURLToPath } from 'node:url';
import type { GenerationEvent } from '../../../electron/contract/runtime';
import { forkHosts, type HostHandle, type SpawnHost } from '../../../electron/supervisor/host';
import { createSupervisor, type SupervisorOptions } from '../../../electron/supervisor/supervisor';
import type { GenerateWork, Supervisor } from '../../../electron/supervisor/types';

const FAKE = { path: fileURLToPath(new URL('../../fixtures/fake-runtime.mjs', import.meta.url)), execArgv: [] };

export interface Harness {
  supervisor: Supervisor;
  /** Runtimes. */
  children: HostHandle[];
  probes: HostHandle[];
}

export function harness(options: Partial<SupervisorOptions> = {}, env: Record<string, string> = {}): Harness {
  const children: HostHandle[] = [];
  const probes: HostHandle[] = [];
  const fork = forkHosts(FAKE, env);
  const spawn: SpawnHost = (kind) => {
    const child = fork(kind);
    (kind === 'probe' ? probes : children).push(child);
    return child;
  };
  // Whatever else runs on this machine.
  const memory = () => ({ totalBytes: 64e9, freeBytes: 64e9 });
  return { supervisor: createSupervisor({ spawn, memory, ...options }), children, probes };
}

export interface Script {
  tokens: number;
  delayMs?: number;
  crashAt?: number;
  crashAlways?: boolean;
  /** It crashes only while it is on the card. */
  onCard?: boolean;
  /** At this token the card is lost, each time that one computes it there. */
  lostAt?: number;
  /** At this token the card has no memory left, each time that one computes it there. */
  fullAt?: number;
  /** The card that this happens to; absent: the first that it is on. */
  on?: string;
  /** At this token the machine sleeps, and wakes without its second card. */
  sleepAt?: number;
  refuse?: boolean;
  twice?: boolean;
}

export function work(script: Script, more: Partial<GenerateWork> = {}): GenerateWork {
  return { input: { kind: 'text', text: JSON.stringify(script) }, sampling: { seed: 7 }, ...more };
}

export interface Collected {
  text: string;
  tokens: number[];
  starts: number;
  end: Extract<GenerationEvent, { kind: 'end' }> | undefined;
}

export async function collect(events: AsyncIterable<GenerationEvent>): Promise<Collected> {
  const result: Collected = { text: '', tokens: [], starts: 0, end: undefined };
  for await (const event of events) {
    if (event.kind === 'start') result.starts += 1;
    if (event.kind === 'parts') {
      result.tokens.push(...event.tokenIds);
      for (const part of event.parts) result.text += part.delta;
    }
    if (event.kind === 'end') result.end = event;
  }
  return result;
}

export const model = (path: string) => ({ name: path.replace(/^.*\//, ''), path });

export const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

export function isAlive(pid: number | undefined): boolean {
  if (pid === undefined) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

export async function until(condition: () => boolean, ms = 5000): Promise<void> {
  const deadline = Date.now() + ms;
  while (!condition()) {
    if (Date.now() > deadline) throw new Error('waited too long');
    await pause(10);
  }
}
