// A mistake in electron-builder.yml would be noticed only when an installer is made: its schema is checked here.
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';

const require = createRequire(import.meta.url);
const root = resolve(import.meta.dirname, '../../..');

interface ConfigModule {
  getConfig(root: string, file: string | null, options: unknown): Promise<unknown>;
  validateConfiguration(config: unknown, logger: { add(): void; isEnabled: boolean }): Promise<void>;
}

const { getConfig, validateConfiguration } = require(
  resolve(root, 'node_modules/app-builder-lib/out/util/config/config.js'),
) as ConfigModule;
const logger = { add() {}, isEnabled: false };

it('electron-builder accepts electron-builder.yml', async () => {
  const config = await getConfig(root, null, null);
  await expect(validateConfiguration(config, logger)).resolves.toBeUndefined();
});

it('the check notices an unknown property', async () => {
  const config = (await getConfig(root, null, null)) as Record<string, unknown>;
  await expect(validateConfiguration({ ...config, appIdd: 'x' }, logger)).rejects.toThrow(/appIdd/);
});
