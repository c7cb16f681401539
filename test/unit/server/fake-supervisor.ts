// A supervisor that answers from a script: what it was asked is kept, what it says is up to each test. No process, no model.
import type { Abilities, GenerationEvent, Loaded, ModelInfo, Part } from '../../../electron/contract/runtime';
import type { FinishReason, TokenLogprob, Usage } from '../../../electron/contract/chat';
import type { ActiveModel, FailedLoad } from '../../../electron/contract/own';
import { HearthError, type ErrorShape } from '../../../electron/contract/errors';
import type { GenerateWork, LoadWish, ModelRef, Supervisor } from '../../../electron/supervisor/types';

export const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

export const abilities: Abilities = { chat: true, reasoning: true, tools: true, harmony: true };

export function modelInfo(name: string): ModelInfo {
  return {
    modelId: `sha256-of-${name}`,
    path: `/models/${name}.gguf`,
    architecture: 'gpt-oss',
    name,
    license: 'apache-2.0',
    parameters: 20e9,
    fileBytes: 12e9,
    quantization: 'MXFP4',
    layers: 24,
    hidden: 2880,
    vocabulary: 201_088,
    context: 131_072,
    experts: 32,
    expertsUsed: 4,
  };
}

export const usage: Usage = { promptTokens: 11, completionTokens: 7, reasoningTokens: 3, cachedTokens: 4 };
export const timings = { queueMs: 0, prefillMs: 5, ttftMs: 6, decodeMs: 10, prefillTps: 100, decodeTps: 42 };

/** What a test's script is given. */
export interface Asked {
  model: ModelRef;
  work: GenerateWork & { id: string };
  signal: AbortSignal;
}

export type Script = (asked: Asked) => AsyncIterable<GenerationEvent> | Iterable<GenerationEvent>;

type Simple = Part | string | { pause: number };

export const part = {
  reasoning: (delta: string): Part => ({ channel: 'reasoning', delta }),
  text: (delta: string): Part => ({ channel: 'text', delta }),
  call: (call: number, id: string, name: string, delta = ''): Part => ({ channel: 'tool', call, id, name, delta }),
  more: (call: number, delta: string): Part => ({ channel: 'tool', call, delta }),
};

export interface Ending {
  reason?: FinishReason;
  error?: ErrorShape;
  logprobs?: TokenLogprob[];
  echo?: Extract<GenerationEvent, { kind: 'end' }>['echo'];
}

/** One event per part; a string is text. */
export function says(parts: Simple[], { reason = 'stop', error, logprobs, echo }: Ending = {}): Script {
  return async function* ({ work: { id } }) {
    yield { kind: 'start', id, promptTokens: usage.promptTokens, temperature: 1, droppedTurns: 0 };
    yield { kind: 'prefill', id, done: 11, total: 11, cached: 4 };
    let index = 0;
    for (const one of parts) {
      if (typeof one === 'object' && 'pause' in one) {
        await sleep(one.pause);
        continue;
      }
      const lp = logprobs?.[index];
      const spoken = typeof one === 'string' ? part.text(one) : one;
      yield { kind: 'parts', id, index, tokenIds: [index], parts: [spoken], ...(lp && { logprobs: [lp] }) };
      index++;
    }
    yield { kind: 'end', id, reason, usage, timings, ...(error && { error }), ...(echo && { echo }) };
  };
}

export const fails = (error: HearthError, afterMs = 0): Script =>
  async function* () {
    await sleep(afterMs);
    throw error;
  };

/** Writes a word every few milliseconds for ever. */
export const endless: Script = async function* ({ work: { id } }) {
  yield { kind: 'start', id, promptTokens: 3, temperature: 1, droppedTurns: 0 };
  for (let index = 0; ; index++) {
    await sleep(5);
    yield { kind: 'parts', id, index, tokenIds: [index], parts: [part.text(`word${index} `)] };
  }
};

