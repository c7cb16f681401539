// The engine's numbers on a real model: exact ones against an independent implementation of the same file, fast ones against exact
// ones. Failures prevented: a model that is read or computed wrongly and still writes something; speed that is paid with nonsense.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { addonPath, loadAddon } from '../../electron/runtime/addon';
import { createTokenizer } from '../../electron/runtime/tokenizer';
import { tokenizerSource } from '../../electron/runtime/tokenizer-source';
import { missingOracles, python, smollm2 } from '../oracles/oracle';

const POSITIONS = 200;
const TEXT = `The harbour town lies where the river meets the sea. In the morning the fishing boats come home, and the people who live
near the quay buy fresh herring before they go to work. There is one school, two bakeries and a small museum that shows how ships
were built a hundred years ago. In the summer of 1998 a storm broke the old pier, so the council decided to build a new one of
stone. It took three years and cost more than anybody had expected, but since then no boat has been lost. Visitors usually come
by train, because the road over the hills is narrow and often closed in winter. If you stay for a night, ask for a room with a view
of the lighthouse: its lamp turns slowly, and on a clear evening you can see it from far away. The keeper, who has worked there
since he was young, will tell you that the light is electric now and needs no oil, and that he still climbs the stairs every day,
since somebody has to clean the glass. He likes to say that a lighthouse is like a good friend, who says the same thing every night.`;

describe.skipIf(missingOracles ?? (addonPath() === null && 'the addon is not built'))('logits of SmolLM2', () => {
  let tokens: number[];
  let vocabulary: number;
  let exact: Float32Array;

  const logits = async (precision: 'exact' | 'fast', kvType: 'auto' | 'f16' | 'q8' = 'auto') => {
    const options = { modelPath: smollm2(), precision, kvType, threads: 2, context: 512 };
    const engine = await loadAddon().load(options).engine;
    const all = await engine.allLogits(tokens);
    await engine.close();
    return all;
  };
  beforeAll(async () => {
    const tokenizer = createTokenizer(tokenizerSource((await loadAddon().inspect(smollm2())).tokenizer));
    tokens = tokenizer.encode(TEXT).slice(0, POSITIONS);
    expect(tokens).toHaveLength(POSITIONS);
    exact = await logits('exact');
    vocabulary = exact.length / POSITIONS;
  }, 300_000);

  it('are those of transformers, at every position and for every token', { timeout: 300_000 }, () => {
    const theirs = transformersLogits(tokens);
    expect(theirs).toHaveLength(exact.length);
    let worst = 0;
    for (let i = 0; i < exact.length; i++) worst = Math.max(worst, Math.abs(exact[i]! - theirs[i]!));
    console.info(`largest difference from transformers: ${worst.toExponential(2)}`);
    expect(worst).toBeLessThanOrEqual(1e-3);
  });

  const meanDivergence = (what: string, base: Float32Array, other: Float32Array) => {
    const each = Array.from({ length: POSITIONS }, (_, row) => {
      const [from, to] = [row * vocabulary, (row + 1) * vocabulary];
      return divergence(base.subarray(from, to), other.subarray(from, to));
    });
    const mean = each.reduce((sum, value) => sum + value, 0) / POSITIONS;
    console.info(`mean divergence of ${what}: ${mean.toExponential(2)}, worst ${Math.max(...each).toExponential(2)}`);
    return mean;
  };

  it('stay nearly the same when computed fast', { timeout: 300_000 }, async () => {
    expect(meanDivergence('fast from exact', exact, await logits('fast'))).toBeLessThanOrEqual(1e-4);
  });

  it('move little when keys and values are kept in int8', { timeout: 300_000 }, async () => {
    const [f16, q8] = [await logits('fast', 'f16'), await logits('fast', 'q8')];
    expect(meanDivergence('q8 from f16', f16, q8)).toBeLessThanOrEqual(2e-3);
  });
});

function transformersLogits(tokens: readonly number[]): Float32Array {
  const folder = mkdtempSync(join(tmpdir(), 'hearth-logits-'));
  try {
    writeFileSync(join(folder, 'tokens.json'), JSON.stringify(tokens));
    const script = join(import.meta.dirname, '../oracles/smollm2_logits.py');
    python([script, smollm2(), join(folder, 'tokens.json'), join(folder, 'logits')]);
    const bytes = readFileSync(join(folder, 'logits'));
    return new Float32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Kullback-Leibler, in nats, of the distributions that two rows of logits stand for. NaN in either gives NaN. */
function divergence(p: Float32Array, q: Float32Array): number {
  const [logP, logQ] = [logSum(p), logSum(q)];
  let sum = 0;
  for (let i = 0; i < p.length; i++) {
    const log = p[i]! - logP;
    sum += Math.exp(log) * (log - (q[i]! - logQ));
  }
  return sum;
}

function logSum(row: Float32Array): number {
  let most = -Infinity;
  for (const value of row) most = Math.max(most, value);
  let sum = 0;
  for (const value of row) sum += Math.exp(value - most);
  return most + Math.log(sum);
}
