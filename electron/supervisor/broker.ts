// Who gets how much memory: whether a model can be loaded now beside the others, what must shrink or go for it, and what conversations
// may grow by when there is room. Pure functions over plain data; the loading and unloading is resident.ts's.

/** A model that is in memory. */
export interface Tenant {
  path: string;
  /** Mapped; counted whole, for what is not in memory must be read again and again. */
  weightBytes: number;
  /** Working space and the process. */
  heldBytes: number;
  /** A conversation of the promised length; the most that was granted at the load; what is granted now. */
  kvMin: number;
  kvMax: number;
  kvGrant: number;
  /** Has requests. */
  busy: boolean;
  lastUsedAt: number;
}

/** A model that wants to come. */
export interface Ask {
  path: string;
  weightBytes: number;
  heldBytes: number;
  kvMin: number;
  kvMax: number;
  /** Of the weights, what may lack room where nothing else can be done. */
  coldBytes: number;
}

export interface Grant {
  path: string;
  kvBytes: number;
}

export type Placement =
  /** Load it now with so much for conversations, after those idle ones have been shrunk. */
  | { kind: 'grant'; kvBytes: number; shrink: Grant[] }
  /** These are idle: unload them, then ask again. */
  | { kind: 'evict'; paths: string[] }
  /** These must end what they are doing first. */
  | { kind: 'wait'; paths: string[] }
  | { kind: 'refuse'; needed: number; available: number };

export const committed = (tenant: Tenant): number => tenant.weightBytes + tenant.heldBytes + tenant.kvGrant;

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
const byUse = (one: Tenant, two: Tenant): number => one.lastUsedAt - two.lastUsedAt;

/**
 * `limit`: what all models together may take. The same model loaded anew (another context) takes the place of the one that is there.
 * First conversations of idle models shrink, then idle models go, the least recently used first, then busy ones are waited for.
 */
export function place(ask: Ask, tenants: readonly Tenant[], limit: number): Placement {
  const same = tenants.find(({ path }) => path === ask.path);
  if (same) return same.busy ? { kind: 'wait', paths: [same.path] } : { kind: 'evict', paths: [same.path] };
  const least = ask.weightBytes + ask.heldBytes + ask.kvMin;
  const room = limit - sum(tenants.map(committed));
  if (least <= room) return { kind: 'grant', kvBytes: Math.min(ask.kvMax, ask.kvMin + room - least), shrink: [] };
  const idle = tenants.filter(({ busy }) => !busy).sort(byUse);
  const shrink = shrinkFor(least - room, idle);
  if (shrink) return { kind: 'grant', kvBytes: ask.kvMin, shrink };
  if (least - limit > ask.coldBytes) return { kind: 'refuse', needed: least, available: limit };
  const leaving = leavingFor(Math.min(least, limit) - room, [
    ...idle,
    ...tenants.filter(({ busy }) => busy).sort(byUse),
  ]);
  const busy = leaving.filter((tenant) => tenant.busy);
  if (busy.length > 0) return { kind: 'wait', paths: busy.map(({ path }) => path) };
  if (leaving.length > 0) return { kind: 'evict', paths: leaving.map(({ path }) => path) };
  return { kind: 'grant', kvBytes: ask.kvMin, shrink: [] };
}

/** Of two memories that a model needs both of: what holds for the one that lets it in later, and gives conversations less. */
export function both(first: Placement, second: Placement): Placement {
  const of = (kind: Placement['kind']) => [first, second].filter((placement) => placement.kind === kind);
  const paths = (all: Placement[]) => [...new Set(all.flatMap((each) => ('paths' in each ? each.paths : [])))];
  const [refused] = of('refuse');
  if (refused) return refused;
  if (of('wait').length > 0) return { kind: 'wait', paths: paths(of('wait')) };
  if (of('evict').length > 0) return { kind: 'evict', paths: paths(of('evict')) };
  if (first.kind !== 'grant' || second.kind !== 'grant') return first;
  return {
    kind: 'grant',
    kvBytes: Math.min(first.kvBytes, second.kvBytes),
    shrink: least([...first.shrink, ...second.shrink]),
  };
}

/** One for each model. */
export function least(grants: readonly Grant[]): Grant[] {
  const all = new Map<string, number>();
  for (const { path, kvBytes } of grants) all.set(path, Math.min(all.get(path) ?? Infinity, kvBytes));
  return [...all].map(([path, kvBytes]) => ({ path, kvBytes }));
}

/** Grants that free `bytes`, taken from the least recently used first; undefined where shrinking alone is not enough. */
function shrinkFor(bytes: number, idle: readonly Tenant[]): Grant[] | undefined {
  const grants: Grant[] = [];
  let lacking = bytes;
  for (const { path, kvGrant, kvMin } of idle) {
    if (lacking <= 0) break;
    const given = Math.min(lacking, Math.max(0, kvGrant - kvMin));
    if (given > 0) grants.push({ path, kvBytes: kvGrant - given });
    lacking -= given;
  }
  return lacking <= 0 ? grants : undefined;
}

/** The first of `tenants` that together hold `bytes`; one that turns out to be needless is spared. */
function leavingFor(bytes: number, tenants: readonly Tenant[]): Tenant[] {
  const leaving: Tenant[] = [];
  let lacking = bytes;
  for (const tenant of tenants) {
    if (lacking <= 0) break;
    leaving.push(tenant);
    lacking -= committed(tenant);
  }
  let surplus = -lacking;
  return leaving.filter((tenant) => {
    if (committed(tenant) > surplus) return true;
    surplus -= committed(tenant);
    return false;
  });
}

/** What conversations may grow by now that there is room: busy models first, the most recently used of them before the others. */
export function regrow(tenants: readonly Tenant[], limit: number): Grant[] {
  let room = limit - sum(tenants.map(committed));
  const grants: Grant[] = [];
  const order = [...tenants].sort((one, two) => Number(two.busy) - Number(one.busy) || -byUse(one, two));
  for (const { path, kvGrant, kvMax } of order) {
    const more = Math.min(room, kvMax - kvGrant);
    if (more <= 0) continue;
    grants.push({ path, kvBytes: kvGrant + more });
    room -= more;
  }
  return grants;
}

/** Other programs took what was free: idle conversations shrink, then idle models go, until `lacking` bytes are given back. */
export function relieve(tenants: readonly Tenant[], lacking: number): { shrink: Grant[]; evict: string[] } {
  if (lacking <= 0) return { shrink: [], evict: [] };
  const idle = tenants.filter(({ busy }) => !busy).sort(byUse);
  const shrink = shrinkFor(lacking, idle);
  if (shrink) return { shrink, evict: [] };
  // Mapped weights are given back by the system itself; what an unload frees is the rest.
  const evict: string[] = [];
  let left = lacking;
  for (const { path, heldBytes, kvGrant } of idle) {
    if (left <= 0) break;
    evict.push(path);
    left -= heldBytes + kvGrant;
  }
  return { shrink: [], evict };
}

/** Idle for longer than `idleMs` (0: for ever). */
export function expired(tenants: readonly Tenant[], idleMs: number, now: number): string[] {
  if (idleMs <= 0) return [];
  return tenants.filter(({ busy, lastUsedAt }) => !busy && now - lastUsedAt >= idleMs).map(({ path }) => path);
}
