// Which memory a model is loaded into: what somebody wished, what the settings demand, else the plan that is fastest of those that the
// engine can carry out. Pure.
import type { MemoryPlan } from '../../contract/runtime';
import { LEAST_CONTEXT, usableBytes, type Experience, type Gpu, type KvType, type Room } from '../fit';
import { placements } from './place';
import { sizesOf } from './sizes';
import type { PlaceDevice } from './types';

/** 'auto', 'cpu', or the id of a graphics device. */
export interface DeviceWish {
  device: string;
  /** Nothing is ever loaded on the processor. */
  gpuRequired: boolean;
}

/** The machine's memory, and those of its graphics devices. */
export interface Rooms {
  ram: Room;
  gpus: readonly Room[];
}

/** Why it is loaded there, or nowhere. */
export type Why = 'chosen' | 'fastest' | 'no_gpu' | 'too_small' | 'required';
export type Choice = { room: Room; why: Why } | { refused: 'missing' | 'required' };

/** For which conversation, and what is known of the model on each device ('cpu' among them). */
interface How {
  context: number;
  kvType: KvType;
  seen(device: string): Experience;
}

const USUAL: How = { context: LEAST_CONTEXT, kvType: 'f16', seen: () => ({}) };

/** Bytes a second where nothing was measured: guesses by the kind of device. */
const ASSUMED = { cpu: 20e9, discrete: 300e9, virtual: 100e9, other: 100e9 };

function bandwidthOf({ readBytesPerSecond, gpu }: Room, ram: Room): number {
  if (readBytesPerSecond !== undefined) return readBytesPerSecond;
  if (!gpu) return ASSUMED.cpu;
  if (gpu.type === 'integrated' || gpu.type === 'software') return bandwidthOf(ram, ram);
  return ASSUMED[gpu.type];
}

export function placeDevice(room: Room, ram: Room): PlaceDevice {
  const { gpu } = room;
  return {
    id: gpu?.id ?? 'cpu',
    name: gpu?.name ?? '',
    kind: gpu ? 'gpu' : 'cpu',
    roomBytes: usableBytes(room),
    bytesPerSecond: bandwidthOf(room, ram),
    unified: gpu?.unified ?? false,
  };
}

/** Software computes on the processor, and worse than the processor's own kernels: only who names it gets it. */
const isOffered = ({ type }: Gpu): boolean => type !== 'software';

export function chooseRoom(plan: MemoryPlan, rooms: Rooms, wish: DeviceWish, how: Partial<How> = {}): Choice {
  const { ram } = rooms;
  if (wish.device === 'cpu') return wish.gpuRequired ? { refused: 'required' } : { room: ram, why: 'chosen' };
  if (wish.device !== 'auto') {
    const named = rooms.gpus.find(({ gpu }) => gpu?.id === wish.device);
    return named ? { room: named, why: 'chosen' } : { refused: 'missing' };
  }
  const gpus = rooms.gpus.filter(({ gpu }) => gpu && isOffered(gpu));
  if (gpus.length === 0) return wish.gpuRequired ? { refused: 'required' } : { room: ram, why: 'no_gpu' };
  const all = bySpeed(plan, { ram, gpus }, { ...USUAL, ...how });
  const [best] = all.filter(({ gpu }) => gpu || !wish.gpuRequired);
  if (best && wish.gpuRequired) return { room: best, why: 'required' };
  if (best && all.some(({ gpu }) => gpu)) return { room: best, why: 'fastest' };
  if (!wish.gpuRequired) return { room: ram, why: 'too_small' };
  // Nowhere: what is lacking on the largest is what is told.
  return { room: gpus.reduce((one, two) => (usableBytes(two) > usableBytes(one) ? two : one)), why: 'required' };
}

/** Where it could be loaded as a whole, the fastest first. */
function bySpeed(plan: MemoryPlan, { ram, gpus }: Rooms, { context, kvType, seen }: How): Room[] {
  const devices = { cpu: placeDevice(ram, ram), gpus: gpus.map((room) => placeDevice(room, ram)) };
  return placements(sizesOf(plan, context, kvType), devices, 1)
    .filter(({ runs }) => runs)
    .map(({ shares, decodeTps }) => ({ id: shares[0]?.device ?? 'cpu', decodeTps }))
    .map(({ id, decodeTps }) => ({ id, decodeTps: seen(id).decodeTps ?? decodeTps }))
    .sort((one, two) => two.decodeTps - one.decodeTps)
    .flatMap(({ id }) => [ram, ...gpus].filter(({ gpu }) => (gpu?.id ?? 'cpu') === id));
}
