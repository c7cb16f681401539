// Whether a name from the network may become a file of ours: it never leaves its folder, and means the same on every system.
// Pure functions; they open nothing.
import { HearthError } from '../../contract/errors';

const MAX_PATH_BYTES = 400;
const MAX_SEGMENT_BYTES = 200;
const MAX_DEPTH = 6;
/** Devices of Windows, with any ending. */
const RESERVED = /^(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9¹²³])(\..*)?$/i;
/** Control and format characters: some turn the rest of a name round on a screen. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

const bytes = (text: string) => Buffer.byteLength(text, 'utf8');

/** A name that no honest hub sends: it would lead out of the folder on some system. */
export function leavesFolder(path: string): boolean {
  return (
    path === '' ||
    path.includes('\0') ||
    path.includes('\\') ||
    /^[a-z]:/i.test(path) ||
    path.split('/').some((segment) => segment === '' || segment === '.' || segment === '..')
  );
}

/** Why this name, harmless as it may be elsewhere, is no file here; undefined where it is fine. */
function problem(path: string): string | undefined {
  if (leavesFolder(path)) return 'leads out of its folder';
  const segments = path.split('/');
  if (bytes(path) > MAX_PATH_BYTES || segments.some((segment) => bytes(segment) > MAX_SEGMENT_BYTES))
    return 'is too long';
  if (segments.length > MAX_DEPTH) return 'lies in too many folders';
  for (const segment of segments) {
    if (INVISIBLE.test(segment)) return 'has characters that cannot be seen';
    if (/[<>:"|?*]/.test(segment)) return 'has characters that not every system allows';
    if (/[. ]$/.test(segment) || segment.startsWith(' ')) return 'ends in a dot or a space';
    if (segment.startsWith('.')) return 'is hidden';
    if (RESERVED.test(segment)) return 'is the name of a device';
  }
  return undefined;
}

const shown = (path: string) => JSON.stringify(path.slice(0, 120));

/** Throws HearthError{unsafe_name}, which gives the name. */
export function checkName(path: string): void {
  const why = problem(path);
  if (why !== undefined) throw new HearthError('unsafe_name', `The name ${shown(path)} ${why}.`);
}

/** How a disk that ignores capitals and forms of accents sees a name. */
const folded = (path: string) => path.normalize('NFC').toLowerCase();

/** Of the files that are to lie in one folder. Throws HearthError{unsafe_name}. */
export function checkNames(paths: readonly string[]): void {
  const seen = new Map<string, string>();
  for (const path of paths) {
    checkName(path);
    const other = seen.get(folded(path));
    if (other !== undefined) {
      throw new HearthError('unsafe_name', `The names ${shown(other)} and ${shown(path)} are one on many disks.`);
    }
    seen.set(folded(path), path);
  }
}

/** OWNER/NAME. Throws HearthError{invalid_request | unsafe_name}. */
export function checkRepo(repo: string): void {
  if (!/^[\w.-]+\/[\w.-]+$/.test(repo)) {
    throw new HearthError('invalid_request', `${shown(repo)} is no repository such as OWNER/NAME.`, { param: 'repo' });
  }
  checkName(repo);
}
