// `npm run long -- NAME …`: what takes longer than a test may. Checks (scripts/long/) have a short form, --seconds N, that the continuous
// integration runs. Those in by-hand/ have none, and measurements (test/bench/) need a quiet machine and a model: both
// are run by hand. Without a name all are listed.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { show } from './setup/run.mjs';
import { giveUp, say } from './setup/say.mjs';
import { root, setUp } from './setup/setup.mjs';

const GROUPS = [
  { title: 'Long checks [--seconds N]', folder: join(root, 'scripts/long') },
  { title: 'Checks without a short form', folder: join(root, 'scripts/long/by-hand') },
  { title: 'Measurements --model FILE', folder: join(root, 'test/bench') },
];
const namesIn = ({ folder }) =>
  readdirSync(folder)
    .filter((file) => file.endsWith('.mjs'))
    .map((file) => file.slice(0, -4));
const [name, ...args] = process.argv.slice(2);

if (!name) {
  for (const group of GROUPS) say(`${group.title}: ${namesIn(group).join(', ')}`);
  say('Run one with: npm run long -- NAME …; the first lines of its file say more.');
} else {
  const script = GROUPS.map(({ folder }) => join(folder, `${name}.mjs`)).find((path) => existsSync(path));
  if (!script) giveUp(`There is no ${name}; there are ${GROUPS.flatMap(namesIn).join(', ')}.`);
  await setUp();
  process.exit(await show(process.execPath, [script, ...args], { cwd: root }));
}
