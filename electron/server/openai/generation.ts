// Starts generations for a /v1 request and gets the first word of them: so long as nothing was sent, a failure is a status and not
// a line in a stream. It formats nothing.
import type { GenerationEvent } from '../../contract/runtime';
import type { LibraryModel } from '../../library/types';
import type { GenerateWork } from '../../supervisor/types';
import { refOf, type ServerContext } from '../context';
import type { EndEvent } from './answer';

/** After so long the client gets its headers, whether the prompt has been accepted or not. */
export const HEADERS_AFTER_MS = 4000;

export function generations(
  { generate }: Pick<ServerContext, 'generate'>,
  model: LibraryModel,
  works: readonly GenerateWork[],
  id: string,
  signal: AbortSignal,
): AsyncIterable<GenerationEvent>[] {
  return works.map((work, n) => generate(refOf(model), { ...work, id: n === 0 ? id : `${id}-${n}` }, signal));
}

/** Lets go of what is still running or was never read to its end. */
export function letGo(runs: readonly AsyncIterable<GenerationEvent>[]): void {
  for (const run of runs)
    void (run as Partial<AsyncGenerator<GenerationEvent>>).return?.(undefined)?.catch(() => undefined);
}

/**
 * The stream again, after its first event has come or `ms` have passed. A failure within that time is thrown, also one that
 * comes as an `end` before anything else.
 */
export async function begun(
  events: AsyncIterable<GenerationEvent>,
  failureOf: (end: EndEvent) => Error | undefined,
  ms = HEADERS_AFTER_MS,
): Promise<AsyncIterable<GenerationEvent>> {
  const iterator = events[Symbol.asyncIterator]();
  const first = iterator.next();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<'late'>((resolve) => (timer = setTimeout(() => resolve('late'), ms)));
  const early = await Promise.race([first, late]).finally(() => clearTimeout(timer));
  if (early !== 'late' && !early.done && early.value.kind === 'end') {
    const failure = failureOf(early.value);
    if (failure) throw failure;
  }
  return resumed(iterator, first);
}

async function* resumed(
  iterator: AsyncIterator<GenerationEvent>,
  first: Promise<IteratorResult<GenerationEvent>>,
): AsyncGenerator<GenerationEvent, void> {
  try {
    for (let next = await first; !next.done; next = await iterator.next()) yield next.value;
  } finally {
    await iterator.return?.();
  }
}
