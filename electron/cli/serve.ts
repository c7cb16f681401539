// `hearth serve`: the app without a window. Says where it is and ends in order. Standard output belongs to the address.
import { startApp, type App } from '../app';
import { json, report, type Io } from './report';

export interface ServeOptions {
  port?: number;
  dataDir?: string;
  model?: string;
  kv?: 'f16' | 'q8';
  json?: boolean;
  diskCache?: boolean;
  /** Gigabytes. */
  memory?: number;
}

/** How long an orderly end may take before it becomes a disorderly one. */
const CLOSE_MS = 8_000;

/** Gives the exit code of a start that failed, or undefined: then the app runs until a signal ends the process. */
export async function serve(options: ServeOptions, io: Io): Promise<number | undefined> {
  let app: App;
  try {
    app = await startApp({
      port: options.port,
      dataDir: options.dataDir,
      model: options.model,
      load: { kvType: options.kv },
      diskCache: options.diskCache,
      budgetBytes: options.memory === undefined ? undefined : Math.round(options.memory * 1e9),
      say: (line) => io.err(`${line}\n`),
    });
  } catch (error) {
    return report(io, error, options.json ?? false);
  }
  if (options.json) json(io, { url: app.url, token: app.token, pid: process.pid });
  else io.out(`Hearth is at ${app.url}/#token=${app.token}\nPress Ctrl-C to stop it.\n`);
  endOnSignal(app, io);
  return undefined;
}

function endOnSignal(app: App, io: Io): void {
  let ending = false;
  const end = (signal: string) => {
    if (ending) process.exit(1);
    ending = true;
    if (signal === 'SIGINT') io.err('\nStopping.\n');
    setTimeout(() => process.exit(1), CLOSE_MS).unref();
    app.close().then(
      () => process.exit(0),
      (error: unknown) => process.exit(report(io, error, false)),
    );
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => end(signal));
}
