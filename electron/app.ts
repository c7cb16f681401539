// The composition root: builds every service once, hands each to its users, and takes them down in the opposite order.
// It decides nothing that belongs to a service, and knows neither a window nor a command line.
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { HearthError } from './contract/errors';
import type { DownloadRequest, LocationKind } from './contract/models';
import type { ServerFile } from './contract/own';
import type { PeerImportRequest } from './contract/sharing';
import type { LoadOptions } from './contract/runtime';
import type { Library, LibraryModel } from './library/types';
import type { Downloads } from './library/download/downloads';
import { createLibrary } from './library/library';
import { withRemoteModels } from './library/remote';
import { ShareKey } from './library/sharing/share-key';
import { createShelf } from './library/sharing/shelf';
import { isWithin } from './library/walk';
import { appFolders, dataDirAt, dataDirPath, openDataDir, portableDataDir, type DataDir } from './app/data-dir';
import { clearKvCache, kernelCache, kvCache } from './app/kv-cache';
import { createLocations } from './app/locations';
import { openFetching } from './app/fetching';
import { liveSettings } from './app/live-settings';
import { openLog, type Log } from './app/log';
import { resources, type Resources } from './app/resources';
import { ServerLock, livingServer } from './app/server-file';
import { appRoot, entry } from './entries';
import { createServer } from './server/server';
import { DEFAULT_PORT, type Server } from './server/types';
import { openStore } from './store/open';
import { peek } from './store/peek';
import type { Store } from './store/types';
import { forkHosts, type SpawnHost } from './supervisor/host';
import { openRemoteEngines } from './supervisor/remote/engines';
import { createMatrix, type Matrix } from './supervisor/matrix/matrix';
import { createSupervisor } from './supervisor/supervisor';
import type { ModelRef, Supervisor } from './supervisor/types';
import { createTelemetry } from './telemetry/telemetry';

export { DEFAULT_PORT, type LibraryModel, type ModelRef };

export interface AppOptions {
  dataDir?: string;
  /** Absent: 4327. Where it is taken, the next free one. 0: any free one. */
  port?: number;
  /** Name or path of the model to load at the start; absent: the last one, else the one that ships. */
  model?: string;
  /** How models are loaded, where it is not the usual way. */
  load?: Partial<Omit<LoadOptions, 'path'>>;
  /** All models together take no more of the memory; absent: what the machine has. */
  budgetBytes?: number;
  /** Keep what models have read on disk, for after a restart; absent: yes. */
  diskCache?: boolean;
  /** How children are started; absent: by fork. Electron gives its own. */
  spawn?: SpawnHost;
  /** What a person at the terminal should know. */
  say?(line: string): void;
}

export interface App {
  url: string;
  token: string;
  version: string;
  supervisor: Supervisor;
  library: Library;
  close(): Promise<void>;
}

interface Services {
  dir: DataDir;
  log: Log;
  store: Store;
  supervisor: Supervisor;
  library: Library;
  matrix: Matrix;
  server: Server;
}

