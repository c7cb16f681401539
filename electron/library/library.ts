// The list of models on disk: scanned from the folders, named, and looked at by the probe, one file at a time. What the probe said is
// kept until the file changes, good or bad. It parses nothing itself.
import { realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import { HearthError, type ErrorCode, type ErrorShape } from '../contract/errors';
import type { Abilities, ModelInfo } from '../contract/runtime';
import { namesOf, nearNames, normalName } from './names';
import { modelAt, scanFolder, type Found } from './scan';
import type { Library, LibraryModel, LibraryOptions } from './types';

const POLL_MS = 15_000;

interface Known {
  print: string;
  info?: ModelInfo;
  abilities?: Abilities;
  error?: ErrorShape;
}

interface Item {
  found: Found;
  builtin: boolean;
  name: string;
}

/** Failures that say nothing about the file: it is looked at again with the next refresh. */
const OURS: ErrorCode[] = ['addon_missing', 'internal', 'cancelled'];

const fingerprint = ({ files, missing }: Found) =>
  JSON.stringify([files.map(({ path, size, mtimeMs }) => [path, size, mtimeMs]), missing]);

function incomplete({ missing, files }: Found): ErrorShape | undefined {
  if (missing.length === 0) return undefined;
  const total = missing.length + files.length;
  const parts = missing.slice(0, 10).join(', ') + (missing.length > 10 ? ', …' : '');
  return {
    code: 'incomplete_model',
    message: `${missing.length} of ${total} parts of this model are missing (${parts}).`,
  };
}

class FolderLibrary implements Library {
  private items: Item[] = [];
  private opened: Found[] = [];
  private readonly known = new Map<string, Known>();
  private readonly watchers = new Set<() => void>();
  private scanning: Promise<void> | undefined;
  private looking: Promise<void> | undefined;
  private timer: NodeJS.Timeout | undefined;
  private first: Promise<void> | undefined;
  private closed = false;

  constructor(private readonly options: LibraryOptions) {}

  list(): LibraryModel[] {
    void this.identified();
    return this.items.map((item) => this.describe(item));
  }

  private describe({ found, builtin, name }: Item): LibraryModel {
    const { info, abilities, error } = this.knownOf(found) ?? {};
    const problem = incomplete(found) ?? error;
    return {
      name,
      path: found.path,
      fileBytes: found.files.reduce((sum, file) => sum + file.size, 0),
      builtin,
      modifiedAt: Math.max(0, ...found.files.map((file) => Math.floor(file.mtimeMs))),
      ...(info && { info }),
      ...(abilities && { abilities }),
      ...(problem && { error: problem }),
    };
  }

  private knownOf(found: Found): Known | undefined {
    const known = this.known.get(found.path);
    return known?.print === fingerprint(found) ? known : undefined;
  }

  find(name: string): LibraryModel {
    const wanted = normalName(name);
    const item = this.items.find((entry) => entry.name === wanted);
    if (item) return this.describe(item);
    // A name that cannot be loaded is no help.
    const usable = this.list().filter(({ error }) => !error);
    throw notFound(
      name,
      usable.map((model) => model.name),
    );
  }

  async open(path: string): Promise<LibraryModel> {
    const found = await modelAt(resolve(path));
    if (!found) throw new HearthError('file_not_found', `There is no model at ${path}.`);
    const real = await realpath(found.path);
    const paths = await Promise.all(this.items.map((item) => realpath(item.found.path).catch(() => item.found.path)));
    const index = paths.indexOf(real);
    const known = this.items[index];
    if (!known) {
      this.opened.push(found);
      this.arrange(this.items.filter((item) => !this.opened.includes(item.found)));
    }
    const item = known ?? this.items.find((entry) => entry.found === found);
    if (!item) throw new HearthError('file_not_found', `There is no model at ${path}.`);
    await this.look(item.found);
    return this.describe(item);
  }

  refresh(): Promise<void> {
    this.scanning ??= this.scan().finally(() => (this.scanning = undefined));
    this.first ??= this.scanning;
    return this.scanning;
  }

  ready(): Promise<void> {
    return this.first ?? this.refresh();
  }

  private async scan(): Promise<void> {
    const { folders, builtin = [] } = this.options;
    const shipped = await Promise.all(builtin.map((path) => modelAt(resolve(path))));
    const scanned = await Promise.all(folders.map((folder) => scanFolder(resolve(folder))));
    const opened = await Promise.all(this.opened.map(({ path }) => modelAt(path)));
    this.opened = opened.filter((found) => found !== undefined);
    const before = this.shown();
    this.arrange([
      ...shipped.filter((found) => found !== undefined).map((found) => ({ found, builtin: true })),
      ...scanned.flat().map((found) => ({ found, builtin: false })),
    ]);
    for (const [path, known] of this.known) {
      const present = this.items.some((item) => item.found.path === path);
      if (!present || (known.error && OURS.includes(known.error.code))) this.known.delete(path);
    }
    if (this.shown() !== before) this.changed();
  }

  /** Names everything anew; each path once. */
  private arrange(items: Omit<Item, 'name'>[]): void {
    const all = [...items, ...this.opened.map((found) => ({ found, builtin: false }))];
    const once = all.filter((item, index) => all.findIndex((other) => other.found.path === item.found.path) === index);
    const names = namesOf(once.map(({ found, builtin }) => ({ path: found.path, isFolder: found.isFolder, builtin })));
    this.items = once.map((item, index) => ({ ...item, name: names[index] ?? 'model' }));
  }

  private shown(): string {
    return JSON.stringify(this.items.map((item) => [item.name, fingerprint(item.found)]));
  }

  identified(): Promise<void> {
    this.looking ??= this.lookAll().finally(() => (this.looking = undefined));
    return this.looking;
  }

  private async lookAll(): Promise<void> {
    const next = () => this.items.find(({ found }) => found.missing.length === 0 && !this.knownOf(found));
    for (let item = next(); item && !this.closed; item = next()) {
      await this.look(item.found);
      this.changed();
    }
  }

  private async look(found: Found): Promise<void> {
    if (found.missing.length > 0 || this.knownOf(found)) return;
    const print = fingerprint(found);
    try {
      const { model, abilities } = await this.options.probe.identify(found.path);
      this.known.set(found.path, { print, info: model, abilities });
    } catch (error) {
      this.known.set(found.path, { print, error: HearthError.from(error).toShape() });
    }
  }

  watch(listener: () => void): () => void {
    this.watchers.add(listener);
    this.timer ??= setInterval(() => void this.refresh().catch(() => undefined), POLL_MS).unref();
    return () => {
      this.watchers.delete(listener);
      if (this.watchers.size > 0) return;
      clearInterval(this.timer);
      this.timer = undefined;
    };
  }

  private changed(): void {
    for (const listener of [...this.watchers]) listener();
  }

  close(): void {
    this.closed = true;
    clearInterval(this.timer);
    this.watchers.clear();
  }
}

const SHOWN_NAME = 100;

/** `model_not_found` with what may have been meant. Names only: a path that somebody sent says nothing about files. */
export function notFound(name: string, names: readonly string[]): HearthError {
  const near = nearNames(name, names);
  const shown = JSON.stringify(name.slice(0, SHOWN_NAME));
  const list = (some: readonly string[]) => some.slice(0, 5).join(', ');
  const hint =
    near.length > 0
      ? ` Did you mean ${list(near)}?`
      : names.length > 0
        ? ` Models here: ${list(names)}.`
        : ' There are no models yet.';
  return new HearthError('model_not_found', `There is no model called ${shown}.${hint}`, { param: 'model' });
}

/** Empty until `refresh` or `ready` has been called. */
export function createLibrary(options: LibraryOptions): Library {
  return new FolderLibrary(options);
}
