// OpenAI's messages in all their spellings, translated into the contract's one shape. Pure; errors name the message and the field.
import type { ChatMessage, ToolCall } from '../../contract/chat';
import { invalid, unsupported } from '../validate';

const ROLES = ['system', 'developer', 'user', 'assistant', 'tool', 'function'] as const;
type Role = (typeof ROLES)[number];

type Fields = Record<string, unknown>;

const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const OTHER_PARTS: Record<string, string> = {
  image_url: 'Pictures cannot be read by this server yet.',
  input_image: 'Pictures cannot be read by this server yet.',
  input_audio: 'Sound cannot be read by this server yet.',
  file: 'Files cannot be read by this server yet.',
  input_file: 'Files cannot be read by this server yet.',
};

function partText(part: unknown, at: string): string {
  if (typeof part === 'string') return part;
  if (!isObject(part)) throw invalid(at, `${at}: a part is an object with type and text.`);
  const { type, text, refusal } = part;
  if (type === 'refusal' && typeof refusal === 'string') return refusal;
  if (type === 'text' || type === 'input_text' || type === 'output_text') {
    if (typeof text === 'string') return text;
    throw invalid(`${at}.text`, `${at}.text: a text is expected.`);
  }
  const name = typeof type === 'string' ? type.slice(0, 40) : 'without a type';
  throw unsupported(`${at}.type`, OTHER_PARTS[name] ?? `${at}: a part of type ${name} is not supported.`);
}

/** Parts are one text, in order. Null is no text. */
export function contentText(content: unknown, at: string): string | null {
  if (content === undefined || content === null) return null;
  if (typeof content === 'string') return content;
  if (Array.isArray(content)) return content.map((part, index) => partText(part, `${at}[${index}]`)).join('');
  throw invalid(at, `${at}: a text or a list of parts is expected.`);
}

function callArguments(value: unknown, at: string): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return value;
  if (isObject(value)) return JSON.stringify(value);
  throw invalid(at, `${at}: a text with JSON is expected.`);
}

function toolCall(value: unknown, at: string): ToolCall {
  if (!isObject(value)) throw invalid(at, `${at}: an object with id and function is expected.`);
  const { id, type } = value;
  const inner = value['function'];
  if (type !== undefined && type !== null && type !== 'function')
    throw unsupported(`${at}.type`, `${at}.type: only function is supported.`);
  if (!isObject(inner) || typeof inner.name !== 'string' || inner.name === '') {
    throw invalid(`${at}.function.name`, `${at}.function.name: a name is expected.`);
  }
  if (typeof id !== 'string' || id === '') throw invalid(`${at}.id`, `${at}.id: a text is expected.`);
  return { id, name: inner.name, arguments: callArguments(inner.arguments, `${at}.function.arguments`) };
}

function toolCalls(value: unknown, at: string): ToolCall[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw invalid(at, `${at}: a list is expected.`);
  return value.map((call, index) => toolCall(call, `${at}[${index}]`));
}

/** Thoughts given back by a client, under any of the names that servers use for them. */
function reasoningOf(fields: Fields): string | undefined {
  return [fields.reasoning_content, fields.reasoning, fields.thinking].find(
    (value): value is string => typeof value === 'string',
  );
}

function assistantMessage(fields: Fields, at: string): ChatMessage {
  const calls = toolCalls(fields.tool_calls, `${at}.tool_calls`);
  if (isObject(fields.function_call))
    throw unsupported(`${at}.function_call`, 'function_call is not supported: use tool_calls.');
  const reasoning = reasoningOf(fields);
  return {
    role: 'assistant',
    content: contentText(fields.content, `${at}.content`) ?? (typeof fields.refusal === 'string' ? fields.refusal : ''),
    ...(reasoning !== undefined && { reasoning }),
    ...(calls.length > 0 && { toolCalls: calls }),
  };
}

function toolMessage(fields: Fields, at: string, known: ReadonlyMap<string, string>): ChatMessage {
  const id = fields.tool_call_id;
  if (typeof id !== 'string' || id === '')
    throw invalid(`${at}.tool_call_id`, `${at}.tool_call_id: the id of a tool call is expected.`);
  const name = known.get(id) ?? (typeof fields.name === 'string' ? fields.name : undefined);
  if (name === undefined) {
    throw invalid(
      `${at}.tool_call_id`,
      `${at}.tool_call_id: no assistant message before it has a tool call with this id.`,
    );
  }
  return { role: 'tool', content: contentText(fields.content, `${at}.content`) ?? '', toolCallId: id, name };
}

function textMessage(role: 'system' | 'developer' | 'user', fields: Fields, at: string): ChatMessage {
  const content = contentText(fields.content, `${at}.content`);
  if (content === null) throw invalid(`${at}.content`, `${at}.content: a text or a list of parts is expected.`);
  return { role, content, ...(typeof fields.name === 'string' && { name: fields.name }) };
}

function roleOf(fields: Fields, at: string): Role {
  const role = ROLES.find((known) => known === fields.role);
  if (role === undefined)
    throw invalid(`${at}.role`, `${at}.role: system, developer, user, assistant and tool are possible.`);
  return role;
}

/** Throws `invalid_request` or `unsupported_parameter` with the field as `param`. */
export function chatMessages(messages: readonly unknown[]): ChatMessage[] {
  const known = new Map<string, string>();
  return messages.map((fields, index) => {
    const at = `messages[${index}]`;
    if (!isObject(fields)) throw invalid(at, `${at}: an object with role and content is expected.`);
    const role = roleOf(fields, at);
    switch (role) {
      case 'assistant': {
        const message = assistantMessage(fields, at);
        for (const call of message.toolCalls ?? []) known.set(call.id, call.name);
        return message;
      }
      case 'tool':
        return toolMessage(fields, at, known);
      case 'function':
        throw unsupported(`${at}.role`, 'The role function is not supported: use tool_calls and the role tool.');
      default:
        return textMessage(role, fields, at);
    }
  });
}
