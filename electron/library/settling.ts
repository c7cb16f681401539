// Which files have come to rest: one that is still being written would be taken for a damaged one. Pure but for what it remembers of the
// looks before; the clock is given.
import type { Found } from './scan';

export class Settling {
  private seen = new Map<string, { print: string; since: number }>();
  private first = true;

  /** `restMs` 0: everything rests. */
  constructor(private readonly restMs: number) {}

  /** Paths of the models that do not rest yet. At the first look everything does: it was there before Hearth was. */
  look(models: readonly { found: Found; print: string }[], now: number): Set<string> {
    const next = new Map<string, { print: string; since: number }>();
    const moving = new Set<string>();
    for (const { found, print } of models) {
      const before = this.seen.get(found.path);
      const since = before?.print === print ? before.since : now;
      next.set(found.path, { print, since });
      const written = Math.max(0, ...found.files.map(({ mtimeMs }) => mtimeMs));
      // The second way is for times in the future and for programs that set them.
      const rests = now - written >= this.restMs && written <= now ? true : now - since >= this.restMs;
      if (!rests && !this.first && this.restMs > 0) moving.add(found.path);
    }
    this.seen = next;
    this.first = false;
    return moving;
  }
}
