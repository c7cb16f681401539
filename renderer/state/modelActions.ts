// What a person can do with models: load, put away, go back, fetch, remove, name, and the folders and engines that they come from.
// Each asks the server and brings the caches up to date. Failures are thrown to the caller or said in a toast.
import type { Download, DownloadRequest, LocationKind, RemoteEngineRequest } from '@contract/models';
import type { AppState, LoadRequest } from '@contract/own';
import type { PeerImportRequest, PeerRequest, SharedModel } from '@contract/sharing';
import { toast } from 'sonner';
import { modelApi } from '../api/models';
import { ApiError } from '../api/client';
import { t } from '../i18n';
import { saveFile } from '../parts/saveFile';
import { useApp } from './app';
import { refreshModel } from './modelQueries';
import { refresh, setModels } from './queries';

export async function loadModel(model: string, choice?: Omit<LoadRequest, 'model'>): Promise<void> {
  try {
    await modelApi.load({ model, ...choice });
    useApp.setState(({ state }) => (state ? { state: withLoad(state, model) } : {}));
  } catch (error) {
    const code = error instanceof ApiError ? error.code : 'internal';
    toast.error(t('model.loadFailed', { name: model }), {
      description: t('common.sentences', { first: t(`error.${code}`), second: t(`remedy.${code}`) }),
    });
  }
  refresh.models();
}

/** As it would be loaded now, by itself: what it runs on is chosen anew. */
export async function reloadModel(model: string): Promise<void> {
  await modelApi.unload(model);
  await loadModel(model);
}

/** The state is told once a second at most; a press is answered at once. While answers run, the model before stays in front. */
export function withLoad(state: AppState, model: string): AppState {
  const { active, swap } = state;
  // The server may have told already, and knows more.
  if (swap?.to === model || (active?.name === model && active.state !== 'failed')) return state;
  if (active?.state === 'ready' && state.running > 0) {
    return { ...state, swap: { to: model, runningOn: active.name, waiting: state.waiting } };
  }
  return { ...without(state), active: { name: model, state: 'loading' } };
}

/** What failed before is over once the next load begins. */
function without({ failed: _failed, ...state }: AppState): AppState {
  return state;
}

export async function cancelLoad(): Promise<void> {
  await modelApi.cancelLoad();
  refresh.models();
}

export async function unloadModel(model: string): Promise<void> {
  await modelApi.unload(model);
  refresh.models();
}

export async function lookForModels(): Promise<void> {
  setModels(await modelApi.refresh());
  refreshModel.folders();
}

export async function removeModel(model: string): Promise<void> {
  await modelApi.remove(model);
  toast(t('models.removed', { name: model }));
  refresh.models();
  refreshModel.discover();
  refreshModel.folders();
}

export async function renameModel(model: string, alias: string): Promise<void> {
  await modelApi.alias(model, alias);
  refresh.models();
}

export async function startDownload(request: DownloadRequest): Promise<void> {
  showBegun([await modelApi.download(request)]);
}

/** Copies of the models at a place on this computer. */
export async function importModels(path: string): Promise<void> {
  showBegun(await modelApi.importFrom(path));
}

/** Gives the download's id. */
export async function copyFromHearth(request: PeerImportRequest): Promise<string> {
  const begun = await modelApi.importFromPeer(request);
  showBegun([begun]);
  return begun.id;
}

/** Its key is kept by the server once it was good. */
export const modelsOfHearth = (peer: PeerRequest): Promise<SharedModel[]> => modelApi.peerModels(peer);

export async function share(on: boolean): Promise<void> {
  refreshModel.sharing(await modelApi.share(on));
}

/** The state is told once a second at most; a press is answered at once, in the server's own order. */
function showBegun(begun: readonly Download[]): void {
  useApp.setState(({ state }) => {
    if (!state) return {};
    const fresh = begun.filter(({ id }) => !state.downloads.some((known) => known.id === id));
    return { state: { ...state, downloads: [...state.downloads, ...fresh] } };
  });
}

export const pauseDownload = (id: string): Promise<unknown> => modelApi.pauseDownload(id);
export const resumeDownload = (id: string): Promise<unknown> => modelApi.resumeDownload(id);

export async function cancelDownload(id: string): Promise<void> {
  await modelApi.cancelDownload(id);
  refreshModel.discover();
}

export async function addFolder(path: string): Promise<void> {
  await modelApi.addFolder(path);
  refreshModel.folders();
  refresh.models();
}

export async function forgetFolder(id: string): Promise<void> {
  await modelApi.forgetFolder(id);
  refreshModel.folders();
  refresh.models();
}

export async function moveLocation(what: LocationKind, to: string): Promise<void> {
  await modelApi.move({ what, to });
  refreshModel.folders();
}

/** The server asks it at once: its health comes with the list. */
export async function addEngine(request: RemoteEngineRequest): Promise<void> {
  await modelApi.addEngine(request);
  refreshModel.engines();
  refresh.models();
}

export async function checkEngine(id: string): Promise<void> {
  await modelApi.checkEngine(id);
  refreshModel.engines();
  refresh.models();
}

export async function removeEngine(id: string): Promise<void> {
  await modelApi.removeEngine(id);
  refreshModel.engines();
  refresh.models();
}

export async function checkModel(model: string, accept = false): Promise<void> {
  await modelApi.checkModel(model, accept);
  toast(t('measured.begun', { name: model }));
  refreshModel.matrix();
}

export async function exportMatrix(format: 'json' | 'md'): Promise<void> {
  const type = format === 'json' ? 'application/json' : 'text/markdown';
  saveFile(`hearth-measured.${format}`, type, await modelApi.matrixFile(format));
}
