// What the hub's answers become: files in groups, words for their quality, names that are refused, the catalogue in front.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { HearthError } from '../../../electron/contract/errors';
import type { Fit, Verdict } from '../../../electron/contract/models';
import { catalogueSchema, searchCatalogue, shapeOf } from '../../../electron/library/hub/catalogue';
import { HubClient } from '../../../electron/library/hub/client';
import { createDiscover } from '../../../electron/library/hub/discover';
import { checkNames, checkRepo, leavesFolder } from '../../../electron/library/hub/file-names';
import { fileGroups, groupOf, hubFiles, recommended } from '../../../electron/library/hub/groups';
import { qualityOf, quantizationOf } from '../../../electron/library/hub/quality';
import type { Network, NetworkAnswer } from '../../../electron/library/network';
import { Readable } from 'node:stream';

const file = (path: string, bytes = 10) => ({ path, bytes, sha256: 'a'.repeat(64) });

describe('the way of packing', () => {
  it.each([
    ['gpt-oss-20b-mxfp4.gguf', 'MXFP4'],
    ['gpt-oss-20b-MXFP4_MOE.gguf', 'MXFP4_MOE'],
    ['Llama-3.2-1B-Instruct-Q4_K_M.gguf', 'Q4_K_M'],
    ['model.Q8_0.gguf', 'Q8_0'],
    ['x-UD-Q2_K_XL-00001-of-00003.gguf', 'Q2_K_XL'],
    ['x-IQ3_XXS.gguf', 'IQ3_XXS'],
    ['x-TQ1_0.gguf', 'TQ1_0'],
    ['SmolLM2-135M-Instruct-FP16.gguf', 'F16'],
    ['bf16.gguf', 'BF16'],
    ['Q4_0-trained-F16.gguf', 'F16'],
    ['model.gguf', undefined],
    ['F160.gguf', undefined],
  ])('%s is %s', (name, packed) => {
    expect(quantizationOf(name)).toBe(packed);
  });

  it.each([
    ['MXFP4', true, 'best'],
    ['MXFP4', false, 'good'],
    ['F32', false, 'best'],
    ['BF16', false, 'best'],
    ['Q8_0', false, 'best'],
    ['Q6_K', false, 'very_good'],
    ['Q5_K_M', false, 'very_good'],
    ['Q5_0', false, 'good'],
    ['Q4_K_M', true, 'good'],
    ['IQ4_NL', false, 'good'],
    ['Q3_K_L', false, 'small'],
    ['IQ1_S', false, 'small'],
  ])('%s of a model trained in four bits: %s is %s', (packed, fourBits, word) => {
    expect(qualityOf(packed, fourBits)).toBe(word);
  });
});

