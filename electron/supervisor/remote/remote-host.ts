// One model of an engine elsewhere, as a host among the others: takes answers, hands them what comes, lets go at a cancel. It holds no memory
// here, restarts nothing and never decides whether the engine is well (engines.ts looks after that).
import { HearthError } from '../../contract/errors';
import type { Loaded, Method, Result, Stats } from '../../contract/runtime';
import type { Answer } from '../answer';
import type { HostListener, HostState, ModelHost } from '../model-host';
import type { ModelRef } from '../types';
import type { ListedModel, RemoteClient } from './client';
import { remoteGeneration } from './generation';

export interface RemoteHostOptions {
  client: RemoteClient;
  /** The model as the engine calls it. */
  id: string;
  listener: Pick<HostListener, 'onChange'>;
}

/** What `Loaded.model.modelId` is for every model elsewhere: nobody here knows its weights. */
export const REMOTE_MODEL_ID = 'remote';

export class RemoteHost implements ModelHost {
  state: HostState = 'booting';
  loaded: Loaded | undefined;
  readonly error: HearthError | undefined = undefined;
  private readonly answers = new Map<Answer, AbortController>();
  private readonly stop = new AbortController();
  private emptied: (() => void) | undefined;

  constructor(
    readonly ref: ModelRef,
    private readonly options: RemoteHostOptions,
  ) {}

  get running(): number {
    return this.answers.size;
  }

  /** They wait there, not here. */
  readonly waiting = 0;

  /** Asks whether the engine has the model. Throws `model_not_found`, and what the client throws. */
  async start(): Promise<Loaded> {
    const { client, id } = this.options;
    const begun = performance.now();
    try {
      const listed = (await client.models(this.stop.signal)).find((model) => model.id === id);
      if (!listed) throw new HearthError('model_not_found', `${client.engine.name} does not have ${id} any more.`);
      this.loaded = loadedOf(this.ref, client, listed, performance.now() - begun);
      this.setState('ready');
      return this.loaded;
    } catch (error) {
      this.setState('closed');
      throw error;
    }
  }

  take(answer: Answer): void {
    const controller = new AbortController();
    this.answers.set(answer, controller);
    answer.sent = true;
    this.options.listener.onChange();
    void this.run(answer, controller.signal).finally(() => {
      this.answers.delete(answer);
      this.options.listener.onChange();
      if (this.answers.size === 0) this.emptied?.();
    });
  }

  cancel(answer: Answer): void {
    answer.cancelled = true;
    this.answers.get(answer)?.abort();
    answer.end('cancelled');
  }

  call<M extends Method>(method: M): Promise<Result<M>> {
    const message = `${this.ref.name} is not on this machine: ${method} is not possible there.`;
    return Promise.reject(new HearthError('invalid_request', message, { param: 'model' }));
  }

  stats(): Promise<Stats> {
    return Promise.resolve({ ...NOTHING, running: this.running });
  }

  grant(): void {
    // Its memory is elsewhere.
  }

  async drain(): Promise<void> {
    if (this.answers.size > 0) await new Promise<void>((resolve) => (this.emptied = resolve));
    await this.close();
  }

  close(): Promise<void> {
    this.stop.abort();
    for (const answer of [...this.answers.keys()]) this.cancel(answer);
    this.setState('closed');
    return Promise.resolve();
  }

  private async run(answer: Answer, signal: AbortSignal): Promise<void> {
    const { client, id } = this.options;
    try {
      for await (const event of remoteGeneration(client, id, answer.toRequest(), signal)) answer.push(event);
    } catch (error) {
      if (signal.aborted) answer.end('cancelled');
      else answer.fail(HearthError.from(error));
    }
  }

  private setState(state: HostState): void {
    if (this.state === 'closed') return;
    this.state = state;
    this.options.listener.onChange();
  }
}

const ALL = { chat: true, reasoning: true, tools: true, harmony: false };

/** What is not known of weights elsewhere is 0 or empty, and not guessed. */
function loadedOf(ref: ModelRef, { engine }: RemoteClient, listed: ListedModel, loadMs: number): Loaded {
  const unknown = { architecture: '', license: '', quantization: '', parameters: 0, fileBytes: 0 };
  const sizes = { layers: 0, hidden: 0, vocabulary: 0, experts: 0, expertsUsed: 0 };
  const context = listed.context ?? 0;
  return {
    model: { modelId: REMOTE_MODEL_ID, path: ref.path, name: listed.id, context, ...unknown, ...sizes },
    abilities: listed.abilities ?? ALL,
    context,
    remote: engine.name,
    kernels: `remote ${engine.url}`,
    precision: 'fast',
    engineBuild: engine.name,
    defaultTemperature: 1,
    loadMs,
  };
}

const NOTHING: Stats = {
  weightBytes: 0,
  kvBytesUsed: 0,
  kvBytesTotal: 0,
  scratchBytes: 0,
  deviceBytes: 0,
  spilledBytes: 0,
  rssBytes: 0,
  rssAnonBytes: 0,
  blocksUsed: 0,
  blocksCached: 0,
  blocksFree: 0,
  cachedTokens: 0,
  blocksFetched: 0,
  blocksStored: 0,
  hostCacheBytes: 0,
  diskCacheBytes: 0,
  cacheMisses: {},
  running: 0,
  waiting: 0,
  promptTokens: 0,
  outputTokens: 0,
  requests: 0,
  prefillTps: 0,
  decodeTps: 0,
};
