// The real engine and a small model for tests that need both; and why they are skipped where one is missing.
import { existsSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '../..');

function findModel(): string | undefined {
  if (process.env.HEARTH_TEST_MODEL) return process.env.HEARTH_TEST_MODEL;
  const folder = join(root, 'resources/starter');
  const name = existsSync(folder) ? readdirSync(folder).find((file) => file.endsWith('.gguf')) : undefined;
  return name && join(folder, name);
}

const addon = join(root, 'prebuilds', `${process.platform}-${process.arch}`, 'hearth.node');
const path = findModel();

export const missing = !existsSync(addon)
  ? 'the native engine is not built'
  : path
    ? undefined
    : 'there is no starter model in resources/starter';

if (missing) console.log(`Skipped: ${missing}.`);

/** Use only where `missing` is undefined. */
export const modelPath = path ?? '';
