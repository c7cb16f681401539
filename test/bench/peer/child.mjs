// Runs one side once, in a fresh process, and watches its anonymous memory from outside. Linux only: it reads /proc.
import { spawn } from 'node:child_process';
import { createReadStream, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createInterface } from 'node:readline';

const SAMPLE_MS = 50;

/** Reads the whole file, so that both sides find it in the page cache; gives the seconds that took. */
export async function warm(path) {
  const begun = performance.now();
  for await (const _ of createReadStream(path, { highWaterMark: 8 << 20 }));
  return (performance.now() - begun) / 1000;
}

function anonymousBytes(pid) {
  try {
    return Number(/^RssAnon:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1024;
  } catch {
    return 0; // it has ended
  }
}

/** Resolves with {parts: {name: value}, describe, about}; rejects where the side fails. `onPart` is told of each part as it comes. */
export async function runSideOnce(side, request, onPart) {
  const script = fileURLToPath(new URL(`side-${side}.mjs`, import.meta.url));
  const child = spawn(process.execPath, [script, JSON.stringify(request)], { stdio: ['ignore', 'pipe', 'inherit'] });
  const stop = () => child.kill('SIGKILL');
  process.once('exit', stop);
  const found = { parts: {} };
  let peak = 0;
  let pid;
  const sampler = setInterval(() => (peak = Math.max(peak, anonymousBytes(pid ?? child.pid))), SAMPLE_MS);
  createInterface({ input: child.stdout }).on('line', (line) => {
    if (!line.startsWith('{')) return void process.stderr.write(`${line}\n`);
    const finding = JSON.parse(line);
    pid = finding.pid ?? pid;
    if (finding.part) {
      found.parts[finding.part] = finding.value;
      onPart(finding.part, finding.value);
    }
    if (finding.describe) found.describe = finding.describe;
    if (finding.about) found.about = finding.about;
  });
  const code = await new Promise((resolve, reject) => child.on('error', reject).on('close', resolve));
  clearInterval(sampler);
  process.off('exit', stop);
  if (code !== 0) throw new Error(`the side ${side} ended with ${code}`);
  found.parts.memory = peak / 1e6;
  return found;
}
