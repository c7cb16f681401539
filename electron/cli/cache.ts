// `hearth cache clear`: forgets what models have read. Chats stay; the next question to a long one takes longer.
import { clearCache } from '../app';
import type { Io } from './report';

export interface CacheOptions {
  dataDir?: string;
}

export function cacheClear({ dataDir }: CacheOptions, io: Io): void {
  clearCache(dataDir);
  io.out('The cache is empty.\n');
}
