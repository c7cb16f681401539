// A model's weights by what is done with them, from the names in its file. Pure; where each part goes is main's decision.
import type { ModelParts } from '../contract/runtime';
import type { NativeMemoryPlan } from './addon';

const LAYER = /(?:^|\.)(?:blk|layers)\.(\d+)\./;
export const EXPERTS = /exps|experts/;
export const EMBEDDING = /(^|\.)(token_embd|embed_tokens)\.weight$/;
export const OUTPUT = /(^|\.)(output|lm_head)\.weight$/;

type Sized = Pick<NativeMemoryPlan, 'layerGroups'> & {
  tensors: Pick<NativeMemoryPlan['tensors'][number], 'name' | 'bytes'>[];
};

export function partsOf({ tensors, layerGroups }: Sized): ModelParts {
  const parts: ModelParts = {
    embedding: 0,
    output: 0,
    layers: layerGroups.map((group) => ({ shared: 0, experts: 0, group })),
  };
  const tied = !tensors.some(({ name }) => OUTPUT.test(name));
  for (const { name, bytes } of tensors) {
    const layer = parts.layers[Number(LAYER.exec(name)?.[1] ?? -1)];
    if (layer) layer[EXPERTS.test(name) ? 'experts' : 'shared'] += bytes;
    else parts[EMBEDDING.test(name) && !tied ? 'embedding' : 'output'] += bytes;
  }
  return parts;
}
