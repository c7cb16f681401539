// The folder for what models have read, so that a long chat need not be read again after a restart: where it is and how large it may
// become. The engine writes it; whatever is missing or broken there is read again.
import { rmSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import type { LoadOptions } from '../contract/runtime';
import type { DataDir } from './data-dir';

const MOST_BYTES = 4_000_000_000;
/** Of what is free on the disk at the start. */
const MOST_SHARE = 0.1;

export function kvCacheFolder(dir: DataDir): string {
  return join(dir.cache, 'kv');
}

/** Load options for the cache in this data directory; none where the disk does not tell what is free. */
export function kvCache(dir: DataDir): Pick<LoadOptions, 'diskCachePath' | 'diskCacheBytes'> {
  return { diskCachePath: kvCacheFolder(dir), diskCacheBytes: kvCacheBytes(freeBytes(dir.cache)) };
}

/** Where the engine keeps what graphics drivers have compiled. */
export const kernelCache = (dir: DataDir): string => join(dir.cache, 'kernels');

export function kvCacheBytes(free: number): number {
  return Math.floor(Math.min(MOST_BYTES, free * MOST_SHARE));
}

/** Also while Hearth runs: a block that is gone is read again. */
export function clearKvCache(dir: DataDir): void {
  rmSync(kvCacheFolder(dir), { recursive: true, force: true, maxRetries: 3 });
}

function freeBytes(folder: string): number {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  } catch {
    return 0;
  }
}
