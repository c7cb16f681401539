// The engines elsewhere that the user has added: kept in the store, asked at a pace for their models and whether they are well, and given to
// the supervisor as hosts. A key goes to its engine alone: nothing that this file gives back holds one.
import { randomUUID } from 'node:crypto';
import { HearthError } from '../../contract/errors';
import type { RemoteEngine, RemoteEngineRequest } from '../../contract/models';
import type { Abilities } from '../../contract/runtime';
import type { Store, StoredEngine } from '../../store/types';
import type { HostListener, ModelHost } from '../model-host';
import type { ModelRef } from '../types';
import { RemoteClient, type Door, type ListedModel } from './client';
import { healthOf, nextCheckMs } from './health';
import { checkedEngineName, engineSlug, namesOnEngine } from './names';
import { LIMITS, type Limits } from './patience';
import { RemoteHost } from './remote-host';

export interface RemoteModel {
  /** In the API of this Hearth. */
  name: string;
  /** Tells it from all others: a reference, not an address. */
  path: string;
  /** Of the engine: its name and its id. */
  engine: string;
  engineId: string;
  context?: number;
  abilities?: Abilities;
}

export interface RemoteEngines {
  list(): RemoteEngine[];
  /** Kept at once, also where nobody answers there: its health says so. Throws `invalid_request`. */
  add(request: RemoteEngineRequest): Promise<RemoteEngine>;
  /** Running answers of it end. Throws `not_found`. */
  remove(id: string): Promise<void>;
  /** Asks it now. Throws `not_found`. */
  check(id: string): Promise<RemoteEngine>;
  models(): RemoteModel[];
  /** For the supervisor. Throws `model_not_found`. */
  host(ref: ModelRef, listener: HostListener): ModelHost;
  /** Told when engines, their models or their health changed. */
  watch(listener: () => void): () => void;
  /** Rises when the models changed. */
  version(): number;
  close(): void;
}

export interface RemoteEnginesOptions {
  store: Pick<Store, 'addRemoteEngine' | 'remoteEngines' | 'removeRemoteEngine'>;
  door: Door;
  /** Names of the models on this machine: theirs come first. */
  localNames(): ReadonlySet<string>;
  limits?: Limits;
}

interface Known {
  stored: StoredEngine;
  client: RemoteClient;
  health: RemoteEngine['health'];
  models: ListedModel[];
  failures: number;
  timer?: NodeJS.Timeout;
  asking?: Promise<void>;
  hosts: Set<ModelHost>;
}

/** Engines that were added before are asked in the background. */
export async function openRemoteEngines(options: RemoteEnginesOptions): Promise<RemoteEngines> {
  const engines = new KnownEngines(options);
  for (const stored of await options.store.remoteEngines()) void engines.ask(engines.know(stored));
  return engines;
}

class KnownEngines implements RemoteEngines {
  private readonly known = new Map<string, Known>();
  private readonly watchers = new Set<() => void>();
  private closed = false;
  private shown = '';
  private versions = 0;

  constructor(private readonly options: RemoteEnginesOptions) {}

  list(): RemoteEngine[] {
    const models = this.models();
    return [...this.known.values()].map((engine) => described(engine, models));
  }

  async add({ name, url, key }: RemoteEngineRequest): Promise<RemoteEngine> {
    const stored: StoredEngine = {
      id: randomUUID(),
      name: checkedEngineName(name),
      url: checkedUrl(url),
      createdAt: Date.now(),
      ...(key !== undefined && key.trim() !== '' && { key: checkedKey(key) }),
    };
    const slug = engineSlug(stored.name);
    if ([...this.known.values()].some((engine) => engineSlug(engine.stored.name) === slug))
      throw new HearthError('invalid_request', `There is an engine called ${stored.name} already.`, { param: 'name' });
    await this.options.store.addRemoteEngine(stored);
    const engine = this.know(stored);
    await this.ask(engine);
    return described(engine, this.models());
  }

  async remove(id: string): Promise<void> {
    const engine = this.existing(id);
    await this.options.store.removeRemoteEngine(id);
    clearTimeout(engine.timer);
    this.known.delete(id);
    await Promise.all([...engine.hosts].map((host) => host.close()));
    this.changed();
  }

  async check(id: string): Promise<RemoteEngine> {
    const engine = this.existing(id);
    await this.ask(engine);
    return described(engine, this.models());
  }

  models(): RemoteModel[] {
    const taken = new Set(this.options.localNames());
    return [...this.known.values()].flatMap((engine) => {
      const { stored, models } = engine;
      const ids = models.map(({ id }) => id);
      const named = namesOnEngine(stored.name, ids, (name) => taken.has(name));
      return named.map(({ name, id }, i) => {
        taken.add(name);
        const { context, abilities } = models[i] ?? {};
        return {
          name,
          path: pathOf(stored.id, id),
          engine: stored.name,
          engineId: stored.id,
          ...(context !== undefined && { context }),
          ...(abilities && { abilities }),
        };
      });
    });
  }

