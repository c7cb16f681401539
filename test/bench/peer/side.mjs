// The order of one run of one side, in a process of its own: load, first answer, parts. A side gives `load` and `write`; every finding is
// one line of JSON on standard output. Times are counted from the start of this process, as a user waits for them.
import { FIRST, PARTS, prompts, rate } from './parts.mjs';

/** The arguments of a side: {model, threads, parts, salt}. */
export const request = JSON.parse(process.argv[2]);

export const tell = (finding) => process.stdout.write(`${JSON.stringify(finding)}\n`);

/**
 * `side.load()` gives {pid, vocabulary, describe}; `side.write(prompts, count)` resolves, for each sequence, with the times of its tokens
 * (performance.now()). `side.prepare(part)` makes what the part needs and is not timed, but for the load's; `side.about()` gives numbers
 * that belong to the report.
 */
export async function runSide(side) {
  const { pid, vocabulary, describe } = await side.load();
  tell({ pid, describe });
  await side.prepare?.(FIRST);
  const [first] = await side.write(prompts(FIRST, vocabulary, `first ${request.salt}`), FIRST.write);
  tell({ part: 'load', value: first[0] / 1000 });
  for (const name of request.parts.filter((part) => part !== 'load')) {
    const part = PARTS[name];
    const tokens = prompts(part, vocabulary, `${name} ${request.salt}`);
    await side.prepare?.(part);
    const begun = performance.now();
    const times = await side.write(tokens, part.write);
    tell({ part: name, value: rate(part, begun, times) });
  }
  tell({ about: await side.about?.() });
  await side.close?.();
}
