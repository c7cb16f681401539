// The downloads of this Hearth: which there are, which run, what is written down of them. They outlive the process: what was under way goes
// on by itself, what was paused stays so. How one is done is task.ts.
import { randomUUID } from 'node:crypto';
import { join, sep } from 'node:path';
import { HearthError } from '../../contract/errors';
import type { Download, DownloadRequest } from '../../contract/models';
import type { PeerImportRequest } from '../../contract/sharing';
import type { Library } from '../types';
import { openDisk, type Disk } from './disk';
import { Entry } from './entry';
import type { FetchTimes } from './fetch-file';
import { modelsToImport } from './import';
import { FolderLock } from './lock';
import { Origins, type Described, type OriginsOptions } from './origins';
import { HIDDEN, readRecords, removeDownload, saveRecord } from './record';
import { checkRoom, freeBytes, inFolder, Task } from './task';
import { FileChanged, type DownloadRecord, type WantedFile } from './types';

export interface DownloadsOptions extends OriginsOptions {
  /** The models folder. */
  folder(): string;
  library: Pick<Library, 'list' | 'refresh' | 'knows'>;
  log?: (text: string) => void;
  times?: FetchTimes;
}

export interface Downloads {
  /** In the order in which they were asked for. */
  list(): Download[];
  /** One that is here already is given back, and goes on if it had stopped. Throws what the hub's client throws, and disk_full. */
  start(request: DownloadRequest): Promise<Download>;
  /** Copies of the models at this path. */
  import(path: string): Promise<Download[]>;
  /** A copy of a model that another Hearth shares. */
  importFrom(request: PeerImportRequest): Promise<Download>;
  pause(id: string): Promise<Download>;
  resume(id: string): Promise<Download>;
  /** Its parts are removed. */
  cancel(id: string): Promise<void>;
  /** Told when something changed, a few times a second at most. */
  watch(listener: () => void): () => void;
  /** Throws HearthError{not_found}. */
  get(id: string): Download;
  /** Reads what was under way, and goes on with it. */
  open(): Promise<void>;
  /** Reads what was under way, all of it paused, for somebody who goes on with one. */
  read(): Promise<void>;
  close(): Promise<void>;
}

const AT_ONCE = 2;
const TELL_MS = 250;
const LOCK_RETRY_MS = 10_000;
const FILE_CHANGES = 3;

class Manager implements Downloads {
  private readonly entries = new Map<string, Entry>();
  private readonly listeners = new Set<() => void>();
  private readonly disk: Disk = openDisk();
  private readonly origins: Origins;
  private lock: FolderLock | undefined;
  private retry: NodeJS.Timeout | undefined;
  private telling: NodeJS.Timeout | undefined;
  private closed = false;

  constructor(private readonly options: DownloadsOptions) {
    this.origins = new Origins(options);
  }

  list(): Download[] {
    return [...this.entries.values()].map((entry) => this.show(entry));
  }

