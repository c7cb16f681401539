// Which memory a model is loaded into: what somebody wished, what the settings demand, else the plan that is fastest. Pure.
import type { MemoryPlan } from '../../contract/runtime';
import {
  LEAST_CONTEXT,
  bandwidthFor,
  reserveOf,
  usableBytes,
  type Experience,
  type Gpu,
  type KvType,
  type Room,
} from '../fit';
import { devicesOf } from './mesh';
import { placements, preferred } from './place';
import { sizesOf, total, type Habit } from './sizes';
import { fasterOf, rivalsOf, type Rates } from './trial';
import type { PlaceDevice, Placement } from './types';

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

/** Why it is loaded there, or nowhere. `placement`: where several devices share it; `room` is then that of the first. */
export type Why = 'chosen' | 'fastest' | 'measured' | 'no_gpu' | 'too_small' | 'required';
/** `rivals`: other ways for the devices of `placement`, as they are expected to be. */
export type Choice =
  { room: Room; why: Why; placement?: Placement; rivals?: Placement[] } | { refused: 'missing' | 'required' };

/** For which conversation, and what is known of the model on each device ('cpu' among them). */
interface How {
  context: number;
  kvType: KvType;
  seen(device: string): Experience;
  /** Measured at a load of it onto these devices, in this way (devicesOf). */
  rates(devices: string): Rates | undefined;
  habit?: Habit;
}

const USUAL: How = { context: LEAST_CONTEXT, kvType: 'f16', seen: () => ({}), rates: () => undefined };

/** Bytes a second where nothing was measured: guesses by the kind of device. */
const ASSUMED = { cpu: 20e9, discrete: 300e9, virtual: 100e9, other: 100e9 };

/** Operations a second where nothing was measured. */
const ASSUMED_OPS = { cpu: 0.5e12, discrete: 20e12, integrated: 2e12, virtual: 5e12, software: 0.1e12, other: 5e12 };

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
    opsPerSecond: room.opsPerSecond ?? ASSUMED_OPS[gpu?.type ?? 'cpu'],
    measured: room.readBytesPerSecond !== undefined && room.opsPerSecond !== undefined,
    unified: gpu?.unified ?? false,
  };
}

/** Software computes on the processor, and worse than the processor's own kernels: only who names it gets it. */
const isOffered = ({ type }: Gpu): boolean => type !== 'software';

export function chooseRoom(plan: MemoryPlan, rooms: Rooms, wish: DeviceWish, how: Partial<How> = {}): Choice {
  const { ram } = rooms;
  const known = { ...USUAL, ...how };
  if (wish.device === 'cpu') return wish.gpuRequired ? { refused: 'required' } : { room: ram, why: 'chosen' };
  if (wish.device !== 'auto') {
    const named = rooms.gpus.find(({ gpu }) => gpu?.id === wish.device);
    return named ? { ...whereOn(named, plan, rooms, wish, known), why: 'chosen' } : { refused: 'missing' };
  }
  const gpus = rooms.gpus.filter(({ gpu }) => gpu && isOffered(gpu));
  if (gpus.length === 0) return wish.gpuRequired ? { refused: 'required' } : { room: ram, why: 'no_gpu' };
  const all = ways(plan, { ram, gpus }, known);
  const first = preferred(wish.gpuRequired ? all.filter(isOnCards) : all);
  const rivals = first ? rivalsOf(first, all) : [];
  const ratesOf = (placement: Placement) => known.rates(devicesOf(placement));
  const best = (first && fasterOf(first, rivals, ratesOf)) ?? first;
  if (best && (wish.gpuRequired || all.some(({ shares }) => shares.some(({ kind }) => kind === 'gpu')))) {
    const others = rivalsOf(best, all);
    const compared = others.length > 0 && [best, ...others].every(ratesOf);
    const why = wish.gpuRequired ? 'required' : compared ? 'measured' : 'fastest';
    return { ...whereOf(best, { ram, gpus }), why, ...(others.length > 0 && { rivals: others }) };
  }
  if (!wish.gpuRequired) return { room: ram, why: 'too_small' };
  // Nowhere: what is lacking on the largest is what is told.
  return { room: gpus.reduce((one, two) => (usableBytes(two) > usableBytes(one) ? two : one)), why: 'required' };
}

const isOnCards = ({ shares }: Placement): boolean => shares.every(({ kind }) => kind === 'gpu');

/** On the device that was named; where that has no room for all, the processor takes what is left, unless it may not. */
function whereOn(
  named: Room,
  plan: MemoryPlan,
  { ram }: Rooms,
  { gpuRequired }: DeviceWish,
  how: How,
): { room: Room; placement?: Placement } {
  const all = ways(plan, { ram, gpus: [named] }, how).filter(({ shares }) => shares[0]?.kind === 'gpu');
  if (gpuRequired || all.some(({ shares }) => shares.length === 1)) return { room: named };
  const best = preferred(all);
  return best ? whereOf(best, { ram, gpus: [named] }) : { room: named };
}

function whereOf(placement: Placement, { ram, gpus }: Rooms): { room: Room; placement?: Placement } {
  const room = [ram, ...gpus].find(({ gpu }) => (gpu?.id ?? 'cpu') === placement.shares[0]?.device) ?? ram;
  return { room, ...(placement.shares.length > 1 && { placement }) };
}

const smallest = (rooms: readonly Room[]): Room | undefined =>
  [...rooms].sort((one, two) => usableBytes(one) - usableBytes(two))[0];

/** The memories of devices that share a model, as if they were one: what it may take there, and how fast that would be read. */
export function roomTogether(placement: Placement, rooms: readonly Room[], plan: MemoryPlan): Room | undefined {
  const used = placement.shares.flatMap(({ device }) => rooms.filter(({ gpu }) => (gpu?.id ?? 'cpu') === device));
  const [first] = used;
  if (!first) return undefined;
  // Each has all of it: the smaller one bounds both.
  if (placement.kind === 'handover') return smallest(used);
  // Devices without a memory of their own use the machine's, which is counted once.
  const isMachine = ({ gpu }: Room) => !gpu || gpu.unified;
  const memories = used.filter((room, index) => !isMachine(room) || used.findIndex(isMachine) === index);
  const sum = (of: (room: Room) => number) => total(memories.map(of));
  const scratch = total(placement.shares.slice(1).map(({ scratchBytes }) => scratchBytes));
  return {
    totalBytes: sum(({ totalBytes }) => totalBytes),
    freeBytes: sum(usableBytes) - scratch + reserveOf(first),
    ownBytes: sum(({ ownBytes }) => ownBytes),
    readBytesPerSecond: bandwidthFor(plan, placement.decodeTps),
    ...(first.gpu && { gpu: first.gpu }),
  };
}

/** How it could be loaded, the fastest first: as measured where it was loaded so before, else as expected. */
function ways(plan: MemoryPlan, { ram, gpus }: Rooms, { context, kvType, seen, rates, habit }: How): Placement[] {
  const devices = { cpu: placeDevice(ram, ram), gpus: gpus.map((room) => placeDevice(room, ram)) };
  return placements(sizesOf(plan, context, kvType, habit), devices)
    .map((placement) => {
      const { decodeTps } = seen(devicesOf(placement));
      return { ...placement, ...(decodeTps && { decodeTps }), ...rates(devicesOf(placement)) };
    })
    .sort((one, two) => two.decodeTps - one.decodeTps);
}
