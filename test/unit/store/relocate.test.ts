// Moving the database's file: how far it is told while it goes, and nothing is left of a move that fails.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { relocate } from '../../../electron/store/relocate';
import { temporaryFolder } from './samples';

const MB = 1024 ** 2;

describe('moving the database', () => {
  it('tells how far it is, the copy as one half and its comparison as the other', () => {
    const folder = temporaryFolder();
    const from = join(folder, 'hearth.db');
    writeFileSync(from, Buffer.alloc(9 * MB, 7));
    const told: [string, number][] = [];
    const change = { path: join(folder, 'locations.json'), text: '{}' };
    relocate(from, join(folder, 'there.db'), change, (phase, bytes) => told.push([phase, bytes / MB]));
    expect(told).toEqual([
      ['copying', 2],
      ['copying', 4],
      ['copying', 4.5],
      ['verifying', 6.5],
      ['verifying', 8.5],
      ['verifying', 9],
    ]);
    expect(readFileSync(join(folder, 'there.db')).equals(readFileSync(from))).toBe(true);
  });

  it('leaves nothing of a copy whose switch cannot be written', () => {
    const folder = temporaryFolder();
    const from = join(folder, 'hearth.db');
    const to = join(folder, 'there.db');
    writeFileSync(from, 'content');
    const change = { path: join(folder, 'no such folder', 'locations.json'), text: '{}' };
    expect(() => relocate(from, to, change)).toThrow(expect.objectContaining({ code: 'disk_error' }));
    expect([existsSync(from), existsSync(to), existsSync(`${to}.part`)]).toEqual([true, false, false]);
  });
});
