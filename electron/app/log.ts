// The app's log: one file in the data directory, kept small. Never a prompt, an answer, a key or the token.
import pino from 'pino';
import { renameSync, statSync } from 'node:fs';
import { join } from 'node:path';

export interface Log {
  info(text: string, fields?: Record<string, unknown>): void;
  warn(text: string, fields?: Record<string, unknown>): void;
  error(text: string, fields?: Record<string, unknown>): void;
  close(): Promise<void>;
}

const LARGEST = 8 * 1024 * 1024;

/** `folder` exists. The file of the last run is kept once it is large. */
export function openLog(folder: string): Log {
  const path = join(folder, 'hearth.log');
  try {
    if (statSync(path).size > LARGEST) renameSync(path, join(folder, 'hearth.1.log'));
  } catch {
    // The first run.
  }
  const destination = pino.destination({ dest: path, sync: false, minLength: 0, mode: 0o600 });
  // A full disk must not end the app.
  destination.on('error', () => undefined);
  const logger = pino({ base: null, timestamp: pino.stdTimeFunctions.isoTime }, destination);
  return {
    info: (text, fields) => logger.info(fields ?? {}, text),
    warn: (text, fields) => logger.warn(fields ?? {}, text),
    error: (text, fields) => logger.error(fields ?? {}, text),
    close: () =>
      new Promise((resolve) => {
        destination.once('close', () => resolve());
        destination.end();
      }),
  };
}
