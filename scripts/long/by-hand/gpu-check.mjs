// `npm run long -- gpu-check [--short]`: packs the check of a graphics device (test/gpu) and runs it as a bare machine would: from an empty
// folder, with no environment but a path. On lavapipe where that is all there is. Every stage must pass and write its line.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { run, show } from '../../setup/run.mjs';
import { giveUp, say } from '../../setup/say.mjs';
import { root } from '../../setup/setup.mjs';

const { values } = parseArgs({ options: { short: { type: 'boolean', default: false } } });
if (process.platform !== 'linux') {
  say('Skipped: the check is packed for Linux.');
  process.exit(0);
}
const STAGES = ['loader', 'decisions', ...(values.short ? [] : ['kernels', 'self-test'])];

const packed = await run('bash', [join(root, 'test/gpu/pack.sh')]);
if (!existsSync(join(root, 'build/gpu/hearth_gpu'))) giveUp(packed);
say(packed.trim().split('\n').at(-1));
const folder = mkdtempSync(join(tmpdir(), 'hearth-gpu-check-'));
try {
  cpSync(join(root, 'build/gpu'), join(folder, 'kit'), { recursive: true });
  mkdirSync(join(folder, 'empty'));
  const env = { PATH: '/usr/bin:/bin', HOME: folder, ...(values.short && { HEARTH_GPU_SHORT: '1' }) };
  const code = await show('bash', [join(folder, 'kit/check.sh'), 'results'], { cwd: join(folder, 'empty'), env });
  const read = (name) =>
    readFileSync(join(folder, 'empty/results', name), 'utf8')
      .trim()
      .split('\n')
      .map(JSON.parse);
  const stages = read('stages.jsonl');
  if (code !== 0) giveUp(`The check ended with ${code}: ${JSON.stringify(stages)}`);
  const names = stages.map(({ stage }) => stage);
  const missing = STAGES.filter((name) => !names.includes(name));
  if (missing.length > 0 || names.length <= STAGES.length)
    giveUp(`Stages without a line: ${missing.join(', ') || 'shapes'}.`);
  for (const shape of names.slice(STAGES.length)) {
    const told = read(`${shape}.jsonl`).map(({ stage }) => stage);
    const figures = ['load', 'first step', 'prefill', 'decode', 'batch of 8'].map((each) => `${shape} ${each}`);
    if (!figures.every((each) => told.includes(each))) giveUp(`${shape} told only ${told.join(', ')}.`);
  }
  // Without a driver it says so and fails; it does not hang and does not pass.
  const none = spawnSync('bash', [join(folder, 'kit/check.sh'), 'none'], {
    cwd: join(folder, 'empty'),
    env: { ...env, VK_DRIVER_FILES: join(folder, 'none.json') },
    encoding: 'utf8',
  });
  if (none.status !== 1 || !none.stdout.includes('There is no graphics device.'))
    giveUp(`Without a driver: ${none.stdout}`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
