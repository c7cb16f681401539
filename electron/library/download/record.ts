// What is written down of a download, in its own folder within the models folder: `.downloads/ID/download.json` beside the parts. Written in
// one step, so that a kill leaves the old or the new. Hidden folders are no models: the scanner passes by.
import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { downloadRecord, type DownloadRecord } from './types';

export const HIDDEN = '.downloads';

const folderOf = (models: string, id: string) => join(models, HIDDEN, id);

export const partPath = (models: string, id: string, index: number): string =>
  join(folderOf(models, id), `${index}.part`);

export async function saveRecord(models: string, record: DownloadRecord): Promise<void> {
  const folder = folderOf(models, record.id);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const next = join(folder, 'download.json.new');
  const file = await open(next, 'w', 0o600);
  try {
    await file.writeFile(JSON.stringify(record));
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(next, join(folder, 'download.json'));
}

/** Those that can be read, the oldest first; what cannot be is left alone. */
export async function readRecords(models: string): Promise<DownloadRecord[]> {
  const ids = await readdir(join(models, HIDDEN)).catch(() => []);
  const read = await Promise.all(
    ids.map(async (id) => {
      try {
        const record = downloadRecord.parse(
          JSON.parse(await readFile(join(folderOf(models, id), 'download.json'), 'utf8')),
        );
        return record.id === id ? record : undefined;
      } catch {
        return undefined;
      }
    }),
  );
  return read.filter((record) => record !== undefined).sort((a, b) => a.addedAt - b.addedAt);
}

export async function removeDownload(models: string, id: string): Promise<void> {
  await rm(folderOf(models, id), { recursive: true, force: true });
}

export async function removePart(models: string, id: string, index: number): Promise<void> {
  const part = partPath(models, id, index);
  await rm(part, { force: true });
  await rm(`${part}.journal`, { force: true });
}
