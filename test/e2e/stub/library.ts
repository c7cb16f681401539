// The stub's part on models: folders, the hub, downloads, plans, swaps, remote engines and measurements, in states that really occur.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type {
  Download,
  Fit,
  HubModel,
  LoadPlan,
  MatrixCheck,
  MatrixRow,
  ModelFolder,
  MoveState,
  RemoteEngine,
} from '../../../electron/contract/models';
import type { AppState, ModelEntry, Settings } from '../../../electron/contract/own';
import { FIT, makeEngines, makeFolders, makeHub, makeLocations, makeMatrix, makeConnections } from './hub';
import { fail, reply } from './reply';
import { makeSharing, makeShelf } from './sharing';

interface World {
  state: AppState;
  models: ModelEntry[];
  settings: Settings;
  changed: () => void;
  running: () => number;
}

type Body = Record<string, unknown>;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

export class StubLibrary {
  readonly folders: ModelFolder[] = makeFolders();
  readonly engines: RemoteEngine[] = makeEngines();
  readonly hub: HubModel[] = makeHub();
  readonly connections = makeConnections();
  readonly matrix: MatrixRow[] = makeMatrix();
  readonly checks: MatrixCheck[] = [];
  readonly moves: MoveState[] = [];
  sharing = makeSharing(false);
  /** Bodies of what was asked, by address: what a test may look at. */
  readonly asked: { url: string; body: Body }[] = [];
  /** A tenth of a download takes so long. */
  stepMs = 120;
  /** An eighth of a load. */
  loadStepMs = 110;
  /** Loads of these models fail so. */
  readonly failing = new Map<string, ModelEntry['error']>();
  #world: World;
  #ids = 0;
  #before: AppState['active'];

  constructor(world: World) {
    this.#world = world;
  }

  /** True: it was for this part, and has been answered. */
  answer(request: IncomingMessage, url: URL, body: Body, response: ServerResponse): boolean {
    const [section = '', id = '', verb = ''] = url.pathname.slice('/hearth/v1/'.length).split('/');
    const method = request.method ?? 'GET';
    if (method !== 'GET') this.asked.push({ url: url.pathname, body });
    switch (section) {
      case 'models':
        return this.#model(id, url, body, response);
      case 'folders':
        return this.#folder(method, id, body, response);
      case 'moves':
        return this.#move(method, body, response);
      case 'discover':
        return this.#discover(id, url, response);
      case 'downloads':
        return this.#download(method, id, verb, body, response);
      case 'imports':
        return id === 'hearth' ? this.#peer(verb, body, response) : this.#import(body, response);
      case 'sharing':
        if (method === 'POST') this.sharing = makeSharing(Boolean(body.on));
        return ok(response, this.sharing);
      case 'connections':
        return ok(response, { connections: this.connections });
      case 'remote-engines':
        return this.#engine(method, id, verb, body, response);
      case 'matrix':
        return this.#measured(id, url, body, response);
      default:
        return false;
    }
  }

  #model(verb: string, url: URL, body: Body, response: ServerResponse): boolean {
    const { models, state } = this.#world;
    if (verb === '' || verb === 'refresh') return ok(response, { models });
    if (url.pathname.endsWith('/load/cancel')) {
      const coming = models.find(({ name }) => name === (state.swap?.to ?? state.active?.name));
      if (coming) this.#unload(coming, this.#before);
      return gone(response);
    }
    const name = String(verb === 'plan' ? url.searchParams.get('model') : body.model);
    const model = models.find((candidate) => candidate.name === name);
    if (!model) return no(response, 404, 'model_not_found');
    if (verb === 'plan') return ok(response, planOf(model, this.#world.state, url.searchParams.get('device')));
    if (verb === 'alias') {
      model.aliases = body.alias ? [String(body.alias)] : [];
      return ok(response, model);
    }
    if (verb === 'remove') {
      models.splice(models.indexOf(model), 1);
      return gone(response);
    }
    if (verb === 'unload') {
      this.#unload(model);
      return gone(response);
    }
    void this.load(model);
    return ok(response, { name: model.name, state: 'loading' }, 202);
  }

  /** What was in front before a load that is given up comes there again. */
  #unload(model: ModelEntry, before?: AppState['active']): void {
    const { state, changed } = this.#world;
    if (state.swap?.to === model.name) delete state.swap;
    else if (state.active?.name === model.name) {
      if (before) state.active = before;
      else delete state.active;
    }
    model.state = 'available';
    changed();
  }

