// Failures prevented: a cache that fills the disk; a command that clears more than the cache.
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { openDataDir } from '../../../electron/app/data-dir';
import { clearKvCache, kvCache, kvCacheBytes, kvCacheFolder } from '../../../electron/app/kv-cache';

const root = mkdtempSync(join(tmpdir(), 'hearth-kv-cache-'));
afterEach(() => rmSync(root, { recursive: true, force: true }));

describe('the cache of what models have read', () => {
  it('takes at most a tenth of the free disk, and 4 GB', () => {
    expect(kvCacheBytes(1e12)).toBe(4e9);
    expect(kvCacheBytes(1e10)).toBe(1e9);
    expect(kvCacheBytes(0)).toBe(0);
  });

  it('is in the data directory, and clearing it clears nothing else', () => {
    const dir = openDataDir(root);
    expect(kvCache(dir).diskCachePath).toBe(join(root, 'cache', 'kv'));
    expect(kvCache(dir).diskCacheBytes).toBeGreaterThan(0);
    clearKvCache(dir); // nothing there yet
    mkdirSync(join(kvCacheFolder(dir), 'v1', 'scope'), { recursive: true });
    writeFileSync(join(dir.cache, 'other'), '');
    clearKvCache(dir);
    expect(existsSync(kvCacheFolder(dir))).toBe(false);
    expect(existsSync(join(dir.cache, 'other'))).toBe(true);
  });
});
