// The device for a load: memories as they are now, wishes and settings, and what is known of the model on each. The decision itself is
// placement/choose.ts's; a wish that cannot be met becomes an error here.
import { HearthError } from '../contract/errors';
import type { MemoryPlan } from '../contract/runtime';
import type { Experience, Room } from './fit';
import { gpusOf } from './device-faults';
import { isGone, type Gpus, type SeenGpu } from './gpus';
import type { Knowledge, LastDevice, Trial } from './knowledge';
import { chooseRoom, roomTogether, type Choice, type DeviceWish, type Why } from './placement/choose';
import type { Rates } from './placement/trial';
import type { Placement } from './placement/types';
import type { Where } from './terms';
import type { LoadWish } from './types';

export interface DeviceChoiceOptions {
  gpus: Gpus;
  knowledge: Pick<Knowledge, 'experience' | 'lastDevices' | 'opsPerSecond' | 'trials' | 'uses'>;
  /** `measure`: how fast it is read may be found out now, which takes a second. */
  ram(measure: boolean): Promise<Room>;
  /** Of a graphics device, in bytes a second. */
  bandwidth(device: string, measure: boolean): Promise<number | undefined>;
  wish(): DeviceWish;
}

/** Where a model goes, and the devices that would have had a part in it and are kept away from. */
export interface Going {
  where: Where;
  avoided: readonly string[];
}

export interface Chosen {
  /** Of the first device, where several share the model as `placement` says. */
  room: Room;
  placement?: Placement;
  /** Other ways for its devices. */
  rivals?: Placement[];
  /** All that the model may take, as one memory. */
  whole: Room;
  why: Why;
  /** Every memory that could have been named, the chosen one included. */
  others: Room[];
  /** Would have had a part in it, and was to be kept away from. */
  avoided: string[];
}

const NONE: ReadonlySet<string> = new Set();

/** Computes on the processor, and needs no list of anything else. */
const isProcessor = (device: string): boolean => device === 'cpu' || device === 'reference';

export class DeviceChoice {
  constructor(private readonly options: DeviceChoiceOptions) {}

  /** `out`: devices that it keeps away from. Throws HearthError{device_unavailable}. */
  async whereFor(plan: MemoryPlan, wish: LoadWish, out = NONE): Promise<Going> {
    const { device, gpuRequired } = this.wishOf(wish);
    // Without a choice nothing is looked at: a command that runs on the processor opens no driver.
    if (isProcessor(device) && !gpuRequired) return { where: {}, avoided: [] };
    if (out.has(device) && !gpuRequired) return { where: {}, avoided: [device] };
    const found = await this.roomFor(plan, wish, { measure: false, out });
    return { where: this.whereOf(found), avoided: found.avoided };
  }

  /** Looked at anew, since something has happened to one of them. */
  look(): Promise<readonly SeenGpu[]> {
    return this.options.gpus.lookAnew();
  }

  whereOf({ room, placement, rivals }: Chosen): Where {
    const gpu = this.seen(room);
    const division = placement && { placement, gpus: this.options.gpus.last(), ...(rivals && { rivals }) };
    return { ...(gpu && { gpu }), ...(division && { division }) };
  }

  /**
   * A device on which the model was, and which is not there now: after a sleep, with another driver, in a changed machine. Only where it
   * has fewer now, and the choice is ours: a wish that cannot be met is an error, and who wishes the processor knows.
   */
  async missing(plan: MemoryPlan, wish: LoadWish, where: Where): Promise<LastDevice | undefined> {
    if (this.wishOf(wish).device !== 'auto') return undefined;
    const last = await this.options.knowledge.lastDevices(plan);
    if (gpusOf(where).length >= last.length) return undefined;
    return last.find((each) => isGone(each, this.options.gpus.last()));
  }

  seen({ gpu }: Room): SeenGpu | undefined {
    return gpu && this.options.gpus.last().find(({ id }) => id === gpu.id);
  }

