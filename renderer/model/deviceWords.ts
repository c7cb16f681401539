// What is said about devices: which may be chosen, their facts, why a model is where it is. Pure.
import type { DeviceWhy } from '@contract/models';
import type { ActiveModel } from '@contract/own';
import type { Device } from '@contract/runtime';
import type { Language, Translate } from '../i18n';
import { bytes } from '../parts/format';

/** Software that plays a graphics card is for tests: it is shown to whoever has chosen it by name, and to nobody else. */
export function offeredDevices(devices: readonly Device[], chosen: string): Device[] {
  return devices.filter(({ id, graphics }) => graphics?.type !== 'software' || id === chosen);
}

export function deviceFacts(t: Translate, device: Device, language: Language): string[] {
  const { graphics, memoryTotal, memoryFree } = device;
  const amounts = { free: bytes(memoryFree, language), total: bytes(memoryTotal, language) };
  if (!graphics) return [t('device.memory', amounts)];
  return [
    t(`device.type.${graphics.type}`),
    graphics.unified ? t('device.unified') : t(graphics.budgetKnown ? 'device.memory' : 'device.memoryAbout', amounts),
    graphics.driver,
  ];
}

export const whyWords = (t: Translate, why: DeviceWhy, device: string): string => t(`device.why.${why}`, { device });

/** Fewer devices, or the processor, stand in for one that failed: never without a word. */
export function fallbackWords(t: Translate, { name, gpu, fallback }: ActiveModel): string | undefined {
  if (!fallback) return undefined;
  const { device, driver } = fallback;
  const missing = fallback.code === 'device_unavailable';
  const words = { name, device, driver };
  const first =
    gpu === undefined
      ? t(missing ? 'device.missing' : 'device.fallback', words)
      : t(missing ? 'device.fewerMissing' : 'device.fewer', { ...words, gpu });
  return missing ? first : t('common.sentences', { first, second: t(`error.${fallback.code}`) });
}

/** Another program took memory of the card: the model goes on, and slowly. */
export function spillWords(
  t: Translate,
  { name, gpu, spilledBytes }: ActiveModel,
  language: Language,
): string | undefined {
  if (spilledBytes === undefined || gpu === undefined) return undefined;
  return t('device.spilling', { name, device: gpu, amount: bytes(spilledBytes, language) });
}
