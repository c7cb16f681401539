// Chats as prompts by a model's own Jinja template, for every family but harmony.
// Text of users and tools stays text (protect.ts); a template's failure is a typed error.
import { Environment, Interpreter, parse, tokenize } from '@huggingface/jinja';
import type { ChatInput, ChatMessage } from '../../contract/chat';
import { HearthError } from '../../contract/errors';
import { splitInstructions } from '../instructions';
import type { TokenId, Tokenizer } from '../tokenizer';
import { formatDate } from './date';
import { fallbackTemplate } from './fallback';
import { Protector, mapStrings } from './protect';

export interface TemplatePrompt {
  tokens: TokenId[];
  /** Token offsets after each end-of-turn token, and the end of the prompt. */
  cutPoints: number[];
  /** The prompt ends inside an opened `<think>`: the answer begins with thought. */
  opensThought: boolean;
}

/** A message as templates expect it. */
interface TemplateMessage {
  role: string;
  content: string;
  [extra: string]: unknown;
}

class Raised extends Error {}

/** Larger templates are nonsense. */
const LONGEST = 1 << 20;
const LONGEST_RANGE = 1 << 16;

/** Jinja's own names. The library's set cannot be used: its date is the clock's, and its ranges have no bound. */
const GLOBALS = { true: true, True: true, false: false, False: false, none: null, None: null, range };

function range(start: number, stop?: number, step = 1): number[] {
  const [from, to] = stop === undefined ? [0, start] : [start, stop];
  const length = Math.max(0, Math.ceil((to - from) / step));
  if (!(length <= LONGEST_RANGE)) throw new Error('range() is too long');
  return Array.from({ length }, (_, i) => from + i * step);
}

export class ChatTemplate {
  /** The template can show tools to the model. */
  readonly tools: boolean;
  /** The template, or the vocabulary, knows thoughts. */
  readonly reasoning: boolean;
  private readonly program: ReturnType<typeof parse>;
  private readonly protector: Protector;
  private readonly source: string;

  /** Throws HearthError{unsupported_template} for a template that cannot be read. */
  constructor(
    private readonly tokenizer: Tokenizer,
    source: string = tokenizer.chatTemplate,
  ) {
    this.source = source.trim() === '' ? fallbackTemplate(tokenizer) : source;
    this.tools = /\btools\b/.test(this.source);
    this.reasoning = this.source.includes('<think>') || tokenizer.special('<think>') !== undefined;
    this.protector = new Protector(tokenizer);
    if (this.source.length > LONGEST) throw unsupported('it is too long', undefined);
    try {
      this.program = parse(tokenize(this.source, { lstrip_blocks: true, trim_blocks: true }));
    } catch (cause) {
      throw unsupported(messageOf(cause), cause);
    }
  }

  /** Throws HearthError{invalid_request} where the template refuses the chat, {unsupported_template} where it fails. */
  render(chat: ChatInput): TemplatePrompt {
    const messages = toTemplateMessages(chat.messages);
    const tools = chat.tools.length > 0 ? chat.tools.map((tool) => ({ type: 'function', function: tool })) : undefined;
    const texts = [this.source];
    mapStrings([messages, tools], (text) => {
      texts.push(text);
      return text;
    });
    const mark = this.protector.mark(texts);
    const safe = (text: string) => this.protector.protect(text, mark);
    const variables = { ...this.variables(chat), ...(tools && { tools: mapStrings(tools, safe) }) };
    const text = this.run(
      messages.map((m) => protectMessage(m, safe)),
      variables,
    );
    return this.encode(text, mark);
  }

  private run(messages: TemplateMessage[], variables: object): string {
    try {
      return this.runOnce(messages, variables);
    } catch (error) {
      if (!(error instanceof HearthError) || error.code !== 'invalid_request') throw error;
      const plainer = withoutSystem(messages);
      if (plainer === null) throw error;
      return this.runOnce(plainer, variables);
    }
  }