  /** `quick`: what was seen last is good enough, and a wish that cannot be met is no error. */
  async roomFor(
    plan: MemoryPlan,
    wish: LoadWish,
    {
      quick = false,
      measure = true,
      out = NONE,
    }: { quick?: boolean; measure?: boolean; out?: ReadonlySet<string> } = {},
  ): Promise<Chosen> {
    const wanted = this.wishOf(wish);
    const ram = await this.options.ram(measure);
    const gpus = await this.measured(await this.options.gpus.rooms(ram, quick), measure);
    const seen = await this.experiences(plan, gpus);
    const rates = await this.rates(plan);
    const habit = await this.options.knowledge.uses.habit(plan);
    const { kvType, context } = wish;
    const chooseOf = (from: Room[]) =>
      chooseRoom(plan, { ram, gpus: from }, named(wanted), {
        seen: (device) => seen.get(device) ?? {},
        rates: (devices) => rates.get(devices),
        habit,
        ...(context && { context }),
        ...(kvType === 'q8' && { kvType }),
      });
    const first = chooseOf(gpus);
    const avoided = devicesIn(first).filter((id) => out.has(id));
    const choice = avoided.length > 0 ? chooseOf(gpus.filter(({ gpu }) => !gpu || !out.has(gpu.id))) : first;
    const offered = gpus.filter(({ gpu }) => gpu && (gpu.type !== 'software' || gpu.id === wanted.device));
    const others = [...offered, ...(wanted.gpuRequired ? [] : [ram])];
    if ('room' in choice) {
      const { placement, room } = choice;
      return {
        ...choice,
        others,
        avoided,
        whole: (placement && roomTogether(placement, [ram, ...gpus], plan)) ?? room,
      };
    }
    if (quick) return { room: ram, why: 'no_gpu', others, avoided, whole: ram };
    throw unavailable(choice.refused, wanted.device);
  }

  /** Memories of devices with how fast they are read, where that is known; of software nobody asks. */
  private measured(rooms: Room[], measure: boolean): Promise<Room[]> {
    const all = rooms.map(async (room): Promise<Room> => {
      const { gpu } = room;
      if (!gpu || gpu.type === 'software') return room;
      const readBytesPerSecond = await this.options.bandwidth(gpu.id, measure);
      const opsPerSecond = await this.options.knowledge.opsPerSecond(gpu.id);
      return { ...room, ...(readBytesPerSecond && { readBytesPerSecond }), ...(opsPerSecond && { opsPerSecond }) };
    });
    return Promise.all(all);
  }

  /** As measured at loads, with the drivers that there are now. */
  private async rates(plan: MemoryPlan): Promise<Map<string, Rates>> {
    const drivers = this.options.gpus.last().map(({ id, driver }) => ({ id, driver }));
    const isOf = ({ print }: Trial) =>
      drivers.every(({ id, driver }) => !print.includes(id) || print.includes(`${id} ${driver}`));
    const trials = (await this.options.knowledge.trials(plan)).filter(isOf);
    return new Map(trials.map(({ devices, decodeTps, prefillTps }) => [devices, { decodeTps, prefillTps }]));
  }

  private async experiences(plan: MemoryPlan, gpus: readonly Room[]): Promise<Map<string, Experience>> {
    const devices = ['cpu', ...gpus.flatMap(({ gpu }) => gpu?.id ?? [])];
    const { knowledge } = this.options;
    const all = devices.map(async (id): Promise<[string, Experience]> => {
      return [id, await knowledge.experience(plan, id === 'cpu' ? undefined : id)];
    });
    return new Map(await Promise.all(all));
  }

  private wishOf({ device }: LoadWish): DeviceWish {
    const usual = this.options.wish();
    return device === undefined ? usual : { ...usual, device };
  }
}

function devicesIn(choice: Choice): string[] {
  if (!('room' in choice)) return [];
  return choice.placement?.shares.map(({ device }) => device) ?? [choice.room.gpu?.id ?? 'cpu'];
}

const named = (wish: DeviceWish): DeviceWish => (wish.device === 'reference' ? { ...wish, device: 'cpu' } : wish);

function unavailable(refused: 'missing' | 'required', device: string): HearthError {
  const text =
    refused === 'missing'
      ? `There is no device ${device}.`
      : 'A graphics card is required by the settings, and there is none that can be used.';
  return new HearthError('device_unavailable', text, refused === 'missing' ? { param: 'device' } : {});
}
