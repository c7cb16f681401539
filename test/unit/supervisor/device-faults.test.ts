// Which devices a model keeps away from, for how long, and whose failure it was. Failures prevented: a lost device that is tried again and
// again, one that is never tried again, the wrong device in a message, an update of a driver that is taken for a loss.
import { describe, expect, it } from 'vitest';
import type { ErrorCode } from '../../../electron/contract/errors';
import {
  blamed,
  fallbackOf,
  gpusOf,
  outAt,
  withFaults,
  type DeviceFault,
} from '../../../electron/supervisor/device-faults';
import type { SeenGpu } from '../../../electron/supervisor/gpus';

const gpu = (id: string, name = `Card ${id}`): SeenGpu => ({
  ...{ id, name, type: 'discrete', unified: false, driver: 'driver 1', totalBytes: 8e9, limitBytes: 7e9 },
});
const [A, B] = [gpu('A'), gpu('B')];

function on(...gpus: SeenGpu[]) {
  const rest = {
    kind: 'gpu' as const,
    layers: 1,
    fraction: 0,
    experts: 0,
    weightBytes: 1,
    kvBytes: 1,
    scratchBytes: 1,
  };
  const shares = [...gpus.map(({ id, name }) => ({ ...rest, device: id, name })), { ...rest, device: 'cpu', name: '' }];
  const placement = { kind: 'layer_split' as const, shares, decodeTps: 1, prefillTps: 1, spareBytes: 0 };
  return { gpu: gpus[0], division: { placement, gpus: [A, B, gpu('C')] } };
}

const SECOND = 1000;
const fault = (code: ErrorCode, at: number, device = A): DeviceFault => ({ device, code, at });

describe('a device that failed a model', () => {
  it.each([
    ['lost', ['device_lost'], 299, 301],
    ['lost twice', ['device_lost', 'device_lost'], 599, 601],
    ['lost ten times: never longer than an hour', Array<ErrorCode>(10).fill('device_lost'), 3599, 3601],
    ['full', ['out_of_vram'], 59, 61],
    ['full for the third time', ['out_of_vram', 'out_of_vram', 'out_of_vram'], 239, 241],
    ['full after it was lost', ['device_lost', 'out_of_vram'], 59, 61],
    ['not there', ['device_unavailable'], 29, 31],
    ['where the runtime died', ['runtime_crashed'], 299, 301],
  ] as [string, ErrorCode[], number, number][])('%s is out for a while, and used again then', (_, codes, out, back) => {
    const faults = codes.map((code) => fault(code, 0));
    expect(outAt(faults, out * SECOND).map(({ device }) => device.id)).toEqual(['A']);
    expect(outAt(faults, back * SECOND)).toEqual([]);
  });

  it('is out alone', () => {
    expect(outAt([fault('device_lost', 0, A), fault('out_of_vram', 0, B)], 90 * SECOND)).toEqual([
      fault('device_lost', 0),
    ]);
  });

  it('is forgiven what was long ago', () => {
    const late = 4000 * SECOND;
    expect(withFaults([fault('device_lost', 0)], [fault('device_lost', late)], late)).toHaveLength(1);
  });
});

describe('whose failure it was', () => {
  it.each([
    ['the one that is named, and not the first', on(A, B), { code: 'device_lost', device: 'B' }, [A, B], ['B']],
    ['all, where nobody says which', on(A, B), { code: 'runtime_crashed' }, [A, B], ['A', 'B']],
    ['the only one', { gpu: A }, { code: 'device_lost' }, [A, B], ['A']],
    ['the one that is not in the list any more', on(A, B), { code: 'device_unavailable' }, [A], ['B']],
    ['the same, whatever was named', on(A, B), { code: 'device_unavailable', device: 'A' }, [A], ['B']],
    ['one that is listed and refuses', on(A, B), { code: 'device_unavailable', device: 'A' }, [A, B], ['A']],
    [
      'nobody, where a driver has given it another id',
      on(A, B),
      { code: 'device_unavailable', device: 'A' },
      [gpu('Z', 'Card A'), B],
      [],
    ],
  ] as const)('%s', (_, where, failure, there, ids) => {
    expect(blamed(where, failure, there).map(({ id }) => id)).toEqual(ids);
  });

  it('counts the processor as no graphics device', () => {
    expect(gpusOf(on(A, B))).toEqual([A, B]);
    expect(gpusOf({})).toEqual([]);
  });

  it('is told with all their names, and with what came last', () => {
    const faults = [fault('device_lost', 2, B), fault('out_of_vram', 1, A)];
    expect(fallbackOf(faults)).toEqual({ device: 'Card B, Card A', driver: 'driver 1', code: 'device_lost' });
    expect(fallbackOf([])).toBeUndefined();
  });
});
