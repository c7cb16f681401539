// `hearth logits`: the last position's logits as a JSON array, for comparison with other implementations.
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { HearthError } from '../contract/errors';
import type { Mesh } from '../contract/runtime';
import { modelRef, precisionOf, withEngine } from './engine';
import { json, type Io } from './report';

export interface LogitsOptions {
  tokens: string;
  exact?: boolean;
  device?: string;
  mesh?: Mesh;
  threads?: number;
  kv?: 'f16' | 'q8';
  prefillChunk?: number;
  yarnTruncate?: boolean;
  dataDir?: string;
}

export async function logits(model: string, options: LogitsOptions, io: Io): Promise<void> {
  const tokens = readTokens(options.tokens);
  const { exact, device = 'cpu', mesh, threads, kv, prefillChunk, yarnTruncate, dataDir } = options;
  const load = { precision: precisionOf(exact), device, mesh, threads, kvType: kv, prefillChunk, yarnTruncate };
  await withEngine({ load, dataDir }, async (engine) => {
    const ref = await modelRef(engine, model);
    const result = await engine.supervisor.call(ref, 'logits', { tokens });
    json(io, result.logits);
  });
}

function readTokens(path: string): number[] {
  try {
    return z
      .array(z.int().min(0))
      .min(1)
      .parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch (error) {
    throw new HearthError('invalid_request', `${path} is not a JSON array of token ids.`, { cause: error });
  }
}
