// `hearth load`, `hearth unload`, `hearth ps`: what is in the memory of the Hearth that is running. They load nothing themselves.
import { setTimeout as pause } from 'node:timers/promises';
import { HearthError } from '../contract/errors';
import { appState, type ActiveModel, type AppState, type ServerFile } from '../contract/own';
import { ROUTES } from '../contract/routes';
import { ask, needServer, tell } from './own-api';
import { bytes, json, progressBar, table, type Io } from './report';

export interface MemoryOptions {
  json?: boolean;
  dataDir?: string;
}

export interface LoadCommand extends MemoryOptions {
  context?: number;
  kv?: 'f16' | 'q8';
  device?: string;
}

const LOOK_MS = 250;

const stateOf = (server: ServerFile): Promise<AppState> => ask(server, ROUTES.state, appState);

/** Waits until the model is there. Ctrl-C gives the load up; gives the exit code. */
export async function load(model: string, options: LoadCommand, io: Io, signal: AbortSignal): Promise<number> {
  const server = await needServer(options.dataDir);
  const before = (await stateOf(server)).failed?.at;
  const { context, kv: kvType, device } = options;
  const wish = { ...(context && { context }), ...(kvType && { kvType }), ...(device !== undefined && { device }) };
  await tell(server, ROUTES.modelLoad, { model, ...wish });
  const show = progressLine(io);
  for (;;) {
    if (signal.aborted) await tell(server, ROUTES.modelLoadCancel, {});
    const state = await stateOf(server);
    const { active, failed } = state;
    if (signal.aborted) return done(130);
    if (state.swap || active?.state === 'loading') show(wordsOf(state));
    else {
      const error = failed && failed.at !== before ? failed.error : active?.error;
      if (error) {
        done(1);
        throw HearthError.from(error);
      }
      if (!active) throw new HearthError('cancelled', 'The load was given up.');
      if (options.json) json(io, active);
      else
        io.out(
          `${active.name} is loaded, with a context of ${active.context ?? 0} tokens, on ${whereWords(active)}.\n`,
        );
      return done(0);
    }
    await pause(LOOK_MS, undefined, { signal }).catch(() => undefined);
  }
  function done(code: number): number {
    show('');
    return code;
  }
}

function wordsOf({ swap, active }: AppState): string {
  if (swap?.runningOn !== undefined) {
    const about = swap.etaMs === undefined ? '' : `, about ${Math.ceil(swap.etaMs / 1000)} s`;
    return `Waiting for answers of ${swap.runningOn}${about}`;
  }
  const fraction = active?.fraction ?? 0;
  return `${active?.name ?? ''} ${progressBar(fraction)} ${active?.phase ?? ''}`;
}

/** One line of a terminal that is written again and again. */
function progressLine(io: Io): (text: string) => void {
  return (text) => {
    if (io.terminal) io.err(`\r\u001b[K${text}`);
  };
}

export async function unload(model: string | undefined, options: MemoryOptions, io: Io): Promise<void> {
  const server = await needServer(options.dataDir);
  await tell(server, ROUTES.modelUnload, model === undefined ? {} : { model });
  const { loaded } = await stateOf(server);
  if (options.json) json(io, { loaded });
  else
    io.out(
      loaded.length === 0 ? 'No model is loaded.\n' : `Still loaded: ${loaded.map(({ name }) => name).join(', ')}.\n`,
    );
}

export async function ps(options: MemoryOptions, io: Io): Promise<void> {
  const state = await stateOf(await needServer(options.dataDir));
  const { loaded, active, swap, memory } = state;
  if (options.json) {
    json(io, { loaded, active, swap, memory });
    return;
  }
  const coming = active && !loaded.some(({ name }) => name === active.name) ? [active] : [];
  const rows = [...loaded, ...coming].map(row);
  if (rows.length === 0) io.out('No model is loaded.\n');
  else io.out(table([HEAD, ...rows]));
  for (const { name, replacedKernels = [] } of loaded) {
    for (const sentence of replacedKernels) io.out(`Note: ${name}: ${sentence}\n`);
  }
  if (swap) io.out(`${wordsOf(state)}, then ${swap.to} (${swap.waiting} waiting).\n`);
}

const HEAD = ['NAME', 'STATE', 'CONTEXT', 'WEIGHTS', 'HELD', 'RUNNING', 'WAITING', 'DEVICE', 'KERNELS'];

export function whereWords({ gpu, fallback }: ActiveModel): string {
  const where = gpu ?? 'the processor';
  return fallback ? `${where}: ${fallback.device}, driver ${fallback.driver}, failed (${fallback.code})` : where;
}

function row(model: ActiveModel): string[] {
  const size = (count: number | undefined) => (count === undefined ? '-' : bytes(count));
  const state = model.state === 'loading' ? `loading ${progressBar(model.fraction ?? 0)}` : model.state;
  const { name, context, weightBytes, heldBytes, running = 0, waiting = 0, kernels = '-', remote } = model;
  const memory = [context ? String(context) : '-', size(weightBytes), size(heldBytes)];
  const where = remote ?? (model.kernels === undefined ? '-' : whereWords(model));
  return [name, state, ...memory, `${running}`, `${waiting}`, where, kernels];
}
