// `npm run long -- vulkan [--driver FILE.json,…] [--validation core|sync]`: every kernel of the Vulkan backend for every weight type on the
// named drivers (Khronos' manifests; else lavapipe and SwiftShader where they are), also as a pair, with each feature switched off, without a
// driver and without a loader. Software compiles a second for each kernel: half an hour in all.
import { cpus } from 'node:os';
import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { run, show } from '../../setup/run.mjs';
import { giveUp, say } from '../../setup/say.mjs';
import { nativeBuild } from '../../setup/setup.mjs';

const { values } = parseArgs({ options: { driver: { type: 'string' }, validation: { type: 'string', default: '' } } });
const SOFTWARE = ['/usr/share/vulkan/icd.d/lvp_icd.x86_64.json', '/usr/lib/chromium/vk_swiftshader_icd.json'];
const FEATURES = [
  'memory_budget',
  'direct_write',
  'pipeline_cache',
  'subgroups',
  'large_tiles',
  'tiled_attention',
  'cooperative_matrix',
];
const drivers = (values.driver?.split(',') ?? SOFTWARE).filter((file) => existsSync(file));
if (drivers.length === 0) giveUp('There is no driver; name its manifest with --driver.');

const TESTS = ['vulkan_plan_test', 'vulkan_ops_test', 'vk_faults_test', 'vk_self_test_test', 'logits_oracle_test'];
await run('cmake', ['--build', nativeBuild, '--parallel', String(cpus().length), '--target', ...TESTS]);

const failed = [];
async function tests(title, names, environment, filter = '*') {
  for (const name of names) {
    say(`\n■ ${title}: ${name}`);
    const env = { ...process.env, HEARTH_VULKAN_VALIDATION: values.validation, ...environment };
    const code = await show(join(nativeBuild, name), [`--gtest_filter=${filter}`, '--gtest_brief=1'], { env });
    if (code !== 0) failed.push(`${title}: ${name}`);
  }
}

for (const driver of drivers) {
  const VK_DRIVER_FILES = driver;
  const name = basename(driver, '.json');
  await tests(name, TESTS, { VK_DRIVER_FILES, HEARTH_VULKAN_THOROUGH: '1' });
  for (const feature of FEATURES) {
    await tests(
      `${name} without ${feature}`,
      ['vulkan_ops_test'],
      { VK_DRIVER_FILES, HEARTH_VULKAN_WITHOUT: feature },
      '*VulkanStep*',
    );
  }
}
if (drivers.length > 1)
  await tests('together', ['vulkan_ops_test'], { VK_DRIVER_FILES: drivers.join(':') }, '*VulkanStep*');
const nothing = mkdtempSync(join(tmpdir(), 'hearth-no-driver-'));
await tests('no driver', TESTS, { VK_DRIVER_FILES: join(nothing, 'none.json') });
// A loader that is no library stands before the system's.
await run('sh', ['-c', `: > '${nothing}/libvulkan.so.1'; cp '${nothing}/libvulkan.so.1' '${nothing}/libvulkan.so'`]);
await tests('no loader', TESTS, { LD_LIBRARY_PATH: nothing });

if (failed.length > 0) giveUp(`Failed:\n  ${failed.join('\n  ')}`);
say('\nEverything passed.');
