// Whether other Hearths may copy models of this one, and the key that they need: in a file that only this user can read. A key is made when
// sharing is first switched on; switched on again, it is a new one, so that whoever had the old one has it no more.
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import { z } from 'zod';

const stored = z.object({ on: z.boolean(), key: z.string().min(32).optional() });

export class ShareKey {
  private held: z.infer<typeof stored> = { on: false };

  /** Without a path nothing outlives the process. */
  constructor(private readonly path?: string) {
    try {
      if (path !== undefined) this.held = stored.parse(JSON.parse(readFileSync(path, 'utf8')));
    } catch {
      // Nothing is shared.
    }
  }

  get on(): boolean {
    return this.held.on && this.held.key !== undefined;
  }

  /** Undefined where nothing is shared. */
  get key(): string | undefined {
    return this.on ? this.held.key : undefined;
  }

  async switch(on: boolean): Promise<void> {
    if (on === this.on) return;
    const next = on ? { on, key: randomBytes(32).toString('base64url') } : { on };
    if (this.path !== undefined) {
      await writeFile(`${this.path}.new`, JSON.stringify(next), { mode: 0o600 });
      await rename(`${this.path}.new`, this.path);
    }
    this.held = next;
  }
}
