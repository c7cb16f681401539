// `hearth pull`: fetches a model from the hub, or from another Hearth that shares it, by the running Hearth if there is one. It goes on where it stopped, and says how far it is.
import { setTimeout as sleep } from 'node:timers/promises';
import { openFetcher, runningServer } from '../app';
import { HearthError } from '../contract/errors';
import type { Download, DownloadRequest, HubModel } from '../contract/models';
import type { PeerImportRequest } from '../contract/sharing';
import { ServerFetcher } from './ask-downloads';
import { bytes, json, type Io } from './report';

export interface PullOptions {
  json?: boolean;
  dataDir?: string;
  revision?: string;
  /** Of another Hearth. */
  key?: string;
}

/** Where a model is fetched: in this process, or by the Hearth that runs already. */
export interface Fetcher {
  repository(repo: string): Promise<HubModel>;
  start(request: DownloadRequest): Promise<Download>;
  importFrom(request: PeerImportRequest): Promise<Download>;
  look(id: string): Promise<Download>;
  pause(id: string): Promise<void>;
  close(): Promise<void>;
}

const LOOK_MS = 250;

/** Gives the exit code: 130 after Ctrl-C, which pauses it. */
export async function pull(asked: string, options: PullOptions, io: Io, signal: AbortSignal): Promise<number> {
  const server = await runningServer(options.dataDir);
  const fetcher = server ? new ServerFetcher(server) : await openFetcher(options.dataDir);
  try {
    const peer = peerTarget(asked);
    const begun = peer
      ? await fetcher.importFrom({ ...peer, ...(options.key !== undefined && { key: options.key }) })
      : await fetcher.start(await requestFor(asked, options.revision, fetcher, io, options.json ?? false));
    const ended = await follow(fetcher, begun, options.json ? { ...io, terminal: false } : io, signal);
    return told(ended, io, options.json ?? false);
  } finally {
    await fetcher.close();
  }
}

/** http://HOST:PORT/MODEL: a model of another Hearth. A page of the hub has an owner and a name. */
export function peerTarget(asked: string): { url: string; model: string } | undefined {
  const found = /^(https?:\/\/[^/?#]+)\/([^/?#]+)\/?$/i.exec(asked);
  const [, url, model] = found ?? [];
  return url === undefined || model === undefined ? undefined : { url, model: decoded(model) };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** OWNER/NAME, or OWNER/NAME/FILE; also as the address of its page. */
export function splitTarget(asked: string): { repo: string; file?: string } {
  const path = asked.replace(/^https?:\/\/[^/]+\//i, '').replace(/\/(?:resolve|blob)\/[^/]+\//, '/');
  const [owner, name, ...file] = path.split('/');
  if (!owner || !name) {
    throw new HearthError('invalid_request', `${asked} is no repository such as OWNER/NAME.`, { param: 'repo' });
  }
  return { repo: `${owner}/${name}`, ...(file.length > 0 && { file: file.join('/') }) };
}

async function requestFor(
  asked: string,
  revision: string | undefined,
  fetcher: Fetcher,
  io: Io,
  quiet: boolean,
): Promise<DownloadRequest> {
  const { repo, file } = splitTarget(asked);
  const fields = { repo, ...(revision !== undefined && { revision }) };
  if (file !== undefined) return { ...fields, file };
  const { files = [], suggested } = await fetcher.repository(repo);
  const chosen = files.find(({ path }) => path === suggested);
  if (!chosen) throw new HearthError('not_found', `${repo} has no model file that Hearth can use.`);
  if (!quiet) io.err(`Fetching ${chosen.path} (${bytes(chosen.bytes)}), of ${files.length} to choose from.\n`);
  return { ...fields, file: chosen.path };
}

const isOver = ({ phase }: Download) => phase === 'done' || phase === 'failed' || phase === 'paused';

async function follow(fetcher: Fetcher, begun: Download, io: Io, signal: AbortSignal): Promise<Download> {
  let download = begun;
  const clear = () => (io.terminal ? io.err('\r\u001b[K') : undefined);
  while (!isOver(download)) {
    if (io.terminal) io.err(`\r\u001b[K${progressLine(download)}`);
    await sleep(LOOK_MS, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) await fetcher.pause(download.id);
    download = await fetcher.look(download.id);
  }
  clear();
  return download;
}

const BAR = 24;

/** `[######------] 41 %  4.9 GB of 12.1 GB  31.2 MB/s  3 min left` */
export function progressLine(download: Download): string {
  const { doneBytes, totalBytes, bytesPerSecond, etaMs, phase, fraction } = download;
  const part = totalBytes === 0 ? 1 : phase === 'verifying' ? (fraction ?? 0) : doneBytes / totalBytes;
  const full = Math.round(part * BAR);
  const bar = `[${'#'.repeat(full)}${'-'.repeat(BAR - full)}] ${String(Math.floor(part * 100)).padStart(3)} %`;
  if (phase !== 'fetching') return `${bar}  ${PHASES[phase]}`;
  const left = etaMs === undefined ? '' : `  ${duration(etaMs)} left`;
  return `${bar}  ${bytes(doneBytes)} of ${bytes(totalBytes)}  ${bytes(bytesPerSecond)}/s${left}`;
}

const PHASES: Record<Download['phase'], string> = {
  queued: 'waiting for another download',
  fetching: 'fetching',
  reconnecting: 'reconnecting',
  verifying: 'comparing with the checksum',
  repairing: 'repairing',
  paused: 'paused',
  done: 'done',
  failed: 'failed',
};

function duration(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  if (seconds < 90) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 90 ? `${minutes} min` : `${(minutes / 60).toFixed(1)} h`;
}

function told(download: Download, io: Io, asJson: boolean): number {
  if (download.error) throw HearthError.from(download.error);
  if (asJson) json(io, { download });
  else if (download.phase === 'paused') io.err('Paused. The same command goes on with it.\n');
  else io.out(`${download.model ?? download.file} is here (${bytes(download.totalBytes)}).\n`);
  return download.phase === 'paused' ? 130 : 0;
}
