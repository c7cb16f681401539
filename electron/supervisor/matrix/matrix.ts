// The compatibility matrix: what is measured while models load and answer, and by checks, goes into the store; what got worse comes out.
// It decides nothing (rows.ts does) and measures nothing itself (check.ts does). A measurement that cannot be stored costs no answer.
import { HearthError } from '../../contract/errors';
import type { MatrixCheck, MatrixRow, Regression } from '../../contract/models';
import type { GenerationEvent, Loaded } from '../../contract/runtime';
import type { MatrixKey, MatrixSample, Store } from '../../store/types';
import type { ModelRef, Supervisor } from '../types';
import { checkModel, type CheckOutcome, type ExactRunner } from './check';
import { PROMPT_SET } from './prompts';
import { bucketOf, LOAD_BUCKET, matrixRows, regressionOf } from './rows';

type EndEvent = Extract<GenerationEvent, { kind: 'end' }>;

export interface MatrixOptions {
  store: Pick<Store, 'addToMatrix' | 'matrixCells' | 'expectedTokens' | 'setExpectedTokens'>;
  supervisor: Pick<Supervisor, 'load' | 'generate' | 'call'>;
  /** The model in 32-bit floats, beside the one that serves. */
  exact(): ExactRunner;
  now?(): number;
  log?(text: string): void;
}

export interface Matrix {
  /** Newest first. */
  rows(): Promise<MatrixRow[]>;
  /** A model has loaded. Once for each load, however often it is said. */
  loaded(model: string, loaded: Loaded): void;
  /** An answer has ended; `alone`: nothing else ran beside it, so that its speed is the model's. */
  answered(model: string, loaded: Loaded, end: EndEvent, alone: boolean): void;
  /** What is known to be worse than before of a model that is loaded like this. From memory: it may lag a moment behind the store. */
  regression(loaded: Loaded): Regression | undefined;
  /** Begins a check, one after another; `checks` tells how it goes. The promise is for whoever waits. */
  check(model: ModelRef, accept: boolean): { now: MatrixCheck; done: Promise<MatrixCheck> };
  /** Those that run or wait, and the last one of each model. */
  checks(): MatrixCheck[];
  /** Gives running checks up, and waits for what is being stored. */
  close(): Promise<void>;
}

/** Shorter ones say more about the clock than about the model. */
const LEAST = { promptTokens: 128, outputTokens: 16 };
const KEPT_CHECKS = 50;
/** What `regression` knows is at most so old. */
const REFRESH_MS = 60_000;

export function createMatrix(options: MatrixOptions): Matrix {
  return new StoredMatrix(options);
}

const deviceOf = ({ kernels, precision }: Loaded) => `${kernels} ${precision}`;
const kvTypeOf = ({ kvType }: Loaded) => kvType ?? 'f16';

function keyOf(loaded: Loaded, contextBucket: number, source: MatrixKey['source']): MatrixKey {
  return {
    modelId: loaded.model.modelId,
    engineBuild: loaded.engineBuild,
    device: deviceOf(loaded),
    kvType: kvTypeOf(loaded),
    contextBucket,
    source,
  };
}

/** What one answer says about the model's speed. */
export function valuesOf({ usage, timings }: EndEvent): MatrixSample['values'] {
  const read = usage.promptTokens - usage.cachedTokens;
  return {
    ...(read >= LEAST.promptTokens &&
      timings.prefillTps > 0 && { prefillTps: timings.prefillTps, ttftMs: timings.ttftMs }),
    ...(usage.completionTokens >= LEAST.outputTokens && timings.decodeTps > 0 && { decodeTps: timings.decodeTps }),
  };
}

class StoredMatrix implements Matrix {
  private known: MatrixRow[] = [];
  private readonly seen = new WeakSet<Loaded>();
  private readonly states = new Map<string, MatrixCheck>();
  private readonly stop = new AbortController();
  private refreshedAt = 0;
  private queue: Promise<unknown> = Promise.resolve();
  private writing: Promise<unknown>;

  constructor(private readonly options: MatrixOptions) {
    this.writing = this.refresh();
  }

  async rows(): Promise<MatrixRow[]> {
    await this.writing;
    this.known = matrixRows(await this.options.store.matrixCells());
    return this.known;
  }

  loaded(model: string, loaded: Loaded): void {
    if (this.seen.has(loaded)) return;
    this.seen.add(loaded);
    const key = keyOf(loaded, LOAD_BUCKET, 'use');
    this.write({ ...key, model, values: { loadMs: loaded.loadMs }, at: this.now() });
    // A load is rare, and what it says of itself is shown while it is new.
    this.writing = this.writing.then(() => this.refresh());
  }

