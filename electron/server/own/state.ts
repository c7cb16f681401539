// GET /hearth/v1/state, its events, and the devices.
import type { FastifyInstance } from 'fastify';
import type { AppState } from '../../contract/own';
import { ROUTES } from '../../contract/routes';
import type { Device } from '../../contract/runtime';
import type { ServerContext } from '../context';
import { clientSignal, EventStream } from '../event-stream';
import { appState, sameState } from './app-state';

const EVENT_MS = 1000;

/** Devices are asked for once, and again only where somebody asks for them by name: each look may start the probe's process. */
class Devices {
  private devices: Device[] = [];
  private asked = 0;
  private static readonly RETRY_MS = 60_000;

  constructor(private readonly context: ServerContext) {}

  /** What is known now. A look that failed is taken again after a while. */
  list(): Device[] {
    const due = this.devices.length === 0 && Date.now() - this.asked > Devices.RETRY_MS;
    if (due) void this.ask().catch(() => undefined);
    return this.devices;
  }

  async ask(): Promise<{ devices: Device[]; notes: string[] }> {
    this.asked = Date.now();
    const found = await this.context.supervisor.probe.devices();
    this.devices = found.devices;
    return found;
  }
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done, { once: true });
    function done() {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    }
  });
}

/** At most one state a second, at once when something changed after a quiet while. */
async function follow(
  context: ServerContext,
  read: () => AppState,
  stream: EventStream,
  signal: AbortSignal,
): Promise<void> {
  let wake: () => void = () => undefined;
  let changed = true;
  const change = () => {
    changed = true;
    wake();
  };
  const unwatch = [
    context.supervisor.watch(change),
    context.library.watch(change),
    context.fetching?.downloads.watch(change),
  ];
  const leave = () => wake();
  signal.addEventListener('abort', leave, { once: true });
  let last: AppState | undefined;
  try {
    while (!signal.aborted) {
      if (!changed) await new Promise<void>((resolve) => (wake = resolve));
      if (signal.aborted) return;
      changed = false;
      const state = read();
      if (last && sameState(last, state)) continue;
      last = state;
      await stream.send(state);
      await sleep(EVENT_MS, signal);
    }
  } finally {
    for (const stop of unwatch) stop?.();
  }
}

export function stateRoutes(app: FastifyInstance, context: ServerContext): void {
  const devices = new Devices(context);
  const read = (): AppState => appState(context, devices.list());
  app.get(ROUTES.state, () => read());
  app.get(ROUTES.stateEvents, async (_request, reply) => {
    const stream = new EventStream(reply);
    await follow(context, read, stream, clientSignal(reply));
    stream.end();
  });
  app.get(ROUTES.devices, () => devices.ask());
}
