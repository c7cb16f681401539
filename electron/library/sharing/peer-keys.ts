// The keys of other Hearths that share their models, each for its own address, in a file that only this user can read: a download goes on
// after a restart. Never shown again.
import { readFileSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import { z } from 'zod';
import { HearthError } from '../../contract/errors';

const KEY = /^[\x21-\x7e]{1,500}$/;
const stored = z.record(z.string(), z.string());

/** As it stands in a header; nothing else can be one. Throws HearthError{invalid_request}. */
export function checkedKey(key: string): string {
  const plain = key.trim();
  if (KEY.test(plain)) return plain;
  throw new HearthError('invalid_request', 'key: this is no key of a Hearth.', { param: 'key' });
}

export class PeerKeys {
  private held: Record<string, string> = {};

  /** Without a path nothing outlives the process. */
  constructor(private readonly path?: string) {
    try {
      if (path !== undefined) this.held = stored.parse(JSON.parse(readFileSync(path, 'utf8')));
    } catch {
      // There are none.
    }
  }

  for(origin: string): string | undefined {
    return Object.hasOwn(this.held, origin) ? this.held[origin] : undefined;
  }

  async set(origin: string, key: string): Promise<void> {
    const next = { ...this.held, [origin]: key };
    if (this.path !== undefined) {
      await writeFile(`${this.path}.new`, JSON.stringify(next), { mode: 0o600 });
      await rename(`${this.path}.new`, this.path);
    }
    this.held = next;
  }
}
