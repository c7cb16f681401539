// Which memory a model goes into, as a table of machines and wishes.
import { describe, expect, it } from 'vitest';
import { fitOf, type Gpu, type Room } from '../../../electron/supervisor/fit';
import { chooseRoom, roomTogether } from '../../../electron/supervisor/placement/choose';
import { devicesOf } from '../../../electron/supervisor/placement/mesh';
import { MODELS } from './placement/models';
import { planFor } from './plans';

const GB = 1e9;
const ram = (free = 30, readBytesPerSecond = 20e9): Room => ({
  totalBytes: 32 * GB,
  freeBytes: free * GB,
  ownBytes: 0,
  readBytesPerSecond,
});
const card = (id: string, free: number, type: Gpu['type'] = 'discrete', readBytesPerSecond?: number): Room => ({
  totalBytes: 24 * GB,
  freeBytes: free * GB,
  ownBytes: 0,
  gpu: { id, name: id, type, unified: type === 'integrated' || type === 'software' },
  ...(readBytesPerSecond !== undefined && { readBytesPerSecond }),
});
const auto = { device: 'auto', gpuRequired: false };

function chosen(gpus: Room[], wish = auto, gigabytes = 4, seen = {} as Record<string, number>): string {
  const speeds = (device: string) => (seen[device] === undefined ? {} : { decodeTps: seen[device] });
  const choice = chooseRoom(planFor('m', gigabytes), { ram: ram(), gpus }, wish, { seen: speeds });
  return 'room' in choice ? `${choice.room.gpu?.id ?? 'cpu'}, ${choice.why}` : `nowhere, ${choice.refused}`;
}

describe('the device of a load', () => {
  it.each([
    ['no card', [], auto, 'cpu, no_gpu'],
    ['a card with room', [card('a', 8)], auto, 'a, fastest'],
    ['a card without room', [card('a', 4)], auto, 'cpu, too_small'],
    [
      'the faster of two with room',
      [card('a', 8, 'discrete', 300e9), card('b', 8, 'discrete', 600e9)],
      auto,
      'b, fastest',
    ],
    ['the one with room, if slower', [card('a', 8), card('b', 4, 'discrete', 600e9)], auto, 'a, fastest'],
    ['graphics that read no faster than the processor', [card('a', 20, 'integrated')], auto, 'cpu, fastest'],
    ['software is never chosen', [card('a', 20, 'software', 900e9)], auto, 'cpu, no_gpu'],
    ['software that is named', [card('a', 20, 'software')], { ...auto, device: 'a' }, 'a, chosen'],
    ['a card that is named, too small or not', [card('a', 1)], { ...auto, device: 'a' }, 'a, chosen'],
    ['a card that is gone', [card('a', 8)], { ...auto, device: 'b' }, 'nowhere, missing'],
    ['the processor, named', [card('a', 8)], { ...auto, device: 'cpu' }, 'cpu, chosen'],
    ['required, and there', [card('a', 8)], { ...auto, gpuRequired: true }, 'a, required'],
    [
      'required, and too small: told with the largest',
      [card('a', 1), card('b', 3)],
      { ...auto, gpuRequired: true },
      'b, required',
    ],
    [
      'required, slower than the processor',
      [card('a', 20, 'integrated')],
      { ...auto, gpuRequired: true },
      'a, required',
    ],
    ['required, and none', [], { ...auto, gpuRequired: true }, 'nowhere, required'],
    ['required, and only software', [card('a', 20, 'software')], { ...auto, gpuRequired: true }, 'nowhere, required'],
    ['required, and the processor named', [card('a', 8)], { device: 'cpu', gpuRequired: true }, 'nowhere, required'],
  ])('%s', (_, gpus, wish, expected) => {
    expect(chosen(gpus, wish)).toBe(expected);
  });

  it.each<[string, number[], string, boolean, string]>([
    ['a card that holds most of it, and the processor', [9], 'auto', false, 'experts_in_ram a cpu'],
    ['a card that was named takes what it has room for', [9], 'a', false, 'experts_in_ram a cpu'],
    ['not where nothing may be on the processor', [9], 'auto', true, 'a alone, required'],
    ['two cards that hold it together', [9, 9], 'auto', true, 'tensor_parallel a b'],
    ['one card that holds it all is preferred to two', [40, 40], 'auto', false, 'a alone, fastest'],
  ])('%s', (_, free, device, gpuRequired, expected) => {
    const gpus = free.map((gigabytes, index) => card('ab'[index] ?? '', gigabytes));
    const [large] = MODELS as [(typeof MODELS)[number]];
    const choice = chooseRoom(large, { ram: ram(), gpus }, { device, gpuRequired }, { context: 8192 });
    const { room, why, placement } = choice as Extract<typeof choice, { room: Room }>;
    expect(placement ? devicesOf(placement) : `${room.gpu?.id ?? 'cpu'} alone, ${why}`).toBe(expected);
    if (placement) expect(room.gpu?.id).toBe('a');
  });

  it('memories of devices that share a model are counted together, and the machine once', () => {
    const [large] = MODELS as [(typeof MODELS)[number]];
    const rooms = [ram(), card('a', 9)];
    const choice = chooseRoom(large, { ram: ram(), gpus: rooms.slice(1) }, auto, { context: 8192 });
    const placement = 'placement' in choice ? choice.placement : undefined;
    const whole = placement && roomTogether(placement, rooms, large);
    expect(whole).toMatchObject({ totalBytes: 56 * GB, gpu: { id: 'a' } });
    expect(whole && fitOf(large, { context: 8192, kvType: 'f16' }, whole, whole)).toMatchObject({ verdict: 'fits' });
  });

  it('keeps of two ways to share it the one that was measured to be faster, and says so', () => {
    const [large] = MODELS as [(typeof MODELS)[number]];
    const gpus = [card('a', 9), card('b', 9)];
    const speeds = (layers: number, tensor: number) => (devices: string) => {
      const decodeTps = devices === 'layer_split a b' ? layers : devices === 'tensor_parallel a b' ? tensor : 0;
      return decodeTps > 0 ? { decodeTps, prefillTps: 10 * decodeTps } : undefined;
    };
    const of = (layers: number, tensor: number) => {
      const choice = chooseRoom(
        large,
        { ram: ram(), gpus },
        { device: 'auto', gpuRequired: false },
        {
          context: 8192,
          rates: speeds(layers, tensor),
        },
      );
      if (!('room' in choice) || !choice.placement) return 'one device';
      const { placement, why, rivals = [] } = choice;
      return `${placement.kind} ${Math.round(placement.decodeTps)} ${why}, ${rivals.map(({ kind }) => kind).join(' ')}`;
    };
    expect(of(0, 0)).toMatch(/^tensor_parallel \d+ fastest, layer_split$/);
    expect(of(300, 200)).toBe('layer_split 300 measured, tensor_parallel');
    expect(of(200, 300)).toBe('tensor_parallel 300 measured, layer_split');
  });

  it('follows what was measured rather than what is expected', () => {
    expect(chosen([card('a', 8)], auto, 4, { a: 3, cpu: 9 })).toBe('cpu, fastest');
    expect(chosen([card('a', 20, 'integrated')], auto, 4, { a: 30, cpu: 9 })).toBe('a, fastest');
  });
});
