// What the page says of devices: which may be chosen, and that the processor never stands in without a word.
import type { ActiveModel } from '@contract/own';
import type { Device } from '@contract/runtime';
import { describe, expect, it } from 'vitest';
import { t } from '../../../renderer/i18n';
import { deviceFacts, fallbackWords, offeredDevices, spillWords, whyWords } from '../../../renderer/model/deviceWords';

const card = (change: Partial<NonNullable<Device['graphics']>> = {}): Device => ({
  id: 'vulkan:1',
  name: 'Card',
  kind: 'gpu',
  memoryTotal: 8e9,
  memoryFree: 7e9,
  features: [],
  cores: 0,
  graphics: {
    type: 'discrete',
    uuid: '1',
    pci: '',
    driver: 'driver 1',
    api: '1.3',
    unified: false,
    budgetKnown: true,
    heaps: [],
    off: [],
    ...change,
  },
});

describe('devices', () => {
  it('of software are shown to nobody but who has chosen one', () => {
    const devices = [card(), { ...card({ type: 'software' }), id: 'vulkan:2' }];
    expect(offeredDevices(devices, 'auto').map(({ id }) => id)).toEqual(['vulkan:1']);
    expect(offeredDevices(devices, 'vulkan:2')).toHaveLength(2);
  });

  it.each([
    [{}, ['graphics card', '7.0 GB of 8.0 GB free', 'driver 1']],
    [{ budgetKnown: false }, ['graphics card', 'about 7.0 GB of 8.0 GB free', 'driver 1']],
    [
      { unified: true, type: 'integrated' },
      ['graphics within the processor', 'uses this computer’s memory', 'driver 1'],
    ],
  ] as const)('say what is known of them: %j', (change, facts) => {
    expect(deviceFacts(t, card(change), 'en')).toEqual(facts);
  });

  it('are named in the reason', () => {
    expect(whyWords(t, 'fastest', 'Card')).toBe('Card is expected to be fastest, and has room.');
  });

  it('that failed are said, with the reason, for as long as the processor stands in', () => {
    const fallback = { device: 'Card', driver: '1.2', code: 'device_lost' as const };
    const words = fallbackWords(t, { name: 'm', state: 'ready', fallback });
    expect(words).toMatch(/^m runs on the processor, and more slowly, because Card \(driver 1\.2\) failed\. .+\.$/);
    const gone = fallbackWords(t, { name: 'm', state: 'ready', fallback: { ...fallback, code: 'device_unavailable' } });
    expect(gone).toMatch(/because Card \(driver 1\.2\) cannot be used now\. .+\.$/);
    expect(fallbackWords(t, { name: 'm', state: 'ready' })).toBeUndefined();
  });

  it.each([
    ['device_lost', /^m runs on Second now, because Card \(driver 1\.2\) failed\. .+\.$/],
    ['device_unavailable', /^m runs on Second now, because Card \(driver 1\.2\) cannot be used\. .+\.$/],
  ] as const)('that failed beside others are said with those that are left: %s', (code, words) => {
    const fallback = { device: 'Card', driver: '1.2', code };
    expect(fallbackWords(t, { name: 'm', state: 'ready', gpu: 'Second', fallback })).toMatch(words);
  });

  it('that have lost memory to other programs are said, with how much', () => {
    const active: ActiveModel = { name: 'm', state: 'ready', gpu: 'Card', spilledBytes: 2.1e9 };
    expect(spillWords(t, active, 'en')).toMatch(/^2\.1 GB of m no longer find room on Card, /);
    expect(spillWords(t, { name: 'm', state: 'ready', gpu: 'Card' }, 'en')).toBeUndefined();
  });
});
