// One load under way: a host is made and started, and closed again where nobody wants it any more. It makes no room and lets nobody in.
import type { Loaded, LoadPhase } from '../contract/runtime';
import type { DeviceFailure } from './device-faults';
import type { ModelHost } from './model-host';
import { Resident } from './resident';
import { boundsOf, type HostLoad, type Terms, type Where } from './terms';
import type { LoadWish, ModelRef } from './types';
import { givenUp, type Want } from './wants';

export interface HostNeeds {
  load: Partial<HostLoad>;
  onPhase(phase: LoadPhase, fraction: number): void;
  /** How it is loaded elsewhere, now that a device failed; undefined: not at all. */
  leaveDevice(failure: DeviceFailure): Promise<Partial<HostLoad> | undefined>;
}

export interface Loading {
  want: Want;
  controller: AbortController;
  phase?: LoadPhase;
  fraction?: number;
  /** It was measured, and is to be loaded in another way. */
  better?: Where | undefined;
}

export interface Boot {
  createHost(ref: ModelRef, needs: HostNeeds): ModelHost;
  /** For every load. */
  options: Partial<HostLoad>;
  leaveDevice(
    resident: Resident,
    load: Partial<HostLoad>,
    failure: DeviceFailure,
  ): Promise<Partial<HostLoad> | undefined>;
  look(resident: Resident): Promise<void>;
  /** Another way to share it over its devices; undefined: it stays. */
  better(resident: Resident): Promise<Where | undefined>;
  onChange(): void;
  onLoaded(ref: ModelRef, loaded: Loaded): void;
}

/** Throws HearthError, with nothing left behind. */
export async function boot(
  loading: Loading,
  wish: LoadWish,
  terms: Terms | undefined,
  { createHost, options, leaveDevice, look, better, onChange, onLoaded }: Boot,
): Promise<Resident> {
  const { ref, fallback } = loading.want;
  const load = terms && { ...options, kvType: wish.kvType ?? options.kvType, ...boundsOf(terms) };
  let resident: Resident | undefined;
  const host = createHost(ref, {
    load: load ?? {},
    onPhase: (phase, fraction) => {
      Object.assign(loading, { phase, fraction });
      onChange();
    },
    leaveDevice: async (failure) => resident && load && leaveDevice(resident, load, failure),
  });
  const { signal } = loading.controller;
  const giveUp = () => void host.close();
  signal.addEventListener('abort', giveUp, { once: true });
  try {
    const loaded = await host.start();
    if (terms) host.grant(terms.kvGrant);
    resident = new Resident(ref, wish, host, terms, fallback);
    await look(resident);
    loading.better = await better(resident);
    if (signal.aborted) throw givenUp(ref);
    if (loading.better) return resident;
    onLoaded(ref, loaded);
    return resident;
  } catch (error) {
    await host.close();
    throw error;
  } finally {
    signal.removeEventListener('abort', giveUp);
  }
}
