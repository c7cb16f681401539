// Looks at files and devices in a child without a model. One look at a time, so that a crash or a hang has one culprit.
// It keeps the child for a while after a look, and starts another one when it died.
import { basename } from 'node:path';
import { HearthError } from '../contract/errors';
import type { LogLevel, Method, Params, Result } from '../contract/runtime';
import type { SpawnHost } from './host';
import { RuntimeProcess } from './runtime-process';
import type { Probe } from './types';

/** A header is read in well under a second; a look that takes longer is hostile or the disk is gone. */
const LOOK_MS = 30_000;
const IDLE_MS = 30_000;

export class ProbeProcess implements Probe {
  private process: RuntimeProcess | undefined;
  private turn: Promise<unknown> = Promise.resolve();
  private idle: NodeJS.Timeout | undefined;
  private closed = false;

  constructor(
    private readonly spawn: SpawnHost,
    private readonly log: (level: LogLevel, text: string) => void = () => undefined,
    private readonly times = { lookMs: LOOK_MS, idleMs: IDLE_MS },
    /** Where the engine keeps what it knows of kernels on this machine. */
    private readonly kernelCache: () => string | undefined = () => undefined,
  ) {}

  devices(): Promise<Result<'devices'>> {
    const folder = this.kernelCache();
    return this.look('devices', folder === undefined ? {} : { kernelCachePath: folder });
  }

  identify(path: string): Promise<Result<'identify'>> {
    return this.look('identify', { path });
  }

  inspect(path: string): Promise<Result<'inspect'>> {
    return this.look('inspect', { path });
  }

  plan(path: string, prefillChunk?: number): Promise<Result<'plan'>> {
    return this.look('plan', { path, ...(prefillChunk !== undefined && { prefillChunk }) });
  }

  limits(device?: string): Promise<Result<'limits'>> {
    return this.look('limits', device === undefined ? {} : { device });
  }

  async close(): Promise<void> {
    this.closed = true;
    clearTimeout(this.idle);
    await this.process?.shutdown();
  }

  private look<M extends Method>(method: M, params: Params<M>): Promise<Result<M>> {
    const result = this.turn.then(() => this.lookNow(method, params));
    this.turn = result.catch(() => undefined);
    return result;
  }

  private async lookNow<M extends Method>(method: M, params: Params<M>): Promise<Result<M>> {
    if (this.closed) throw new HearthError('cancelled', 'Hearth is closing.');
    clearTimeout(this.idle);
    const process = await this.running();
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      process.kill();
    }, this.times.lookMs);
    try {
      return await process.call(method, params);
    } catch (error) {
      throw process.alive ? error : culprit(HearthError.from(error), params, late);
    } finally {
      clearTimeout(timer);
      this.idle = setTimeout(() => void this.rest(), this.times.idleMs);
      this.idle.unref();
    }
  }

  private async running(): Promise<RuntimeProcess> {
    if (!this.process?.alive) this.process = new RuntimeProcess(this.spawn('probe'), { onLog: this.log });
    await this.process.ready;
    return this.process;
  }

  private async rest(): Promise<void> {
    const process = this.process;
    this.process = undefined;
    await process?.shutdown();
  }
}

/** The child died during this look: the file is to blame, if there was one. */
function culprit(error: HearthError, params: object, late: boolean): HearthError {
  if (!('path' in params) || typeof params.path !== 'string') return error;
  const name = basename(params.path);
  const what = late ? `Reading ${name} took too long.` : `Reading ${name} made the reader crash.`;
  return new HearthError('bad_file', what, { cause: error });
}
