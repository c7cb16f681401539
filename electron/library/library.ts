// The list of models on disk: scanned from the folders, named, looked at by the probe one file at a time, hashed in the background. What
// was found out is kept until the files change (memory.ts). It parses no model, and writes nowhere but in Hearth's own folder.
import { realpath, stat } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { HearthError, type ErrorCode, type ErrorShape } from '../contract/errors';
import type { ModelFolder } from '../contract/models';
import { FileThread } from './file-thread';
import { Hashing } from './hashing';
import { folderAt, folderList } from './folder-list';
import { checkedAlias, incomplete, itemsOf, notFound, sizeOf, type Item, type Unnamed } from './items';
import { Memory, verificationOf } from './memory';
import { normalName } from './names';
import { standardPlaces } from './places';
import { removeFiles } from './remove';
import { modelAt, scanFolder, type Found, type Scan } from './scan';
import { Settling } from './settling';
import type {
  KnownContent,
  Library,
  LibraryModel,
  LibraryOptions,
  LibrarySettings,
  ModelContent,
  SourceFolder,
} from './types';
import { fileAt, isWithin, type FoundFile } from './walk';
import { FolderWatcher } from './watcher';

const SETTLE_MS = 2_000;
const HASH_AFTER_MS = 10_000;

/** Failures that say nothing about the file: it is looked at again with the next refresh. */
const OURS: ErrorCode[] = ['addon_missing', 'internal', 'cancelled'];

const STILL_WRITTEN: ErrorShape = { code: 'still_copying', message: 'This model is still being copied here.' };
const OTHER_CONTENT: ErrorShape = {
  code: 'bad_file',
  message: 'The content of this model is not what its origin says that it is.',
};

class FolderLibrary implements Library {
  private items: Item[] = [];
  private byName = new Map<string, Item>();
  private moving = new Set<string>();
  private opened: Found[] = [];
  private own: string;
  private settings: LibrarySettings;
  private scans = new Map<string, Scan>();
  private readonly memory: Memory;
  private readonly settling: Settling;
  private readonly watchers = new Set<() => void>();
  private readonly thread = new FileThread();
  private readonly watcher: FolderWatcher | undefined;
  private readonly hashing: Hashing | undefined;
  private scanning: Promise<void> | undefined;
  private looking: Promise<void> | undefined;
  private first: Promise<void> | undefined;
  private changes = 0;
  private closed = false;

  constructor(private readonly options: LibraryOptions) {
    this.own = resolve(options.own);
    this.settings = options.settings ?? { folders: [], aliases: {} };
    this.memory = new Memory(options.memory, options.store);
    const { live } = options;
    this.settling = new Settling(live ? (live.settleMs ?? SETTLE_MS) : 0);
    if (!live) return;
    this.watcher = new FolderWatcher(() => void this.refresh().catch(() => undefined));
    this.hashing = new Hashing({
      hash: (path, onBytes, signal) => this.hashNow(path, onBytes, signal),
      pause: (paused) => this.thread.pause(paused),
      busy: () => live.busy(),
      done: (file, sha256) => this.memory.learnHash(file, { sha256 }),
      changed: () => this.changed(),
      restMs: live.hashAfterMs ?? HASH_AFTER_MS,
    });
  }

  // The list

  list(): LibraryModel[] {
    void this.identified();
    return this.items.map((item) => this.describe(item));
  }

  private describe(item: Item): LibraryModel {
    const { found, builtin, name, source } = item;
    const { info, abilities, error } = this.memory.model(found.path, item.print) ?? {};
    const verification = this.verification(item);
    const written = this.moving.has(found.path) ? STILL_WRITTEN : undefined;
    const problem =
      written ?? incomplete(found) ?? error ?? (verification?.state === 'differs' ? OTHER_CONTENT : undefined);
    const use = info && this.memory.use(info.modelId);
    const aliases = this.aliasesOf(item);
    return {
      name,
      path: found.path,
      fileBytes: sizeOf(found),
      builtin,
      modifiedAt: Math.max(0, ...found.files.map((file) => Math.floor(file.mtimeMs))),
      ...(info && { info }),
      ...(abilities && { abilities }),
      ...(source && { folder: source.kind }),
      ...(aliases.length > 0 && { aliases }),
      ...(verification && { verification }),
      ...(use && { lastUsedAt: use.lastUsedAt }),
      ...(use?.decodeTps !== undefined && { decodeTps: use.decodeTps }),
      ...(problem && { error: problem }),
    };
  }

  private verification({ found }: Item): LibraryModel['verification'] {
    const states = found.files.map((file) => {
      const { sha256, expected = file.expected } = this.memory.hash(file) ?? {};
      return { file, sha256, expected, bytes: this.hashing?.bytes(file) };
    });
    const failed = found.files.some((file) => this.hashing?.hasFailed(file));
    return verificationOf(states, this.hashing && !failed && !this.moving.has(found.path) ? 'waiting' : 'unknown');
  }