  private runOnce(messages: TemplateMessage[], variables: object): string {
    try {
      const environment = new Environment();
      for (const [name, value] of Object.entries({ ...GLOBALS, ...variables, messages })) environment.set(name, value);
      return (new Interpreter(environment).run(this.program) as { value: string }).value;
    } catch (cause) {
      if (cause instanceof Raised) {
        throw new HearthError('invalid_request', `The model's chat template refuses this chat: ${cause.message}`, {
          param: 'messages',
          cause,
        });
      }
      throw unsupported(messageOf(cause), cause);
    }
  }

  private variables(chat: ChatInput): Record<string, unknown> {
    const { tokenizer } = this;
    const name = (id: TokenId) => (id < 0 ? '' : tokenizer.decode([id], { control: true }));
    return {
      add_generation_prompt: true,
      bos_token: name(tokenizer.bos),
      eos_token: name(tokenizer.eos),
      date_string: formatDate(chat.date, '%d %b %Y'),
      enable_thinking: true,
      reasoning_effort: chat.effort,
      strftime_now: (format: string) => formatDate(chat.date, format),
      raise_exception: (message: string) => {
        throw new Raised(message);
      },
    };
  }

  private encode(text: string, mark: string): TemplatePrompt {
    const { tokenizer } = this;
    const tokens = tokenizer.encodeTrusted(text, mark);
    if (tokenizer.addBos && tokens[0] !== tokenizer.bos) tokens.unshift(tokenizer.bos);
    const ends = new Set(tokenizer.endIds);
    const cutPoints = tokens.flatMap((id, i) => (ends.has(id) && i + 1 < tokens.length ? [i + 1] : []));
    cutPoints.push(tokens.length);
    return { tokens, cutPoints, opensThought: /<think>\s*$/.test(text) };
  }
}

function toTemplateMessages(messages: readonly ChatMessage[]): TemplateMessage[] {
  const { instructions, rest } = splitInstructions(messages);
  const head = instructions === '' ? [] : [{ role: 'system', content: instructions }];
  return [...head, ...rest.map(toTemplateMessage)];
}

function toTemplateMessage(message: ChatMessage): TemplateMessage {
  return {
    role: message.role === 'developer' ? 'system' : message.role,
    content: message.content,
    ...(message.name !== undefined && { name: message.name }),
    ...(message.reasoning !== undefined && { reasoning_content: message.reasoning }),
    ...(message.toolCallId !== undefined && { tool_call_id: message.toolCallId }),
    ...(message.toolCalls && {
      tool_calls: message.toolCalls.map((call) => ({
        id: call.id,
        type: 'function',
        function: { name: call.name, arguments: parsed(call.arguments) },
      })),
    }),
  };
}

/** Templates expect arguments as an object: a string would be quoted twice. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

/** Roles come from a closed set; everything else may hold anything. */
function protectMessage({ role, ...rest }: TemplateMessage, safe: (text: string) => string): TemplateMessage {
  return { ...(mapStrings(rest, safe) as TemplateMessage), role };
}

/** For templates that know no system role, or want turns to alternate: instructions go into the first user message. */
function withoutSystem(messages: readonly TemplateMessage[]): TemplateMessage[] | null {
  const out: TemplateMessage[] = [];
  for (const message of messages) {
    const role = message.role === 'system' ? 'user' : message.role;
    const last = out.at(-1);
    const plain = role === 'user' || (role === 'assistant' && !('tool_calls' in message));
    if (last?.role === role && plain && !('tool_calls' in last)) last.content += `\n\n${message.content}`;
    else out.push({ ...message, role });
  }
  return out.length === messages.length && out.every((m, i) => m.role === messages[i]!.role) ? null : out;
}

function unsupported(reason: string, cause: unknown): HearthError {
  return new HearthError('unsupported_template', `This model's chat template cannot be used: ${reason.slice(0, 300)}`, {
    cause,
  });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