  /** As the real one does: answers that run are finished on the model before. */
  async load(model: ModelEntry): Promise<void> {
    const { state, models, changed, running } = this.#world;
    const before = state.active?.state === 'ready' ? state.active : undefined;
    this.#before = before;
    if (before && running() > 0) {
      state.swap = { to: model.name, runningOn: before.name, waiting: 1, etaMs: 14_000 };
      changed();
      while (running() > 0) await pause(60);
      if (!state.swap) return;
      delete state.swap;
    }
    const error = this.failing.get(model.name);
    delete state.failed;
    for (let step = 0; step <= 8; step++) {
      state.active = { name: model.name, state: 'loading', phase: 'weights', fraction: step / 8 };
      model.state = 'loading';
      changed();
      await pause(this.loadStepMs);
      if (state.active?.name !== model.name || (model.state as string) !== 'loading') return;
      if (error && step === 3) return this.#failed(model, error, before);
    }
    for (const other of models) if (other.state === 'ready') other.state = 'available';
    model.state = 'ready';
    delete model.error;
    state.active = { name: model.name, state: 'ready', context: 8192 };
    if (model.info) state.active.info = model.info;
    if (model.abilities) state.active.abilities = model.abilities;
    if (before && before.name !== model.name) state.previous = before.name;
    changed();
  }

