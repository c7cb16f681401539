// From the cells that the store keeps to the rows that people read: medians, the load of the model beside each of them, and what got
// worse since the last good row. Pure; it measures nothing.
import type { MatrixRow, Measure, Regression } from '../../contract/models';
import type { MatrixCell, MatrixName } from '../../store/types';

/** Upper bounds, in tokens of prompt and answer. */
const BUCKETS = [512, 2048, 8192, 32_768, 131_072] as const;
/** Of a cell that says how a model loaded. */
export const LOAD_BUCKET = 0;

/** The largest one holds everything above it, too. */
export function bucketOf(tokens: number): number {
  return BUCKETS.find((bound) => tokens <= bound) ?? BUCKETS[BUCKETS.length - 1] ?? 0;
}

export function median(values: readonly number[]): number | undefined {
  const sorted = [...values].sort((a, b) => a - b);
  const last = sorted.length - 1;
  const [low, high] = [sorted[Math.floor(last / 2)], sorted[Math.ceil(last / 2)]];
  return low === undefined || high === undefined ? undefined : (low + high) / 2;
}

/** By how much a measure may be worse (a share, and at least so much), and whether more of it is worse. */
const LIMITS: Record<Exclude<Measure, 'tokens'>, { share: number; least?: number; higherIsWorse: boolean }> = {
  loadMs: { share: 0.5, least: 1000, higherIsWorse: true },
  prefillTps: { share: 0.15, higherIsWorse: false },
  decodeTps: { share: 0.15, higherIsWorse: false },
  ttftMs: { share: 0.15, higherIsWorse: true },
  memoryBytes: { share: 0.1, higherIsWorse: true },
};

export function isWorse(measure: keyof typeof LIMITS, now: number, good: number): boolean {
  const { share, least = 0, higherIsWorse } = LIMITS[measure];
  if (Math.abs(now - good) < least) return false;
  return higherIsWorse ? now > good * (1 + share) : now < good * (1 - share);
}

/** Prompts and machines in use differ from hour to hour: a median of fewer answers accuses nobody. A check is controlled. */
const ENOUGH_ANSWERS = 8;
/** A load is slow when the system has forgotten the file: of three the middle one is not. */
const ENOUGH_LOADS = 3;
/** The first token's time follows the prompt's length, and the memory what is cached: comparable in a check alone. */
const COMPARED: Record<MatrixRow['source'], (keyof typeof LIMITS)[]> = {
  check: ['prefillTps', 'decodeTps', 'ttftMs', 'memoryBytes'],
  use: ['prefillTps', 'decodeTps'],
};

function enough(cell: MatrixCell, name: MatrixName): boolean {
  if (cell.source === 'check') return true;
  return (cell.samples[name]?.length ?? 0) >= (name === 'loadMs' ? ENOUGH_LOADS : ENOUGH_ANSWERS);
}

const comparedIn = ({ contextBucket, source }: MatrixRow): (keyof typeof LIMITS)[] =>
  contextBucket === LOAD_BUCKET ? ['loadMs'] : COMPARED[source];

/** A cell with its medians. */
interface Judged {
  cell: MatrixCell;
  row: MatrixRow;
}

/** Which measures of `now` are worse than those of `good`. */
function worse(now: Judged, good: Judged): Measure[] {
  return comparedIn(now.row).filter((name) => {
    const [value, before] = [now.row[name], good.row[name]];
    if (value === undefined || before === undefined) return false;
    return enough(now.cell, name) && enough(good.cell, name) && isWorse(name, value, before);
  });
}

const tokensDiffer = ({ selfCheck }: MatrixRow) => selfCheck === 'changed' || selfCheck === 'failed';
const isGood = (row: MatrixRow) => row.regressions.length === 0;

/** One device and KV type, and another build with the same artifact or another version of the model. */
function related(a: MatrixRow, b: MatrixRow): boolean {
  const model = a.modelId === b.modelId ? a.engineBuild !== b.engineBuild : a.model === b.model;
  return model && a.device === b.device && a.kvType === b.kvType;
}

