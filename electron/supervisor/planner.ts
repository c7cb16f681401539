// What a load would be, before anybody asks for it: the memory that it would go into, the choices that a person has, and what would have
// to go. It loads nothing.
import type { LoadChoice, LoadPlan, Placement } from '../contract/models';
import type { LogLevel, MemoryPlan } from '../contract/runtime';
import { DeviceChoice } from './device-choice';
import { choicesOf, RESERVE_BYTES, type Room } from './fit';
import { Gpus } from './gpus';
import type { Knowledge } from './knowledge';
import type { MachineMemory } from './memory';
import { placeDevice, type DeviceWish } from './placement/choose';
import { placements } from './placement/place';
import { sizesOf } from './placement/sizes';
import type { Residency } from './residency';
import { subjectDevice, type Known } from './terms';
import type { ModelRef, Probe } from './types';

export interface PlannerOptions {
  probe: Probe;
  knowledge: Knowledge;
  residency: Residency;
  wish(): DeviceWish;
  memory(): MachineMemory;
  budgetBytes?: number;
  /** Nothing runs that a measurement of the machine would disturb, or be disturbed by. */
  isQuiet(): boolean;
  log(level: LogLevel, text: string): void;
}

const bandwidthOf = ({ readBytesPerSecond }: Room) => (readBytesPerSecond ? { readBytesPerSecond } : {});

export class Planner {
  readonly choice: DeviceChoice;

  constructor(private readonly options: PlannerOptions) {
    const { probe, knowledge, residency, wish, log } = options;
    const gpus = new Gpus(probe, (device) => residency.pools.heldOn(device), log);
    this.choice = new DeviceChoice({
      gpus,
      knowledge,
      ram: (measure) => this.ram(measure),
      bandwidth: (device, measure) => knowledge.readBytesPerSecond(measure && options.isQuiet(), device),
      wish,
    });
  }

  /** On the processor. */
  async known({ path }: ModelRef): Promise<Known> {
    const { knowledge } = this.options;
    const plan = await knowledge.plan(path);
    return { plan, experience: await knowledge.experience(plan) };
  }

  async plan(model: ModelRef, device?: string): Promise<LoadPlan> {
    const { knowledge, residency } = this.options;
    const plan = await knowledge.plan(model.path);
    const found = await this.choice.roomFor(plan, { device });
    const { why, others, whole } = found;
    const where = this.choice.whereOf(found);
    const experience = { ...(await knowledge.experience(plan, subjectDevice(where))), ...bandwidthOf(whole) };
    const chosen = choicesOf(plan, whole, experience);
    const choice = chosen.choices.find(({ id }) => id === chosen.recommended);
    const ask = residency.askFor(model.path, choice ?? {}, { plan, experience, ...where });
    const placement = residency.pools.place(ask);
    const paths = placement.kind === 'evict' || placement.kind === 'wait' ? placement.paths : [];
    const unloads = paths.flatMap((path) => residency.residents.get(path)?.ref.name ?? []);
    const shown = choice && (found.placement ?? (await this.placementOf(plan, choice, found.room)));
    const devices = others.map(({ gpu: card }) => ({ id: card?.id ?? 'cpu', ...(card && { name: card.name }) }));
    return {
      model: model.name,
      ...chosen,
      unloads,
      device: found.room.gpu?.id ?? 'cpu',
      why,
      devices,
      ...(shown && { placement: shown }),
    };
  }

  /** The whole model in this room. */
  private async placementOf(
    plan: MemoryPlan,
    { context, kvType }: LoadChoice,
    room: Room,
  ): Promise<Placement | undefined> {
    const ram = await this.ram(false);
    const machine = { cpu: placeDevice(ram, ram), gpus: room.gpu ? [placeDevice(room, ram)] : [] };
    const all = placements(sizesOf(plan, context, kvType), machine, 1);
    return all.find(({ shares }) => shares[0]?.device === (room.gpu?.id ?? 'cpu'));
  }

  async fitRoom({ path }: ModelRef): Promise<Known & { room: Room }> {
    const { knowledge } = this.options;
    const plan = await knowledge.plan(path);
    const found = await this.choice.roomFor(plan, {}, { quick: true });
    const { whole } = found;
    const experience = await knowledge.experience(plan, subjectDevice(this.choice.whereOf(found)));
    return { plan, experience: { ...experience, ...bandwidthOf(whole) }, room: whole };
  }

  async roomFor(plan: MemoryPlan): Promise<Room> {
    return (await this.choice.roomFor(plan, {}, { quick: true })).whole;
  }

  /** The machine's memory, and how fast it is read: measured the first time, unless somebody waits for it. */
  async ram(measure = true): Promise<Room> {
    const { memory, residency, knowledge, budgetBytes = Infinity, isQuiet } = this.options;
    const { totalBytes, freeBytes } = memory();
    const ownBytes = residency.pools.heldNow();
    const readBytesPerSecond = await knowledge.readBytesPerSecond(measure && isQuiet());
    const opsPerSecond = await knowledge.opsPerSecond();
    // What was named for all models is theirs: nothing of it is held back.
    const free = Math.min(freeBytes + ownBytes, budgetBytes + RESERVE_BYTES);
    const speeds = { ...(readBytesPerSecond && { readBytesPerSecond }), ...(opsPerSecond && { opsPerSecond }) };
    return { totalBytes, freeBytes: free, ownBytes, ...speeds };
  }
}
