// The work of a generation in OpenAI's words, for an engine elsewhere. Pure. What those words cannot say is left out where it only shapes the
// answer (a limit on thoughts) and refused where the answer would be another one.
import type { ChatMessage, Sampling } from '../../contract/chat';
import { countTurns, dropTurns } from '../../contract/turns';
import { HearthError } from '../../contract/errors';
import type { GenerateRequest } from '../../contract/runtime';

type Chat = Extract<GenerateRequest['input'], { kind: 'chat' }>['chat'];

export interface RemoteRequest {
  /** After the engine's address. */
  path: 'chat/completions' | 'completions';
  body: Record<string, unknown>;
  droppedTurns: number;
  /** Older turns that could still be left out. */
  droppableTurns: number;
}

/** `dropped`: at least so many of the oldest turns are left out. Throws `unsupported_parameter`. */
export function remoteRequest(model: string, work: GenerateRequest, dropped = 0): RemoteRequest {
  const { input, maxTokens, stop = [], logprobs, echo } = work;
  const common = {
    model,
    stream: true,
    stream_options: { include_usage: true },
    ...samplingFields(work.sampling),
    ...(maxTokens !== undefined && { max_tokens: maxTokens }),
    ...(stop.length > 0 && { stop }),
  };
  if (input.kind === 'chat') {
    const turns = countTurns(input.chat.messages);
    const least = work.keepTurns === undefined ? 0 : Math.max(0, turns - work.keepTurns);
    const droppedTurns = Math.min(Math.max(dropped, least), Math.max(0, turns - 1));
    return {
      path: 'chat/completions',
      body: {
        ...common,
        ...chatFields(input.chat, droppedTurns),
        ...(logprobs !== undefined && { logprobs: true, top_logprobs: logprobs }),
      },
      droppedTurns,
      droppableTurns: Math.max(0, turns - 1 - droppedTurns),
    };
  }
  if (echo && logprobs !== undefined) {
    throw new HearthError('unsupported_parameter', 'echo: an engine elsewhere gives no numbers for the prompt.', {
      param: 'echo',
    });
  }
  const prompt = input.kind === 'text' ? input.text : input.tokens;
  const body = { ...common, prompt, ...(logprobs !== undefined && { logprobs }) };
  return { path: 'completions', body, droppedTurns: 0, droppableTurns: 0 };
}

function samplingFields(sampling: Sampling) {
  const { temperature, topK, topP, minP, repetitionPenalty, frequencyPenalty, presencePenalty, logitBias, seed } =
    sampling;
  return {
    seed,
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { top_p: topP }),
    // "All of them" has two spellings; only this one is taken by every server.
    ...(topK !== undefined && { top_k: topK === 0 ? -1 : topK }),
    ...(minP !== undefined && { min_p: minP }),
    ...(repetitionPenalty !== undefined && { repetition_penalty: repetitionPenalty }),
    ...(frequencyPenalty !== undefined && { frequency_penalty: frequencyPenalty }),
    ...(presencePenalty !== undefined && { presence_penalty: presencePenalty }),
    ...(logitBias && { logit_bias: Object.fromEntries(logitBias) }),
  };
}

function chatFields(chat: Chat, dropped: number) {
  const { tools = [], toolChoice = 'auto', responseFormat = { type: 'text' }, effort = 'medium' } = chat;
  return {
    messages: dropTurns(chat.messages, dropped).map(message),
    ...(tools.length > 0 && {
      tools: tools.map((tool) => ({ type: 'function', function: tool })),
      tool_choice: typeof toolChoice === 'string' ? toolChoice : { type: 'function', function: toolChoice },
    }),
    ...(responseFormat.type === 'json_object' && { response_format: { type: 'json_object' } }),
    ...(responseFormat.type === 'json_schema' && {
      response_format: {
        type: 'json_schema',
        json_schema: {
          name: responseFormat.name,
          ...(responseFormat.description !== undefined && { description: responseFormat.description }),
          schema: responseFormat.schema,
          strict: true,
        },
      },
    }),
    // What everybody takes it to be where nothing is said; models that do not think refuse the word.
    ...(effort !== 'medium' && { reasoning_effort: effort }),
  };
}

function message({ role, content, reasoning, toolCalls = [], toolCallId, name }: ChatMessage) {
  switch (role) {
    case 'assistant':
      return {
        role,
        content: content === '' && toolCalls.length > 0 ? null : content,
        ...(reasoning !== undefined && { reasoning_content: reasoning }),
        ...(toolCalls.length > 0 && {
          tool_calls: toolCalls.map(({ id, name: called, arguments: args }) => ({
            id,
            type: 'function',
            function: { name: called, arguments: args },
          })),
        }),
      };
    case 'tool':
      return { role, content, tool_call_id: toolCallId ?? '' };
    case 'developer':
      // Many servers know one kind of instructions only.
      return { role: 'system', content };
    default:
      return { role, content, ...(name !== undefined && { name }) };
  }
}
