// How often each expert of a model was used here, layer by layer, over all its loads. Bounded: one row a model, the models that were used
// last. How counts are added up is the supervisor's.
import { expertUses, type LayerUses } from '../contract/runtime';
import type { Db } from './migrate';
import { fromJson } from './rows';
import { transaction } from './transaction';
import type { StoreCalls } from './types';

export const KEPT_MODELS = 64;
/** Fractions of a use are of no use. */
const rounded = ({ rows, experts }: LayerUses): LayerUses => ({
  rows: Math.round(rows),
  experts: experts.map((uses) => Math.round(uses)),
});

export function expertUsesCalls(db: Db): Pick<StoreCalls, 'expertUses' | 'saveExpertUses'> {
  return {
    expertUses: (modelId) => {
      const row = db.prepare('SELECT layers FROM expert_uses WHERE model_id = ?').get(modelId) as
        { layers: string } | undefined;
      // What this version does not understand was never counted.
      return expertUses.safeParse(fromJson(row?.layers ?? null)).data;
    },
    saveExpertUses: ({ modelId, layers, at }) => {
      const put = db.prepare('INSERT OR REPLACE INTO expert_uses (model_id, layers, at) VALUES (?, ?, ?)');
      const bound = db.prepare(
        `DELETE FROM expert_uses WHERE at < (SELECT at FROM expert_uses ORDER BY at DESC LIMIT 1 OFFSET ${KEPT_MODELS - 1})`,
      );
      transaction(db, () => {
        put.run(modelId, JSON.stringify(layers.map(rounded)), at);
        bound.run();
      });
    },
  };
}
