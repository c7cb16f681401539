// What the disk said, as an error that a user can do something about.
import { HearthError } from '../../contract/errors';

export function diskError(thrown: unknown): HearthError {
  if (thrown instanceof HearthError) return thrown;
  const { code, path } = (thrown ?? {}) as NodeJS.ErrnoException;
  const where = path === undefined ? '' : ` (${path})`;
  switch (code) {
    case 'ENOSPC':
    case 'EDQUOT':
    case 'EFBIG':
      return new HearthError('disk_full', 'The disk has no room for more of this file.', { cause: thrown });
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return new HearthError('disk_error', `The models folder cannot be written to${where}.`, { cause: thrown });
    default:
      return new HearthError('internal', thrown instanceof Error ? thrown.message : String(thrown), { cause: thrown });
  }
}