  answered(model: string, loaded: Loaded, end: EndEvent, alone: boolean): void {
    this.loaded(model, loaded);
    const values = valuesOf(end);
    if (!alone || end.reason === 'error' || end.reason === 'cancelled' || Object.keys(values).length === 0) return;
    const { promptTokens, completionTokens } = end.usage;
    const key = keyOf(loaded, bucketOf(promptTokens + completionTokens), 'use');
    this.write({ ...key, model, values, at: this.now() });
  }

  regression(loaded: Loaded): Regression | undefined {
    return regressionOf(this.known, keyOf(loaded, LOAD_BUCKET, 'use'));
  }

  check(model: ModelRef, accept: boolean): { now: MatrixCheck; done: Promise<MatrixCheck> } {
    const running = this.states.get(model.name);
    if (running?.state === 'running')
      throw new HearthError('invalid_request', `${model.name} is being checked already.`, { param: 'model' });
    const now = this.tell({ model: model.name, state: 'running', phase: 'waiting' });
    const done = this.queue.then(() => this.run(model, accept));
    this.queue = done;
    return { now, done };
  }

  checks(): MatrixCheck[] {
    return [...this.states.values()];
  }

  async close(): Promise<void> {
    this.stop.abort();
    await this.queue;
    await this.writing;
  }

  private async run(model: ModelRef, accept: boolean): Promise<MatrixCheck> {
    const { store, supervisor, exact } = this.options;
    const parts = {
      supervisor,
      exact,
      expected: async (loaded: Loaded) => (await store.expectedTokens(expectedKey(loaded)))?.hashes,
      onPhase: (phase: MatrixCheck['phase']) => void this.tell({ ...this.state(model.name), phase }),
    };
    try {
      if (this.stop.signal.aborted) throw new HearthError('cancelled', 'Hearth is closing.');
      const outcome = await checkModel(parts, model, this.stop.signal);
      this.loaded(model.name, outcome.loaded);
      return this.tell({ ...this.state(model.name), state: 'done', ...(await this.keep(model.name, outcome, accept)) });
    } catch (error) {
      return this.tell({ ...this.state(model.name), state: 'failed', error: HearthError.from(error).toShape() });
    }
  }

  /** The outcome as a row, and as what is expected next time where nothing was, or where the user says so. */
  private async keep(model: string, outcome: CheckOutcome, accept: boolean): Promise<Partial<MatrixCheck>> {
    const { store } = this.options;
    const { loaded, hashes, contextBucket, speed, kl, exactError } = outcome;
    const at = this.now();
    const expected = expectedKey(loaded);
    const recorded = (await store.expectedTokens(expected)) === undefined && outcome.selfCheck === 'passed';
    const accepted = accept && outcome.selfCheck === 'changed';
    if (recorded || accepted)
      await store.setExpectedTokens({ ...expected, hashes, engineBuild: loaded.engineBuild, at });
    const key = keyOf(loaded, contextBucket, 'check');
    const selfCheck = accepted ? 'passed' : outcome.selfCheck;
    const kept = { ...key, model, values: speed, selfCheck, at };
    await store.addToMatrix({ ...kept, ...(kl !== undefined && { kl }) });
    const row = (await this.rows()).find((one) => one.at === at && one.source === 'check');
    return { recorded, ...(row && { row }), ...(exactError && { exactError }) };
  }

  private state(model: string): MatrixCheck {
    return this.states.get(model) ?? { model, state: 'running', phase: 'waiting' };
  }

  private tell(check: MatrixCheck): MatrixCheck {
    // Newest last, so that the oldest is the first to go.
    this.states.delete(check.model);
    this.states.set(check.model, check);
    for (const [model, { state }] of this.states) {
      if (this.states.size <= KEPT_CHECKS) break;
      if (state !== 'running') this.states.delete(model);
    }
    return check;
  }

  private write(sample: MatrixSample): void {
    this.writing = this.writing
      .then(() => this.options.store.addToMatrix(sample))
      .then(() => (this.now() - this.refreshedAt > REFRESH_MS ? this.refresh() : undefined))
      .catch((error: unknown) => this.options.log?.(`A measurement was not kept: ${HearthError.from(error).message}`));
  }

  private async refresh(): Promise<void> {
    this.refreshedAt = this.now();
    this.known = matrixRows(await this.options.store.matrixCells().catch(() => []));
  }

  private now(): number {
    return this.options.now?.() ?? Date.now();
  }
}

function expectedKey(loaded: Loaded) {
  return {
    modelId: loaded.model.modelId,
    device: deviceOf(loaded),
    kvType: kvTypeOf(loaded),
    prompts: PROMPT_SET,
  };
}
