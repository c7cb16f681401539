// What this process holds of the machine's memory. Linux tells apart what is its own and what is mapped from files.
import { readFileSync } from 'node:fs';

export interface ProcessMemory {
  rssBytes: number;
  /** Resident and not backed by a file; where the system does not tell, all of it. */
  rssAnonBytes: number;
}

/** The numbers of /proc/PID/status, in bytes; undefined where they are missing. */
export function parseStatus(status: string): ProcessMemory | undefined {
  const field = (name: string) => {
    const match = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status);
    return match ? Number(match[1]) * 1024 : undefined;
  };
  const rssBytes = field('VmRSS');
  const rssAnonBytes = field('RssAnon');
  return rssBytes === undefined || rssAnonBytes === undefined ? undefined : { rssBytes, rssAnonBytes };
}

export function processMemory(): ProcessMemory {
  try {
    const parsed = parseStatus(readFileSync('/proc/self/status', 'utf8'));
    if (parsed) return parsed;
  } catch {
    // Not Linux.
  }
  const { rss } = process.memoryUsage();
  return { rssBytes: rss, rssAnonBytes: rss };
}
