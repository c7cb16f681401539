// What the rest of main sees of the library: the models on disk, by name.
import type { ErrorShape } from '../contract/errors';
import type { Abilities, ModelInfo, Result } from '../contract/runtime';

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
  error?: ErrorShape;
}

export interface Library {
  list(): LibraryModel[];
  /** By name, near matches named in the error: throws HearthError model_not_found. Never a path from the network. */
  find(name: string): LibraryModel;
  /** By path, for the CLI and the user's own file dialog. Throws file_not_found. */
  open(path: string): Promise<LibraryModel>;
  /** Looks at the folders again; only changed files are read. */
  refresh(): Promise<void>;
  /** Told when the list changed; the folders are looked at from time to time while somebody watches. */
  watch(listener: () => void): () => void;
  /** Resolves when the folders have been looked at once, beginning to where nobody has. */
  ready(): Promise<void>;
  /** Resolves when every model of the list has been looked at, or failed to be. */
  identified(): Promise<void>;
  close(): void;
}

export interface LibraryOptions {
  /** Folders with models; missing ones are empty. */
  folders: string[];
  /** Models that ship with Hearth: files or folders. */
  builtin?: string[];
  /** The probe's `identify`; called for one file at a time. */
  probe: { identify(path: string): Promise<Result<'identify'>> };
}
