// Machines as people have them: cards by memory and bandwidth, and what is beside them. Free memory is what the system and other programs leave.
import { usableBytes, type Gpu, type Room } from '../../../../electron/supervisor/fit';
import { placeDevice } from '../../../../electron/supervisor/placement/choose';
import type { Machine } from '../../../../electron/supervisor/placement/place';

const GB = 1e9;

function room(totalGb: number, bandwidth: number, gpu?: Gpu): Room {
  // A desktop holds about half a gigabyte of its card, and three of the machine.
  const freeBytes = totalGb * GB - (gpu && !gpu.unified ? 0.5 : 3) * GB;
  return { totalBytes: totalGb * GB, freeBytes, ownBytes: 0, readBytesPerSecond: bandwidth * GB, ...(gpu && { gpu }) };
}

const card = (name: string, totalGb: number, bandwidth: number): Room =>
  room(totalGb, bandwidth, { id: name, name, type: 'discrete', unified: false });

export interface TestMachine {
  name: string;
  ram: Room;
  gpus: Room[];
}

const beside = (ramGb: number, ...gpus: Room[]) => ({ ram: room(ramGb, 60), gpus });
const unified = (totalGb: number, bandwidth: number): TestMachine => ({
  name: `unified ${totalGb} GB`,
  ram: room(totalGb, bandwidth * 0.5),
  gpus: [room(totalGb, bandwidth, { id: 'igpu', name: 'graphics within', type: 'integrated', unified: true })],
});

export const MACHINES: TestMachine[] = [
  { name: '8 GB', ...beside(32, card('8 GB card', 8, 272)) },
  { name: '12 GB', ...beside(64, card('12 GB card', 12, 504)) },
  { name: '16 GB', ...beside(64, card('16 GB card', 16, 672)) },
  { name: '24 GB', ...beside(96, card('24 GB card', 24, 936)) },
  { name: '2×24 GB', ...beside(96, card('24 GB card A', 24, 936), card('24 GB card B', 24, 936)) },
  { name: '24+16 GB', ...beside(96, card('24 GB card', 24, 936), card('16 GB card', 16, 672)) },
  unified(32, 120),
  unified(64, 256),
  unified(128, 256),
];

export const machineOf = ({ ram, gpus }: Pick<TestMachine, 'ram' | 'gpus'>): Machine => ({
  cpu: { ...placeDevice(ram, ram), name: 'processor' },
  gpus: gpus.map((gpu) => placeDevice(gpu, ram)),
});

export { usableBytes };
