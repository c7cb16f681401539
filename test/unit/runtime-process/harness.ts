// The real runtime process over the fake addon, spoken to through the contract.
import { fileURLToPath } from 'node:url';
import { entry } from '../../../electron/entries';
import type { GenerateRequest, GenerationEvent, Part } from '../../../electron/contract/runtime';
import { forkHosts } from '../../../electron/supervisor/host';
import { RuntimeProcess } from '../../../electron/supervisor/runtime-process';

export const FAKE_ADDON = fileURLToPath(new URL('../../fixtures/fake-addon.cjs', import.meta.url));

export interface Script {
  analysis?: string;
  final?: string;
  call?: { name: string; arguments: string };
  raw?: string;
  tokens?: number[];
  repeat?: number;
  delayMs?: number;
  crashAt?: number;
}

export class Runtime {
  readonly process: RuntimeProcess;
  readonly phases: string[] = [];
  readonly logs: string[] = [];
  private readonly events = new Map<string, GenerationEvent[]>();
  private readonly waiters = new Map<string, (events: GenerationEvent[]) => void>();

  constructor(env: Record<string, string> = {}) {
    const host = forkHosts(entry('runtime'), { HEARTH_ADDON: FAKE_ADDON, ...env })('runtime');
    this.process = new RuntimeProcess(host, {
      onEvents: (events) => events.forEach((event) => this.take(event)),
      onLoading: (phase) => this.phases.push(phase),
      onLog: (_, text) => this.logs.push(text),
    });
  }

  async load(path = '/models/fake.gguf') {
    await this.process.ready;
    return this.process.call('load', { path });
  }

  /** Sends and waits for the end. */
  async run(request: Partial<GenerateRequest> & { input: GenerateRequest['input'] }): Promise<Answer> {
    const id = request.id ?? `r${Math.random()}`;
    const done = new Promise<GenerationEvent[]>((resolve) => this.waiters.set(id, resolve));
    await this.process.call('generate', { sampling: { seed: 1 }, ...request, id });
    return answerOf(await done);
  }

  chat(script: Script, more: Partial<GenerateRequest> = {}) {
    return this.run({ input: chatInput(script), ...more });
  }

  soFar(id: string): GenerationEvent[] {
    return this.events.get(id) ?? [];
  }

  private take(event: GenerationEvent): void {
    const all = this.events.get(event.id) ?? [];
    this.events.set(event.id, [...all, event]);
    if (event.kind === 'end') this.waiters.get(event.id)?.([...all, event]);
  }
}

export function chatInput(script: Script, more: object = {}): GenerateRequest['input'] {
  return {
    kind: 'chat',
    chat: { messages: [{ role: 'user', content: `{{${JSON.stringify(script)}}}` }], ...more },
  };
}

export interface Answer {
  events: GenerationEvent[];
  text: string;
  reasoning: string;
  tools: Extract<Part, { channel: 'tool' }>[];
  tokens: number[];
  start: Extract<GenerationEvent, { kind: 'start' }> | undefined;
  end: Extract<GenerationEvent, { kind: 'end' }>;
  logprobs: string[];
}

export function answerOf(events: GenerationEvent[]): Answer {
  const parts = events.flatMap((event) => (event.kind === 'parts' ? event.parts : []));
  const joined = (channel: Part['channel']) =>
    parts.flatMap((part) => (part.channel === channel ? [part.delta] : [])).join('');
  return {
    events,
    text: joined('text'),
    reasoning: joined('reasoning'),
    tools: parts.filter((part) => part.channel === 'tool'),
    tokens: events.flatMap((event) => (event.kind === 'parts' ? event.tokenIds : [])),
    start: events.find((event) => event.kind === 'start'),
    end: events.at(-1) as Answer['end'],
    logprobs: events.flatMap((event) =>
      event.kind === 'parts' ? (event.logprobs ?? []).map(({ token }) => token) : [],
    ),
  };
}
