// What `hearth devices` says of each kind of device.
import { describe, expect, it } from 'vitest';
import { words } from '../../../electron/cli/devices';
import type { Device, Graphics } from '../../../electron/contract/runtime';

const graphics: Graphics = {
  type: 'discrete',
  uuid: 'a'.repeat(32),
  pci: '0000:01:00.0',
  driver: 'radv Mesa 26.1',
  api: '1.4',
  unified: false,
  budgetKnown: true,
  heaps: [
    { bytes: 16e9, budget: 14e9, used: 0, local: true },
    { bytes: 32e9, budget: 30e9, used: 0, local: false },
  ],
  off: [{ feature: 'pipeline_cache', reason: 'switched off' }],
};
const card: Device = {
  id: `vulkan:${'a'.repeat(32)}`,
  name: 'Radeon',
  kind: 'gpu',
  memoryTotal: 16e9,
  memoryFree: 14e9,
  features: ['memory_budget'],
  cores: 0,
  graphics,
};

describe('a device in words', () => {
  it('has everything that a report of a fault needs', () => {
    expect(words(card)).toBe(
      [
        'Radeon (graphics card)',
        `  Id        vulkan:${'a'.repeat(32)}`,
        '  Memory    14.0 GB of 16.0 GB free, 2.0 GB held by others',
        '  Driver    radv Mesa 26.1, Vulkan 1.4',
        '  PCI       0000:01:00.0',
        '  Heaps     16.0 GB, 32.0 GB (of the machine)',
        '  Used      memory_budget',
        '  Not used  pipeline_cache: switched off',
        '',
      ].join('\n'),
    );
  });

  it('does not claim to know what the driver does not tell', () => {
    const guessed = words({ ...card, graphics: { ...graphics, budgetKnown: false, unified: true, pci: '' } });
    expect(guessed).toContain("Memory    about 14.0 GB of 16.0 GB free, of the machine's own\n");
    expect(guessed).not.toContain('PCI');
    expect(guessed).not.toContain('others');
  });

  it('says of software that it is used only where it is named, and of a processor how many cores it has', () => {
    expect(words({ ...card, graphics: { ...graphics, type: 'software' } })).toContain('used only where it is named');
    const { graphics: _, ...cpu } = { ...card, id: 'cpu', kind: 'cpu' as const, cores: 8 };
    expect(words(cpu)).toContain('Radeon (processor, 8 cores)');
  });
});