  host(ref: ModelRef, listener: HostListener): ModelHost {
    const engine = this.known.get(ref.remote ?? '');
    const prefix = pathOf(ref.remote ?? '', '');
    if (!engine || !ref.path.startsWith(prefix))
      throw new HearthError('model_not_found', `The engine of ${ref.name} is not there any more.`, { param: 'model' });
    const host = new RemoteHost(ref, { client: engine.client, id: ref.path.slice(prefix.length), listener });
    engine.hosts.add(host);
    return host;
  }

  watch(listener: () => void): () => void {
    this.watchers.add(listener);
    return () => this.watchers.delete(listener);
  }

  close(): void {
    this.closed = true;
    for (const { timer } of this.known.values()) clearTimeout(timer);
    this.watchers.clear();
  }

  know(stored: StoredEngine): Known {
    const { door, limits = LIMITS } = this.options;
    const engine: Known = {
      stored,
      client: new RemoteClient(stored, door, limits),
      health: { state: 'unknown' },
      models: [],
      failures: 0,
      hosts: new Set(),
    };
    this.known.set(stored.id, engine);
    this.changed();
    return engine;
  }

  /** Its models and its health, once for everybody who asks meanwhile. Never throws: a failure is its health. */
  ask(engine: Known): Promise<void> {
    engine.asking ??= this.askNow(engine).finally(() => {
      delete engine.asking;
      this.askLater(engine);
      this.changed();
    });
    return engine.asking;
  }

  private async askNow(engine: Known): Promise<void> {
    const begun = performance.now();
    for (const host of engine.hosts) if (host.state === 'closed') engine.hosts.delete(host);
    try {
      engine.models = await engine.client.models();
      engine.failures = 0;
      engine.health = healthOf({ latencyMs: performance.now() - begun }, Date.now());
    } catch (error) {
      // The models stay listed: asked for, they say what is wrong.
      engine.failures += 1;
      engine.health = healthOf({ latencyMs: performance.now() - begun, error: HearthError.from(error) }, Date.now());
    }
  }

  private askLater(engine: Known): void {
    clearTimeout(engine.timer);
    if (this.closed || !this.known.has(engine.stored.id)) return;
    engine.timer = setTimeout(() => void this.ask(engine), nextCheckMs(engine.failures)).unref();
  }

  private existing(id: string): Known {
    const engine = this.known.get(id);
    if (!engine) throw new HearthError('not_found', 'There is no such engine.');
    return engine;
  }

  version(): number {
    return this.versions;
  }

  private changed(): void {
    const shown = JSON.stringify([...this.known.values()].map(({ stored, models }) => [stored.name, models]));
    if (shown !== this.shown) this.versions += 1;
    this.shown = shown;
    for (const listener of [...this.watchers]) listener();
  }
}

const pathOf = (engineId: string, modelId: string) => `remote:${engineId}/${modelId}`;

function described({ stored, health, models }: Known, named: readonly RemoteModel[]): RemoteEngine {
  return {
    id: stored.id,
    name: stored.name,
    url: stored.url,
    hasKey: stored.key !== undefined,
    health,
    models: models.length === 0 ? [] : named.filter(({ engineId }) => engineId === stored.id).map(({ name }) => name),
  };
}

/** The address of its /v1, as everything is asked below it. Throws `invalid_request`. */
export function checkedUrl(typed: string): string {
  const wrong = (why: string) => new HearthError('invalid_request', `url: ${why}`, { param: 'url' });
  let url: URL;
  try {
    url = new URL(typed.trim());
  } catch {
    throw wrong('an address such as http://192.168.1.20:8000/v1 is expected.');
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw wrong('it must begin with http:// or https://.');
  // They would be shown, stored in receipts and logged with the address.
  if (url.username !== '' || url.password !== '') throw wrong('put the password into the field for the key.');
  if (url.search !== '' || url.hash !== '') throw wrong('an address without ? and # is expected.');
  const path = url.pathname.replace(/\/+$/, '');
  return url.origin + (path === '' ? '/v1' : path);
}

/** It becomes a header: what a header cannot hold would be refused there in a message that quotes it. */
function checkedKey(key: string): string {
  const plain = key.trim();
  if (/^[\x21-\x7e]{1,4096}$/.test(plain)) return plain;
  throw new HearthError('invalid_request', 'key: letters, digits and signs of ASCII are expected.', { param: 'key' });
}
