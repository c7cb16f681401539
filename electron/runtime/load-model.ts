// Loads a model: engine, tokenizer and prompt thread side by side, with progress. What fails takes the others back.
import { HearthError } from '../contract/errors';
import type { GenerationEvent, Loaded, LoadPhase } from '../contract/runtime';
import type { Addon, NativeInspection, NativeLoad } from './addon';
import { ConstraintThread } from './constraint-thread';
import type { FullParams } from './host-link';
import { meshWords } from './mesh-words';
import { ModelSession } from './model-session';
import { modelTraits } from './model-traits';
import { PromptThread } from './prompt-thread';
import { createTokenizer } from './tokenizer';
import { tokenizerSource } from './tokenizer-source';

const GRAPHICS_GAP_MS = 150;
const isGraphics = (device: string) => device.startsWith('vulkan');

export interface LoadContext {
  addon: Addon;
  /** The module that serves prompts in a thread. */
  entry: URL;
  onProgress(phase: LoadPhase, fraction: number): void;
  emit(events: GenerationEvent[]): void;
}

/** A device that is fast enough lets nobody's stream wait for a prompt as long as a processor must. */
function gapOf({ device, mesh }: Pick<FullParams<'load'>, 'device' | 'mesh'>) {
  const all = mesh
    ? mesh.ranks.every((rank) => isGraphics(rank.device)) && mesh.served.length === 0
    : isGraphics(device);
  return all ? { streamGapMs: GRAPHICS_GAP_MS } : {};
}

/** Throws HearthError, with nothing left behind. */
export async function loadModel(options: FullParams<'load'>, context: LoadContext): Promise<ModelSession> {
  const begun = performance.now();
  const { addon } = context;
  const { path, ...rest } = options;
  context.onProgress('open', 0);
  const load = addon.load({ modelPath: path, ...rest, ...gapOf(rest) }, (phase, fraction) =>
    context.onProgress(phase, fraction),
  );
  load.engine.catch(() => undefined);
  let prompts: PromptThread | undefined;
  try {
    const inspection = await addon.inspect(path);
    prompts = new PromptThread(context.entry, inspection.tokenizer);
    return await assemble(load, inspection, prompts, context, { begun, ...options });
  } catch (error) {
    load.cancel();
    await prompts?.close();
    await load.engine.then((engine) => engine.close()).catch(() => undefined);
    throw HearthError.from(error);
  }
}

async function assemble(
  load: NativeLoad,
  inspection: NativeInspection,
  prompts: PromptThread,
  context: LoadContext,
  {
    begun,
    device,
    mesh,
    precision,
    kvType,
  }: Pick<FullParams<'load'>, 'device' | 'mesh' | 'precision' | 'kvType'> & { begun: number },
): Promise<ModelSession> {
  const { addon } = context;
  const tokenizer = createTokenizer(tokenizerSource(inspection.tokenizer));
  const engine = await load.engine;
  context.onProgress('tokenizer', 0.98);
  const info = engine.info();
  const traits = modelTraits(tokenizer, info.model.vocabulary);
  const loaded: Loaded = {
    model: info.model,
    abilities: traits.abilities,
    context: info.context,
    kernels: mesh ? `${info.kernels}, ${meshWords(mesh)}` : info.kernels,
    ...(info.notes.length > 0 && { replacedKernels: info.notes }),
    device,
    precision,
    kvType: kvType !== 'auto' ? kvType : precision === 'exact' ? 'f32' : 'f16',
    engineBuild: info.build,
    defaultTemperature: traits.defaultTemperature,
    loadMs: performance.now() - begun,
  };
  const constraints = new ConstraintThread(context.entry, {
    tokenizer: inspection.tokenizer,
    vocabulary: info.model.vocabulary,
  });
  const { emit } = context;
  return new ModelSession({ addon, engine, inspection, tokenizer, traits, prompts, constraints, loaded, emit });
}
