// `npm run long -- gpu-faults [--seconds N] [--driver FILE.json]`: a graphics device that is lost, full or hangs, and a killed runtime, ten times each
// while answers are written (test/integration/gpu-faults.test.ts); once each where there is no more than a minute. A layer between the loader
// and a driver of software (lavapipe, or the named manifest) makes the device fail: the app has no part in it.
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { run, show } from '../setup/run.mjs';
import { giveUp, say } from '../setup/say.mjs';
import { nativeBuild, root } from '../setup/setup.mjs';

const LAVAPIPE = '/usr/share/vulkan/icd.d/lvp_icd.x86_64.json';
const { values } = parseArgs({
  options: { seconds: { type: 'string', default: '600' }, driver: { type: 'string', default: LAVAPIPE } },
});
const seconds = Number(values.seconds);
if (!Number.isInteger(seconds) || seconds < 1) giveUp('--seconds needs a whole number.');
const targets = await run('cmake', ['--build', nativeBuild, '--target', 'help']);
const lacking = !existsSync(values.driver)
  ? `there is no driver ${values.driver}`
  : !targets.includes('hearth_fault_layer') && 'the engine was built without Vulkan';
if (lacking) {
  say(`Skipped: ${lacking}.`);
  process.exit(0);
}
await run('cmake', ['--build', nativeBuild, '--target', 'hearth_fault_layer']);

const folder = mkdtempSync(join(tmpdir(), 'hearth-gpu-faults-'));
mkdirSync(join(folder, 'orders'));
const env = {
  ...process.env,
  HEARTH_FAULTS: join(folder, 'orders'),
  HEARTH_FAULT_ROUNDS: seconds <= 60 ? '1' : '10',
  // One kind of faster kernel will do: software compiles each in seconds.
  HEARTH_VULKAN_WITHOUT: 'large_tiles,tiled_attention',
  VK_DRIVER_FILES: values.driver,
  VK_INSTANCE_LAYERS: 'VK_LAYER_HEARTH_faults',
  VK_LAYER_PATH: join(nativeBuild, 'fault_layer'),
};
const test = ['run', 'test/integration/gpu-faults.test.ts', '--disable-console-intercept'];
const code = await show(process.execPath, [join(root, 'node_modules/vitest/vitest.mjs'), ...test], { cwd: root, env });
rmSync(folder, { recursive: true, force: true });
process.exit(code);
