// Is something built from its sources stale? A stamp file holds a hash of paths, sizes and times of what it was built from.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

function* files(path) {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat) return;
  if (!stat.isDirectory()) return yield [path, stat];
  for (const entry of readdirSync(path).sort()) {
    if (entry !== 'node_modules' && !entry.startsWith('.')) yield* files(join(path, entry));
  }
}

/** Hash of all files under `paths`: by size and time, which is quick, or by content where times mean nothing. */
export function fingerprint(paths, { content = false } = {}) {
  const hash = createHash('sha256');
  for (const path of paths) {
    for (const [file, stat] of files(path)) {
      hash.update(`${file}\0${stat.size}\0${content ? '' : stat.mtimeMs}\n`);
      if (content) hash.update(readFileSync(file));
    }
  }
  return hash.digest('hex');
}

/** Runs `build` unless `stamp` says that the same sources have been built and every one of `outputs` exists. */
export async function whenStale({ stamp, sources, outputs, content }, build) {
  const now = fingerprint(sources, { content });
  const fresh = outputs.every((path) => existsSync(path)) && existsSync(stamp) && readFileSync(stamp, 'utf8') === now;
  if (fresh) return false;
  await build();
  mkdirSync(dirname(stamp), { recursive: true });
  writeFileSync(stamp, now);
  return true;
}
