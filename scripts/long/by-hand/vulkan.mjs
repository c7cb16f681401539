// `npm run long -- vulkan [--part N/M] [--driver FILE.json,…] [--validation core|sync]`: every kernel of the Vulkan backend for every weight type on the
// named drivers (Khronos' manifests; else lavapipe and SwiftShader where they are), also as a pair, with each feature switched off, without a
// driver and without a loader. Software compiles a second for each kernel: more than half an hour in all, on two cores an hour. A part runs every
// M-th test of each program; 1/12 to 12/12 take some minutes each. A driver that gives no device, or a run without a test, is a failure.
import { cpus, tmpdir } from 'node:os';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { run, show } from '../../setup/run.mjs';
import { giveUp, say } from '../../setup/say.mjs';
import { nativeBuild } from '../../setup/setup.mjs';

const { values } = parseArgs({
  options: {
    driver: { type: 'string' },
    validation: { type: 'string', default: '' },
    part: { type: 'string', default: '1/1' },
  },
});
const SOFTWARE = ['/usr/share/vulkan/icd.d/lvp_icd.x86_64.json', '/usr/lib/chromium/vk_swiftshader_icd.json'];
const FEATURES = [
  'memory_budget',
  'direct_write',
  'pipeline_cache',
  'host_import',
  'subgroups',
  'large_tiles',
  'tiled_attention',
  'cooperative_matrix',
  'top_logits',
];
const [part, parts] = (/^([1-9]\d*)\/([1-9]\d*)$/.exec(values.part) ?? []).slice(1).map(Number);
if (!(part <= parts)) giveUp('--part needs something like 2/12.');
if (!['', 'core', 'sync'].includes(values.validation)) giveUp('--validation is core or sync.');
const drivers = (values.driver?.split(',') ?? SOFTWARE).filter((file) => existsSync(file));
if (drivers.length === 0) giveUp('There is no driver; name its manifest with --driver.');

const TESTS = [
  'vulkan_plan_test',
  'vulkan_ops_test',
  'vk_faults_test',
  'vk_self_test_test',
  'vk_sums_test',
  'mesh_test',
  'split_experts_test',
  'logits_oracle_test',
];
await run('cmake', ['--build', nativeBuild, '--parallel', String(cpus().length), '--target', ...TESTS]);

const folder = mkdtempSync(join(tmpdir(), 'hearth-vulkan-'));
const results = [];

/** The tests of a report. A failure behind the last test, such as a message of the validation, leaves none that can be read. */
function reported(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).testsuites.flatMap(({ testsuite }) => testsuite);
  } catch {
    return undefined;
  }
}

/** Runs this part of a program's tests and keeps what came of it. */
async function tests(title, name, environment, { filter = '*', whole = false } = {}) {
  say(`\n■ ${title}: ${name}`);
  const report = join(folder, `${results.length}.json`);
  const shard = whole ? {} : { GTEST_TOTAL_SHARDS: String(parts), GTEST_SHARD_INDEX: String(part - 1) };
  const env = { ...process.env, HEARTH_VULKAN_VALIDATION: values.validation, ...shard, ...environment };
  const options = [`--gtest_filter=${filter}`, '--gtest_brief=1', `--gtest_output=json:${report}`];
  const begin = Date.now();
  const code = await show(join(nativeBuild, name), options, { env });
  const readable = reported(report);
  const all = readable ?? [];
  const skipped = all.filter(({ result }) => result === 'SKIPPED');
  const ran = all.length - skipped.length;
  const result = {
    title: `${title}: ${name}`,
    code: readable ? code : code || 1,
    ran,
    skipped,
    seconds: Math.round((Date.now() - begin) / 1000),
  };
  results.push(result);
  return result;
}

for (const driver of drivers) {
  const VK_DRIVER_FILES = driver;
  const name = basename(driver, '.json');
  const filter = 'Vulkan.IsTestedWhereThereIsADevice';
  const device = await tests(`${name} gives a device`, 'vulkan_ops_test', { VK_DRIVER_FILES }, { filter, whole: true });
  if (device.ran === 0) {
    device.code ||= 1; // everything else would be skipped, and pass
    continue;
  }
  for (const test of TESTS) await tests(name, test, { VK_DRIVER_FILES, HEARTH_VULKAN_THOROUGH: '1' });
  for (const feature of FEATURES) {
    const environment = { VK_DRIVER_FILES, HEARTH_VULKAN_WITHOUT: feature };
    await tests(`${name} without ${feature}`, 'vulkan_ops_test', environment, { filter: '*VulkanStep*' });
  }
}
if (drivers.length > 1) {
  const environment = { VK_DRIVER_FILES: drivers.join(':') };
  await tests('together', 'vulkan_ops_test', environment, { filter: '*VulkanStep*' });
  for (const test of ['mesh_test', 'split_experts_test']) {
    await tests('together', test, environment, { filter: '*GraphicsDevices*' });
  }
  await tests('together', 'vk_sums_test', environment);
}
for (const test of TESTS) await tests('no driver', test, { VK_DRIVER_FILES: join(folder, 'none.json') });
// A loader that is no library stands before the system's.
await run('sh', ['-c', `: > '${folder}/libvulkan.so.1'; cp '${folder}/libvulkan.so.1' '${folder}/libvulkan.so'`]);
for (const test of TESTS) await tests('no loader', test, { LD_LIBRARY_PATH: folder });
rmSync(folder, { recursive: true, force: true });

say('');
for (const { title, ran, skipped, seconds } of results) {
  say(`${title}: ${ran} ran, ${skipped.length} skipped, ${seconds} s`);
}
const failed = results.filter(({ code }) => code !== 0);
if (failed.length > 0) giveUp(`Failed:\n  ${failed.map(({ title }) => title).join('\n  ')}`);
if (results.every(({ ran }) => ran === 0)) giveUp('No test ran.');
say(`\nEverything of part ${part}/${parts} passed.`);
