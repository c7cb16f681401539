// What the rest of main sees of the library: the models on disk, by name.
import type { ErrorShape } from '../contract/errors';
import type { FolderKind, ModelFolder, Verification } from '../contract/models';
import type { Abilities, ModelInfo, Result } from '../contract/runtime';
import type { LibraryMemory } from '../store/types';
import type { MemoryStore } from './memory';
import type { FoundFile } from './walk';

export interface LibraryModel {
  /** Name in the API (names.ts). */
  name: string;
  /** The file (first part of a split one) or folder that the engine opens. */
  path: string;
  fileBytes: number;
  builtin: boolean;
  /** Milliseconds since 1970: when its newest file was changed. */
  modifiedAt?: number;
  /** Absent until the probe has looked, and for broken files. */
  info?: ModelInfo;
  abilities?: Abilities;
  /** The kind of folder in which it lies; absent for what ships or was opened by path. */
  folder?: FolderKind;
  /** Other names by which it is found. */
  aliases?: string[];
  verification?: Verification;
  lastUsedAt?: number;
  /** Tokens per second, measured here. */
  decodeTps?: number;
  /** Id of the engine elsewhere that has it, and its name: there is no file here. */
  remote?: string;
  engine?: string;
  error?: ErrorShape;
}

/** A sound model with its files, each with its hash where it is known. */
export interface ModelContent {
  name: string;
  path: string;
  isFolder: boolean;
  info: ModelInfo;
  files: (FoundFile & { sha256?: string })[];
}

/** A folder with models. Only that of kind `own` is ever written to. */
export interface SourceFolder {
  id: string;
  path: string;
  kind: FolderKind;
}

export interface LibrarySettings {
  /** Beside Hearth's own. */
  folders: readonly SourceFolder[];
  /** Other names of models, by alias. */
  aliases: Readonly<Record<string, string>>;
}

/** Content whose hash is known: from the hub, and `verified` where it was read while it was fetched. */
export interface KnownContent {
  path: string;
  sha256: string;
  verified: boolean;
}

export interface Library {
  list(): LibraryModel[];
  /** By name or alias, near matches named in the error: throws HearthError model_not_found. Never a path from the network. */
  find(name: string): LibraryModel;
  /** By path, for the CLI and the user's own file dialog. Throws file_not_found. */
  open(path: string): Promise<LibraryModel>;
  /** Models that can be used, with where their files lie: for whoever copies them. */
  content(): ModelContent[];
  /** Looks at the folders again; only changed files are read. */
  refresh(): Promise<void>;
  /** Told when the list, or what is known of a model, changed. */
  watch(listener: () => void): () => void;
  /** Rises whenever watchers are told. */
  version(): number;
  /** Resolves when the folders have been looked at once, beginning to where nobody has. */
  ready(): Promise<void>;
  /** Resolves when every model of the list has been looked at, or failed to be. */
  identified(): Promise<void>;

  /** The folders, and the standard places of other programs that are there and not among them. */
  folders(): Promise<ModelFolder[]>;
  /** What the folder at this path would be. Throws file_not_found, or invalid_request where it is one already. */
  folderAt(path: string): Promise<Omit<SourceFolder, 'id'>>;
  /** Takes over folders and aliases; what is new is looked at. */
  configure(settings: LibrarySettings): Promise<void>;
  /** An alias as it is kept. Throws invalid_request where a model has that name. */
  checkedAlias(alias: string): string;

  /** Deletes a model of Hearth's own folder, every part of it. Throws model_not_found, not_owned, disk_error. */
  remove(name: string): Promise<void>;
  /** A model was used: `decodeTps` where the answer was long enough to tell. */
  used(path: string, decodeTps?: number): void;
  /** What is known of files by whoever fetched them. Those that are not there are left out. */
  knows(content: readonly KnownContent[]): Promise<void>;
  /** Hearth's own folder lies elsewhere now, its files with the same content. */
  moved(to: string): Promise<void>;
  close(): void;
}

export interface LibraryOptions {
  /** Hearth's own folder; missing, it is empty. */
  own: string;
  settings?: LibrarySettings;
  /** Models that ship with Hearth: files or folders. */
  builtin?: string[];
  /** The probe's `identify`; called for one file at a time. */
  probe: { identify(path: string): Promise<Result<'identify'>> };
  /** What was known before, and where it is kept. */
  memory?: LibraryMemory;
  store?: MemoryStore;
  /** Of Hearth: another one looks at everything again. */
  version?: string;
  /**
   * Watch the folders and hash contents in the background, while `busy` says no. Absent: neither, and files are taken as they are.
   */
  live?: { busy(): boolean; settleMs?: number; hashAfterMs?: number };
  /** Where other programs keep their models; absent: the standard places. */
  places?: { path: string; kind: FolderKind }[];
}