  #failed(model: ModelEntry, error: NonNullable<ModelEntry['error']>, before: AppState['active']): void {
    const { state, changed } = this.#world;
    model.state = 'available';
    state.failed = { model: model.name, error, at: Date.now() };
    if (before) state.active = before;
    else state.active = { name: model.name, state: 'failed', error };
    changed();
  }

  #folder(method: string, id: string, body: Body, response: ServerResponse): boolean {
    if (method === 'GET') return ok(response, { folders: this.folders });
    if (method === 'DELETE') {
      const at = this.folders.findIndex((folder) => folder.id === id);
      if (at >= 0) this.folders.splice(at, 1);
      return gone(response);
    }
    const path = String(body.path);
    if (!path.startsWith('/')) return no(response, 404, 'file_not_found');
    let folder = this.folders.find((known) => known.path === path);
    if (folder) Object.assign(folder, { suggested: false, models: 7, bytes: 41.2e9 });
    else {
      folder = {
        id: `f${++this.#ids}`,
        path,
        kind: 'user',
        present: true,
        models: 2,
        bytes: 9.8e9,
        freeBytes: 512e9,
        suggested: false,
        notes: [],
      };
      this.folders.push(folder);
    }
    return ok(response, folder, 201);
  }

  #move(method: string, body: Body, response: ServerResponse): boolean {
    if (method === 'GET') return ok(response, { locations: makeLocations(), moves: this.moves });
    const what = body.what as MoveState['what'];
    const move: MoveState = {
      what,
      from: '/home/ana/.local/share/hearth/models',
      to: String(body.to),
      doneBytes: 3.2e9,
      totalBytes: 12.2e9,
      phase: 'copying',
    };
    this.moves.push(move);
    return ok(response, move, 202);
  }

  #discover(verb: string, url: URL, response: ServerResponse): boolean {
    if (verb === 'repo') {
      const model = this.hub.find(({ repo }) => repo === url.searchParams.get('repo'));
      return model ? ok(response, model) : no(response, 404, 'not_found');
    }
    const q = (url.searchParams.get('q') ?? '').toLowerCase();
    const { offline } = this.#world.settings;
    const found = this.hub
      .filter(
        (model) => (model.featured || (q && !offline)) && `${model.title} ${model.repo}`.toLowerCase().includes(q),
      )
      .map(({ files: _, suggested: __, ...model }) => model);
    return ok(response, { models: found, ...(offline && { offline: 'setting' }) });
  }

  #download(method: string, id: string, verb: string, body: Body, response: ServerResponse): boolean {
    const { state, changed } = this.#world;
    if (method === 'GET') return ok(response, { downloads: state.downloads });
    const known = state.downloads.find((download) => download.id === id);
    if (method === 'DELETE') {
      state.downloads = state.downloads.filter((download) => download !== known);
      changed();
      return gone(response);
    }
    if (known) {
      known.phase = verb === 'pause' ? 'paused' : 'fetching';
      if (verb === 'resume') delete known.error;
      changed();
      if (verb === 'resume') void this.#fetch(known);
      return ok(response, known);
    }
    const file = String(body.file);
    const model = this.hub.find(({ repo }) => repo === body.repo);
    const totalBytes = model?.files?.find(({ path }) => path === file)?.bytes ?? 1e9;
    const download: Download = {
      id: `d${++this.#ids}`,
      source: 'hub',
      repo: String(body.repo),
      file,
      phase: 'fetching',
      doneBytes: 0,
      totalBytes,
      bytesPerSecond: 48e6,
      etaMs: 250_000,
    };
    state.downloads = [...state.downloads, download];
    changed();
    void this.#fetch(download);
    return ok(response, download, 201);
  }

  #import(body: Body, response: ServerResponse): boolean {
    if (!String(body.path).startsWith('/media/')) return no(response, 404, 'file_not_found');
    const copied = { repo: 'imported/models-0a1b2c', file: 'qwen3-4b-q4_k_m.gguf', totalBytes: 2.5e9 };
    return ok(response, { downloads: [this.#copy({ source: 'disk', ...copied })] }, 201);
  }

  /** Another Hearth with the key `right`. */
  #peer(verb: string, body: Body, response: ServerResponse): boolean {
    if (verb !== 'models') {
      const copied = { repo: 'hearth/gpt-oss-20b-mxfp4-0a1b2c', file: 'gpt-oss-20b-mxfp4.gguf', totalBytes: 12.1e9 };
      return ok(response, this.#copy({ source: 'hearth', ...copied }), 201);
    }
    if (body.key !== 'right') return no(response, 502, 'remote_key_refused');
    return ok(response, { models: makeShelf() });
  }

  #copy(copied: Pick<Download, 'source' | 'repo' | 'file' | 'totalBytes'>): Download {
    const { state, changed } = this.#world;
    const id = `d${++this.#ids}`;
    const download: Download = { ...copied, id, phase: 'fetching', doneBytes: 0, bytesPerSecond: 210e6 };
    state.downloads = [...state.downloads, download];
    changed();
    void this.#fetch(download);
    return download;
  }

  /** A tenth at a time, then the check, then it is a model like the others. */
  async #fetch(download: Download): Promise<void> {
    const { changed, models } = this.#world;
    while (download.doneBytes < download.totalBytes) {
      await pause(this.stepMs);
      if (download.phase !== 'fetching') return;
      download.doneBytes = Math.min(download.totalBytes, download.doneBytes + download.totalBytes / 10);
      download.etaMs = ((download.totalBytes - download.doneBytes) / download.bytesPerSecond) * 1000;
      changed();
    }
    download.phase = 'verifying';
    changed();
    await pause(200);
    download.phase = 'done';
    download.model = download.file.replace(/\.gguf$/, '').toLowerCase();
    models.push({
      name: download.model,
      path: `/home/ana/.local/share/hearth/models/${download.repo}/${download.file}`,
      fileBytes: download.totalBytes,
      builtin: false,
      state: 'available',
      folder: 'own',
      fit: { ...FIT, verdict: 'fits', spareBytes: 3.1e9 } satisfies Fit,
      verification: { state: 'matches' },
    });
    changed();
  }

  #engine(method: string, id: string, verb: string, body: Body, response: ServerResponse): boolean {
    if (method === 'GET') return ok(response, { engines: this.engines });
    const engine = this.engines.find((known) => known.id === id);
    if (method === 'DELETE' && engine) {
      this.engines.splice(this.engines.indexOf(engine), 1);
      return gone(response);
    }
    if (verb === 'check' && engine) {
      engine.health = { state: 'ok', latencyMs: 42, checkedAt: Date.now() };
      return ok(response, engine);
    }
    const added: RemoteEngine = {
      id: `e${++this.#ids}`,
      name: String(body.name),
      url: String(body.url),
      hasKey: Boolean(body.key),
      health: { state: 'ok', latencyMs: 42, checkedAt: Date.now() },
      models: ['openai/gpt-oss-120b@10.0.0.7:8000'],
    };
    this.engines.push(added);
    return ok(response, added, 201);
  }

  #measured(verb: string, url: URL, body: Body, response: ServerResponse): boolean {
    if (verb === 'check') {
      const check: MatrixCheck = { model: String(body.model), state: 'running', phase: 'tokens' };
      this.checks.push(check);
      return ok(response, check, 202);
    }
    if (url.searchParams.get('format') === 'md') {
      response.writeHead(200, { 'content-type': 'text/markdown' }).end('| model |\n| --- |\n| gpt-oss-20b-mxfp4 |\n');
      return true;
    }
    return ok(response, { rows: this.matrix, checks: this.checks });
  }
}

