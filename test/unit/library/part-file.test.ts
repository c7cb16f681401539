// What is forced to the disk while blocks go on coming, on a disk that answers when the test says.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PartFile } from '../../../electron/library/download/part-file';

const MB = 1024 ** 2;
const SIZE = 256 * MB;

let folder: string;
let part: PartFile;
let syncs: ((error: Error | null) => void)[];
let next: number;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'hearth-part-'));
  syncs = [];
  next = 0;
  part = new PartFile(join(folder, '0.part'), SIZE, {
    write: () => undefined,
    sync: (_fd, done) => void syncs.push(done),
  });
});
afterEach(() => {
  part.close();
  rmSync(folder, { recursive: true, force: true });
});

function write(bytes: number): void {
  const block = new Uint8Array(part.blockBytes);
  for (const end = next + bytes / part.blockBytes; next < end; next++) part.write(next, block);
}

describe('a disk that takes its time to sync', () => {
  it('holds up no block, and is asked again only when it has answered', () => {
    write(160 * MB);
    expect(syncs).toHaveLength(1);
    expect(part.stored()).toHaveLength((160 * MB) / part.blockBytes);
    syncs[0]?.(null); // the data; now the journal
    expect(syncs).toHaveLength(2);
    syncs[1]?.(null);
    write(part.blockBytes);
    expect(syncs).toHaveLength(3);
  });

  it('and fails is told by the next block', () => {
    write(64 * MB);
    syncs[0]?.(new Error('the disk is gone'));
    syncs[1]?.(null);
    expect(() => write(part.blockBytes)).toThrow('the disk is gone');
  });

  it('may answer after the file was closed', () => {
    write(64 * MB);
    part.close();
    syncs[0]?.(null);
    expect(syncs).toHaveLength(1);
    part = new PartFile(join(folder, '1.part'), SIZE);
  });
});
