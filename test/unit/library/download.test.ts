// The downloader's decisions: who fetches which block, how often something is tried, what a torn journal says.
import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { HearthError } from '../../../electron/contract/errors';
import { Attempts, MAX_TRIES } from '../../../electron/library/download/attempts';
import { Entry } from '../../../electron/library/download/entry';
import { failureOf } from '../../../electron/library/download/fetch-file';
import { contentRange, retryAfterMs } from '../../../electron/library/download/hub-source';
import {
  HEAD_BYTES,
  journalHead,
  journalRecord,
  readJournal,
  RECORD_BYTES,
} from '../../../electron/library/download/journal';
import { Pace } from '../../../electron/library/download/pace';
import { blockBytesOf, MAX_CONNECTIONS, Plan } from '../../../electron/library/download/plan';
import { Speed } from '../../../electron/library/download/speed';
import { BrokenAnswer, BusyAnswer, FileChanged } from '../../../electron/library/download/types';
import { progressLine, splitTarget } from '../../../electron/cli/pull';

const KB = 1024;
const MB = KB ** 2;
const GB = KB ** 3;

describe('blocks', () => {
  it.each([
    [1, 64 * KB],
    [MB, 64 * KB],
    [2e9, 64 * KB],
    [12 * GB, 512 * KB],
    [65 * GB, 4 * MB],
    [1000 * GB, 4 * MB],
  ])('of a file of %d bytes have %d', (size, block) => {
    expect(blockBytesOf(size)).toBe(block);
  });

  it('are each given to one connection, all of them, lowest first', () => {
    const plan = new Plan(200 * MB + 5, [3]);
    const seen = new Set<number>();
    const open = [];
    for (let run = plan.take(); run; run = plan.take()) {
      open.push(run);
      for (let index = run.next; index < run.end; index++) {
        expect(seen.has(index)).toBe(false);
        seen.add(index);
      }
    }
    expect(open[0]).toEqual({ next: 0, end: 3 });
    expect(seen.size).toBe(plan.blocks - 1);
    const [first] = open;
    if (first) plan.release(first);
    expect(plan.take()).toEqual({ next: 0, end: 3 });
  });

  it('are given in shorter runs where the source wishes it, and the lowest one again that was lost', () => {
    const plan = new Plan(200 * MB);
    const first = plan.take(256 * KB);
    expect(first).toEqual({ next: 0, end: 4 });
    expect(plan.take(1)).toEqual({ next: 4, end: 5 });
    for (const index of [0, 1, 2, 3, 4]) plan.markStored(index);
    plan.markMissing(1);
    if (first) plan.release(first);
    expect(plan.take(64 * KB)).toEqual({ next: 1, end: 2 });
    expect(plan.take(128 * KB)).toEqual({ next: 5, end: 7 });
  });

  it('are counted by their bytes, the short last one too', () => {
    const plan = new Plan(130 * KB, [2, 2, 99]);
    expect(plan).toMatchObject({ blocks: 3, storedBytes: 2 * KB, missingBytes: 128 * KB, complete: false });
    plan.markStored(0);
    plan.markStored(1);
    expect(plan).toMatchObject({ storedBytes: 130 * KB, complete: true });
    plan.markMissing(1);
    expect(plan.take()).toEqual({ next: 1, end: 2 });
    expect(new Plan(0).complete).toBe(true);
  });

  it('of a small file are worth one connection, of a large one a few', () => {
    expect(new Plan(10 * MB).connections()).toBe(1);
    expect(new Plan(40 * MB).connections()).toBe(3);
    expect(new Plan(12 * GB).connections()).toBe(MAX_CONNECTIONS);
  });
});