  private aliasesOf({ name, others }: Item): string[] {
    const set = Object.entries(this.settings.aliases).flatMap(([alias, model]) => (model === name ? [alias] : []));
    return [...new Set([...set, ...others.filter((other) => !this.byName.has(other))])];
  }

  content(): ModelContent[] {
    return this.items.flatMap((item) => {
      const { found } = item;
      const { name, info, error } = this.describe(item);
      if (!info || error) return [];
      const files = found.files.map((file) => ({ ...file, ...pick(this.memory.hash(file)?.sha256) }));
      return [{ name, path: found.path, isFolder: found.isFolder, info, files }];
    });
  }

  find(name: string): LibraryModel {
    const item = this.itemOf(name);
    if (item) return this.describe(item);
    // A name that cannot be loaded is no help.
    const usable = this.list().filter(({ error }) => !error);
    throw notFound(
      name,
      usable.map((model) => model.name),
    );
  }

  private itemOf(name: string): Item | undefined {
    const wanted = normalName(name);
    const alias = Object.hasOwn(this.settings.aliases, wanted) ? this.settings.aliases[wanted] : undefined;
    return (
      this.byName.get(wanted) ??
      (alias === undefined ? undefined : this.byName.get(alias)) ??
      this.items.find(({ others }) => others.includes(wanted))
    );
  }

  async open(path: string): Promise<LibraryModel> {
    const found = await modelAt(resolve(path));
    if (!found) throw new HearthError('file_not_found', `There is no model at ${path}.`);
    const real = await realpath(found.path);
    const paths = await Promise.all(this.items.map((item) => realpath(item.found.path).catch(() => item.found.path)));
    const known = this.items[paths.indexOf(real)];
    if (!known) {
      this.opened.push(found);
      this.arrange(this.items.filter((item) => !this.opened.includes(item.found)));
    }
    const item = known ?? this.items.find((entry) => entry.found.path === found.path);
    if (!item) throw new HearthError('file_not_found', `There is no model at ${path}.`);
    await this.look(item);
    return this.describe(item);
  }

  // Looking at the folders

  refresh(): Promise<void> {
    this.scanning ??= this.scan().finally(() => (this.scanning = undefined));
    this.first ??= this.scanning;
    return this.scanning;
  }

  ready(): Promise<void> {
    return this.first ?? this.refresh();
  }

  private sources(): SourceFolder[] {
    // Whatever a setting says: nothing but this one folder is ours.
    const others = this.settings.folders.map((folder) =>
      folder.kind === 'own' ? { ...folder, kind: 'user' as const } : folder,
    );
    return [{ id: 'own', path: this.own, kind: 'own' }, ...others];
  }

  private async scan(): Promise<void> {
    const began = performance.now();
    const sources = this.sources();
    const shipped = await Promise.all((this.options.builtin ?? []).map((path) => modelAt(resolve(path))));
    const scans = await Promise.all(sources.map(({ path, kind }) => scanFolder(resolve(path), kind)));
    const opened = await Promise.all(this.opened.map(({ path }) => modelAt(path)));
    if (this.closed) return;
    this.opened = opened.filter((found) => found !== undefined);
    this.scans = new Map(sources.map(({ id }, index) => [id, scans[index] as Scan]));
    const before = this.shown();
    this.arrange([
      ...shipped.filter((found) => found !== undefined).map((found) => ({ found, builtin: true })),
      ...sources.flatMap((source, index) =>
        (scans[index] as Scan).found.map((found) => ({ found, builtin: false, source })),
      ),
    ]);
    this.moving = this.settling.look(this.items, Date.now());
    this.memory.forgetFailures(({ code }) => OURS.includes(code));
    if (this.shown() !== before) this.changed();
    this.goOn(performance.now() - began);
  }

  /** What follows a look, where the library is live. */
  private goOn(tookMs: number): void {
    if (!this.watcher) return;
    const trees = this.sources().map(({ id, path }) => ({ root: path, folders: this.scans.get(id)?.folders ?? [] }));
    this.watcher.follow(trees, tookMs);
    if (this.moving.size > 0) this.watcher.within(this.options.live?.settleMs ?? SETTLE_MS);
    void this.identified().then(() => this.wantHashes());
  }

  private arrange(items: readonly Unnamed[]): void {
    const opened = this.opened.map((found) => ({ found, builtin: false }));
    this.items = itemsOf([...items, ...opened], this.options.version);
    this.byName = new Map(this.items.map((item) => [item.name, item]));
  }

  private shown(): string {
    return JSON.stringify(this.items.map(({ name, print, found }) => [name, print, this.moving.has(found.path)]));
  }

  // Looking at files

  identified(): Promise<void> {
    this.looking ??= this.lookAll().finally(() => (this.looking = undefined));
    return this.looking;
  }

  private async lookAll(): Promise<void> {
    const next = () => this.items.find((item) => this.isUnknown(item) && !this.moving.has(item.found.path));
    for (let item = next(); item && !this.closed; item = next()) {
      await this.look(item);
      this.changed();
    }
  }