function planOf(model: ModelEntry, { active: front, devices }: AppState, device: string | null): LoadPlan {
  const size = model.fileBytes;
  const active = front?.name;
  const cards = devices.filter(({ kind }) => kind === 'gpu');
  const card = cards.find(({ id }) => (device === null ? true : id === device));
  const memory = card
    ? {
        device: 'vram' as const,
        gpu: card.name,
        totalBytes: card.memoryTotal,
        freeBytes: card.memoryFree,
        otherBytes: 1e9,
      }
    : {};
  const fit = (context: number, kvBytes: number): Fit => {
    const spareBytes = (card ? card.memoryFree - 0.5e9 : 25.2e9 - 6.4e9) - size - kvBytes - 0.6e9;
    const verdict = spareBytes < 0 ? 'too_big' : spareBytes < 1e9 ? 'tight' : 'fits';
    return { ...FIT, ...memory, context, weightBytes: size, kvBytes, scratchBytes: 0.6e9, spareBytes, verdict };
  };
  const where = {
    device: card?.id ?? 'cpu',
    why: device === null ? ('fastest' as const) : ('chosen' as const),
    devices: [...cards.map(({ id, name }) => ({ id, name })), { id: 'cpu' }],
  };
  return {
    model: model.name,
    recommended: 'balanced',
    unloads: active && active !== model.name ? [active] : [],
    ...(cards.length > 0 ? where : { devices: [] }),
    choices: [
      { id: 'balanced', context: 32_768, kvType: 'f16', fit: fit(32_768, 1.6e9) },
      { id: 'long_memory', context: 131_072, kvType: 'f16', fit: fit(131_072, 6.4e9) },
      { id: 'small', context: 8192, kvType: 'q8', fit: fit(8192, 0.2e9) },
    ],
  };
}

function ok(response: ServerResponse, body: unknown, status = 200): true {
  reply(response, status, body);
  return true;
}

function no(response: ServerResponse, status: number, code: string): true {
  fail(response, status, code);
  return true;
}

function gone(response: ServerResponse): true {
  response.writeHead(204).end();
  return true;
}
