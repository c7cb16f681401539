// Processor time of this process: what a busy machine does beside a test does not count.

/** Milliseconds of processor time that `run` takes. */
export function cpuTime(run: () => void): number {
  const before = process.cpuUsage();
  run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
