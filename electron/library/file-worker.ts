// Entry of the thread that reads whole files, so that main's never waits for a disk. One job at a time, which can pause and be given up.
import { constants, setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { HearthError, type ErrorShape } from '../contract/errors';
import { copyVerified, hashFile } from './file-work';

export type FileJob = { kind: 'hash'; path: string } | { kind: 'copy'; from: string; to: string };
export type ToWorker = { job: number; work: FileJob } | { pause: boolean } | { cancel: number };
export type FromWorker =
  | { job: number; copied: number; verified: number }
  | { job: number; sha256: string }
  | { job: number; error: ErrorShape };

const REPORT_MS = 250;

if (!parentPort) throw new Error('Files are read in a worker thread.');
const port = parentPort;
const send = (message: FromWorker) => port.postMessage(message);

let paused: Promise<void> | undefined;
let resume: () => void = () => undefined;
const cancelled = new Set<number>();

// Linux: of this thread alone. Elsewhere it would be that of the whole process.
if (process.platform === 'linux') setPriority(constants.priority.PRIORITY_LOW);

class Progress {
  copied = 0;
  verified = 0;
  private last = 0;

  constructor(private readonly job: number) {}

  readonly step = (counter: 'copied' | 'verified') => async (bytes: number) => {
    this[counter] += bytes;
    const now = performance.now();
    if (now - this.last > REPORT_MS) {
      this.last = now;
      send({ job: this.job, copied: this.copied, verified: this.verified });
    }
    await paused;
    if (cancelled.has(this.job)) throw new HearthError('cancelled', 'This was given up.');
  };
}

async function run(job: number, work: FileJob): Promise<void> {
  const { step } = new Progress(job);
  try {
    const sha256 =
      work.kind === 'hash'
        ? await hashFile(work.path, step('verified'))
        : await copyVerified(work.from, work.to, { copied: step('copied'), verified: step('verified') });
    send({ job, sha256 });
  } catch (error) {
    send({ job, error: HearthError.from(error).toShape() });
  }
  cancelled.delete(job);
}

let turn = Promise.resolve();
port.on('message', (message: ToWorker) => {
  if ('work' in message) turn = turn.then(() => run(message.job, message.work));
  else if ('cancel' in message) {
    cancelled.add(message.cancel);
    resume();
  } else if (message.pause) paused ??= new Promise((done) => (resume = done));
  else {
    resume();
    paused = undefined;
  }
});