  watch(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  private changed(): void {
    this.telling ??= setTimeout(() => {
      this.telling = undefined;
      for (const listener of [...this.listeners]) listener();
    }, TELL_MS).unref();
  }

  async open(): Promise<void> {
    const records = await readRecords(this.options.folder());
    if (records.length === 0) return;
    if (!(await this.locked())) {
      // Another process is at it; when that one has ended, this one goes on.
      this.retry ??= setTimeout(() => {
        this.retry = undefined;
        if (!this.closed) void this.open().catch(() => undefined);
      }, LOCK_RETRY_MS).unref();
      return;
    }
    for (const record of records) {
      if (!this.entries.has(record.id)) await this.add(record);
    }
    this.next();
  }

  async read(): Promise<void> {
    if (!(await this.locked())) return;
    for (const record of await readRecords(this.options.folder())) {
      const entry = this.entries.get(record.id) ?? (await this.add(record));
      if (entry.phase === 'queued') entry.phase = 'paused';
    }
  }

  get(id: string): Download {
    return this.show(this.entry(id));
  }

  private locked(): Promise<boolean> {
    this.lock ??= new FolderLock(join(this.options.folder(), HIDDEN, 'lock'));
    return this.lock.take();
  }

  private async add(record: DownloadRecord): Promise<Entry> {
    const entry = new Entry(record);
    const folder = this.options.folder();
    for (const [index, file] of record.files.entries()) {
      const part = join(folder, HIDDEN, record.id, `${index}.part`);
      const done = record.verified.includes(index);
      entry.setStored(index, done ? file.bytes : await this.disk.call('stored', [part, file.bytes]));
    }
    this.entries.set(entry.id, entry);
    this.changed();
    return entry;
  }

  async start(request: DownloadRequest): Promise<Download> {
    const { repo, file, revision = 'main' } = request;
    return this.fetched(await this.origins.hub(repo, file, revision));
  }

  async importFrom({ url, key, model }: PeerImportRequest): Promise<Download> {
    return this.fetched(await this.origins.peer(url, model, key));
  }

  /** One that is under way already goes on. */
  private async fetched(described: Described): Promise<Download> {
    const { repo, file, files } = described;
    const same = [...this.entries.values()].find(
      ({ record, phase }) => phase !== 'done' && record.repo === repo && record.file === file,
    );
    if (same) return this.resume(same.id);
    await this.checkRoom(files, repo);
    return this.begin(described);
  }

  async import(path: string): Promise<Download[]> {
    const models = await modelsToImport(path, this.options.folder());
    const all = models.flatMap(({ files }) => files);
    checkRoom(
      all.reduce((sum, { bytes }) => sum + bytes, 0),
      (await freeBytes(this.options.folder())) - this.promised(),
    );
    const begun: Download[] = [];
    for (const model of models) begun.push(await this.begin({ ...model, source: 'disk', revision: '', commit: '' }));
    return begun;
  }

  private async checkRoom(files: readonly WantedFile[], repo: string): Promise<void> {
    const here = this.options.library.list();
    const missing = files.filter(({ path, bytes }) => {
      const target = inFolder(this.options.folder(), repo, path);
      return !here.some((model) => model.path === target && model.fileBytes === bytes);
    });
    const needed = missing.reduce((sum, { bytes }) => sum + bytes, 0);
    checkRoom(needed, (await freeBytes(this.options.folder())) - this.promised());
  }

  private promised(except?: Entry): number {
    const others = [...this.entries.values()].filter((entry) => entry !== except && entry.running);
    return others.reduce((sum, entry) => sum + entry.missingBytes, 0);
  }

  private async begin(fields: Described): Promise<Download> {
    if (!(await this.locked())) {
      throw new HearthError('already_running', 'Another Hearth is fetching models into this folder.');
    }
    const record: DownloadRecord = {
      ...fields,
      version: 1,
      id: randomUUID(),
      paused: false,
      restarted: false,
      verified: [],
      addedAt: Date.now(),
    };
    await saveRecord(this.options.folder(), record);
    const entry = await this.add(record);
    this.next();
    return this.show(entry);
  }

  private entry(id: string): Entry {
    const entry = this.entries.get(id);
    if (!entry) throw new HearthError('not_found', 'There is no such download.');
    return entry;
  }

  private isOver({ phase }: Entry): boolean {
    return phase === 'done' || phase === 'failed';
  }

  async pause(id: string): Promise<Download> {
    const entry = this.entry(id);
    if (this.isOver(entry)) return this.show(entry);
    entry.record.paused = true;
    await this.stopped(entry);
    // It may have ended just now.
    if (this.isOver(entry)) return this.show(entry);
    entry.phase = 'paused';
    await this.save(entry);
    this.changed();
    this.next();
    return this.show(entry);
  }

  async resume(id: string): Promise<Download> {
    const entry = this.entry(id);
    if (entry.phase !== 'paused' && entry.phase !== 'failed') return this.show(entry);
    // What was wrong has been thrown away.
    if (entry.error?.code === 'checksum_mismatch') entry.beginAnew(entry.record);
    entry.record.paused = false;
    entry.record.error = undefined;
    entry.error = undefined;
    entry.phase = 'queued';
    await this.save(entry);
    this.next();
    this.changed();
    return this.show(entry);
  }

  async cancel(id: string): Promise<void> {
    const entry = this.entry(id);
    this.entries.delete(id);
    await this.stopped(entry);
    await removeDownload(this.options.folder(), id);
    this.changed();
    this.next();
  }

  private async stopped(entry: Entry): Promise<void> {
    entry.running?.stop.abort(new HearthError('cancelled', 'The download was stopped.'));
    await entry.running?.ended;
  }

  /** One after the other: the last one stays. */
  private save(entry: Entry): Promise<void> {
    const saved = entry.saved.then(() => saveRecord(this.options.folder(), entry.record));
    entry.saved = saved.catch(() => undefined);
    return saved;
  }

  private next(): void {
    if (this.closed) return;
    const all = [...this.entries.values()];
    let free = AT_ONCE - all.filter(({ running }) => running).length;
    for (const entry of all) {
      if (free <= 0) return;
      if (entry.phase !== 'queued' || entry.record.paused || entry.running) continue;
      free -= 1;
      const stop = new AbortController();
      entry.running = { stop, ended: this.perform(entry, stop.signal).finally(() => this.ended(entry)) };
    }
  }

  private ended(entry: Entry): void {
    entry.running = undefined;
    this.changed();
    this.next();
  }

  /** Never throws: how it ended is in the entry. */
  private async perform(entry: Entry, signal: AbortSignal): Promise<void> {
    try {
      await this.performed(entry, signal);
      await this.finish(entry);
    } catch (thrown) {
      if (signal.aborted) {
        entry.phase = entry.record.paused ? 'paused' : 'queued';
        return;
      }
      const error = HearthError.from(thrown);
      entry.error = error;
      entry.phase = 'failed';
      entry.record.error = error.toShape();
      this.options.log?.(`${entry.record.repo}/${entry.record.file} was not fetched: ${error.message}`);
      await this.save(entry).catch(() => undefined);
    }
  }

  private async performed(entry: Entry, signal: AbortSignal): Promise<void> {
    for (let changes = 0; ; changes++) {
      try {
        if (entry.record.source === 'disk') await this.hashSource(entry, signal);
        return await this.task(entry, signal).run();
      } catch (error) {
        if (!(error instanceof FileChanged)) throw error;
        if (changes === FILE_CHANGES || entry.record.source === 'disk') {
          throw new HearthError('hub_failed', `${entry.record.file} keeps changing while it is fetched.`);
        }
        await this.beginAnew(entry);
      }
    }
  }

  private task(entry: Entry, signal: AbortSignal): Task {
    const { folder, times } = this.options;
    const { record } = entry;
    return new Task({
      folder: folder(),
      record,
      disk: this.disk,
      signal,
      times,
      source: (file) => this.origins.source(record, file),
      target: (file) => inFolder(folder(), record.repo, file.path),
      save: () => this.save(entry),
      promisedBytes: () => this.promised(entry),
      phase: (phase, fraction) => {
        if (signal.aborted) return;
        entry.phase = phase;
        entry.fraction = fraction;
        this.changed();
      },
      received: (bytes) => {
        entry.speed.add(bytes, Date.now());
        this.changed();
      },
      stored: (index, bytes) => entry.setStored(index, bytes),
    });
  }

  /** The file is another one on the hub: what was fetched of the old one is of no use. */
  private async beginAnew(entry: Entry): Promise<void> {
    const { record } = entry;
    const described = await this.origins.again(record);
    await removeDownload(this.options.folder(), record.id);
    entry.beginAnew({ ...record, ...described, verified: [], restarted: true });
    await this.save(entry);
    this.options.log?.(`${record.repo}/${record.file} was changed where it comes from and is fetched anew`);
  }

  /** What is copied is compared with what lies on the other disk. */
  private async hashSource(entry: Entry, signal: AbortSignal): Promise<void> {
    const { files, from = '' } = entry.record;
    for (const file of files.filter(({ sha256 }) => sha256 === undefined)) {
      entry.phase = 'verifying';
      const told = (fraction: number) => {
        entry.fraction = fraction;
        this.changed();
      };
      file.sha256 = await this.disk.call('digest', [join(from, file.path), {}], { told, signal });
      signal.throwIfAborted();
    }
    await this.save(entry);
  }

  private async finish(entry: Entry): Promise<void> {
    const { library, folder } = this.options;
    const { repo, files } = entry.record;
    await removeDownload(folder(), entry.id).catch(() => undefined);
    // Compared already: the library need not read it all once more.
    const known = files.flatMap(({ path, sha256 }) =>
      sha256 === undefined ? [] : [{ path: inFolder(folder(), repo, path), sha256, verified: true }],
    );
    await library.knows(known).catch(() => undefined);
    await library.refresh().catch(() => undefined);
    entry.phase = 'done';
  }

  /** The library may take a moment to see what came. */
  private show(entry: Entry): Download {
    if (entry.phase === 'done') entry.model ??= this.nameOf(entry.record);
    return entry.show(Date.now());
  }

  private nameOf({ repo, files }: DownloadRecord): string | undefined {
    const places = files.map(({ path }) => inFolder(this.options.folder(), repo, path));
    const isOurs = (path: string) => places.some((place) => place === path || place.startsWith(`${path}${sep}`));
    return this.options.library.list().find(({ path }) => isOurs(path))?.name;
  }

  async close(): Promise<void> {
    this.closed = true;
    clearTimeout(this.retry);
    clearTimeout(this.telling);
    await Promise.all([...this.entries.values()].map((entry) => this.stopped(entry)));
    await this.disk.close();
    await this.lock?.release();
  }
}

export function createDownloads(options: DownloadsOptions): Downloads {
  return new Manager(options);
}
