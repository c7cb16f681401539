// What the page's status bar shows, put together from what the services say. Pure but for the machine's memory.
import { freemem, totalmem } from 'node:os';
import type { ActiveModel, AppState } from '../../contract/own';
import type { Device } from '../../contract/runtime';
import type { ServerContext } from '../context';

export function appState(context: ServerContext, devices: Device[]): AppState {
  const { supervisor, version } = context;
  const modelsFolder = context.modelsFolder?.();
  const active = withRegression(context, supervisor.active());
  const stats = supervisor.stats();
  const loaded = supervisor.loaded();
  const engineBuild = loaded?.remote === undefined ? loaded?.engineBuild : undefined;
  const { running, waiting, served } = supervisor.queue();
  const swap = supervisor.swap();
  const previous = supervisor.previous();
  return {
    version,
    ...(engineBuild !== undefined && { engineBuild }),
    url: context.url(),
    ...(modelsFolder !== undefined && { modelsFolder }),
    ...(active && { active }),
    loaded: supervisor.models(),
    ...(swap && { swap }),
    ...(previous !== undefined && { previous }),
    downloads: context.fetching?.downloads.list() ?? [],
    memory: {
      engineBytes: stats?.rssBytes ?? 0,
      kvBytesUsed: stats?.kvBytesUsed ?? 0,
      kvBytesTotal: stats?.kvBytesTotal ?? 0,
      weightBytes: stats?.weightBytes ?? 0,
      systemTotal: totalmem(),
      systemFree: freemem(),
      device: 'ram',
    },
    decodeTps: running > 0 ? (stats?.decodeTps ?? 0) : 0,
    lastDecodeTps: context.lastDecodeTps(),
    prefillTps: running > 0 ? (stats?.prefillTps ?? 0) : 0,
    running,
    waiting,
    requestsServed: served,
    modelsVersion: context.library.version(),
    devices,
  };
}

/** A model that got worse says so for as long as it is loaded. */
function withRegression(
  { supervisor, matrix }: ServerContext,
  active: ActiveModel | undefined,
): ActiveModel | undefined {
  const loaded = supervisor.loaded();
  const here = active?.state === 'ready' && active.info?.modelId === loaded?.model.modelId;
  const regression = here && loaded ? matrix.regression(loaded) : undefined;
  return active && regression ? { ...active, regression } : active;
}

/** Whether a page would show anything else. Free memory moves all the time and is no news by itself. */
export function sameState(one: AppState, two: AppState): boolean {
  const still = (state: AppState) => JSON.stringify({ ...state, memory: { ...state.memory, systemFree: 0 } });
  return still(one) === still(two);
}
