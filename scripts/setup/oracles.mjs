// The independent implementations that answers are compared with: a Python environment outside the tree, pinned by
// test/oracles/requirements.txt. Only where HEARTH_ORACLES=1; elsewhere the comparisons are skipped and say why.
import { existsSync, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { run } from './run.mjs';
import { say, step } from './say.mjs';
import { root } from './setup.mjs';
import { whenStale } from './stamp.mjs';

/** Environment for the tests: HEARTH_ORACLES, HEARTH_ORACLE_PYTHON, HEARTH_CACHE; empty without oracles. */
export async function oracles() {
  if (process.env.HEARTH_ORACLES !== '1') {
    say(
      '  – Comparisons with other implementations are skipped: set HEARTH_ORACLES=1 to run them (they need Python and PyPI).',
    );
    return {};
  }
  const cache = process.env.HEARTH_CACHE ?? join(homedir(), '.cache/hearth');
  const python = join(cache, 'oracles/bin/python');
  const requirements = join(root, 'test/oracles/requirements.txt');
  mkdirSync(cache, { recursive: true });
  const plan = { stamp: join(cache, 'oracles.stamp'), sources: [requirements], outputs: [python], content: true };
  await whenStale(plan, () =>
    step('Installing the oracles from PyPI', async () => {
      if (!existsSync(python)) await run('python3', ['-m', 'venv', join(cache, 'oracles')]);
      await run(python, ['-m', 'pip', 'install', '--quiet', '-r', requirements]);
    }),
  );
  return { HEARTH_ORACLES: '1', HEARTH_ORACLE_PYTHON: python, HEARTH_CACHE: cache };
}
