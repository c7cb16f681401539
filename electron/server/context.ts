// What every route of the server is given: the services, the settings as they are now, and how models are chosen and named.
import type { Settings } from '../contract/own';
import { HearthError } from '../contract/errors';
import type { LibraryModel } from '../library/types';
import type { ModelRef, Supervisor } from '../supervisor/types';
import type { ServerOptions } from './types';

export interface ServerContext extends ServerOptions {
  /** http://127.0.0.1:PORT, once it listens. */
  url(): string;
  port(): number;
  settings(): Settings;
  patchSettings(patch: Partial<Settings>): Promise<Settings>;
  /** The supervisor's, with an eye on how fast it went. */
  generate: Supervisor['generate'];
  /** Tokens per second of the last answer; 0 before the first one. */
  lastDecodeTps(): number;
}

/** Shorter answers say little about speed. */
const TELLING_TOKENS = 16;

export function createContext(options: ServerOptions, initial: Settings, port: () => number): ServerContext {
  let current = initial;
  let lastDecodeTps = 0;
  const alone = createAloneness();
  options.supervisor.setIdleUnload(current.idleUnloadMinutes);
  return {
    ...options,
    port,
    url: () => `http://127.0.0.1:${port()}`,
    settings: () => current,
    lastDecodeTps: () => lastDecodeTps,
    async *generate(model, work, signal) {
      const run = alone.begin();
      try {
        for await (const event of options.supervisor.generate(model, work, signal)) {
          if (event.kind === 'end') {
            const { decodeTps } = event.timings;
            if (decodeTps > 0) lastDecodeTps = decodeTps;
            const telling = decodeTps > 0 && event.usage.completionTokens >= TELLING_TOKENS && run.alone();
            if (model.remote === undefined) options.library.used(model.path, telling ? decodeTps : undefined);
            const loaded = options.supervisor.loaded(model);
            // What an engine elsewhere runs, and on what, is not known here.
            if (loaded && model.remote === undefined) options.matrix.answered(model.name, loaded, event, run.alone());
          }
          yield event;
        }
      } finally {
        run.end();
      }
    },
    patchSettings: async (patch) => {
      current = await options.store.patchSettings(patch);
      const { modelFolders: folders, aliases } = current;
      if (patch.modelFolders || patch.aliases) await options.library.configure({ folders, aliases });
      options.supervisor.setIdleUnload(current.idleUnloadMinutes);
      return current;
    },
  };
}

/** Tells of each answer whether another one ran beside it at any time. */
function createAloneness() {
  const runs = new Set<{ shared: boolean }>();
  return {
    begin() {
      const run = { shared: runs.size > 0 };
      for (const other of runs) other.shared = true;
      runs.add(run);
      return { alone: () => !run.shared, end: () => runs.delete(run) };
    },
  };
}

export const refOf = ({ name, path, remote }: LibraryModel): ModelRef => ({
  name,
  path,
  ...(remote !== undefined && { remote }),
});

/** The model of that name, if it can be used. Throws `model_not_found`, or what is wrong with its file. */
export async function usableModel(context: Pick<ServerContext, 'library'>, name: string): Promise<LibraryModel> {
  await context.library.ready();
  const model = context.library.find(name);
  if (model.error) throw new HearthError(model.error.code, model.error.message, { ...model.error, param: 'model' });
  return model;
}

/** The model for somebody who names none: the one in the foreground, the last one, the one that ships, any. Throws `no_model`. */
export async function defaultModel({ library, supervisor, settings }: ServerContext): Promise<LibraryModel> {
  await library.ready();
  const models = library.list().filter((model) => model.error === undefined);
  const named = [supervisor.active()?.name, settings().lastModel];
  const model =
    named.map((name) => models.find((entry) => entry.name === name)).find((entry) => entry !== undefined) ??
    models.find((entry) => entry.builtin) ??
    models[0];
  if (!model) throw new HearthError('no_model', 'There is no model that can be used.');
  return model;
}

export interface Identity {
  modelId: string;
  engineBuild: string;
  mesh: string;
}

/** Which weights and which kernels answer: for headers and receipts. Exact once the model is loaded. */
export function identity(context: Pick<ServerContext, 'supervisor'>, model: LibraryModel): Identity {
  const loaded = context.supervisor.loaded(refOf(model)) ?? context.supervisor.loaded();
  const ours =
    loaded && (loaded.model.path === model.path || loaded.model.modelId === model.info?.modelId) ? loaded : undefined;
  return {
    modelId: ours?.model.modelId ?? model.info?.modelId ?? '',
    engineBuild: (ours ?? loaded)?.engineBuild ?? '',
    // Of an engine elsewhere: its address, and nothing that is only known there.
    mesh: ours ? (ours.remote === undefined ? `${ours.kernels} ${ours.precision}` : ours.kernels) : '',
  };
}

/** Only what is known: an empty header says nothing. */
export function identityHeaders({ modelId, engineBuild, mesh }: Identity): Record<string, string> {
  // A header holds ASCII; names of engines elsewhere are the user's.
  const plain = (text: string) => text.replace(/[^\x20-\x7e]/g, '?');
  const headers = {
    'x-hearth-model-id': modelId,
    'x-hearth-engine': plain(engineBuild),
    'x-hearth-mesh': plain(mesh),
  };
  return Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== ''));
}