describe('groups', () => {
  it('hold the parts of a split file, leave out what is no model, and offer no set with a hole', () => {
    const groups = fileGroups(
      [
        file('Q4_K_M/big-00002-of-00002.gguf', 5),
        file('Q4_K_M/big-00001-of-00002.gguf', 7),
        file('holed-00001-of-00003.gguf'),
        file('mmproj-model-f16.gguf'),
        file('model.mmproj.gguf'),
        file('imatrix.gguf'),
        file('small-Q8_0.gguf', 3),
        file('README.md'),
      ],
      '',
    );
    expect(hubFiles(groups, false)).toEqual([
      { path: 'small-Q8_0.gguf', bytes: 3, parts: 1, quantization: 'Q8_0', quality: 'best' },
      { path: 'Q4_K_M/big-00001-of-00002.gguf', bytes: 12, parts: 2, quantization: 'Q4_K_M', quality: 'good' },
    ]);
    expect(groupOf(groups, 'Q4_K_M/big-00002-of-00002.gguf', 'a/b').files).toHaveLength(2);
    expect(() => groupOf(groups, 'README.md', 'a/b')).toThrow(HearthError);
  });

  it('hold a folder in the layout of Hugging Face, without the copies for other programs', () => {
    const groups = fileGroups(
      [
        file('config.json'),
        file('tokenizer.json'),
        file('model-00001-of-00002.safetensors'),
        file('model-00002-of-00002.safetensors'),
        file('model.safetensors.index.json'),
        file('original/model.safetensors'),
        file('metal/model.bin'),
        file('USAGE_POLICY'),
      ],
      'MXFP4',
    );
    expect(groups).toHaveLength(1);
    expect(groups[0]?.path).toBe('model.safetensors.index.json');
    expect(groups[0]?.files.map(({ path }) => path)).not.toContain('original/model.safetensors');
    expect(groups[0]?.files).toHaveLength(5);
    expect(fileGroups([file('model.safetensors')], '')).toEqual([]);
  });

  it('have one for somebody who does not choose', () => {
    const files = (...names: string[]) =>
      hubFiles(
        fileGroups(
          names.map((name, index) => file(name, index)),
          '',
        ),
        false,
      );
    expect(recommended(files('a-Q2_K.gguf', 'a-Q4_0.gguf', 'a-Q4_K_M.gguf', 'a-F16.gguf'))?.path).toBe('a-Q4_K_M.gguf');
    expect(recommended(files('a-Q2_K.gguf', 'a-F16.gguf'))?.path).toBe('a-Q2_K.gguf');
    expect(recommended([])).toBeUndefined();
  });

  it.each<[string, [string, Verdict, number?][], string]>([
    [
      'the quality that can hardly be told from the best',
      [
        ['Q4_K_M', 'fits'],
        ['Q6_K', 'fits'],
        ['F16', 'fits'],
      ],
      'Q6_K',
    ],
    [
      'what fits before what is tight',
      [
        ['Q4_K_M', 'fits'],
        ['Q6_K', 'tight'],
      ],
      'Q4_K_M',
    ],
    [
      'what is tight before what is too big',
      [
        ['Q2_K', 'tight'],
        ['Q6_K', 'too_big'],
      ],
      'Q2_K',
    ],
    [
      'what writes as fast as one reads',
      [
        ['Q4_K_M', 'fits', 6],
        ['Q6_K', 'fits', 4],
      ],
      'Q4_K_M',
    ],
    [
      'where nothing does, speed, and still no poor quality',
      [
        ['Q2_K', 'fits', 4],
        ['Q4_K_M', 'fits', 3],
        ['Q6_K', 'fits', 2],
      ],
      'Q4_K_M',
    ],
    [
      'where nothing fits, about four bits',
      [
        ['Q2_K', 'too_big'],
        ['Q4_K_M', 'too_big'],
        ['Q8_0', 'too_big'],
      ],
      'Q4_K_M',
    ],
  ])('suggest %s', (_why, files, expected) => {
    const described = files.map(([quantization, verdict, decodeTps], index) => ({
      path: quantization,
      bytes: index + 1,
      parts: 1,
      quantization,
      quality: qualityOf(quantization, false),
      fit: { verdict, ...(decodeTps !== undefined && { decodeTps }) } as Fit,
    }));
    expect(recommended(described)?.path).toBe(expected);
  });
});

describe('names from the network', () => {
  it.each(['../x', '/x', 'a/../../x', 'C:\\x', 'c:x', 'a\\x', 'a\0b', '', '.', 'a//b', './a', 'a/.'])(
    '%j leaves',
    (name) => {
      expect(leavesFolder(name)).toBe(true);
    },
  );

  it.each(['model.gguf', 'Q4/model.gguf', 'модель.gguf', '模型-Q4_K_M.gguf', 'a..b.gguf', 'a b.gguf'])(
    '%j stays',
    (name) => {
      expect(leavesFolder(name)).toBe(false);
      expect(() => checkNames([name])).not.toThrow();
    },
  );

  it.each([
    ['A.gguf', 'a.gguf'],
    ['é.gguf', 'e\u0301.gguf'],
    ['x/A', 'X/a'],
  ])('%j and %j are one on some disks', (a, b) => {
    expect(() => checkNames([a, b])).toThrow(HearthError);
  });

  it.each(['../..', 'a/..', './a', '.downloads/x', 'a', 'a/b/c', 'a /b', 'con/x'])('%j is no repository', (repo) => {
    expect(() => checkRepo(repo)).toThrow(HearthError);
  });
});