/** Throws HearthError{already_running | port_in_use | database_error}, with nothing left open. */
export async function startApp(options: AppOptions = {}): Promise<App> {
  const dir = openDataDir(dataDirOf(options.dataDir));
  const shipped = resources();
  const token = randomBytes(32).toString('base64url');
  const lock = await ServerLock.take(dir.serverFile, token, shipped.version);
  const closing: (() => Promise<unknown> | void)[] = [() => lock.release()];
  const close = onceOnly(async () => {
    for (const step of closing.reverse()) await step();
  });
  try {
    const services = await buildServices(options, dir, shipped, token, closing);
    const url = await listen(services, options);
    lock.publish(url);
    void loadFirstModel(services, options);
    const { supervisor, library } = services;
    return { url, token, version: shipped.version, supervisor, library, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function buildServices(
  options: AppOptions,
  dir: DataDir,
  shipped: Resources,
  token: string,
  closing: (() => Promise<unknown> | void)[],
): Promise<Services> {
  const log = openLog(dir.logs);
  closing.push(() => log.close());
  const store = await openStore({ path: dir.database });
  closing.push(() => store.close());
  const telemetry = createTelemetry();
  const settings = await liveSettings(store);
  const supervisor = createSupervisor({
    spawn: options.spawn ?? forkHosts(entry('runtime')),
    remote: (ref, listener) => engines.host(ref, listener),
    telemetry,
    store,
    ...(options.budgetBytes !== undefined && { budgetBytes: options.budgetBytes }),
    log: (level, text) => log[level](text),
    devices: () => settings.now(),
    // Asked for at each load: the cache may have been moved.
    get load() {
      return { kernelCachePath: kernelCache(dir), ...(options.diskCache !== false && kvCache(dir)), ...options.load };
    },
  });
  closing.push(() => supervisor.close());
  const local = await liveLibrary(dir, shipped, store, supervisor);
  closing.push(() => local.close());
  const matrix = createMatrix({
    store,
    supervisor,
    exact: () => exactRunner(options.spawn),
    log: (text) => log.warn(text),
  });
  closing.push(() => matrix.close());
  const fetching = await openFetching({
    dir,
    settings: settings.now,
    library: local,
    supervisor,
    folder: () => dir.models,
    log: (text) => log.info(text),
  });
  closing.push(() => fetching.close());
  const engines = await openRemoteEngines({
    store,
    door: fetching.network,
    localNames: () => new Set(local.list().map(({ name }) => name)),
  });
  closing.push(() => engines.close());
  const library = withRemoteModels(local, engines);
  const locations = createLocations({
    dir,
    library,
    store,
    log,
    obstacle: (what) => obstacle(what, dir, supervisor) ?? unfinished(what, fetching.downloads),
  });
  closing.push(() => locations.close());
  const shelf = createShelf(local);
  closing.push(() => shelf.close());
  const server = await createServer({
    supervisor,
    library,
    store: settings.store,
    matrix,
    engines,
    telemetry,
    fetching,
    token,
    version: shipped.version,
    modelsFolder: () => dir.models,
    locations,
    sharing: { shelf, key: new ShareKey(join(dir.root, 'sharing.json')) },
    ...(shipped.page && { staticDir: shipped.page }),
    log,
  });
  closing.push(() => server.close());
  // Before anybody asks: a list that is empty at first would say that they are gone.
  await fetching.downloads.open().catch((error: unknown) => log.warn(`downloads do not go on: ${String(error)}`));
  return { dir, log, store, supervisor, library, matrix, server };
}

async function liveLibrary(dir: DataDir, shipped: Resources, store: Store, supervisor: Supervisor): Promise<Library> {
  const [{ modelFolders, aliases }, memory] = await Promise.all([store.settings(), store.libraryMemory()]);
  return createLibrary({
    own: dir.models,
    settings: { folders: modelFolders, aliases },
    builtin: shipped.models,
    probe: supervisor.probe,
    memory,
    store,
    version: shipped.version,
    live: {
      busy: () =>
        supervisor.queue().running + supervisor.queue().waiting > 0 || supervisor.active()?.state === 'loading',
    },
  });
}

/** What a loaded model holds open stays where it is. */
function obstacle(what: LocationKind, dir: DataDir, supervisor: Supervisor): HearthError | undefined {
  const active = supervisor.active();
  const concerned = [...supervisor.models(), ...(active?.state === 'loading' ? [active] : [])].find(
    ({ info }) => what === 'cache' || (what === 'models' && (!info || isWithin(info.path, dir.models))),
  );
  return concerned && new HearthError('model_in_use', `${concerned.name} is loaded.`);
}

/** A folder is not moved away under a download. */
function unfinished(what: LocationKind, downloads: Downloads): HearthError | undefined {
  const busy = what === 'models' ? downloads.list().find(({ phase }) => phase !== 'done') : undefined;
  return busy && new HearthError('model_in_use', `The download of ${busy.file} is not finished.`);
}

/** Where the port is taken, by whatever program, the next free one will do, and is said aloud. */
async function listen({ server }: Services, { port, say }: AppOptions): Promise<string> {
  const wanted = port ?? DEFAULT_PORT;
  const listening = await server.listen(wanted, { nextFree: true });
  if (wanted !== 0 && listening.port !== wanted) say?.(`Port ${wanted} is taken; using ${listening.port}.`);
  return listening.url;
}

/** In the background: the page is there first. A model that fails is shown by the state, and said. */
async function loadFirstModel(
  { library, supervisor, store, matrix, log }: Services,
  options: AppOptions,
): Promise<void> {
  try {
    const { lastModel } = await store.settings();
    await library.refresh();
    const model = await firstModel(library, options.model, lastModel);
    if (!model) return;
    const { name, path, remote } = model;
    const loaded = await supervisor.load({ name, path, ...(remote !== undefined && { remote }) });
    if (remote === undefined) matrix.loaded(name, loaded);
  } catch (error) {
    const { code, message } = HearthError.from(error);
    if (code === 'cancelled') return;
    log.warn(`the first model was not loaded: ${message}`);
    options.say?.(message);
  }
}

async function firstModel(
  library: Library,
  asked: string | undefined,
  last: string | undefined,
): Promise<LibraryModel | undefined> {
  if (asked !== undefined) return findModel(library, asked);
  const models = library.list();
  return models.find(({ name }) => name === last) ?? models.find(({ builtin }) => builtin);
}

/** MODEL of the command line: a name, else a path. Throws HearthError{model_not_found | file_not_found}. */
export function findModel(library: Library, asked: string): Promise<LibraryModel> {
  return isPath(asked) ? library.open(resolve(asked)) : Promise.resolve(library.find(asked));
}

/** Names have no separators and no ending; a file of that name in the working directory counts as a path, too. */
export function isPath(asked: string): boolean {
  return /[\\/]/.test(asked) || /\.(gguf|safetensors)$/i.test(asked) || existsSync(asked);
}

export interface EngineOptions {
  dataDir?: string;
  load?: Partial<Omit<LoadOptions, 'path'>>;
}

export interface Engine {
  dir: DataDir;
  supervisor: Supervisor;
  library: Library;
  shipped: Resources;
  close(): Promise<void>;
}

/** Models and runtimes without server, database and lock: for commands that do one thing and end. Creates no folder. */
export function openEngine(options: EngineOptions = {}): Engine {
  const dir = dataDirAt(dataDirOf(options.dataDir));
  const shipped = resources();
  const known = peek(dir.database);
  const supervisor = createSupervisor({
    spawn: forkHosts(entry('runtime')),
    ...(options.load && { load: options.load }),
    devices: () => known?.settings ?? { device: 'auto', gpuRequired: false },
  });
  const library = createLibrary({
    own: dir.models,
    ...(known && { settings: { folders: known.settings.modelFolders, aliases: known.settings.aliases } }),
    ...(known && { memory: known.memory }),
    builtin: shipped.models,
    probe: supervisor.probe,
    version: shipped.version,
  });
  const close = onceOnly(async () => {
    library.close();
    await supervisor.close();
  });
  return { dir, supervisor, library, shipped, close };
}

/** Context of the exact path: enough for the text of a check. */
const EXACT_CONTEXT = 512;

function exactRunner(spawn = forkHosts(entry('runtime'))) {
  return createSupervisor({ spawn, load: { precision: 'exact', context: EXACT_CONTEXT, prefixCache: false } });
}

export interface Checker extends Engine {
  matrix: Matrix;
}

/** An engine with the matrix of the data directory, for `hearth check`. Throws HearthError{already_running}. */
export async function openChecker(options: EngineOptions = {}): Promise<Checker> {
  const dir = openDataDir(dataDirOf(options.dataDir));
  const lock = await ServerLock.take(dir.serverFile, randomBytes(32).toString('base64url'), appVersion());
  const engine = openEngine(options);
  const closing: (() => Promise<unknown> | void)[] = [() => lock.release(), () => engine.close()];
  const close = onceOnly(async () => {
    for (const step of closing.reverse()) await step();
  });
  try {
    const store = await openStore({ path: dir.database });
    closing.push(() => store.close());
    const matrix = createMatrix({ store, supervisor: engine.supervisor, exact: () => exactRunner() });
    closing.push(() => matrix.close());
    return { ...engine, matrix, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The data directory that was asked for, or the usual one. */
export function dataDirOf(asked: string | undefined): string {
  return dataDirPath(asked, process.env, process.platform, appFolders(appRoot()));
}

/** Where a portable app keeps everything, the window's own data too. */
export function portableData(): string | undefined {
  return portableDataDir(appFolders(appRoot()));
}

/** Downloads without a server, for a command that fetches and ends. */
export async function openFetcher(dataDir?: string) {
  const dir = openDataDir(dataDirOf(dataDir));
  const store = await openStore({ path: dir.database });
  const settings = await store.settings();
  const { library, supervisor, close } = openEngine({ dataDir });
  const fetching = await openFetching({ dir, settings: () => settings, library, supervisor, folder: () => dir.models });
  const { downloads, discover } = fetching;
  return {
    repository: (repo: string) => discover.repository(repo),
    start: async (request: DownloadRequest) => {
      await downloads.read();
      return downloads.start(request);
    },
    importFrom: async (request: PeerImportRequest) => {
      await downloads.read();
      return downloads.importFrom(request);
    },
    look: async (id: string) => downloads.get(id),
    pause: async (id: string) => void (await downloads.pause(id)),
    close: async () => {
      await fetching.close();
      await close();
      await store.close();
    },
  };
}

export function appVersion(): string {
  return resources().version;
}

/** Forgets what models have read. Throws nothing where there is nothing. */
export function clearCache(dataDir?: string): void {
  clearKvCache(dataDirAt(dataDirOf(dataDir)));
}

/** The Hearth that runs on this data directory, if there is one. */
export function runningServer(dataDir?: string): Promise<ServerFile | undefined> {
  return livingServer(dataDirAt(dataDirOf(dataDir)).serverFile);
}

function onceOnly(effect: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  return () => (running ??= effect());
}
