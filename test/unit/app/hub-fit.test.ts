// What the pill of a file on the hub is made of: the family's card, models of it that are here, what they really took, how fast they went.
import { describe, expect, it } from 'vitest';
import { hubFits } from '../../../electron/app/hub-fit';
import type { LibraryModel } from '../../../electron/library/types';
import type { Experience, Room } from '../../../electron/supervisor/fit';
import { planFor } from '../supervisor/plans';

const GB = 1e9;
const info = { architecture: 'llama', parameters: 8e9 };
const model = (fields: Partial<LibraryModel> = {}): LibraryModel => ({
  name: 'm',
  path: '/m.gguf',
  fileBytes: 8 * GB,
  builtin: false,
  info: { ...planFor('m', 8).model, ...info },
  ...fields,
});

function fits(
  models: LibraryModel[],
  experience: Experience = {},
  readBytesPerSecond?: number,
  card?: () => Promise<Room>,
) {
  const room = async () => ({
    totalBytes: 24 * GB,
    freeBytes: 20 * GB,
    ownBytes: 0,
    ...(readBytesPerSecond !== undefined && { readBytesPerSecond }),
  });
  const supervisor = { known: async () => ({ plan: planFor('m', 8), experience }), room, roomFor: card ?? room };
  return hubFits({ library: { list: () => models }, supervisor });
}

const question = { bytes: 4 * GB, quantization: 'Q4_K_M', ...info };

describe('a file of the hub', () => {
  it('is told from its size alone, where nothing else is known', async () => {
    expect(await fits([])({ bytes: 4 * GB, quantization: 'Q4_K_M' })).toMatchObject({
      verdict: 'fits',
      weightBytes: 4 * GB,
      measured: false,
      estimated: true,
    });
    expect((await fits([])({ bytes: 30 * GB, quantization: 'Q4_K_M' }))?.verdict).toBe('too_big');
  });

  it('has the conversation and the working space of the same model that is here, as they were seen', async () => {
    const fit = await fits([model()], { heldBytes: 2 * GB })(question);
    expect(fit).toMatchObject({ weightBytes: 4 * GB, scratchBytes: 2 * GB, kvBytes: 256e6, measured: false });
  });

  it('is compared with no model of another family or size, no broken one, and none elsewhere', async () => {
    const others = [
      model({ info: { ...planFor('m', 8).model, architecture: 'qwen3', parameters: 8e9 } }),
      model({ info: { ...planFor('m', 8).model, architecture: 'llama', parameters: 9e9 } }),
      model({ error: { code: 'bad_file', message: '' } }),
      model({ remote: 'id' }),
    ];
    for (const other of others)
      expect((await fits([other], { heldBytes: 2 * GB })(question))?.scratchBytes).not.toBe(2 * GB);
  });

  it('that is here already goes as fast as it went', async () => {
    const fit = await fits([model({ decodeTps: 3 })], { decodeTps: 4 }, 20e9)({ ...question, bytes: 8 * GB });
    expect(fit).toMatchObject({ decodeTps: 4, measured: true });
  });

  it('is expected to go as other models went here', async () => {
    const other = model({ info: { ...planFor('m', 8).model, architecture: 'other' } });
    const before = (await fits([other], {}, 20e9)(question))?.decodeTps ?? 0;
    // 8 GB at 14 GB a second are 1.74 tokens a second: half of that was seen.
    const used = { ...other, decodeTps: 0.87 };
    const after = (await fits([used], {}, 20e9)(question))?.decodeTps ?? 0;
    expect(after / before).toBeCloseTo(0.5, 1);
  });

  it('that would go onto a card is told with the card, and not with the speed of the processor', async () => {
    const gpu = { id: 'vulkan:1', name: 'Card', type: 'discrete', unified: false } as const;
    const card = async () => ({ totalBytes: 8 * GB, freeBytes: 7 * GB, ownBytes: 0, gpu });
    const fit = await fits([model()], { decodeTps: 4 }, 20e9, card)(question);
    expect(fit).toMatchObject({ device: 'vram', gpu: 'Card', verdict: 'fits', totalBytes: 8 * GB });
    expect(fit?.decodeTps).toBeUndefined();
  });

  it('is told without a speed where the machine was not measured, and in spite of a look that fails', async () => {
    expect((await fits([])(question))?.decodeTps).toBeUndefined();
    const room = async () => ({ totalBytes: 24 * GB, freeBytes: 20 * GB, ownBytes: 0 });
    const broken = hubFits({
      library: { list: () => [model()] },
      supervisor: { known: () => Promise.reject(new Error('no')), room, roomFor: room },
    });
    expect((await broken(question))?.verdict).toBe('fits');
  });
});
