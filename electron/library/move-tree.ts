// Moves a folder's content to another place: a verified copy of every file first, the switch by the caller, and only then the old files
// are removed. On the same disk a second name of the file does for a copy. Broken off anywhere, the old place is whole.
import {
  link,
  lstat,
  mkdir,
  readdir,
  readlink,
  realpath,
  rm,
  rmdir,
  stat,
  statfs,
  symlink,
  unlink,
  writeFile,
} from 'node:fs/promises';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { HearthError } from '../contract/errors';
import { onDisk } from './file-work';
import type { FileThread } from './file-thread';
import { isWithin } from './walk';

/** Lies in a folder that is being filled, so that a move that was broken off can be made again. */
const MARKER = '.hearth-move';
const SPARE_BYTES = 64 * 1024 * 1024;
const MAX_ENTRIES = 1_000_000;

export interface Tree {
  from: string;
  to: string;
  /** Relative paths; folders before what is in them. */
  folders: string[];
  files: { path: string; bytes: number }[];
  links: string[];
  bytes: number;
  /** Same file system: nothing needs to be copied. */
  sameDisk: boolean;
}

export interface MoveProgress {
  phase: 'copying' | 'verifying';
  doneBytes: number;
}

/** Where `path` is or would be, with the links of what exists resolved. */
async function destined(path: string): Promise<string> {
  const real = await realpath(path).catch(() => undefined);
  if (real !== undefined || dirname(path) === path) return real ?? path;
  return join(await destined(dirname(path)), path.slice(dirname(path).length).replace(/^[\\/]/, ''));
}

async function nearestFolder(path: string): Promise<string> {
  const there = await stat(path).catch(() => undefined);
  return there || dirname(path) === path ? path : nearestFolder(dirname(path));
}

const refused = (message: string) => new HearthError('invalid_request', message, { param: 'to' });

/** Throws invalid_request where that is no place, disk_full where it has no room. Changes nothing. */
export async function planMove(from: string, to: string): Promise<Tree> {
  if (!isAbsolute(to)) throw refused('to: it must be a whole path.');
  const [source, target] = [await destined(resolve(from)), await destined(resolve(to))];
  if (source === target) throw refused(`${to} is where it is already.`);
  if (isWithin(target, source) || isWithin(source, target))
    throw refused('to: one of the two folders lies in the other.');
  const names = await readdir(target).catch((error: NodeJS.ErrnoException): string[] => {
    if (error.code === 'ENOENT') return [];
    throw refused(`${to} is not a folder that can be used.`);
  });
  if (names.length > 0 && !names.includes(MARKER))
    throw refused(`${to} is not empty. Choose an empty folder, or a new one.`);
  const tree = await listTree(source, target);
  const near = await nearestFolder(target);
  const disks = await onDisk(near, () => Promise.all([stat(source), stat(near), statfs(near)]));
  tree.sameDisk = disks[0].dev === disks[1].dev;
  if (!tree.sameDisk) refuseFull(to, tree.bytes, disks[2].bavail * disks[2].bsize);
  return tree;
}

/** Throws disk_full, with what is needed and what there is. */
export function refuseFull(path: string, bytes: number, available: number): void {
  const needed = bytes + SPARE_BYTES;
  if (available < needed)
    throw new HearthError('disk_full', `There is not enough space at ${path}.`, { needed, available });
}

async function listTree(from: string, to: string): Promise<Tree> {
  const tree: Tree = { from, to, folders: [], files: [], links: [], bytes: 0, sameDisk: false };
  const pending = [''];
  for (let folder = pending.shift(); folder !== undefined; folder = pending.shift()) {
    for (const entry of await readdir(join(from, folder), { withFileTypes: true }).catch(() => [])) {
      const path = join(folder, entry.name);
      if (tree.files.length + tree.folders.length + tree.links.length > MAX_ENTRIES)
        throw refused(`${from} holds too many files to be moved.`);
      if (entry.isDirectory()) {
        tree.folders.push(path);
        pending.push(path);
      } else if (entry.isSymbolicLink()) tree.links.push(path);
      else if (entry.isFile() && entry.name !== MARKER) {
        const bytes = (await lstat(join(from, path)).catch(() => undefined))?.size;
        if (bytes === undefined) continue;
        tree.files.push({ path, bytes });
        tree.bytes += bytes;
      }
    }
  }
  return tree;
}

/** Fills the new place. `lenient`: a file that is gone meanwhile is left out (a cache lives). Throws disk_full, disk_error, cancelled. */
export async function copyTree(
  tree: Tree,
  thread: FileThread,
  onProgress: (progress: MoveProgress) => void,
  options: { lenient?: boolean; signal?: AbortSignal } = {},
): Promise<void> {
  const { from, to } = tree;
  await onDisk(to, async () => {
    await mkdir(to, { recursive: true, mode: 0o700 });
    await writeFile(join(to, MARKER), 'Hearth is moving its files here.\n');
    for (const folder of tree.folders) await mkdir(join(to, folder), { recursive: true, mode: 0o700 });
  });
  let before = 0;
  for (const { path, bytes } of tree.files) {
    const report = (phase: MoveProgress['phase'], done: number) =>
      onProgress({ phase, doneBytes: before + Math.min(done, bytes) });
    report('copying', 0);
    try {
      await place(tree, path, thread, report, options.signal);
    } catch (error) {
      const gone = !(await lstat(join(from, path)).catch(() => undefined));
      if (!options.lenient || !gone) throw error;
    }
    before += bytes;
  }
  await onDisk(to, async () => {
    for (const path of tree.links) {
      await rm(join(to, path), { force: true });
      await symlink(await readlink(join(from, path)), join(to, path));
    }
  });
  onProgress({ phase: 'verifying', doneBytes: tree.bytes });
}

async function place(
  { from, to, sameDisk }: Tree,
  path: string,
  thread: FileThread,
  report: (phase: MoveProgress['phase'], done: number) => void,
  signal: AbortSignal | undefined,
): Promise<void> {
  const [source, target] = [join(from, path), join(to, path)];
  await onDisk(target, () => rm(target, { force: true }));
  if (
    sameDisk &&
    (await link(source, target).then(
      () => true,
      () => false,
    ))
  )
    return;
  await thread.copy(source, target, {
    ...(signal && { signal }),
    // Half of the work each, so that what is shown never goes back.
    onProgress: ({ copied, verified }) => report(verified > 0 ? 'verifying' : 'copying', (copied + verified) / 2),
  });
}

/** After the switch: removes exactly what was copied, and folders that are empty then. What cannot be removed stays; gives how many. */
export async function removeOld({ from, to, files, links, folders }: Tree): Promise<number> {
  await unlink(join(to, MARKER)).catch(() => undefined);
  let left = 0;
  for (const path of [...files.map((file) => file.path), ...links])
    await unlink(join(from, path)).catch(() => (left += 1));
  for (const folder of [...folders].reverse().concat('')) await rmdir(join(from, folder)).catch(() => undefined);
  return left;
}
