// `hearth devices`: what this machine can compute with, as the engine sees it, and why something is not used. It changes nothing.
import { runningServer } from '../app';
import { z } from 'zod';
import { ROUTES } from '../contract/routes';
import { device, type Device } from '../contract/runtime';
import { withEngine } from './engine';
import { ask } from './own-api';
import { bytes, json, type Io } from './report';

export interface DevicesOptions {
  json?: boolean;
  dataDir?: string;
}

const found = z.object({ devices: z.array(device), notes: z.array(z.string()) });

export async function devices(options: DevicesOptions, io: Io): Promise<void> {
  const server = await runningServer(options.dataDir);
  // The running Hearth looks in a process of its own, too; what it holds is then not told as somebody else's.
  const seen = server
    ? await ask(server, ROUTES.devices, found)
    : await withEngine({ dataDir: options.dataDir }, ({ supervisor }) => supervisor.probe.devices());
  if (options.json) json(io, seen);
  else io.out([...seen.devices.map(words), ...seen.notes.map((note) => `Note: ${note}\n`)].join('\n'));
}

const TYPES = {
  discrete: 'graphics card',
  integrated: 'graphics within the processor',
  virtual: 'virtual graphics card',
  software: 'software, used only where it is named',
  other: 'graphics device',
} as const;

/** A heading and one fact a line. */
export function words({ id, name, kind, memoryTotal, memoryFree, cores, features, graphics }: Device): string {
  const type = graphics ? TYPES[graphics.type] : kind === 'cpu' ? `processor, ${cores} cores` : TYPES.other;
  const facts: [string, string][] = [
    ['Id', id],
    ['Memory', memoryWords(memoryFree, memoryTotal, graphics)],
    ...(graphics ? graphicsFacts(graphics) : []),
    ['Used', features.join(', ') || 'nothing beyond the basics'],
    ...(graphics?.off ?? []).map(({ feature, reason }): [string, string] => ['Not used', `${feature}: ${reason}`]),
  ];
  return `${name} (${type})\n${facts.map(([label, text]) => `  ${label.padEnd(9)} ${text}\n`).join('')}`;
}

function memoryWords(free: number, total: number, graphics: Device['graphics']): string {
  const amount = `${bytes(free)} of ${bytes(total)} free`;
  if (!graphics) return amount;
  const shared = graphics.unified ? ", of the machine's own" : '';
  return graphics.budgetKnown
    ? `${amount}${shared}, ${bytes(total - free)} held by others`
    : `about ${amount}${shared}`;
}

function graphicsFacts({ driver, api, pci, heaps }: NonNullable<Device['graphics']>): [string, string][] {
  const heap = ({ bytes: size, local }: (typeof heaps)[number]) => `${bytes(size)}${local ? '' : ' (of the machine)'}`;
  return [
    ['Driver', `${driver}, Vulkan ${api}`],
    ...(pci === '' ? [] : [['PCI', pci] as [string, string]]),
    ['Heaps', heaps.map(heap).join(', ')],
  ];
}