function answering(
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): { network: Network; urls: URL[] } {
  const urls: URL[] = [];
  const network: Network = {
    open: async ({ url }) => {
      urls.push(new URL(url));
      const stream = Readable.from([Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))]);
      return { status, headers, url: new URL(url), body: stream } as unknown as NetworkAnswer;
    },
    close: () => undefined,
  };
  return { network, urls };
}

const client = (network: Network) => new HubClient({ network, hub: () => 'https://hub.test', token: () => undefined });

describe('the hub', () => {
  it('is asked for models with files that can be loaded, page by page', async () => {
    const { network, urls } = answering(
      200,
      [{ id: 'a/b-GGUF', tags: ['license:mit'], gated: 'auto', downloads: 3 }, { id: '../x' }],
      {
        link: '<https://elsewhere.test/api/models?cursor=abc%3D&limit=20>; rel="next"',
      },
    );
    const found = await client(network).search('llama 3&x=1');
    expect(found).toEqual({
      entries: [{ repo: 'a/b-GGUF', licence: 'mit', gated: true, downloads: 3, tags: ['license:mit'] }],
      cursor: 'abc=',
    });
    expect(urls[0]?.host).toBe('hub.test');
    expect(Object.fromEntries(urls[0]?.searchParams ?? [])).toMatchObject({ search: 'llama 3&x=1', filter: 'gguf' });
  });

  it.each([
    [401, {}, 'hub_denied'],
    [403, {}, 'hub_denied'],
    [404, {}, 'not_found'],
    [429, {}, 'hub_failed'],
    [500, {}, 'hub_failed'],
    [200, '<html>', 'hub_failed'],
    [200, { siblings: 'no' }, 'hub_failed'],
    [200, { id: 'a/b', siblings: [{ rfilename: 'x.gguf', lfs: { sha256: 'sha256:../../x', size: 1 } }] }, 'hub_failed'],
  ])('that answers %s %j: %s', async (status, body, code) => {
    const { network } = answering(status, body);
    await expect(client(network).repository('a/b')).rejects.toMatchObject({ code });
  });

  it('is asked for one state of all files', async () => {
    const sha = 'c'.repeat(40);
    const lfs = { sha256: 'A'.repeat(64), size: 7 };
    const { network } = answering(200, {
      id: 'a/b',
      sha,
      tags: ['mxfp4'],
      siblings: [
        { rfilename: 'x.gguf', lfs },
        { rfilename: 'config.json', size: 2, blobId: 'd'.repeat(40) },
      ],
    });
    expect(await client(network).repository('a/b')).toMatchObject({
      commit: sha,
      original: 'MXFP4',
      files: [
        { path: 'x.gguf', bytes: 7, sha256: 'a'.repeat(64) },
        { path: 'config.json', bytes: 2, blob: 'd'.repeat(40) },
      ],
    });
    expect(client(network).fileUrl('a/b', sha, 'ä /#?.gguf')).toBe(
      `https://hub.test/a/b/resolve/${sha}/%C3%A4%20/%23%3F.gguf`,
    );
  });
});

const shipped = catalogueSchema.parse(
  JSON.parse(readFileSync(resolve(import.meta.dirname, '../../../resources/catalogue.json'), 'utf8')),
);

