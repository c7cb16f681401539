// Harmony messages to token ids, with the places where prompts of later turns may diverge.
import type { ChatInput } from '../../contract/chat';
import type { TokenId, Tokenizer } from '../tokenizer';
import { CONTROL_NAMES, type HarmonyTokens } from './control';
import { chatToHarmony } from './conversation';
import { renderMessage, type HarmonyMessage, type Segment } from './message';
import type { Identity } from './system';

export interface RenderedPrompt {
  tokens: TokenId[];
  /** Token offsets of message boundaries, ascending; the last is the end of the prompt. */
  cutPoints: number[];
}

/** A chat as the prompt for the assistant's next message. Throws HearthError{invalid_request}. */
export function renderChat(
  chat: ChatInput,
  tokenizer: Tokenizer,
  control: HarmonyTokens,
  identity?: Identity,
): RenderedPrompt {
  return renderForCompletion(chatToHarmony(chat, identity), tokenizer, control);
}

/** Messages and the start of the assistant's next one: `<|start|>assistant`, and nothing after it. */
export function renderForCompletion(
  messages: readonly HarmonyMessage[],
  tokenizer: Tokenizer,
  control: HarmonyTokens,
): RenderedPrompt {
  const tokens: TokenId[] = [];
  const cutPoints: number[] = [];
  for (const message of messages) {
    encodeSegments(renderMessage(message), tokenizer, control, tokens);
    cutPoints.push(tokens.length);
  }
  encodeSegments([{ control: 'start' }, { text: 'assistant' }], tokenizer, control, tokens);
  cutPoints.push(tokens.length);
  return { tokens, cutPoints };
}

export function encodeSegments(
  segments: readonly Segment[],
  tokenizer: Tokenizer,
  control: HarmonyTokens,
  out: TokenId[] = [],
): TokenId[] {
  for (const segment of segments) {
    if ('control' in segment) out.push(control[segment.control]);
    else for (const id of tokenizer.encode(segment.text, false)) out.push(id);
  }
  return out;
}

/** How the prompt reads, control tokens by name. For logs and tests: it cannot be encoded back safely. */
export function segmentsToText(segments: readonly Segment[]): string {
  return segments.map((s) => ('control' in s ? CONTROL_NAMES[s.control] : s.text)).join('');
}
