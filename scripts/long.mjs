// `npm run long -- NAME [--seconds N]`: what takes longer than a test may. Each is a script in scripts/long/; without a name they are listed.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { show } from './setup/run.mjs';
import { giveUp, say } from './setup/say.mjs';
import { root, setUp } from './setup/setup.mjs';

const folder = join(root, 'scripts/long');
const names = readdirSync(folder)
  .filter((file) => file.endsWith('.mjs'))
  .map((file) => file.slice(0, -4));
const [name, ...args] = process.argv.slice(2);

if (!name) {
  say(`Long checks: ${names.join(', ')}\nRun one with: npm run long -- NAME [--seconds N]`);
} else if (!existsSync(join(folder, `${name}.mjs`))) {
  giveUp(`There is no long check named ${name}; there are ${names.join(', ')}.`);
} else {
  await setUp();
  process.exit(await show(process.execPath, [join(folder, `${name}.mjs`), ...args], { cwd: root }));
}
