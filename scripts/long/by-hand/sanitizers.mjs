// `npm run long -- sanitizers [--only address|thread] [--filter REGEX]`: the C++ tests under ASan with UBSan, then under TSan.
// Each is a build of the whole engine with its own folder in build/, which takes too long for every run of the continuous integration. A
// finding fails the run and is printed; the last lines say what each sanitizer saw.
import { cpus } from 'node:os';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { has, run, show } from '../../setup/run.mjs';
import { giveUp, say, step } from '../../setup/say.mjs';
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
    environment: {
      TSAN_OPTIONS: `halt_on_error=1:second_deadlock_stack=1:suppressions=${join(import.meta.dirname, 'thread-sanitizer.supp')}`,
    },
  },
};
if (values.only && !KINDS[values.only]) giveUp(`--only takes ${Object.keys(KINDS).join(' or ')}.`);

const all = readdirSync(join(root, 'native/test'))
  .filter((file) => file.endsWith('_test.cpp'))
  .map((file) => file.slice(0, -4));

async function build(folder, sanitizers, tests) {
  const options = {
    // Assertions stay; long tests take their shorter way (native/test/watched.h).
    CMAKE_BUILD_TYPE: 'Sanitize',
    CMAKE_CXX_FLAGS_SANITIZE: '-O2 -g1',
    HEARTH_SANITIZE: sanitizers,
    HEARTH_ADDON: 'OFF',
    HEARTH_TESTS: 'ON',
  };
  const defines = Object.entries(options).map(([key, value]) => `-D${key}=${value}`);
  await run('cmake', ['-S', join(root, 'native'), '-B', folder, ...(has('ninja') ? ['-G', 'Ninja'] : []), ...defines]);
  await run('cmake', ['--build', folder, '--parallel', String(cpus().length), '--target', ...tests]);
}

const summary = [];
let failed = false;
for (const [name, { sanitizers, environment }] of Object.entries(KINDS)) {
  if (values.only && values.only !== name) continue;
  const folder = join(root, 'build', `sanitize-${name}`);
  const wanted = all.filter((test) => new RegExp(values.filter).test(test));
  if (wanted.length === 0) giveUp(`No test is called like ${values.filter}.`);
  await step(`Building ${wanted.length} tests with -fsanitize=${sanitizers}`, () => build(folder, sanitizers, wanted));
  const only = ['-R', `^(${wanted.join('|')})$`, '--no-tests=error'];
  const how = ['--output-on-failure', '--timeout', '3600', '--parallel', String(cpus().length)];
  const code = await show('ctest', ['--test-dir', folder, ...how, ...only], {
    env: { ...process.env, ...environment },
  });
  failed ||= code !== 0;
  summary.push(
    `${sanitizers}: ${code === 0 ? 'clean' : 'NOT clean'}, ${wanted.length} of ${all.length} test programs (${wanted.join(', ')})`,
  );
}
for (const line of summary) say(line);
if (failed) giveUp('A sanitizer found something, or a test failed.');
