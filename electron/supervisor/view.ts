// What others see of the models in memory: plain data, put together from hosts, terms and samples. Pure.
import type { ActiveModel } from '../contract/own';
import type { Stats } from '../contract/runtime';
import { total } from './placement/sizes';
import type { Resident } from './resident';
import type { Terms } from './terms';
import type { Want } from './wants';

/** A driver rounds: less than this beyond a budget is not worth a word. */
const SPILL_WORTH_A_WORD = 64e6;

export function describe(resident: Resident): ActiveModel {
  const { host, ref, terms, stats, fallback } = resident;
  const { loaded, running, waiting } = host;
  const state = resident.ending
    ? 'unloading'
    : host.state === 'ready' || host.state === 'failed'
      ? host.state
      : ('loading' as const);
  const { error } = host;
  return {
    name: ref.name,
    state,
    running,
    waiting,
    lastUsedAt: resident.lastUsedAt,
    // Of a model elsewhere there is nothing to tell but where: its numbers would be zeros.
    ...(loaded && (loaded.remote === undefined ? { info: loaded.model } : { remote: loaded.remote })),
    ...(loaded && loaded.context > 0 && { context: loaded.context }),
    ...(loaded && {
      abilities: loaded.abilities,
      kernels: loaded.kernels,
      ...(loaded.replacedKernels && { replacedKernels: loaded.replacedKernels }),
      ...(loaded.device !== undefined && { device: loaded.device }),
      defaultTemperature: loaded.defaultTemperature,
    }),
    ...(terms && {
      weightBytes: terms.plan.weightBytes,
      kvGrantBytes: terms.kvGrant,
      heldBytes: total(terms.parts.map(({ heldBytes }) => heldBytes)),
    }),
    ...(terms?.gpu && { gpu: namesOf(terms) }),
    ...(fallback && { fallback }),
    ...(stats && stats.spilledBytes >= SPILL_WORTH_A_WORD && { spilledBytes: stats.spilledBytes }),
    ...(stats && loaded?.remote === undefined && { heldBytes: stats.rssAnonBytes }),
    ...(error && { error: error.toShape() }),
  };
}

/** Of several devices that share it, each. */
function namesOf({ gpu, division }: Terms): string {
  const names = division?.placement.shares.filter(({ kind }) => kind === 'gpu').map(({ name }) => name);
  return names?.join(', ') ?? gpu?.name ?? '';
}

/** A model on its way. */
export function describeComing(want: Want, { phase, fraction }: Pick<ActiveModel, 'phase' | 'fraction'>): ActiveModel {
  return {
    name: want.ref.name,
    state: 'loading',
    waiting: want.requests.size,
    ...(phase && { phase }),
    ...(fraction !== undefined && { fraction }),
  };
}

/** The numbers of all runtimes as if they were one; those of the requests, too. */
export function together(all: readonly Stats[]): Stats | undefined {
  const [first, ...others] = all;
  if (!first) return undefined;
  return others.reduce((sum, next) => {
    const misses = { ...sum.cacheMisses };
    for (const [reason, count] of Object.entries(next.cacheMisses)) misses[reason] = (misses[reason] ?? 0) + count;
    const numbers = Object.entries(next).filter((entry): entry is [string, number] => typeof entry[1] === 'number');
    const added = numbers.map(([key, value]) => [key, Number(sum[key as keyof Stats]) + value]);
    return { ...sum, ...(Object.fromEntries(added) as Partial<Stats>), cacheMisses: misses };
  }, first);
}