describe('attempts', () => {
  const broken = { kind: 'broken' } as const;

  it('that are answered uselessly are three, and begin to count again with every byte', () => {
    const attempts = new Attempts();
    const again = () => attempts.failed(broken, attempts.round);
    expect([again(), again(), again()]).toEqual([1000, 2000, undefined]);
    const other = new Attempts();
    for (let tries = 0; tries < 2 * MAX_TRIES; tries++) {
      expect(other.failed(broken, other.round)).toBe(1000);
      other.progress();
    }
  });

  it('of four connections that break together are one', () => {
    const attempts = new Attempts();
    const { round } = attempts;
    for (let connection = 0; connection < 4; connection++) expect(attempts.failed(broken, round)).toBe(1000);
    expect(attempts.failed(broken, attempts.round)).toBe(2000);
  });

  it('without any network go on for hours, ever more slowly', () => {
    const attempts = new Attempts();
    const waits: number[] = [];
    for (let wait = attempts.failed({ kind: 'away' }, 0); wait !== undefined;) {
      waits.push(wait);
      wait = attempts.failed({ kind: 'away' }, attempts.round);
    }
    expect(waits.slice(0, 6)).toEqual([1000, 2000, 4000, 8000, 16_000, 30_000]);
    expect(waits.reduce((sum, wait) => sum + wait, 0)).toBeGreaterThan(11 * 3_600_000);
  });

  it('wait as long as a busy server asks, within reason', () => {
    const attempts = new Attempts();
    const wait = (afterMs?: number) =>
      attempts.failed({ kind: 'busy', ...(afterMs !== undefined && { afterMs }) }, attempts.round);
    expect([wait(5000), wait(0), wait(9e9)]).toEqual([5000, 1000, 600_000]);
  });

  it.each([
    [new BrokenAnswer('cut'), 'broken'],
    [new BusyAnswer('later', 5), 'busy'],
    [new FileChanged('other'), 'final'],
    [new HearthError('disk_full', 'full'), 'final'],
    [new HearthError('offline', 'off'), 'final'],
    [new HearthError('unreachable', 'x', { cause: Object.assign(new Error(), { code: 'ENOTFOUND' }) }), 'away'],
    [new HearthError('unreachable', 'x', { cause: Object.assign(new Error(), { code: 'ECONNRESET' }) }), 'broken'],
    [
      new HearthError('unreachable', 'x', {
        cause: new AggregateError([Object.assign(new Error(), { code: 'ECONNREFUSED' })]),
      }),
      'away',
    ],
    [new TypeError('a bug'), 'final'],
  ])('%s is %s', (error, kind) => {
    expect(failureOf(error).kind).toBe(kind);
  });
});

describe('an answer', () => {
  it.each([
    ['of a near server', { headMs: 1, bodyMs: 25, bytes: 256 * KB }, 128 * KB],
    ['of a near, fast server', { headMs: 1, bodyMs: 4, bytes: 512 * KB }, 384 * KB],
    ['of a server far away', { headMs: 50, bodyMs: 100, bytes: MB }, 1.5 * MB],
    ['on a computer that is busy', { headMs: 20, bodyMs: 1000, bytes: 512 * KB }, 128 * KB],
    ['that is here at once', { headMs: 1, bodyMs: 0, bytes: 64 * KB }, 192 * KB],
  ])('%s has as many bytes as come in three times the while it takes to ask', (_, went, bytes) => {
    const pace = new Pace();
    expect(pace.answerBytes).toBe(128 * KB);
    pace.went(went);
    expect(Math.round(pace.answerBytes)).toBe(bytes);
    // One that was late says nothing about how far the server is away.
    pace.went({ ...went, headMs: 900 });
    expect(Math.round(pace.answerBytes)).toBe(bytes);
  });
});

describe('headers', () => {
  it.each([
    ['bytes 0-99/1000', { start: 0, end: 100, total: 1000 }],
    ['bytes 5-5/*', { start: 5, end: 6 }],
    ['bytes */1000', undefined],
    ['0-99/1000', undefined],
    [undefined, undefined],
  ])('content-range %j', (header, range) => {
    expect(contentRange(header)).toEqual(range);
  });

  it.each([
    ['120', 120_000],
    ['Thu, 01 Jan 1970 00:01:00 GMT', 50_000],
    ['Thu, 01 Jan 1970 00:00:00 GMT', 0],
    ['soon', undefined],
    [undefined, undefined],
  ])('retry-after %j', (header, ms) => {
    expect(retryAfterMs(header, 10_000)).toBe(ms);
  });
});