export class FakeSupervisor implements Supervisor {
  readonly asked: Asked[] = [];
  /** Generations that were cut off. */
  readonly cancelled: string[] = [];
  readonly loads: string[] = [];
  readonly wishes: (LoadWish | undefined)[] = [];
  script: Script = says(['Hello', ' there.']);
  model: ActiveModel | undefined;
  private readonly listeners = new Set<() => void>();
  private runs = 0;
  private done = 0;

  active = () => this.model;
  models = () => (this.model?.state === 'ready' ? [this.model] : []);
  swap = () => undefined;
  previous = () => undefined;
  failure: FailedLoad | undefined;
  failed = () => this.failure;
  loadsGivenUp = 0;
  cancelLoad = () => void (this.loadsGivenUp += 1);
  idleMinutes = 0;
  setIdleUnload = (minutes: number) => void (this.idleMinutes = minutes);
  plan = async (): Promise<never> => {
    throw new HearthError('internal', 'not scripted');
  };
  known: Supervisor['known'] = async () => {
    throw new HearthError('internal', 'not scripted');
  };
  room = async () => ({ totalBytes: 16e9, freeBytes: 8e9, ownBytes: 0 });
  roomFor = this.room;
  fitRoom: Supervisor['fitRoom'] = async (model) => ({ ...(await this.known(model)), room: await this.room() });
  card = () => undefined;
  loaded = (model?: ModelRef): Loaded | undefined => {
    if (this.model?.state !== 'ready' || (model && model.name !== this.model.name)) return undefined;
    return {
      model: modelInfo(this.model.name),
      abilities,
      context: 4096,
      kernels: 'cpu/avx2',
      precision: 'fast',
      engineBuild: 'build-1',
      defaultTemperature: 1,
      loadMs: 1,
    };
  };
  stats = () => undefined;
  queue = () => ({ running: this.runs, waiting: 0, served: this.done });

  watch(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  change(model: ActiveModel | undefined): void {
    this.model = model;
    for (const listener of this.listeners) listener();
  }

  async load({ name }: ModelRef, wish?: LoadWish): Promise<Loaded> {
    this.loads.push(name);
    this.wishes.push(wish);
    this.change({ name, state: 'ready', info: modelInfo(name), abilities, context: 4096, kernels: 'cpu/avx2' });
    return this.loaded() as Loaded;
  }

  async unload(): Promise<void> {
    this.change(undefined);
  }

  async *generate(
    model: ModelRef,
    given: GenerateWork,
    signal = new AbortController().signal,
  ): AsyncGenerator<GenerationEvent, void> {
    const work = { ...given, id: given.id ?? 'none' };
    this.asked.push({ model, work, signal });
    const gone = new Promise<'gone'>((resolve) => signal.addEventListener('abort', () => resolve('gone')));
    const iterator = this.iterate(this.script({ model, work, signal }));
    this.runs++;
    try {
      for (;;) {
        const next = await Promise.race([iterator.next(), gone]);
        if (next === 'gone') {
          this.cancelled.push(work.id);
          yield { kind: 'end', id: work.id, reason: 'cancelled', usage, timings };
          return;
        }
        if (next.done) return;
        if (next.value.kind === 'end') this.done++;
        yield next.value;
      }
    } finally {
      this.runs--;
    }
  }

  private iterate(events: AsyncIterable<GenerationEvent> | Iterable<GenerationEvent>): AsyncIterator<GenerationEvent> {
    return (async function* () {
      yield* events;
    })();
  }

  call = async (): Promise<never> => {
    throw new HearthError('internal', 'not scripted');
  };
  probe = {
    devices: async () => ({ devices: [], notes: ['no GPU'] }),
    identify: async (): Promise<never> => {
      throw new HearthError('internal', 'not scripted');
    },
    inspect: async (): Promise<never> => {
      throw new HearthError('internal', 'not scripted');
    },
    plan: async (): Promise<never> => {
      throw new HearthError('internal', 'not scripted');
    },
    limits: async (): Promise<never> => {
      throw new HearthError('internal', 'not scripted');
    },
  };
  async close(): Promise<void> {}

  get last(): Asked {
    const last = this.asked.at(-1);
    if (!last) throw new Error('Nothing was asked of the supervisor.');
    return last;
  }
}
