// How often each expert of a model was used here over all its loads, and which were apart from their layers at the last one. Bounded: one
// row a model, the models that were used last. How counts are added up is the supervisor's.
import { z } from 'zod';
import { expertUses, servedLayer, type LayerUses } from '../contract/runtime';
import type { Db } from './migrate';
import { fromJson } from './rows';
import { transaction } from './transaction';
import type { StoreCalls } from './types';

export const KEPT_MODELS = 64;
const usesShape = z.object({ layers: expertUses, served: z.array(servedLayer) });
/** Fractions of a use are of no use. */
const rounded = ({ rows, experts }: LayerUses): LayerUses => ({
  rows: Math.round(rows),
  experts: experts.map((uses) => Math.round(uses)),
});

export function expertUsesCalls(db: Db): Pick<StoreCalls, 'expertUses' | 'saveExpertUses'> {
  return {
    expertUses: (modelId) => {
      const row = db.prepare('SELECT layers, served FROM expert_uses WHERE model_id = ?').get(modelId) as
        { layers: string; served: string } | undefined;
      // What this version does not understand was never counted.
      return row && usesShape.safeParse({ layers: fromJson(row.layers), served: fromJson(row.served) }).data;
    },
    saveExpertUses: ({ modelId, layers, served, at }) => {
      const put = db.prepare('INSERT OR REPLACE INTO expert_uses (model_id, layers, served, at) VALUES (?, ?, ?, ?)');
      const bound = db.prepare(
        `DELETE FROM expert_uses WHERE at < (SELECT at FROM expert_uses ORDER BY at DESC LIMIT 1 OFFSET ${KEPT_MODELS - 1})`,
      );
      transaction(db, () => {
        put.run(modelId, JSON.stringify(layers.map(rounded)), JSON.stringify(served), at);
        bound.run();
      });
    },
  };
}