describe('the journal', () => {
  const size = 10 * MB;
  const block = blockBytesOf(size);
  const hash = randomBytes(32);
  const written = Buffer.concat([
    journalHead(size, block),
    journalRecord(0, randomBytes(32)),
    journalRecord(7, hash),
    journalRecord(0, hash),
  ]);

  it('keeps the latest hash of each block', () => {
    expect(readJournal(written, size, block)).toEqual({
      hashes: new Map([
        [0, hash],
        [7, hash],
      ]),
      bytes: written.length,
    });
  });

  it('ends before a record that is torn, changed, or of no block', () => {
    const bytesOf = (content: Buffer) => readJournal(content, size, block)?.bytes;
    expect(bytesOf(written.subarray(0, -1))).toBe(HEAD_BYTES + 2 * RECORD_BYTES);
    const changed = Buffer.from(written);
    changed.writeUInt8(changed.readUInt8(HEAD_BYTES + RECORD_BYTES + 9) ^ 1, HEAD_BYTES + RECORD_BYTES + 9);
    expect(bytesOf(changed)).toBe(HEAD_BYTES + RECORD_BYTES);
    expect(bytesOf(Buffer.concat([written, journalRecord(160, hash)]))).toBe(written.length);
    expect(bytesOf(Buffer.concat([written, Buffer.alloc(80)]))).toBe(written.length);
  });

  it('of another file is none', () => {
    expect(readJournal(written, size + 1, block)).toBeUndefined();
    expect(readJournal(Buffer.alloc(0), size, block)).toBeUndefined();
    expect(readJournal(randomBytes(100), size, block)).toBeUndefined();
  });
});

describe('what is shown', () => {
  const record = {
    version: 1 as const,
    id: 'x',
    source: 'hub' as const,
    repo: 'a/b',
    file: 'f',
    revision: 'main',
    commit: 'c',
    files: [
      { path: 'f', bytes: 100 },
      { path: 'g', bytes: 50 },
    ],
    paused: false,
    restarted: false,
    verified: [],
    addedAt: 0,
  };

  it('never falls while something is fetched a second time', () => {
    const entry = new Entry(record);
    entry.setStored(0, 100);
    entry.setStored(1, 20);
    entry.setStored(0, 40);
    expect(entry.show(0)).toMatchObject({ doneBytes: 120, totalBytes: 150 });
    expect(entry.missingBytes).toBe(90);
    entry.beginAnew(record);
    expect(entry.show(0).doneBytes).toBe(0);
  });

  it('of the speed is what the last seconds brought', () => {
    const speed = new Speed();
    for (let at = 0; at < 20_000; at += 100) speed.add(at < 10_000 ? 1000 : 5000, at);
    expect(speed.perSecond(19_900)).toBeGreaterThan(48_000);
    expect(speed.perSecond(19_900)).toBeLessThan(53_000);
    expect(speed.perSecond(60_000)).toBe(0);
  });

  it('on a terminal is a bar, numbers and what is left', () => {
    const download = {
      ...new Entry(record).show(0),
      phase: 'fetching' as const,
      doneBytes: 75,
      bytesPerSecond: 10,
      etaMs: 7500,
    };
    expect(progressLine(download)).toBe('[############------------]  50 %  75 B of 150 B  10 B/s  8 s left');
    expect(progressLine({ ...download, phase: 'reconnecting' })).toContain('reconnecting');
  });

  it.each([
    ['a/b', { repo: 'a/b' }],
    ['a/b/c/d.gguf', { repo: 'a/b', file: 'c/d.gguf' }],
    ['https://huggingface.co/a/b/blob/main/x.gguf', { repo: 'a/b', file: 'x.gguf' }],
  ])('%s is asked for as %j', (asked, target) => {
    expect(splitTarget(asked)).toEqual(target);
  });
});
