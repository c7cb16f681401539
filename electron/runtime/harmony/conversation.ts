// A chat as harmony messages: which message goes on which channel, and which thoughts are shown to the model again.
// Pure functions of the chat: the same beginning always gives the same prefix.
import type { ChatInput, ChatMessage, ToolCall } from '../../contract/chat';
import { HearthError } from '../../contract/errors';
import { splitInstructions } from '../instructions';
import type { HarmonyMessage } from './message';
import { developerContent, systemContent, type Identity } from './system';

/**
 * Which analysis messages are left out:
 * - `recent`: all before the last user message (thoughts are fed back only within the running tool loop);
 * - `library`: those before the first final answer, if the last assistant message is a final one (harmony library);
 * - `none`: nothing.
 */
export type AnalysisRule = 'recent' | 'library' | 'none';

/** Throws HearthError{invalid_request} for a tool result that answers no call. */
export function chatToHarmony(chat: ChatInput, identity?: Identity): HarmonyMessage[] {
  const { instructions, rest } = splitInstructions(chat.messages);
  const developer = developerContent({
    instructions,
    tools: chat.tools,
    responseFormat: chat.responseFormat,
  });
  const system = systemContent({
    effort: chat.effort,
    ...(chat.date !== undefined && { date: chat.date }),
    hasFunctions: chat.tools.length > 0,
    ...(identity && { identity }),
  });
  const head: HarmonyMessage[] = [{ role: 'system', content: system }];
  if (developer !== null) head.push({ role: 'developer', content: developer });
  return [...head, ...dropAnalysis(turns(rest), 'recent')];
}

export function dropAnalysis(messages: readonly HarmonyMessage[], rule: AnalysisRule): HarmonyMessage[] {
  if (rule === 'none') return [...messages];
  const limit = rule === 'recent' ? messages.findLastIndex((m) => m.role === 'user') : libraryLimit(messages);
  return messages.filter((m, i) => i >= limit || m.channel !== 'analysis');
}

function libraryLimit(messages: readonly HarmonyMessage[]): number {
  const last = messages.findLast((m) => m.role === 'assistant');
  if (last?.channel !== 'final') return 0;
  return messages.findIndex((m) => m.role === 'assistant' && m.channel === 'final');
}

function turns(messages: readonly ChatMessage[]): HarmonyMessage[] {
  const out: HarmonyMessage[] = [];
  for (let i = 0; i < messages.length; i++) {
    const message = messages[i]!;
    if (message.role === 'assistant') {
      const results = toolResults(messages, i + 1);
      out.push(...assistantMessages(message, results));
      i += results.length;
    } else if (message.role === 'tool') {
      const call = message.toolCallId === undefined ? '' : ` "${message.toolCallId}"`;
      throw new HearthError('invalid_request', `The tool result${call} does not follow a message that calls a tool.`, {
        param: 'messages',
      });
    } else {
      out.push(otherMessage(message));
    }
  }
  return out;
}

function otherMessage(message: ChatMessage): HarmonyMessage {
  if (message.role === 'user') {
    return { role: 'user', ...(message.name && { name: message.name }), content: message.content };
  }
  // instructions in the middle of a chat stay where they are, so that the prefix before them does not change
  return { role: 'developer', content: developerContent({ instructions: message.content }) ?? '' };
}

function toolResults(messages: readonly ChatMessage[], from: number): ChatMessage[] {
  let end = from;
  while (messages[end]?.role === 'tool') end++;
  return messages.slice(from, end);
}

/** Thoughts, visible text, then each call with its result: the model makes one call at a time. */
function assistantMessages(message: ChatMessage, results: ChatMessage[]): HarmonyMessage[] {
  const out: HarmonyMessage[] = [];
  const calls = message.toolCalls ?? [];
  if (message.reasoning) out.push({ role: 'assistant', channel: 'analysis', content: message.reasoning });
  if (message.content !== '') {
    out.push({ role: 'assistant', channel: calls.length > 0 ? 'commentary' : 'final', content: message.content });
  }
  const answers = matchResults(calls, results);
  for (const call of calls) {
    out.push(callMessage(call));
    for (const result of answers.get(call) ?? []) out.push(resultMessage(call, result));
  }
  return out;
}

function callMessage(call: ToolCall): HarmonyMessage {
  return {
    role: 'assistant',
    recipient: `functions.${call.name}`,
    channel: 'commentary',
    contentType: '<|constrain|>json',
    content: call.arguments,
  };
}

function resultMessage(call: ToolCall, result: ChatMessage): HarmonyMessage {
  return {
    role: 'tool',
    name: `functions.${call.name}`,
    recipient: 'assistant',
    channel: 'commentary',
    content: result.content,
  };
}

/** By id; a result without one answers the first call that has no answer yet. */
function matchResults(calls: readonly ToolCall[], results: readonly ChatMessage[]): Map<ToolCall, ChatMessage[]> {
  const answers = new Map<ToolCall, ChatMessage[]>();
  for (const result of results) {
    const call =
      result.toolCallId === undefined
        ? calls.find((c) => !answers.has(c))
        : calls.find((c) => c.id === result.toolCallId);
    if (!call) {
      throw new HearthError(
        'invalid_request',
        `The tool result "${result.toolCallId ?? ''}" answers no call of the message before it.`,
        { param: 'messages' },
      );
    }
    answers.set(call, [...(answers.get(call) ?? []), result]);
  }
  return answers;
}
