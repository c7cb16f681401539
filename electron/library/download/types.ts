// What the parts of the downloader are to each other.
import { z } from 'zod';
import { errorShape } from '../../contract/errors';
import { downloadSource } from '../../contract/models';

/** One file of a download, as the hub (or the source of an import) described it. */
export const wantedFile = z.object({
  path: z.string(),
  bytes: z.int().nonnegative(),
  sha256: z.string().optional(),
  blob: z.string().optional(),
});
export type WantedFile = z.infer<typeof wantedFile>;

/** `download.json` in a download's folder: what is needed to go on after the process ended, however it did. */
export const downloadRecord = z.object({
  version: z.literal(1),
  id: z.string(),
  source: downloadSource,
  repo: z.string(),
  /** What was asked for. */
  file: z.string(),
  /** As asked, e.g. main, or the model's name on another Hearth; and what it was when the download began. */
  revision: z.string(),
  commit: z.string(),
  files: z.array(wantedFile).min(1),
  /** Of an import: the folder that the files are read from, or the address of the other Hearth. */
  from: z.string().optional(),
  paused: z.boolean().default(false),
  restarted: z.boolean().default(false),
  /** Files that are complete and compared, by index. */
  verified: z.array(z.int()).default([]),
  error: errorShape.optional(),
  addedAt: z.number(),
});
export type DownloadRecord = z.infer<typeof downloadRecord>;

export interface SourceAnswer {
  /** From the byte that was asked for on. */
  bytes: AsyncIterable<Uint8Array>;
  /** Where they end by the source's own word: it may go on beyond what was asked for. */
  until: number;
  /** The source knows no ranges: what is asked for again comes from the file's beginning again. */
  sequential: boolean;
  end(): void;
}

/** Where the bytes of one file come from. */
export interface FileSource {
  /** Throws HearthError, or FileChanged. */
  open(start: number, end: number, signal: AbortSignal): Promise<SourceAnswer>;
}

/** The file is another one than when the download began. */
export class FileChanged extends Error {
  override name = 'FileChanged';
}

/** An answer that was cut, or is useless: worth another try. */
export class BrokenAnswer extends Error {
  override name = 'BrokenAnswer';
}

/** The server asks to come back later. */
export class BusyAnswer extends Error {
  override name = 'BusyAnswer';

  constructor(
    message: string,
    readonly afterMs: number | undefined,
  ) {
    super(message);
  }
}
