// One harmony message and its exact rendering into control tokens and plain text (harmony library, message renderer).
// Text stays text here: what users and tools wrote can never become a control token.
import type { Control } from './control';

export type HarmonyRole = 'system' | 'developer' | 'user' | 'assistant' | 'tool';

export interface HarmonyMessage {
  role: HarmonyRole;
  /** The author's name; a tool's full name, e.g. "functions.get_weather". */
  name?: string;
  recipient?: string;
  channel?: string;
  /** "json", or "<|constrain|>json" for the form with the control token. */
  contentType?: string;
  content: string;
  /** Put the recipient after the channel instead of after the role. */
  recipientInChannel?: boolean;
}

/** Pieces of a prompt. Neighbouring texts are encoded separately: the training data never merged over these seams. */
export type Segment = { control: Control } | { text: string };

const CONSTRAIN = '<|constrain|>';

export function renderMessage(message: HarmonyMessage): Segment[] {
  const { role, name, recipient, channel, contentType } = message;
  const out: Segment[] = [{ control: 'start' }];
  if (role === 'tool') out.push({ text: name ?? 'tool' });
  else out.push({ text: name ? `${role}:${name}` : role });
  const to = recipient && recipient !== 'all' ? ` to=${recipient}` : '';
  const late = message.recipientInChannel === true && channel !== undefined;
  if (to && !late) out.push({ text: to });
  if (channel) out.push({ control: 'channel' }, { text: channel });
  if (to && late) out.push({ text: to });
  if (contentType?.startsWith(CONSTRAIN)) {
    out.push({ text: ' ' }, { control: 'constrain' }, { text: contentType.slice(CONSTRAIN.length) });
  } else if (contentType) {
    out.push({ text: ` ${contentType}` });
  }
  out.push({ control: 'message' });
  if (message.content !== '') out.push({ text: message.content });
  out.push({ control: role === 'assistant' && recipient ? 'call' : 'end' });
  return out;
}
