// The window's size and place between starts: a small file in Electron's own data folder. Unreadable or absurd values are ignored.
import { readFileSync, writeFileSync } from 'node:fs';
import { z } from 'zod';

const bounds = z.object({
  width: z.int().min(480).max(10_000),
  height: z.int().min(360).max(10_000),
  x: z.int().optional(),
  y: z.int().optional(),
});
export type WindowBounds = z.infer<typeof bounds>;

const DEFAULT: WindowBounds = { width: 1240, height: 820 };

export function readWindowState(file: string): WindowBounds {
  try {
    return bounds.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    return DEFAULT;
  }
}

export function writeWindowState(file: string, state: WindowBounds): void {
  try {
    writeFileSync(file, JSON.stringify(state));
  } catch {
    // A window that opens in its default place next time is no reason to disturb anybody.
  }
}
