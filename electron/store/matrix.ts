// The compatibility matrix in the database, and the tokens that artifacts are known to answer. Bounded: a cell keeps its latest values,
// the table its latest cells. What the numbers mean is the supervisor's.
import type { SelfCheck } from '../contract/models';
import type { Db } from './migrate';
import { fromJson } from './rows';
import { transaction } from './transaction';
import type {
  ExpectedTokens,
  ExpectedTokensKey,
  MatrixCell,
  MatrixKey,
  MatrixName,
  MatrixSample,
  StoreCalls,
} from './types';

/** Enough for a median that a few odd answers do not move. */
export const KEPT_SAMPLES = 31;
export const KEPT_CELLS = 500;

interface CellRow {
  model_id: string;
  engine_build: string;
  device: string;
  kv_type: string;
  context_bucket: number;
  source: 'check' | 'use';
  model: string;
  samples: string;
  self_check: SelfCheck;
  kl: number | null;
  at: number;
}

type Samples = MatrixCell['samples'];

function toCell(row: CellRow): MatrixCell {
  return {
    modelId: row.model_id,
    engineBuild: row.engine_build,
    device: row.device,
    kvType: row.kv_type,
    contextBucket: row.context_bucket,
    source: row.source,
    model: row.model,
    samples: fromJson<Samples>(row.samples) ?? {},
    selfCheck: row.self_check,
    ...(row.kl !== null && { kl: row.kl }),
    at: row.at,
  };
}

/** The values of `added` at the end of each list, the oldest ones given up. */
export function withSample(samples: Samples, added: MatrixSample['values']): Samples {
  const next = { ...samples };
  for (const [name, value] of Object.entries(added) as [MatrixName, number][]) {
    if (Number.isFinite(value)) next[name] = [...(next[name] ?? []), value].slice(-KEPT_SAMPLES);
  }
  return next;
}

const KEY = 'model_id = ? AND engine_build = ? AND device = ? AND kv_type = ? AND context_bucket = ? AND source = ?';
const keyOf = ({ modelId, engineBuild, device, kvType, contextBucket, source }: MatrixKey) =>
  [modelId, engineBuild, device, kvType, contextBucket, source] as const;

function add(db: Db, sample: MatrixSample): void {
  const key = keyOf(sample);
  transaction(db, () => {
    const row = db.prepare(`SELECT * FROM matrix WHERE ${KEY}`).get(...key) as CellRow | undefined;
    const before = row && toCell(row);
    db.prepare('INSERT OR REPLACE INTO matrix VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)').run(
      ...key,
      sample.model,
      JSON.stringify(withSample(before?.samples ?? {}, sample.values)),
      sample.selfCheck ?? before?.selfCheck ?? 'none',
      sample.kl ?? before?.kl ?? null,
      sample.at,
    );
    if (before) return;
    db.prepare(
      `DELETE FROM matrix WHERE at < (SELECT at FROM matrix ORDER BY at DESC LIMIT 1 OFFSET ${KEPT_CELLS - 1})`,
    ).run();
  });
}

const EXPECTED = 'model_id = ? AND device = ? AND kv_type = ? AND prompts = ?';
const expectedKey = ({ modelId, device, kvType, prompts }: ExpectedTokensKey) =>
  [modelId, device, kvType, prompts] as const;

function readExpected(db: Db, key: ExpectedTokensKey): ExpectedTokens | undefined {
  const row = db.prepare(`SELECT * FROM expected_tokens WHERE ${EXPECTED}`).get(...expectedKey(key)) as
    { hashes: string; engine_build: string; at: number } | undefined;
  const hashes = row && fromJson<Record<string, string>>(row.hashes);
  return row && hashes ? { ...key, hashes, engineBuild: row.engine_build, at: row.at } : undefined;
}

export function matrixCalls(
  db: Db,
): Pick<StoreCalls, 'addToMatrix' | 'matrixCells' | 'expectedTokens' | 'setExpectedTokens'> {
  return {
    addToMatrix: (sample) => add(db, sample),
    matrixCells: () => (db.prepare('SELECT * FROM matrix ORDER BY at DESC').all() as CellRow[]).map(toCell),
    expectedTokens: (key) => readExpected(db, key),
    setExpectedTokens: (expected) => {
      db.prepare('INSERT OR REPLACE INTO expected_tokens VALUES (?, ?, ?, ?, ?, ?, ?)').run(
        ...expectedKey(expected),
        JSON.stringify(expected.hashes),
        expected.engineBuild,
        expected.at,
      );
    },
  };
}
