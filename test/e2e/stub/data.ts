// The models and the engine's state that the stub starts with.
import type { AppState, ModelEntry } from '../../../electron/contract/own';

const info = {
  modelId: '9f2c66a1',
  path: '',
  license: 'apache-2.0',
  layers: 24,
  hidden: 2880,
  vocabulary: 201_088,
  context: 131_072,
  experts: 32,
  expertsUsed: 4,
};

export function makeModels(): ModelEntry[] {
  const gptOss = { chat: true, reasoning: true, tools: true, harmony: true };
  return [
    {
      name: 'hearth-starter',
      path: 'resources/starter/hearth-starter.gguf',
      fileBytes: 11.2e6,
      builtin: true,
      state: 'available',
      abilities: gptOss,
      info: {
        ...info,
        architecture: 'gpt-oss',
        name: 'Hearth starter',
        parameters: 19.4e6,
        fileBytes: 11.2e6,
        quantization: 'MXFP4',
        context: 4096,
        experts: 8,
        expertsUsed: 2,
      },
    },
    {
      name: 'gpt-oss-20b-mxfp4',
      path: 'models/gpt-oss-20b-mxfp4.gguf',
      fileBytes: 12.1e9,
      builtin: false,
      state: 'ready',
      abilities: gptOss,
      info: {
        ...info,
        architecture: 'gpt-oss',
        name: 'gpt-oss 20b',
        parameters: 20.9e9,
        fileBytes: 12.1e9,
        quantization: 'MXFP4',
      },
    },
    {
      name: 'smollm2-135m-instruct-q4_1',
      path: 'models/smollm2-135m-instruct-q4_1.gguf',
      fileBytes: 98e6,
      builtin: false,
      state: 'available',
      abilities: { chat: true, reasoning: false, tools: false, harmony: false },
      info: {
        ...info,
        architecture: 'llama',
        name: 'SmolLM2',
        parameters: 135e6,
        fileBytes: 98e6,
        quantization: 'Q4_1',
        context: 8192,
        experts: 0,
        expertsUsed: 0,
      },
    },
    {
      name: 'half-a-download',
      path: 'models/half-a-download.gguf',
      fileBytes: 3.1e9,
      builtin: false,
      state: 'failed',
      error: {
        code: 'bad_file',
        message: 'half-a-download.gguf: tensor data ends at byte 3 100 000 000, 4 211 812 352 expected',
      },
    },
  ];
}

export function makeState(): AppState {
  const model = makeModels()[1];
  return {
    version: '0.0.1',
    loaded: [],
    downloads: [],
    modelsVersion: 0,
    engineBuild: '0.0.1+stub',
    url: 'http://127.0.0.1:4327',
    active: {
      name: 'gpt-oss-20b-mxfp4',
      state: 'ready',
      info: model?.info,
      abilities: model?.abilities,
      context: 32_768,
      kernels: 'cpu/avx512',
      defaultTemperature: 1,
    },
    memory: {
      engineBytes: 12.9e9,
      kvBytesUsed: 0.2e9,
      kvBytesTotal: 1.6e9,
      weightBytes: 12.1e9,
      systemTotal: 25.2e9,
      systemFree: 9.8e9,
      device: 'ram',
    },
    decodeTps: 0,
    lastDecodeTps: 9.4,
    prefillTps: 88,
    running: 0,
    waiting: 0,
    requestsServed: 12,
    modelsVersion: 0,
    devices: [
      {
        id: 'cpu',
        name: 'Processor',
        kind: 'cpu',
        memoryTotal: 25.2e9,
        memoryFree: 9.8e9,
        features: ['avx512'],
        cores: 8,
      },
    ],
  };
}
