// What another Hearth may copy of this library: sound models, each file with its size and hash. Files are found by the id of a model and a
// number in its list, and never by a path that somebody sent. It decides neither who may ask nor how bytes are sent.
import { createHash } from 'node:crypto';
import { readdir, realpath } from 'node:fs/promises';
import { basename, join, relative, sep } from 'node:path';
import { HearthError } from '../../contract/errors';
import type { SharedFile, SharedModel } from '../../contract/sharing';
import { FileThread } from '../file-thread';
import { isBeside } from '../hub/groups';
import type { Library, ModelContent } from '../types';
import { fileAt, isWithin, linkLimit, type FoundFile } from '../walk';

/** A file to be sent, as it was when it was listed. */
export interface ShelfFile extends SharedFile {
  /** Where it lies here. */
  place: string;
  mtimeMs: number;
}

export interface Shelf {
  models(): Promise<SharedModel[]>;
  /** Throws HearthError{not_found} also where the model's files are others by now. */
  file(id: string, index: number): Promise<ShelfFile>;
  close(): Promise<void>;
}

export function createShelf(library: Pick<Library, 'content' | 'ready'>): Shelf {
  return new LibraryShelf(library);
}

const hex = (text: string) => createHash('sha256').update(text).digest('hex');
const printOf = ({ path, size, mtimeMs }: FoundFile) => `${size} ${mtimeMs} ${path}`;

class LibraryShelf implements Shelf {
  private readonly thread = new FileThread();
  /** Of small files beside the weights, which the library does not hash. */
  private readonly hashes = new Map<string, Promise<string>>();

  constructor(private readonly library: Pick<Library, 'content' | 'ready'>) {}

  async models(): Promise<SharedModel[]> {
    await this.library.ready();
    return Promise.all(
      this.library.content().map(async (content) => {
        const { name, info, files } = content;
        const listed = await this.filesOf(content);
        return {
          id: idOf(content),
          name,
          bytes: files.reduce((sum, { size }) => sum + size, 0),
          architecture: info.architecture,
          quantization: info.quantization,
          licence: info.license,
          ...(listed && { files: listed.map(({ path, bytes, sha256 }) => ({ path, bytes, sha256 })) }),
        };
      }),
    );
  }

  async file(id: string, index: number): Promise<ShelfFile> {
    await this.library.ready();
    const content = this.library.content().find((one) => idOf(one) === id);
    const file = content && (await this.filesOf(content))?.[index];
    if (!file) throw new HearthError('not_found', 'There is no such file here, or it is another one by now.');
    return file;
  }

  async close(): Promise<void> {
    await this.thread.close();
  }

  /** Undefined while a hash is missing. */
  private async filesOf(content: ModelContent): Promise<ShelfFile[] | undefined> {
    const own = content.files.flatMap((file): ShelfFile[] =>
      file.sha256 === undefined ? [] : [shelfFile(content, file, file.sha256)],
    );
    if (own.length < content.files.length || own.length === 0) return undefined;
    const beside = content.isFolder ? await besideOf(content) : [];
    return [
      ...own,
      ...(await Promise.all(beside.map(async (file) => shelfFile(content, file, await this.hash(file))))),
    ];
  }

  private hash(file: FoundFile): Promise<string> {
    const print = printOf(file);
    const known = this.hashes.get(print) ?? this.thread.hash(file.real);
    this.hashes.set(print, known);
    known.catch(() => this.hashes.delete(print));
    return known;
  }
}

const idOf = ({ name, files }: ModelContent): string => hex(JSON.stringify([name, files.map(printOf)])).slice(0, 32);

/** As it is named there: as it lies here within the model's folder, and with the ending that a model file has. */
function nameOf({ name, path, isFolder }: ModelContent, file: FoundFile): string {
  if (isFolder) return relative(path, file.path).split(sep).join('/');
  const own = basename(file.path);
  return /\.gguf$/i.test(own) ? own : `${name}.gguf`;
}

const shelfFile = (content: ModelContent, file: FoundFile, sha256: string): ShelfFile => ({
  path: nameOf(content, file),
  bytes: file.size,
  sha256,
  place: file.real,
  mtimeMs: file.mtimeMs,
});

/** Tokenizer and settings of a model in Hugging Face's layout. A link that leads elsewhere is no part of it. */
async function besideOf({ path, files }: ModelContent): Promise<FoundFile[]> {
  const folder = linkLimit(await realpath(path).catch(() => path));
  const names = (await readdir(path).catch(() => [])).filter(isBeside).sort();
  const found = await Promise.all(names.map((name) => fileAt(join(path, name))));
  return found.filter(
    (file): file is FoundFile =>
      file !== undefined && isWithin(file.real, folder) && !files.some((known) => known.real === file.real),
  );
}
