// What is known of models and files, kept over a restart: what the probe said, hashes, use. Each fact belongs to a fingerprint (sizes and
// times) or to a model id; a file that changed is a file of which nothing is known. It reads no file.
import { basename } from 'node:path';
import type { ErrorShape } from '../contract/errors';
import type { Verification } from '../contract/models';
import type { FileHash, KnownModel, LibraryMemory, ModelUse, Store } from '../store/types';
import type { Found } from './scan';
import type { FoundFile } from './walk';

export type MemoryStore = Pick<Store, 'saveModels' | 'saveHashes' | 'forgetModels' | 'saveUse'>;

/** Weight of the newest answer in the speed that is shown. */
const NEWEST = 0.3;

/** Changes with the files, and with the Hearth that looked: another one may know more. */
export const fingerprint = ({ files, missing }: Found, version = ''): string =>
  JSON.stringify([version, files.map(({ path, size, mtimeMs }) => [path, size, mtimeMs]), missing]);

export class Memory {
  private readonly models: Map<string, KnownModel>;
  private readonly hashes: Map<string, FileHash>;
  private readonly uses: Map<string, ModelUse>;

  constructor(
    before: LibraryMemory | undefined,
    private readonly store?: MemoryStore,
  ) {
    this.models = new Map(before?.models.map((model) => [model.path, model]));
    this.hashes = new Map(before?.hashes.map((hash) => [hash.path, hash]));
    this.uses = new Map(before?.uses.map((use) => [use.modelId, use]));
  }

  model(path: string, print: string): KnownModel | undefined {
    const known = this.models.get(path);
    return known?.print === print ? known : undefined;
  }

  /** `lasting`: also after a restart. */
  learn(known: KnownModel, lasting: boolean): void {
    this.models.set(known.path, known);
    if (lasting) this.write((store) => store.saveModels([known]));
  }

  /** Failures that say nothing about the file are forgotten, so that it is looked at again. */
  forgetFailures(isOurs: (error: ErrorShape) => boolean): void {
    for (const [path, { error }] of this.models) if (error && isOurs(error)) this.models.delete(path);
  }

  forget(paths: string[]): void {
    for (const path of paths) {
      this.models.delete(path);
      this.hashes.delete(path);
    }
    this.write((store) => store.forgetModels(paths));
  }

  hash(file: FoundFile): FileHash | undefined {
    const known = this.hashes.get(file.path);
    return known?.size === file.size && known.mtimeMs === file.mtimeMs ? known : undefined;
  }

  /** The part that is left out stays as it was. */
  learnHash(file: FoundFile, part: { sha256?: string; expected?: string }): void {
    const { path, size, mtimeMs } = file;
    const next: FileHash = { ...this.hash(file), path, size, mtimeMs, ...part };
    this.hashes.set(path, next);
    this.write((store) => store.saveHashes([next]));
  }

  /** Files that now lie elsewhere, with the same content. */
  moved(files: readonly { from: string; to: FoundFile }[]): void {
    const known = files.flatMap(({ from, to }) => {
      const hash = this.hashes.get(from);
      return hash ? [{ ...hash, path: to.path, size: to.size, mtimeMs: to.mtimeMs }] : [];
    });
    for (const hash of known) this.hashes.set(hash.path, hash);
    this.write((store) => store.saveHashes(known));
    this.forget(files.map(({ from }) => from));
  }

  use(modelId: string): ModelUse | undefined {
    return this.uses.get(modelId);
  }

  used(modelId: string, at: number, decodeTps?: number): void {
    const before = this.uses.get(modelId)?.decodeTps;
    const speed =
      decodeTps === undefined || before === undefined ? (decodeTps ?? before) : before + NEWEST * (decodeTps - before);
    const use: ModelUse = { modelId, lastUsedAt: at, ...(speed !== undefined && { decodeTps: speed }) };
    this.uses.set(modelId, use);
    this.write((store) => store.saveUse(use));
  }

  /** A disk that does not take it costs a look after the next start. */
  private write(work: (store: MemoryStore) => Promise<unknown>): void {
    if (this.store) void work(this.store).catch(() => undefined);
  }
}

export interface HashState {
  file: FoundFile;
  sha256?: string;
  expected?: string;
  /** Read so far, where it is being hashed now. */
  bytes?: number;
}

/** `idle`: what is said of a model of which nothing has been hashed. */
export function verificationOf(files: readonly HashState[], idle: 'unknown' | 'waiting'): Verification {
  const differs = files.some(
    ({ sha256, expected }) => sha256 !== undefined && expected !== undefined && sha256 !== expected,
  );
  const hashed = files.filter(({ sha256 }) => sha256 !== undefined);
  const sha256 = Object.fromEntries(hashed.map(({ file, sha256: hash }) => [basename(file.path), hash ?? '']));
  if (differs) return { state: 'differs', sha256 };
  if (files.length > 0 && hashed.length === files.length) {
    return { state: files.some(({ expected }) => expected !== undefined) ? 'matches' : 'hashed', sha256 };
  }
  if (!files.some(({ bytes }) => bytes !== undefined)) return { state: idle };
  const total = files.reduce((sum, { file }) => sum + file.size, 0);
  const done = files.reduce(
    (sum, { file, sha256: hash, bytes = 0 }) => sum + (hash === undefined ? bytes : file.size),
    0,
  );
  return { state: 'hashing', fraction: total > 0 ? Math.min(1, done / total) : 1 };
}
