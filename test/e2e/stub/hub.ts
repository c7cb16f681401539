// What the stub knows beyond its own models: a hub, folders, remote engines, measurements and connections that look like real ones.
import type {
  Connection,
  Fit,
  HubFile,
  HubModel,
  Location,
  MatrixRow,
  ModelFolder,
  RemoteEngine,
} from '../../../electron/contract/models';

export const FIT: Fit = {
  verdict: 'fits',
  context: 32_768,
  weightBytes: 12.1e9,
  kvBytes: 1.6e9,
  scratchBytes: 0.6e9,
  otherBytes: 6.4e9,
  freeBytes: 18.8e9,
  totalBytes: 25.2e9,
  spareBytes: 4.5e9,
  device: 'ram',
  decodeTps: 12,
  measured: false,
};

const file = (
  path: string,
  bytes: number,
  quantization: string,
  quality: HubFile['quality'],
  spareBytes: number,
  decodeTps: number,
  parts = 1,
): HubFile => ({
  path,
  bytes,
  parts,
  quantization,
  quality,
  fit: {
    ...FIT,
    weightBytes: bytes,
    verdict: spareBytes < 0 ? 'too_big' : spareBytes < 1e9 ? 'tight' : 'fits',
    spareBytes,
    decodeTps,
  },
});

const hub = (repo: string, title: string, rest: Partial<HubModel>): HubModel => ({
  repo,
  title,
  gated: false,
  featured: false,
  ...rest,
});

export function makeHub(): HubModel[] {
  return [
    hub('ggml-org/gpt-oss-20b-GGUF', 'gpt-oss-20b', {
      featured: true,
      licence: 'apache-2.0',
      parameters: 20.9e9,
      downloads: 4_812_340,
      summary: {
        en: 'OpenAI’s open model that thinks before it answers; made to run in 16 GB of memory.',
        zh: 'OpenAI 的开放模型，先思考再回答；16 GB 内存即可运行。',
      },
      suggested: 'gpt-oss-20b-mxfp4.gguf',
      files: [
        {
          ...file('gpt-oss-20b-mxfp4.gguf', 12.1e9, 'MXFP4', 'best', 4.5e9, 12.4),
          local: 'gpt-oss-20b-mxfp4',
        },
      ],
    }),
    hub('ggml-org/gpt-oss-120b-GGUF', 'gpt-oss-120b', {
      featured: true,
      licence: 'apache-2.0',
      parameters: 116.8e9,
      downloads: 1_204_112,
      summary: {
        en: 'The large sister of gpt-oss-20b: stronger at hard questions, and needs about 64 GB of memory.',
        zh: 'gpt-oss-20b 的大号版本：更擅长难题，大约需要 64 GB 内存。',
      },
      suggested: 'gpt-oss-120b-mxfp4-00001-of-00003.gguf',
      files: [file('gpt-oss-120b-mxfp4-00001-of-00003.gguf', 63.4e9, 'MXFP4', 'best', -44.9e9, 3.1, 3)],
    }),
    hub('Qwen/Qwen3-8B-GGUF', 'Qwen3 8B', {
      featured: true,
      licence: 'apache-2.0',
      parameters: 8.2e9,
      downloads: 930_000,
      summary: {
        en: 'A quick all-rounder that also writes Chinese well.',
        zh: '反应快的全能模型，中文也写得好。',
      },
      suggested: 'qwen3-8b-q5_k_m.gguf',
      files: [
        file('qwen3-8b-q4_k_m.gguf', 5.0e9, 'Q4_K_M', 'good', 10.9e9, 11.2),
        file('qwen3-8b-q5_k_m.gguf', 5.9e9, 'Q5_K_M', 'very_good', 10.0e9, 9.6),
        file('qwen3-8b-q8_0.gguf', 8.7e9, 'Q8_0', 'best', 7.2e9, 6.4),
        file('qwen3-8b-f16.gguf', 16.4e9, 'F16', 'best', 0.4e9, 3.3),
        file('qwen3-8b-q2_k.gguf', 3.3e9, 'Q2_K', 'small', 12.6e9, 15.1),
      ],
    }),
    hub('bartowski/Llama-3.2-3B-Instruct-GGUF', 'Llama-3.2-3B-Instruct-GGUF', {
      licence: 'llama3.2',
      parameters: 3.2e9,
      downloads: 88_000,
      gated: true,
      suggested: 'Llama-3.2-3B-Instruct-Q8_0.gguf',
      files: [
        file('Llama-3.2-3B-Instruct-Q4_K_M.gguf', 2.0e9, 'Q4_K_M', 'good', 13.9e9, 21),
        file('Llama-3.2-3B-Instruct-Q8_0.gguf', 3.4e9, 'Q8_0', 'best', 12.5e9, 13),
      ],
    }),
  ];
}

