// Progress lines of the set-up, on stderr so that stdout stays the program's own.
const interactive = process.stderr.isTTY;

/** Runs `work` under a line that says what it does and how long it took. */
export async function step(title, work) {
  const started = Date.now();
  process.stderr.write(interactive ? `  … ${title}` : `  … ${title}\n`);
  const result = await work();
  const seconds = ((Date.now() - started) / 1000).toFixed(1);
  process.stderr.write(`${interactive ? '\r' : ''}  ✓ ${title} (${seconds} s)\n`);
  return result;
}

export function say(line) {
  process.stderr.write(`${line}\n`);
}

/** Ends the process with one plain sentence. */
export function giveUp(line) {
  process.stderr.write(`\n${line}\n`);
  process.exit(1);
}
