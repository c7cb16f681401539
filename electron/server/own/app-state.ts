// What the page's status bar shows, put together from what the services say. Pure but for the machine's memory.
import { freemem, totalmem } from 'node:os';
import type { ActiveModel, AppState } from '../../contract/own';
import type { Device } from '../../contract/runtime';
import { refOf, type ServerContext } from '../context';

export function appState(context: ServerContext, devices: Device[]): AppState {
  const { supervisor, version } = context;
  const modelsFolder = context.modelsFolder?.();
  const active = supervisor.active();
  const stats = supervisor.stats();
  const loaded = supervisor.loaded();
  const engineBuild = loaded?.remote === undefined ? loaded?.engineBuild : undefined;
  const { running, waiting, served } = supervisor.queue();
  const swap = supervisor.swap();
  const previous = stillThere(context, supervisor.previous());
  const failed = supervisor.failed();
  const card = supervisor.card();
  return {
    version,
    ...(engineBuild !== undefined && { engineBuild }),
    url: context.url(),
    ...(modelsFolder !== undefined && { modelsFolder }),
    ...(active && { active: withRegression(context, active) }),
    loaded: supervisor.models().map((model) => withRegression(context, model)),
    ...(swap && { swap }),
    ...(previous !== undefined && { previous }),
    ...(failed && { failed }),
    downloads: context.fetching?.downloads.list() ?? [],
    memory: {
      engineBytes: stats?.rssBytes ?? 0,
      kvBytesUsed: stats?.kvBytesUsed ?? 0,
      kvBytesTotal: stats?.kvBytesTotal ?? 0,
      weightBytes: stats?.weightBytes ?? 0,
      systemTotal: totalmem(),
      systemFree: freemem(),
      device: card ? 'vram' : 'ram',
      ...(card && { card }),
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

/** One that was deleted meanwhile is no way back. */
function stillThere({ library }: ServerContext, name: string | undefined): string | undefined {
  if (name === undefined) return undefined;
  try {
    return library.find(name).name;
  } catch {
    return undefined;
  }
}

/** A model that got worse says so for as long as it is loaded. */
function withRegression({ supervisor, matrix, library }: ServerContext, model: ActiveModel): ActiveModel {
  if (model.state !== 'ready' || model.remote !== undefined) return model;
  const models = library.list();
  const known = models.find(({ name }) => name === model.name);
  const loaded = known && supervisor.loaded(refOf(known));
  const regression = loaded && matrix.regression(loaded);
  if (!regression) return model;
  const { good } = regression;
  const before = models.find(
    ({ info, error }) => !error && info?.modelId === good?.modelId && info?.modelId !== loaded.model.modelId,
  );
  return { ...model, regression: { ...regression, ...(before && { rollback: before.name }) } };
}

/** Whether a page would show anything else. Free memory moves all the time and is no news by itself. */
export function sameState(one: AppState, two: AppState): boolean {
  const still = (state: AppState) => JSON.stringify({ ...state, memory: { ...state.memory, systemFree: 0 } });
  return still(one) === still(two);
}
