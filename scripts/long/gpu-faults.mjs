// `npm run long -- gpu-faults [--seconds N] [--rounds N] [--only gpu|mesh] [--driver FILE.json] [--second FILE.json]`: a graphics device that is lost,
// full or hangs, and a killed runtime, ten times each while answers are written (test/integration/gpu-faults.test.ts); then the same of one of
// two devices that share a model (mesh-faults.test.ts). With no more than a minute the first alone, each fault once. A layer between the
// loader and drivers of software (lavapipe and SwiftShader, or the named manifests) makes the device fail: the app has no part in it.
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { run, show } from '../setup/run.mjs';
import { giveUp, say } from '../setup/say.mjs';
import { nativeBuild, root } from '../setup/setup.mjs';

const LAVAPIPE = '/usr/share/vulkan/icd.d/lvp_icd.x86_64.json';
const SWIFTSHADER = '/usr/lib/chromium/vk_swiftshader_icd.json';
const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '600' },
    driver: { type: 'string', default: LAVAPIPE },
    second: { type: 'string', default: SWIFTSHADER },
    only: { type: 'string', default: '' },
    rounds: { type: 'string' },
  },
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
const short = seconds <= 60;
const env = {
  ...process.env,
  HEARTH_FAULTS: join(folder, 'orders'),
  HEARTH_FAULT_ROUNDS: values.rounds ?? (short ? '1' : '10'),
  // One kind of faster kernel will do: software compiles each in seconds.
  HEARTH_VULKAN_WITHOUT: 'large_tiles,tiled_attention',
  VK_INSTANCE_LAYERS: 'VK_LAYER_HEARTH_faults',
  VK_LAYER_PATH: join(nativeBuild, 'fault_layer'),
};

/** The test on these drivers. */
function check(name, drivers) {
  const test = ['run', `test/integration/${name}-faults.test.ts`, '--disable-console-intercept'];
  const options = { cwd: root, env: { ...env, VK_DRIVER_FILES: drivers.join(':') } };
  return show(process.execPath, [join(root, 'node_modules/vitest/vitest.mjs'), ...test], options);
}

const checks = [];
if (values.only !== 'mesh') checks.push(['gpu', [values.driver]]);
if (values.only === 'mesh' || (values.only === '' && !short)) checks.push(['mesh', [values.driver, values.second]]);
let code = 0;
for (const [name, drivers] of checks) {
  const absent = drivers.find((file) => !existsSync(file));
  if (absent) say(`${name}: skipped, there is no driver ${absent}.`);
  else code ||= await check(name, drivers);
}
rmSync(folder, { recursive: true, force: true });
process.exit(code);
