// What a model can do and how it must be sampled, found from its vocabulary and template and never from its name. Pure functions.
import type { Abilities } from '../contract/runtime';
import { harmonyTokens, stopTokens, type HarmonyTokens } from './harmony';
import { ChatTemplate } from './templates';
import type { Tokenizer } from './tokenizer';

export interface ModelTraits {
  control: HarmonyTokens | null;
  abilities: Abilities;
  defaultTemperature: number;
  /** End ids; the engine stops after one of them. */
  stopTokens: number[];
  /** Never sampled. */
  bannedTokens: number[];
}

/** gpt-oss is meant to be sampled at 1.0 (its card); others answer best below it. */
const HARMONY_TEMPERATURE = 1.0;
const OTHER_TEMPERATURE = 0.7;

/** A template that cannot be read makes a model that cannot chat, not one that cannot be loaded. */
function chatTemplate(tokenizer: Tokenizer): ChatTemplate | null {
  const markers = tokenizer.special('<|im_start|>') !== undefined && tokenizer.special('<|im_end|>') !== undefined;
  if (tokenizer.chatTemplate.trim() === '' && !markers) return null;
  try {
    return new ChatTemplate(tokenizer);
  } catch {
    return null;
  }
}

export function abilitiesOf(tokenizer: Tokenizer): Abilities {
  if (harmonyTokens(tokenizer)) return { chat: true, reasoning: true, tools: true, harmony: true };
  const template = chatTemplate(tokenizer);
  if (!template) return { chat: false, reasoning: false, tools: false, harmony: false };
  return { chat: true, reasoning: template.reasoning, tools: template.tools, harmony: false };
}

/** `vocabulary`: rows of the logits, which may be more than there are tokens. */
export function modelTraits(tokenizer: Tokenizer, vocabulary: number): ModelTraits {
  const control = harmonyTokens(tokenizer);
  return {
    control,
    abilities: abilitiesOf(tokenizer),
    defaultTemperature: control ? HARMONY_TEMPERATURE : OTHER_TEMPERATURE,
    stopTokens: control ? stopTokens(control) : [...tokenizer.endIds],
    bannedTokens: [...unnamed(tokenizer, vocabulary), ...(control ? reserved(tokenizer, control) : [])],
  };
}

/** Rows of the logits that stand for no token. */
function unnamed(tokenizer: Tokenizer, vocabulary: number): number[] {
  const count = Math.max(0, vocabulary - tokenizer.size);
  return Array.from({ length: count }, (_, i) => tokenizer.size + i);
}

/** Control tokens that harmony gives no meaning in an answer: reserved ones and the start of text. */
function reserved(tokenizer: Tokenizer, control: HarmonyTokens): number[] {
  const { ends, ...named } = control;
  const meaningful = new Set<number>([...Object.values(named), ...ends]);
  const all: number[] = [];
  for (let id = 0; id < tokenizer.size; id++) if (tokenizer.isControl(id) && !meaningful.has(id)) all.push(id);
  return all;
}
