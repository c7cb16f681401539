// What the rest of main sees of the library: the models on disk, by name.
import type { ErrorShape } from '../contract/errors';
import type { Abilities, ModelInfo } from '../contract/runtime';

export interface LibraryModel {
  /** Name in the API (DESIGN section 4). */
  name: string;
  /** The file (first part of a split one) or folder that the engine opens. */
  path: string;
  fileBytes: number;
  builtin: boolean;
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
  watch(listener: () => void): () => void;
}
