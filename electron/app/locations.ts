// Where models, cache and chats lie, and how each is moved: a verified copy, then the switch (locations.json), then the old is removed.
// One move at a time. Broken off before the switch, the old location stays valid; after it, the new one is.
import { mkdir, realpath, readdir, stat, statfs } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { HearthError } from '../contract/errors';
import type { Location, LocationKind, MoveRequest, MoveState } from '../contract/models';
import { FileThread } from '../library/file-thread';
import { copyTree, planMove, refuseFull, removeOld } from '../library/move-tree';
import type { Library } from '../library/types';
import type { Locations } from '../server/types';
import type { Store } from '../store/types';
import { withLocation, writeLocations, type DataDir } from './data-dir';
import type { Log } from './log';

const KINDS: LocationKind[] = ['models', 'cache', 'chats'];

export interface LocationsOptions {
  /** Changed in place by a move. */
  dir: DataDir;
  library: Pick<Library, 'moved'>;
  store: Pick<Store, 'moveTo'>;
  /** Why this cannot be moved now. */
  obstacle(what: LocationKind): HearthError | undefined;
  log: Pick<Log, 'info' | 'warn'>;
}

export interface AppLocations extends Locations {
  /** Gives up a move under way; the old location stays. */
  close(): Promise<void>;
}

export function createLocations(options: LocationsOptions): AppLocations {
  return new DataLocations(options);
}

class DataLocations implements AppLocations {
  private readonly states = new Map<LocationKind, MoveState>();
  private readonly thread = new FileThread();
  private readonly controller = new AbortController();
  private running: Promise<void> | undefined;

  constructor(private readonly options: LocationsOptions) {}

  async list(): Promise<Location[]> {
    return Promise.all(
      KINDS.map(async (what) => {
        const path = this.pathOf(what);
        const { database } = this.options.dir;
        const bytes =
          what === 'chats' ? ((await stat(database).catch(() => undefined))?.size ?? 0) : await bytesIn(path);
        return { what, path, bytes };
      }),
    );
  }

  moves(): MoveState[] {
    return [...this.states.values()];
  }

  async move({ what, to }: MoveRequest): Promise<MoveState> {
    if (this.running) throw new HearthError('invalid_request', 'Something else is being moved. Wait until it is done.');
    const obstacle = this.options.obstacle(what);
    if (obstacle) throw obstacle;
    let begun: () => void = () => undefined;
    // From the first moment: a second request must not slip in while this one is looked at.
    this.running = new Promise<void>((resolve) => (begun = resolve));
    try {
      const work = await this.prepare(what, resolve(to));
      this.running = this.follow(what, work).finally(() => (this.running = undefined));
      return this.states.get(what) as MoveState;
    } catch (error) {
      this.running = undefined;
      throw error;
    } finally {
      begun();
    }
  }

  async close(): Promise<void> {
    this.controller.abort(new HearthError('cancelled', 'Hearth is closing.'));
    await this.thread.close();
    await this.running?.catch(() => undefined);
  }

  private pathOf(what: LocationKind): string {
    const { dir } = this.options;
    return what === 'chats' ? dirname(dir.database) : dir[what];
  }

  private set(what: LocationKind, part: Partial<MoveState>): void {
    this.states.set(what, { ...(this.states.get(what) as MoveState), ...part });
  }

  private begin(what: LocationKind, from: string, to: string, totalBytes: number): void {
    this.states.set(what, { what, from, to, doneBytes: 0, totalBytes, phase: 'copying' });
  }

  /** Everything that can be refused is refused here. Gives the work itself. */
  private async prepare(what: LocationKind, to: string): Promise<() => Promise<void>> {
    if (what === 'chats') return this.prepareChats(to);
    const { dir, library } = this.options;
    const from = dir[what];
    const tree = await planMove(from, to);
    this.begin(what, from, to, tree.bytes);
    return async () => {
      await copyTree(tree, this.thread, (progress) => this.set(what, progress), {
        lenient: what === 'cache',
        signal: this.controller.signal,
      });
      this.controller.signal.throwIfAborted();
      const obstacle = this.options.obstacle(what);
      if (obstacle) throw obstacle;
      this.set(what, { phase: 'switching' });
      writeLocations(dir.locationsFile, withLocation(dir, what, to));
      dir[what] = to;
      if (what === 'models') await library.moved(to);
      const left = await removeOld(tree);
      if (left > 0) this.options.log.warn(`${left} files could not be removed from ${from}`);
    };
  }

  private async prepareChats(to: string): Promise<() => Promise<void>> {
    const { dir, store } = this.options;
    const from = dirname(dir.database);
    const target = join(to, 'hearth.db');
    const here = await realpath(from);
    if ((await realpath(to).catch(() => to)) === here)
      throw new HearthError('invalid_request', `${to} is where they are already.`, { param: 'to' });
    if (await stat(target).catch(() => undefined))
      throw new HearthError('invalid_request', `There is a hearth.db in ${to} already.`, { param: 'to' });
    await mkdir(to, { recursive: true, mode: 0o700 }).catch((error: unknown) => {
      throw new HearthError('disk_error', `${to} cannot be used.`, { cause: error });
    });
    const { size } = await stat(dir.database);
    const disk = await statfs(to);
    refuseFull(to, size, disk.bavail * disk.bsize);
    this.begin('chats', from, to, size);
    return async () => {
      const change = { path: dir.locationsFile, text: withLocation(dir, 'chats', to) };
      await store.moveTo(target, change, (share) => this.set('chats', share));
      dir.database = target;
    };
  }

  private async follow(what: LocationKind, work: () => Promise<void>): Promise<void> {
    const { log } = this.options;
    try {
      await work();
      const { from, to, totalBytes } = this.states.get(what) as MoveState;
      this.set(what, { phase: 'done', doneBytes: totalBytes });
      log.info(`moved ${what} from ${from} to ${to}`);
    } catch (error) {
      const { code, message, ...rest } = HearthError.from(error).toShape();
      this.set(what, { phase: 'failed', error: { code, message, ...rest } });
      log.warn(`${what} could not be moved: ${message}`);
    }
  }
}

/** What the regular files below take; a folder that is not there takes nothing. */
async function bytesIn(folder: string): Promise<number> {
  let bytes = 0;
  let left = 100_000;
  const pending = [folder];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    for (const entry of await readdir(next, { withFileTypes: true }).catch(() => [])) {
      if (--left < 0) return bytes;
      const path = join(next, entry.name);
      if (entry.isDirectory()) pending.push(path);
      else if (entry.isFile()) bytes += (await stat(path).catch(() => undefined))?.size ?? 0;
    }
  }
  return bytes;
}
