// What a request must show before a route answers it: the app's token, or a key of the API once there is one.
import { createHash, timingSafeEqual } from 'node:crypto';
import { HearthError } from '../../contract/errors';
import type { Store } from '../../store/types';

/**
 * `public`: nothing. `key`: an API key, where any is set. `share`: the key of what is shared, or an API key: never nothing. `token`: the
 * app's own token, which opens the others, too.
 */
export type Access = 'public' | 'key' | 'share' | 'token';

export const hashKey = (key: string): string => createHash('sha256').update(key).digest('hex');

/** Of equal-length digests, so that neither content nor length shows in the time it takes. */
export function sameSecret(given: string, wanted: string): boolean {
  return timingSafeEqual(Buffer.from(hashKey(given)), Buffer.from(hashKey(wanted)));
}

export function bearer(header: string | undefined): string | undefined {
  return header === undefined ? undefined : /^Bearer +(\S+)\s*$/i.exec(header)?.[1];
}

/** Never says what was given: it may be somebody's key for another service. */
const refused = (given: boolean) =>
  new HearthError('invalid_api_key', given ? 'The key that was sent is not valid.' : 'This request needs a key.');

export interface AccessCheck {
  token: string;
  /** While models are shared. */
  shareKey?(): string | undefined;
  store: Pick<Store, 'checkKey'>;
}

/** Gives the cache scope of the caller: answers of one key are never timed by another. Throws `invalid_api_key`. */
export async function checkAccess(access: Access, header: string | undefined, check: AccessCheck): Promise<string> {
  if (access === 'public') return '';
  const given = bearer(header);
  if (given !== undefined && sameSecret(given, check.token)) return '';
  if (access === 'token') throw refused(given !== undefined);
  if (access === 'share') {
    const wanted = check.shareKey?.();
    if (given !== undefined && wanted !== undefined && sameSecret(given, wanted)) return '';
  }
  const { any, id } = await check.store.checkKey(given === undefined ? undefined : hashKey(given), Date.now());
  if ((any || access === 'share') && id === undefined) throw refused(given !== undefined);
  return id ?? '';
}