const HOME = '/home/ana';

export function makeFolders(): ModelFolder[] {
  const common = { present: true, freeBytes: 112e9, notes: [] };
  return [
    {
      id: 'own',
      path: `${HOME}/.local/share/hearth/models`,
      kind: 'own',
      models: 3,
      bytes: 15.3e9,
      suggested: false,
      ...common,
    },
    {
      id: 'usb',
      path: '/media/ana/models',
      kind: 'user',
      models: 0,
      bytes: 0,
      suggested: false,
      ...common,
      present: false,
    },
    {
      id: 's1',
      path: `${HOME}/.lmstudio/models`,
      kind: 'lmstudio',
      models: 0,
      bytes: 0,
      suggested: true,
      ...common,
    },
    { id: 's2', path: `${HOME}/.ollama/models`, kind: 'ollama', models: 0, bytes: 0, suggested: true, ...common },
  ];
}

export const makeLocations = (): Location[] => [
  { what: 'models', path: `${HOME}/.local/share/hearth/models`, bytes: 12.2e9 },
  { what: 'cache', path: `${HOME}/.local/share/hearth/cache`, bytes: 840e6 },
  { what: 'chats', path: `${HOME}/.local/share/hearth`, bytes: 6.1e6 },
];

export const makeEngines = (): RemoteEngine[] => [
  {
    id: 'e-cluster',
    name: 'Cluster',
    url: 'https://vllm.example.org/v1',
    hasKey: true,
    health: { state: 'ok', latencyMs: 86, checkedAt: Date.now() },
    models: ['openai/gpt-oss-120b@cluster', 'qwen/qwen3-235b-a22b@cluster'],
  },
  {
    id: 'e-attic',
    name: 'Attic',
    url: 'http://192.168.1.20:4327/v1',
    hasKey: false,
    health: {
      state: 'unreachable',
      checkedAt: Date.now(),
      error: { code: 'unreachable', message: '192.168.1.20:4327 could not be reached: ECONNREFUSED' },
    },
    models: [],
  },
];

export function makeMatrix(): MatrixRow[] {
  const row: MatrixRow = {
    model: 'gpt-oss-20b-mxfp4',
    modelId: '9f2c66a1',
    engineBuild: '0.1.0+6ed7f66',
    device: 'cpu/avx2 fast',
    kvType: 'f16',
    contextBucket: 4096,
    loadMs: 8400,
    prefillTps: 88,
    decodeTps: 7.1,
    ttftMs: 3900,
    memoryBytes: 1.9e9,
    selfCheck: 'passed',
    kl: 0.0004,
    regressions: ['decodeTps'],
    source: 'check',
    at: Date.parse('2026-11-29T18:40:00'),
  };
  return [
    row,
    {
      ...row,
      engineBuild: '0.1.0+c848e0e',
      decodeTps: 9.4,
      ttftMs: 3700,
      regressions: [],
      at: Date.parse('2026-11-22T09:12:00'),
    },
    {
      ...row,
      contextBucket: 32_768,
      kvType: 'q8',
      decodeTps: 8.2,
      ttftMs: 31_000,
      selfCheck: 'none',
      regressions: [],
      source: 'use',
      at: Date.parse('2026-11-21T21:02:00'),
    },
    {
      ...row,
      model: 'smollm2-135m-instruct-q4_1',
      loadMs: 310,
      prefillTps: 1480,
      decodeTps: 96,
      ttftMs: 120,
      memoryBytes: 190e6,
      selfCheck: 'changed',
      regressions: ['tokens'],
      at: Date.parse('2026-11-20T10:00:00'),
    },
  ];
}

export const makeConnections = (): Connection[] =>
  [
    {
      at: Date.parse('2026-11-29T18:05:00'),
      host: 'huggingface.co',
      purpose: 'search',
      detail: 'qwen3',
      bytes: 48_000,
      outcome: 'ok',
    },
    {
      at: Date.parse('2026-11-29T17:58:00'),
      count: 14,
      host: 'cdn-lfs.huggingface.co',
      purpose: 'download',
      detail: 'ggml-org/gpt-oss-20b-GGUF/gpt-oss-20b-mxfp4.gguf',
      bytes: 12.1e9,
      outcome: 'ok',
    },
    {
      at: Date.parse('2026-11-28T08:20:00'),
      host: 'vllm.example.org',
      purpose: 'remote_engine',
      detail: 'openai/gpt-oss-120b',
      bytes: 18_400,
      outcome: 'failed',
    },
    {
      at: Date.parse('2026-11-27T22:11:00'),
      host: 'huggingface.co',
      purpose: 'search',
      detail: 'phi',
      bytes: 0,
      outcome: 'refused',
    },
  ].map((entry) => ({ count: 1, ...entry }) as Connection);
