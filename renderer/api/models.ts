// Asks about models: those here, those that could be fetched, the folders, downloads, remote engines and what was measured.
import type {
  Connection,
  DiscoverResult,
  Download,
  DownloadRequest,
  HubModel,
  LoadPlan,
  Location,
  MatrixReply,
  ModelFolder,
  MoveRequest,
  MoveState,
  RemoteEngine,
  RemoteEngineRequest,
} from '@contract/models';
import type { PeerImportRequest, PeerRequest, SharedModel, Sharing } from '@contract/sharing';
import type { ActiveModel, LoadRequest, ModelEntry } from '@contract/own';
import { ROUTES } from '@contract/routes';
import type { Device } from '@contract/runtime';
import { ask, done, json, path } from './client';

const withQuery = (route: string, query: Record<string, string | undefined>): string => {
  const given = Object.entries(query).filter((entry): entry is [string, string] => Boolean(entry[1]));
  return given.length > 0 ? `${route}?${new URLSearchParams(given).toString()}` : route;
};

export const modelApi = {
  list: async (): Promise<ModelEntry[]> => (await json<{ models: ModelEntry[] }>('GET', ROUTES.models)).models,
  refresh: async (): Promise<ModelEntry[]> =>
    (await json<{ models: ModelEntry[] }>('POST', ROUTES.modelRefresh, {})).models,
  load: (request: LoadRequest): Promise<ActiveModel> => json('POST', ROUTES.modelLoad, request),
  /** The load under way, also one that waits for room. */
  cancelLoad: (): Promise<void> => done('POST', ROUTES.modelLoadCancel, {}),
  unload: (model: string): Promise<void> => done('POST', ROUTES.modelUnload, { model }),
  devices: async (): Promise<Device[]> => (await json<{ devices: Device[] }>('GET', ROUTES.devices)).devices,
  plan: (model: string, device?: string): Promise<LoadPlan> =>
    json('GET', withQuery(ROUTES.modelPlan, { model, device })),
  remove: (model: string): Promise<void> => done('POST', ROUTES.modelRemove, { model }),
  alias: (model: string, alias: string): Promise<ModelEntry> => json('POST', ROUTES.modelAlias, { model, alias }),

  folders: async (): Promise<ModelFolder[]> => (await json<{ folders: ModelFolder[] }>('GET', ROUTES.folders)).folders,
  addFolder: (folder: string): Promise<ModelFolder> => json('POST', ROUTES.folders, { path: folder }),
  forgetFolder: (id: string): Promise<void> => done('DELETE', path(ROUTES.folder, id)),
  locations: (): Promise<{ locations: Location[]; moves: MoveState[] }> => json('GET', ROUTES.moves),
  move: (request: MoveRequest): Promise<MoveState> => json('POST', ROUTES.moves, request),

  discover: (q: string, cursor?: string): Promise<DiscoverResult> =>
    json('GET', withQuery(ROUTES.discover, { q, cursor })),
  repo: (repo: string): Promise<HubModel> => json('GET', withQuery(ROUTES.discoverRepo, { repo })),
  download: (request: DownloadRequest): Promise<Download> => json('POST', ROUTES.downloads, request),
  pauseDownload: (id: string): Promise<Download> => json('POST', path(ROUTES.downloadPause, id), {}),
  resumeDownload: (id: string): Promise<Download> => json('POST', path(ROUTES.downloadResume, id), {}),
  importFrom: async (place: string): Promise<Download[]> =>
    (await json<{ downloads: Download[] }>('POST', ROUTES.imports, { path: place })).downloads,
  /** What another Hearth offers, and a copy of one of its models. */
  peerModels: async (peer: PeerRequest): Promise<SharedModel[]> =>
    (await json<{ models: SharedModel[] }>('POST', ROUTES.peerModels, peer)).models,
  importFromPeer: (request: PeerImportRequest): Promise<Download> => json('POST', ROUTES.peerImport, request),
  sharing: (): Promise<Sharing> => json('GET', ROUTES.sharing),
  share: (on: boolean): Promise<Sharing> => json('POST', ROUTES.sharing, { on }),
  cancelDownload: (id: string): Promise<void> => done('DELETE', path(ROUTES.download, id)),
  connections: async (): Promise<Connection[]> =>
    (await json<{ connections: Connection[] }>('GET', ROUTES.connections)).connections,

  engines: async (): Promise<RemoteEngine[]> =>
    (await json<{ engines: RemoteEngine[] }>('GET', ROUTES.remoteEngines)).engines,
  addEngine: (request: RemoteEngineRequest): Promise<RemoteEngine> => json('POST', ROUTES.remoteEngines, request),
  removeEngine: (id: string): Promise<void> => done('DELETE', path(ROUTES.remoteEngine, id)),
  checkEngine: (id: string): Promise<RemoteEngine> => json('POST', path(ROUTES.remoteEngineCheck, id), {}),

  matrix: (): Promise<MatrixReply> => json('GET', ROUTES.matrix),
  matrixFile: async (format: 'json' | 'md'): Promise<string> =>
    (await ask('GET', withQuery(ROUTES.matrix, { format }))).text(),
  /** With `accept`, changed answers become the expected ones. */
  checkModel: (model: string, accept: boolean): Promise<void> => done('POST', ROUTES.matrixCheck, { model, accept }),
};
