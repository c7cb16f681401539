// `npm run long -- fuzz [--seconds N]`: builds both readers of model files with clang under ASan and UBSan and feeds each with mutated
// files for N seconds (600). A finding fails the run and its input stays in build/fuzz/findings/.
import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { has, run } from '../setup/run.mjs';
import { giveUp, say, step } from '../setup/say.mjs';
import { root } from '../setup/setup.mjs';

const { values } = parseArgs({ options: { seconds: { type: 'string', default: '600' } } });
const seconds = Number(values.seconds);
if (!Number.isInteger(seconds) || seconds < 1) giveUp('--seconds needs a whole number.');

const clang = ['clang++', 'clang++-19', 'clang++-18', 'clang++-17', 'clang++-16', 'clang++-15', 'clang++-14'].find(has);
if (!clang) giveUp('Fuzzing needs clang: apt-get install clang');

const build = join(root, 'build/fuzz');
const findings = join(build, 'findings');
mkdirSync(findings, { recursive: true });

const names = ['gguf_fuzz', 'safetensors_fuzz'];
await step('Building the fuzzers', async () => {
  const options = {
    CMAKE_CXX_COMPILER: clang,
    CMAKE_BUILD_TYPE: 'RelWithDebInfo',
    HEARTH_FUZZ: 'ON',
    // fuzzer-no-link: the engine itself must count its edges, or the fuzzer is blind.
    HEARTH_SANITIZE: 'address,undefined,fuzzer-no-link',
    HEARTH_ADDON: 'OFF',
    HEARTH_TESTS: 'OFF',
    HEARTH_VULKAN: 'OFF', // no reader of files needs it
  };
  const defines = Object.entries(options).map(([key, value]) => `-D${key}=${value}`);
  await run('cmake', ['-S', join(root, 'native'), '-B', build, ...(has('ninja') ? ['-G', 'Ninja'] : []), ...defines]);
  await run('cmake', ['--build', build, '--target', ...names, '--parallel', String(cpus().length)]);
});

/** Runs one fuzzer and passes its output on; resolves with its exit code and last lines. */
function fuzz(name) {
  const corpus = join(build, `corpus-${name}`);
  mkdirSync(corpus, { recursive: true });
  const dictionary = join(root, 'native/fuzz', `${name.replace('_fuzz', '')}.dict`);
  const args = [
    corpus,
    `-max_total_time=${seconds}`,
    `-dict=${dictionary}`,
    '-max_len=20000',
    '-timeout=5',
    '-rss_limit_mb=2048',
    '-malloc_limit_mb=256',
    '-print_final_stats=1',
    `-artifact_prefix=${findings}/${name}-`,
  ];
  return new Promise((resolve, reject) => {
    const child = spawn(join(build, name), args, {
      env: { ...process.env, HEARTH_FUZZ_SEEDS: corpus },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let tail = '';
    child.stderr.on('data', (chunk) => {
      tail = (tail + chunk.toString()).slice(-20000);
    });
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, tail }));
  });
}

const outcomes = await step(`${names.join(' and ')} at once, ${seconds} s`, () => Promise.all(names.map(fuzz)));

let failed = false;
for (const { code, tail } of outcomes) {
  const lines = tail.trim().split('\n');
  const coverage = lines.filter((line) => line.includes('cov:')).at(-1);
  if (code === 0) {
    say([coverage, ...lines.filter((line) => line.startsWith('stat::'))].join('\n'));
  } else {
    failed = true;
    say(lines.slice(-80).join('\n'));
  }
}
if (failed) giveUp(`A reader broke. Inputs: ${readdirSync(findings).join(', ')} in ${findings}`);
say('No finding.');
