// `npm run long -- sanitizers [--only address|thread] [--filter REGEX]`: the C++ tests under ASan with UBSan, and under TSan. Each is a build
// of the whole engine with its own folder in build/, which takes too long for every run of the continuous integration. A finding fails the
// run and is printed.
import { cpus } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { has, run, show } from '../../setup/run.mjs';
import { giveUp, step } from '../../setup/say.mjs';
import { root } from '../../setup/setup.mjs';

const { values } = parseArgs({ options: { only: { type: 'string' }, filter: { type: 'string', default: '' } } });

const KINDS = {
  address: {
    sanitizers: 'address,undefined',
    environment: {
      ASAN_OPTIONS: 'detect_stack_use_after_return=1:strict_string_checks=1:allocator_may_return_null=1',
      UBSAN_OPTIONS: 'print_stacktrace=1',
    },
  },
  thread: {
    sanitizers: 'thread',
    environment: { TSAN_OPTIONS: 'halt_on_error=1:second_deadlock_stack=1' },
  },
};
if (values.only && !KINDS[values.only]) giveUp(`--only takes ${Object.keys(KINDS).join(' or ')}.`);

let failed = false;
for (const [name, { sanitizers, environment }] of Object.entries(KINDS)) {
  if (values.only && values.only !== name) continue;
  const build = join(root, 'build', `sanitize-${name}`);
  await step(`Building the engine and its tests with -fsanitize=${sanitizers}`, async () => {
    const options = {
      // Assertions stay; -O1 keeps the stacks readable and the kernels bearable.
      CMAKE_BUILD_TYPE: 'Sanitize',
      CMAKE_CXX_FLAGS_SANITIZE: '-O1 -g1',
      HEARTH_SANITIZE: sanitizers,
      HEARTH_ADDON: 'OFF',
      HEARTH_TESTS: 'ON',
    };
    const defines = Object.entries(options).map(([key, value]) => `-D${key}=${value}`);
    await run('cmake', ['-S', join(root, 'native'), '-B', build, ...(has('ninja') ? ['-G', 'Ninja'] : []), ...defines]);
    await run('cmake', ['--build', build, '--parallel', String(cpus().length)]);
  });
  const wanted = values.filter ? ['-R', values.filter] : [];
  const code = await show('ctest', ['--test-dir', build, '--output-on-failure', '--timeout', '3600', ...wanted], {
    env: { ...process.env, ...environment },
  });
  failed ||= code !== 0;
}
if (failed) giveUp('A sanitizer found something, or a test failed.');
