// The bytes of a file on a disk of this computer, for an import: the same downloader copies and compares it.
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { HearthError } from '../../contract/errors';
import { FileChanged, type FileSource, type WantedFile } from './types';

export class DiskSource implements FileSource {
  constructor(
    private readonly path: string,
    private readonly file: WantedFile,
  ) {}

  async open(start: number, end: number, signal: AbortSignal) {
    const info = await stat(this.path).catch((cause: unknown) => {
      throw new HearthError('file_not_found', `${this.path} is not there any more.`, { cause });
    });
    if (info.size !== this.file.bytes) throw new FileChanged('the file has another length');
    const bytes = createReadStream(this.path, { start, end: end - 1, highWaterMark: 1024 ** 2, signal });
    bytes.on('error', () => undefined);
    return { bytes: bytes as AsyncIterable<Uint8Array>, until: end, sequential: false, end: () => bytes.destroy() };
  }
}
