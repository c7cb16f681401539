// What is said of a file that is not here: its weights are its size, the rest follows its family, and use corrects it.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { catalogueSchema } from '../../../electron/library/hub/catalogue';
import { estimatedPlan, fitOfFile, paceOf, repacked, type FileFacts } from '../../../electron/supervisor/estimate';
import { kvBytesOf } from '../../../electron/supervisor/fit';
import { planFor } from './plans';

const GB = 1e9;
const room = (free: number, total = 24) => ({ totalBytes: total * GB, freeBytes: free * GB, ownBytes: 0 });
const catalogue = catalogueSchema.parse(
  JSON.parse(readFileSync(resolve(import.meta.dirname, '../../../resources/catalogue.json'), 'utf8')),
);
const shapeOf = (title: string) => catalogue.find((entry) => entry.title === title)?.shape;

const oss = (title: string, gigabytes: number, parameters: number): FileFacts => ({
  bytes: gigabytes * GB,
  quantization: 'MXFP4',
  parameters,
  architecture: 'gpt-oss',
  shape: shapeOf(title),
});
const small = oss('gpt-oss-20b', 12.1, 20.9e9);
const large = oss('gpt-oss-120b', 63.4, 116.8e9);
const dense = (gigabytes: number, parameters: number): FileFacts => ({
  bytes: gigabytes * GB,
  quantization: 'Q4_K_M',
  parameters,
  architecture: 'llama',
});

describe('the plan of a file that is not here', () => {
  it('keeps for gpt-oss what its card says: half of the layers keep everything, the others a window', () => {
    const { plan } = estimatedPlan(small);
    // 12 layers of 8 heads with 64 numbers, keys and values, 16 bits.
    const bytesPerToken = 12 * 8 * 64 * 2 * 2;
    const long = kvBytesOf(plan, 131_072, 'f16') - kvBytesOf(plan, 65_536, 'f16');
    expect(long).toBe(65_536 * bytesPerToken);
    expect(kvBytesOf(plan, 4096, 'q8') / kvBytesOf(plan, 4096, 'f16')).toBeCloseTo(17 / 32, 2);
  });

  it('reads for a token the experts that are used, and not the embedding', () => {
    const { plan } = estimatedPlan(small);
    expect(plan.decodeBytes / GB).toBeGreaterThan(2.3);
    expect(plan.decodeBytes / GB).toBeLessThan(2.9);
    expect(estimatedPlan(dense(4.9, 8e9)).plan.decodeBytes).toBe(4.9 * GB);
  });

  it.each([
    [0.135e9, 11, 40],
    [1.2e9, 30, 80],
    [3.2e9, 60, 140],
    [8e9, 130, 133],
    [32.8e9, 200, 300],
    [70e9, 300, 450],
  ])('of a family without a card, %i parameters keep %i to %i kB a token', (parameters, least, most) => {
    const { plan } = estimatedPlan(dense(1, parameters));
    const perToken = kvBytesOf(plan, 1600, 'f16') / 1600 / 1e3;
    expect(perToken).toBeGreaterThanOrEqual(least);
    expect(perToken).toBeLessThanOrEqual(most);
  });

  it('says nothing of the speed of a mixture whose experts it does not know', () => {
    const facts = { ...dense(18, 30.5e9), architecture: 'qwen3moe' };
    const { plan, decodes } = estimatedPlan(facts);
    expect(decodes).toBe(false);
    expect(plan.model.experts).toBeGreaterThan(plan.model.expertsUsed);
  });
});

describe('the verdict on a file that is not here', () => {
  it.each<[string, FileFacts, number, string]>([
    ['gpt-oss-20b with much room', small, 20, 'fits'],
    ['gpt-oss-20b with little', small, 13.6, 'tight'],
    ['gpt-oss-20b with experts on the disk', small, 12, 'tight'],
    ['gpt-oss-20b on a small machine', small, 8, 'too_big'],
    ['gpt-oss-120b', large, 22, 'too_big'],
    ['8 billion, dense', dense(4.9, 8e9), 10, 'fits'],
    ['8 billion, dense, with little', dense(4.9, 8e9), 5.5, 'too_big'],
  ])('%s: with %#', (_name, facts, free, verdict) => {
    const fit = fitOfFile(estimatedPlan(facts).plan, room(free), {});
    expect(fit).toMatchObject({ verdict, estimated: true, measured: false, weightBytes: facts.bytes });
  });

  it('tells what is to spare with a usual conversation, and what is lacking with a short one', () => {
    const spare = fitOfFile(estimatedPlan(small).plan, room(20), {});
    expect(spare.context).toBe(16_384);
    expect(spare.spareBytes / GB).toBeGreaterThan(6);
    expect(spare.spareBytes / GB).toBeLessThan(6.9);
    const lacking = fitOfFile(estimatedPlan(large).plan, room(22), {});
    expect(lacking.context).toBe(4096);
    expect(lacking.spareBytes / GB).toBeLessThan(-42);
    expect(lacking.spareBytes / GB).toBeGreaterThan(-43.5);
  });

  it('asks for no longer conversation than the model can have', () => {
    const shape = shapeOf('SmolLM2 135M Instruct');
    const facts = { bytes: 145e6, quantization: 'Q8_0', parameters: 134.5e6, architecture: 'llama', shape };
    expect(fitOfFile(estimatedPlan(facts).plan, room(20), {}).context).toBe(8192);
  });

  it('follows the bandwidth for the speed', () => {
    const fit = fitOfFile(estimatedPlan(small).plan, room(20), { readBytesPerSecond: 40e9 });
    expect(fit.decodeTps).toBeGreaterThan(8);
    expect(fit.decodeTps).toBeLessThan(13);
  });
});

describe('what use here corrects', () => {
  it('the same model packed in another way has the same conversation and other weights', () => {
    const plan = planFor('m', 8);
    const other = repacked(plan, 4 * GB);
    expect(other).toMatchObject({ weightBytes: 4 * GB, decodeBytes: 4 * GB, kv: plan.kv });
  });

  it.each([
    [[], 1],
    [[{ measuredTps: 5, expectedTps: 10 }], 0.5],
    [[{ measuredTps: 0, expectedTps: 10 }], 1],
    [
      [
        { measuredTps: 5, expectedTps: 10 },
        { measuredTps: 9, expectedTps: 10 },
        { measuredTps: 1, expectedTps: 1000 },
      ],
      0.5,
    ],
    [[{ measuredTps: 1, expectedTps: 1000 }], 0.2],
    [[{ measuredTps: 1000, expectedTps: 1 }], 2],
  ])('speeds %j make %f of what is expected', (paces, expected) => expect(paceOf(paces)).toBe(expected));
});
