// Which experts of a model are used most, from counts: what is new since the last look, the sum with a slow fading, and what placement
// makes of it. Pure.
import type { LayerUses, MemoryPlan } from '../contract/runtime';
import type { Heat } from './placement/sizes';

/** After so many more rows what was counted before is worth half. */
const HALF_ROWS = 500_000;
/** An even use that is thought of beside what was counted: a few rows are no habit. */
const EVEN_ROWS = 512;

type Shape = Pick<MemoryPlan['model'], 'layers' | 'experts'>;

const NOTHING: LayerUses = { rows: 0, experts: [] };

/** A row uses an expert once. */
const isSound = ({ rows, experts }: LayerUses, { experts: count }: Shape): boolean =>
  rows > 0 &&
  Number.isFinite(rows) &&
  experts.length === count &&
  experts.every((uses) => uses >= 0 && uses <= rows * (1 + 1e-6) + 1);

/** Layer by layer as the model has them; what cannot be counts of it counts as nothing. */
export function soundUses(uses: readonly LayerUses[], shape: Shape): LayerUses[] {
  if (shape.experts === 0 || uses.length !== shape.layers) return [];
  return uses.map((layer) => (isSound(layer, shape) ? layer : NOTHING));
}

/** Counts of one load, without those of the look before. A runtime that was started again begins at nothing. */
export function since(before: readonly LayerUses[], now: readonly LayerUses[]): LayerUses[] {
  return now.map(({ rows, experts }, layer) => {
    const seen = before[layer] ?? NOTHING;
    const more = experts.map((uses, expert) => uses - (seen.experts[expert] ?? 0));
    return rows < seen.rows || more.some((uses) => uses < 0)
      ? { rows, experts }
      : { rows: rows - seen.rows, experts: more };
  });
}

/** Old and new together; where there is nothing new, the old stays as it was. */
export function added(known: readonly LayerUses[], fresh: readonly LayerUses[]): LayerUses[] {
  return fresh.map(({ rows, experts }, layer) => {
    const old = known[layer] ?? NOTHING;
    if (rows === 0) return old;
    const share = 2 ** (-rows / HALF_ROWS);
    return {
      rows: rows + share * old.rows,
      experts: experts.map((uses, expert) => uses + share * (old.experts[expert] ?? 0)),
    };
  });
}

/** Undefined where no layer was counted. */
export function heatOf(
  uses: readonly LayerUses[],
  model: Shape & Pick<MemoryPlan['model'], 'expertsUsed'>,
): Heat | undefined {
  const sound = soundUses(uses, model);
  if (!sound.some(({ rows }) => rows > 0)) return undefined;
  const share = model.expertsUsed / model.experts;
  return sound.map(({ rows, experts }) => {
    if (rows === 0) return undefined;
    const even = share * (rows + EVEN_ROWS);
    return experts.map((each) => (each + share * EVEN_ROWS) / even);
  });
}