describe('the catalogue that ships', () => {
  it('has gpt-oss-20b and 120b first, each repository once, and words in both languages', () => {
    expect(shipped.slice(0, 2).map(({ title }) => title)).toEqual(['gpt-oss-20b', 'gpt-oss-120b']);
    expect(new Set(shipped.map(({ repo }) => repo)).size).toBe(shipped.length);
    for (const { repo, summary } of shipped) {
      expect(() => checkRepo(repo)).not.toThrow();
      expect(summary.en).toMatch(/\.$/);
      expect(summary.zh).toMatch(/\p{Script=Han}/u);
    }
  });

  it('knows the shape of what somebody else packed, and of nothing else', () => {
    const repacked = { repo: 'x/any-GGUF', architecture: 'gpt-oss', parameters: 20.91e9 };
    expect(shapeOf(shipped, repacked)).toMatchObject({ layers: 24, experts: { count: 32 } });
    expect(shapeOf(shipped, { ...repacked, parameters: 116.8e9 })).toMatchObject({
      layers: 36,
      experts: { count: 128 },
    });
    expect(shapeOf(shipped, { ...repacked, parameters: 40e9 })).toBeUndefined();
    expect(shapeOf(shipped, { ...repacked, architecture: 'llama' })).toBeUndefined();
    expect(shapeOf(shipped, { repo: 'x/y' })).toBeUndefined();
  });

  it('is found by any of its words', () => {
    expect(searchCatalogue(shipped, 'GPT oss 120').map(({ repo }) => repo)).toContain('openai/gpt-oss-120b');
    expect(searchCatalogue(shipped, '')).toHaveLength(shipped.length);
    expect(searchCatalogue(shipped, 'no such thing')).toEqual([]);
  });
});

describe('a search', () => {
  const entry = { repo: 'ggml-org/gpt-oss-20b-GGUF', gated: false, tags: [], downloads: 9 };
  const other = { repo: 'x/gpt-oss-20b-GGUF', gated: true, tags: [] };
  const discover = (
    search: HubClient['search'],
    repository: HubClient['repository'] = () => Promise.reject(new Error('unused')),
  ) =>
    createDiscover({
      client: { search, repository },
      catalogue: shipped,
      folder: () => '/models',
      models: () => [{ name: 'here', path: '/models/a/b/x-Q4_0.gguf', fileBytes: 10, builtin: false }],
      fitOf: async ({ bytes }) => ({ verdict: bytes > 5 ? 'fits' : 'tight' }) as never,
    });

  it('shows the catalogue first, each repository once, with what the hub knows of it', async () => {
    const { models, offline } = await discover(async () => ({ entries: [other, entry] })).search('gpt-oss-20b');
    expect(offline).toBeUndefined();
    expect(models[0]).toMatchObject({ repo: entry.repo, featured: true, downloads: 9, licence: 'apache-2.0' });
    expect(models.filter(({ repo }) => repo === entry.repo)).toHaveLength(1);
    expect(models.at(-1)).toMatchObject({ repo: other.repo, featured: false, gated: true, title: 'gpt-oss-20b' });
    const next = await discover(async () => ({ entries: [other] })).search('gpt', 'cursor');
    expect(next.models.map(({ repo }) => repo)).toEqual([other.repo]);
  });

  it.each([
    ['offline', 'setting'],
    ['unreachable', 'unreachable'],
    ['hub_failed', 'unreachable'],
  ] as const)('without the hub (%s) shows the catalogue and why', async (code, why) => {
    const found = await discover(() => Promise.reject(new HearthError(code, 'no'))).search('gpt');
    expect(found.offline).toBe(why);
    expect(found.models[0]?.repo).toBe('ggml-org/gpt-oss-20b-GGUF');
  });

  it('that fails by its own fault says so', async () => {
    const found = discover(() => Promise.reject(new HearthError('hub_denied', 'no'))).search('gpt');
    await expect(found).rejects.toMatchObject({ code: 'hub_denied' });
  });

  it('of one repository tells what is here, what fits, and what to take', async () => {
    const files = [file('x-Q4_0.gguf', 10), file('x-Q2_K.gguf', 5)];
    const repository = async () => ({ ...other, commit: 'c', original: '', files });
    const model = await discover(() => Promise.reject(new Error('unused')), repository).repository('a/b');
    expect(model.files?.map(({ path, local, fit }) => [path, local, fit?.verdict])).toEqual([
      ['x-Q2_K.gguf', undefined, 'tight'],
      ['x-Q4_0.gguf', 'here', 'fits'],
    ]);
    expect(model.suggested).toBe('x-Q4_0.gguf');
  });
});