  private isUnknown({ found, print }: Item): boolean {
    return found.missing.length === 0 && !this.memory.model(found.path, print);
  }

  private async look(item: Item): Promise<void> {
    if (!this.isUnknown(item)) return;
    const { found, print } = item;
    const { path } = found;
    try {
      const { model, abilities } = await this.options.probe.identify(path);
      this.memory.learn({ path, print, info: model, abilities }, true);
    } catch (thrown) {
      const error = HearthError.from(thrown).toShape();
      this.memory.learn({ path, print, error }, error.code === 'bad_file');
    }
  }

  private wantHashes(): void {
    const sound = this.items.filter(({ found, print }) => this.memory.model(found.path, print)?.info !== undefined);
    const files = sound.flatMap(({ found }) => (this.moving.has(found.path) ? [] : found.files));
    this.hashing?.want(this.closed ? [] : files.filter((file) => this.memory.hash(file)?.sha256 === undefined));
  }

  /** A file that changed while it was read has no hash. */
  private async hashNow(path: string, onBytes: (bytes: number) => void, signal: AbortSignal): Promise<string> {
    const before = await stat(path);
    const sha256 = await this.thread.hash(path, { onProgress: ({ verified }) => onBytes(verified), signal });
    const after = await stat(path);
    if (before.size === after.size && before.mtimeMs === after.mtimeMs) return sha256;
    throw new HearthError('disk_error', `${path} changed while it was read.`);
  }

  // Folders and names

  async folders(): Promise<ModelFolder[]> {
    await this.ready();
    const { places = standardPlaces() } = this.options;
    return folderList(this.sources(), places, this.items, (id) => this.scans.get(id)?.notes ?? []);
  }

  folderAt(path: string): Promise<Omit<SourceFolder, 'id'>> {
    return folderAt(path, this.sources());
  }

  checkedAlias(alias: string): string {
    return checkedAlias(alias, (name) => this.byName.has(name));
  }

  async configure(settings: LibrarySettings): Promise<void> {
    const folders = (some: LibrarySettings) => JSON.stringify(some.folders);
    const same = folders(settings) === folders(this.settings);
    this.settings = settings;
    if (same) this.changed();
    else await this.lookAgain();
  }

  /** A look that began before the folders changed does not count. */
  private async lookAgain(): Promise<void> {
    await this.scanning?.catch(() => undefined);
    await this.refresh();
  }

  // Changes on disk

  async remove(name: string): Promise<void> {
    await this.ready();
    const item = this.itemOf(name);
    if (!item) throw this.unknown(name);
    const { found, source } = item;
    if (source?.kind !== 'own')
      throw new HearthError('not_owned', `${item.name} lies at ${found.path}, which is not Hearth's own folder.`);
    const others = this.items.filter((other) => other !== item).map((other) => other.found.path);
    try {
      await removeFiles(found, this.own, others);
      this.memory.forget([found.path, ...found.files.map(({ path }) => path)]);
    } finally {
      await this.lookAgain();
    }
  }

  private unknown(name: string): HearthError {
    return notFound(
      name,
      this.items.map((item) => item.name),
    );
  }

  used(path: string, decodeTps?: number): void {
    const item = this.items.find(({ found }) => found.path === path);
    const id = item && this.memory.model(path, item.print)?.info?.modelId;
    if (id === undefined) return;
    this.memory.used(id, Date.now(), decodeTps);
    this.changed();
  }

  async knows(content: readonly KnownContent[]): Promise<void> {
    for (const { path, sha256, verified } of content) {
      const file = await fileAt(path);
      if (file) this.memory.learnHash(file, { expected: sha256, ...(verified && { sha256 }) });
    }
    this.changed();
  }

  async moved(to: string): Promise<void> {
    const from = this.own;
    const ours = this.items.filter(({ source }) => source?.kind === 'own').flatMap(({ found }) => found.files);
    this.own = resolve(to);
    const pairs: { from: string; to: FoundFile }[] = [];
    for (const file of ours) {
      if (!isWithin(file.path, from)) continue;
      const there = await fileAt(join(this.own, relative(from, file.path)));
      if (there?.size === file.size) pairs.push({ from: file.path, to: there });
    }
    this.memory.moved(pairs);
    await this.lookAgain();
  }

  // Watching

  watch(listener: () => void): () => void {
    this.watchers.add(listener);
    return () => this.watchers.delete(listener);
  }

  version(): number {
    return this.changes;
  }

  private changed(): void {
    this.changes += 1;
    for (const listener of [...this.watchers]) listener();
  }

  close(): void {
    this.closed = true;
    this.hashing?.close();
    this.watcher?.close();
    void this.thread.close();
    this.watchers.clear();
  }
}

const pick = (sha256: string | undefined) => (sha256 === undefined ? {} : { sha256 });

/** Empty until `refresh` or `ready` has been called. */
export function createLibrary(options: LibraryOptions): Library {
  return new FolderLibrary(options);
}
