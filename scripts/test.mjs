// `npm test`: sets up what is missing, then runs every check, cheapest first, and ends with one line of counts.
// HEARTH_ORACLES=1 adds the comparisons with independent implementations from PyPI and npm. HEARTH_TEST_VULKAN_DRIVER names the manifest of a
// driver of software (lavapipe), on which the engine's graphics tests then run. `npm test -- unit` runs the named parts.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { oracles } from './setup/oracles.mjs';
import { show } from './setup/run.mjs';
import { say } from './setup/say.mjs';
import { nativeBuild, root, setUp } from './setup/setup.mjs';
import { realApp } from './setup/real-app.mjs';

const results = mkdtempSync(join(tmpdir(), 'hearth-test-'));
const total = { passed: 0, failed: 0, skipped: 0 };
const node = (script, args, env) =>
  show(process.execPath, [join(root, 'node_modules', script), ...args], { cwd: root, env: { ...process.env, ...env } });

function count(passed, failed, skipped = 0) {
  total.passed += passed;
  total.failed += failed;
  total.skipped += skipped;
}

/** Counts a check that only has an exit code as one test. */
async function check(title, run) {
  say(`\n■ ${title}`);
  const code = await run();
  count(code === 0 ? 1 : 0, code === 0 ? 0 : 1);
}

async function native() {
  say('\n■ Engine (GoogleTest)');
  const report = join(results, 'ctest.xml');
  const driver = process.env.HEARTH_TEST_VULKAN_DRIVER; // for these tests alone: Chromium has a driver of its own
  const code = await show(
    'ctest',
    ['--test-dir', nativeBuild, '--output-on-failure', '--timeout', '600', '--output-junit', report],
    { env: { ...process.env, ...(driver && { VK_DRIVER_FILES: driver }) } },
  );
  const suite = existsSync(report) ? readFileSync(report, 'utf8') : '';
  const attribute = (name) => Number(new RegExp(`${name}="(\\d+)"`).exec(suite)?.[1] ?? 0);
  const [all, failed, skipped] = ['tests', 'failures', 'skipped'].map(attribute);
  count(all - failed - skipped, Math.max(failed, code === 0 ? 0 : 1), skipped);
}

async function vitest(title, args, env) {
  say(`\n■ ${title}`);
  const report = join(results, `vitest-${title.replace(/\W+/g, '-')}.json`);
  const code = await node(
    'vitest/vitest.mjs',
    ['run', '--reporter=default', '--reporter=json', `--outputFile.json=${report}`, ...args],
    env,
  );
  const json = existsSync(report) ? JSON.parse(readFileSync(report, 'utf8')) : {};
  const { numPassedTests: passed = 0, numFailedTests: failed = 0, numPendingTests: skipped = 0 } = json;
  count(passed, Math.max(failed, code === 0 ? 0 : 1), skipped);
}

async function endToEnd() {
  say('\n■ Page (Playwright in Chromium, with the real app on the embedded model)');
  const app = await realApp();
  try {
    const report = join(results, 'playwright.json');
    const env = { ...app.env, PLAYWRIGHT_JSON_OUTPUT_NAME: report };
    const code = await node('@playwright/test/cli.js', ['test', '--reporter=list,json'], env);
    const {
      expected = 0,
      unexpected = 0,
      flaky = 0,
      skipped = 0,
    } = existsSync(report) ? JSON.parse(readFileSync(report, 'utf8')).stats : {};
    count(expected + flaky, Math.max(unexpected, code === 0 ? 0 : 1), skipped);
  } finally {
    await app.close();
  }
}

const parts = {
  types: () => check('Types', () => node('typescript/bin/tsc', ['-b'])),
  lint: () => check('Lint', () => node('eslint/bin/eslint.js', ['.'])),
  format: () => check('Format', () => node('prettier/bin/prettier.cjs', ['--check', '.', '--log-level', 'warn'])),
  native,
  unit: () => vitest('Units and integration', [], oracleEnvironment),
  e2e: endToEnd,
};

const wanted = process.argv.slice(2).filter((name) => name in parts);
await setUp({ tests: true });
mkdirSync(results, { recursive: true });
const oracleEnvironment = await oracles();
for (const name of wanted.length > 0 ? wanted : Object.keys(parts)) await parts[name]();
rmSync(results, { recursive: true, force: true });

say('');
console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
process.exit(total.failed === 0 && total.passed > 0 ? 0 : 1);
