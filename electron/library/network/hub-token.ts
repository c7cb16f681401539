// The user's token for the hub: kept in a file that only this user can read, bound to the origin it was entered for, never shown again.
import { readFileSync } from 'node:fs';
import { rename, rm, writeFile } from 'node:fs/promises';
import { z } from 'zod';

const stored = z.object({ origin: z.string(), token: z.string() });

export class HubToken {
  private held: z.infer<typeof stored> | undefined;

  /** Without a path nothing outlives the process. */
  constructor(private readonly path?: string) {
    try {
      if (path !== undefined) this.held = stored.parse(JSON.parse(readFileSync(path, 'utf8')));
    } catch {
      // There is none.
    }
  }

  /** For requests to this hub; undefined where it belongs to another one. */
  for(hub: string): string | undefined {
    return this.held?.origin === new URL(hub).origin ? this.held.token : undefined;
  }

  get isSet(): boolean {
    return this.held !== undefined;
  }

  async set(token: string, hub: string): Promise<void> {
    const held = { origin: new URL(hub).origin, token };
    if (this.path !== undefined) {
      await writeFile(`${this.path}.new`, JSON.stringify(held), { mode: 0o600 });
      await rename(`${this.path}.new`, this.path);
    }
    this.held = held;
  }

  async clear(): Promise<void> {
    this.held = undefined;
    if (this.path !== undefined) await rm(this.path, { force: true });
  }
}
