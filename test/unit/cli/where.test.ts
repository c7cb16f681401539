// Where a model runs, as `hearth load` and `hearth ps` say it. Failure prevented: fewer devices, or the processor, without a word.
import { expect, it } from 'vitest';
import { whereWords } from '../../../electron/cli/load';

const fallback = { device: 'Card', driver: '1.2', code: 'device_lost' as const };

it.each([
  [{}, 'the processor'],
  [{ gpu: 'Card, Second' }, 'Card, Second'],
  [{ gpu: 'Second', fallback }, 'Second: Card, driver 1.2, failed (device_lost)'],
  [{ fallback }, 'the processor: Card, driver 1.2, failed (device_lost)'],
])('of %j is said', (where, words) => {
  expect(whereWords({ name: 'm', state: 'ready', ...where })).toBe(words);
});