/** Whether two rows say something about each other: they are related, and were measured in one way at one length. */
const comparable = (a: MatrixRow, b: MatrixRow): boolean =>
  related(a, b) && a.contextBucket === b.contextBucket && a.source === b.source;

/** The latest good row of the same artifact with another build, else of another version of the model. `earlier`: oldest first. */
function lastGood(judged: Judged, earlier: readonly Judged[]): Judged | undefined {
  const good = earlier.filter(({ row }) => isGood(row) && comparable(judged.row, row));
  return good.findLast(({ row }) => row.modelId === judged.row.modelId) ?? good.at(-1);
}

const placeOf = ({ modelId, engineBuild, device, kvType }: MatrixCell) =>
  JSON.stringify([modelId, engineBuild, device, kvType]);

function rowOf(cell: MatrixCell, loadMs: number | undefined): MatrixRow {
  const { samples, ...known } = cell;
  const medians = Object.fromEntries(
    Object.entries({ ...samples, loadMs: undefined }).flatMap(([name, values]) => {
      const value = median(values ?? []);
      return value === undefined ? [] : [[name, value]];
    }),
  );
  return { ...known, ...medians, ...(loadMs !== undefined && { loadMs }), regressions: [] };
}

/** Newest first. What only loaded has a row of its own; where it was used or checked, the load stands in those rows. */
export function matrixRows(cells: readonly MatrixCell[]): MatrixRow[] {
  const loads = new Map<string, number[]>();
  for (const cell of cells) {
    const known = loads.get(placeOf(cell)) ?? [];
    loads.set(placeOf(cell), [...known, ...(cell.samples.loadMs ?? [])]);
  }
  const judged: Judged[] = [];
  for (const cell of [...cells].sort((a, b) => a.at - b.at)) {
    const now: Judged = { cell, row: rowOf(cell, median(loads.get(placeOf(cell)) ?? [])) };
    const good = lastGood(now, judged);
    if (good) now.row.regressions = worse(now, good);
    if (tokensDiffer(now.row)) now.row.regressions.push('tokens');
    judged.push(now);
  }
  return shown(judged).reverse();
}

/** A load that got worse is told by the newest row in which it stands. */
function shown(judged: readonly Judged[]): MatrixRow[] {
  const newest = new Map<string, MatrixRow>();
  for (const { cell, row } of judged) if (cell.contextBucket !== LOAD_BUCKET) newest.set(placeOf(cell), row);
  return judged.flatMap(({ cell, row }) => {
    const user = cell.contextBucket === LOAD_BUCKET ? newest.get(placeOf(cell)) : undefined;
    user?.regressions.push(...row.regressions);
    return user ? [] : [row];
  });
}

/** A load has no length: every row in which one stands says something about it. */
function explains(bad: MatrixRow, good: MatrixRow): boolean {
  const load = bad.regressions.includes('loadMs') && good.loadMs !== undefined;
  return comparable(bad, good) || (load && related(bad, good));
}

/** What a model that is loaded like this is known to do worse than before; undefined: nothing. */
export function regressionOf(
  rows: readonly MatrixRow[],
  loaded: Pick<MatrixRow, 'modelId' | 'engineBuild' | 'device' | 'kvType'>,
): Regression | undefined {
  const here = rows.filter(
    (row) =>
      row.modelId === loaded.modelId &&
      row.engineBuild === loaded.engineBuild &&
      row.device === loaded.device &&
      row.kvType === loaded.kvType,
  );
  const measures = [...new Set(here.flatMap((row) => row.regressions))];
  if (measures.length === 0) return undefined;
  const good = here
    .filter((row) => !isGood(row))
    .flatMap((bad) => rows.filter((row) => isGood(row) && row.at < bad.at && explains(bad, row)))
    .sort((a, b) => Number(b.modelId === loaded.modelId) - Number(a.modelId === loaded.modelId) || b.at - a.at)[0];
  return {
    measures,
    ...(good && { good: { engineBuild: good.engineBuild, modelId: good.modelId, at: good.at } }),
  };
}
