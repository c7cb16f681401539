// Entry of the worker thread that has the part files: main's thread neither hashes nor waits for a disk. It answers calls and knows nothing
// of downloads.
import { parentPort } from 'node:worker_threads';
import { HearthError, type ErrorShape } from '../../contract/errors';
import { diskError } from './disk-error';
import { digestOf, PartFile, publish, storedBytes, type Expected, type Verdict } from './part-file';

/** What the thread does. `part` is the path of a part file. */
export interface DiskCalls {
  /** Gives the blocks that are stored. */
  open(part: string, size: number): number[];
  /** True where the block is another one than was stored before. */
  write(part: string, index: number, bytes: Uint8Array): boolean;
  verify(part: string, expected: Expected): Verdict;
  close(part: string): void;
  stored(part: string, size: number): number;
  publish(part: string, target: string): void;
  digest(path: string, expected: Expected): string;
}

export interface DiskCall {
  call: number;
  method: keyof DiskCalls;
  args: unknown[];
}

/** Ends long work. */
export interface DiskStop {
  stop: number;
}

export type DiskReply = { call: number; result?: unknown; error?: ErrorShape } | { call: number; fraction: number };

const port = parentPort;
if (!port) throw new Error('The part files are kept in a worker thread.');
const send = (message: DiskReply) => port.postMessage(message);

const open = new Map<string, PartFile>();
/** Calls that nobody waits for any more. Reading a large file asks now and then. */
const stopped = new Set<number>();

function partAt(path: string): PartFile {
  const part = open.get(path);
  if (!part) throw new HearthError('internal', `${path} is not open.`);
  return part;
}

type Told = (fraction: number) => void;
type Later<C> = {
  [K in keyof C]: C[K] extends (...args: infer A) => infer R ? (told: Told, ...args: A) => R | Promise<R> : never;
};

const calls: Later<DiskCalls> = {
  open: (_told, path, size) => {
    open.get(path)?.close();
    const part = new PartFile(path, size);
    open.set(path, part);
    return part.stored();
  },
  write: (_told, path, index, bytes) => partAt(path).write(index, bytes),
  verify: (told, path, expected) => partAt(path).verify(expected, told),
  close: (_told, path) => {
    open.get(path)?.close();
    open.delete(path);
  },
  stored: (_told, path, size) => storedBytes(path, size),
  publish: (_told, part, target) => publish(part, target),
  digest: (told, path, expected) => digestOf(path, expected, told),
};

async function answer({ call, method, args }: DiskCall): Promise<void> {
  try {
    const work = calls[method] as (told: Told, ...args: unknown[]) => unknown;
    const told = (fraction: number) => {
      if (stopped.has(call)) throw new HearthError('cancelled', 'The work was stopped.');
      send({ call, fraction });
    };
    send({ call, result: await work(told, ...args) });
  } catch (error) {
    send({ call, error: diskError(error).toShape() });
  } finally {
    stopped.delete(call);
  }
}

port.on('message', (message: DiskCall | DiskStop | 'end') => {
  if (message !== 'end') {
    if ('stop' in message) stopped.add(message.stop);
    else void answer(message);
    return;
  }
  for (const part of open.values()) part.close();
  port.close();
});
