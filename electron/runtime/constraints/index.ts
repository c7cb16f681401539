// The door of the constraints: from what a chat asks for to a state machine over its output's tokens.
import type { ChatInput, JsonSchema, Tool } from '../../contract/chat';
import { HearthError } from '../../contract/errors';
import type { HarmonyTokens } from '../harmony';
import type { TokenId, Tokenizer } from '../tokenizer';
import { Body, type Constraint, type TextTokens } from './constraint';
import { GrammarEngine, type Matcher } from './grammar';
import { HarmonyConstraint, type Goal } from './harmony-frame';
import { PlainConstraint } from './plain';
import { prepareSchema, rebase, type PreparedSchema } from './schema';
import { textTokens } from './token-set';

export type { Constraint } from './constraint';

/** What a finished output is checked with. */
export interface Output {
  content: string;
  toolCalls: readonly { name: string; arguments: string }[];
}

/** A chat's constraint, compiled: makes the state machine of each generation. */
export interface ConstraintPlan {
  /** `thinking`: the prompt of a model without harmony has opened its thoughts. */
  begin(options?: { thinking?: boolean }): Constraint;
  /** What is wrong with a finished output, or null. For outputs that ended by themselves, not for cut ones. */
  check(output: Output): string | null;
  /** The whole output is one call as JSON (models without harmony): see PlainParserOptions.wholeCall. */
  wholeCall: boolean;
}

interface Compiled {
  make: () => Matcher;
  check: PreparedSchema['check'];
}

const NO_ARGUMENTS: JsonSchema = { type: 'object', properties: {}, additionalProperties: false };
const ANY_OBJECT: JsonSchema = { type: 'object' };

/** One per loaded model. */
export class ConstraintMaker {
  private readonly engine: GrammarEngine;
  private readonly end: TokenId;
  private textSet: TextTokens | undefined;

  /** `size`: the width of the model's logits. `control`: null for models without harmony. */
  constructor(
    private readonly tokenizer: Tokenizer,
    private readonly size: number,
    private readonly control: HarmonyTokens | null,
  ) {
    this.end = control?.return ?? tokenizer.endIds[0] ?? -1;
    this.engine = new GrammarEngine(tokenizer, size, this.end);
  }

  /** Null where the chat asks for nothing special. Throws HearthError{unsupported_schema | invalid_request}. */
  async plan(chat: ChatInput): Promise<ConstraintPlan | null> {
    const calls = requiredCalls(chat);
    const format = calls ? null : formatSchema(chat);
    if (!calls && !format) return null;
    if (this.end < 0)
      throw new HearthError('unsupported_parameter', 'This model has no end token: its output cannot be constrained.');
    if (this.control) return this.harmonyPlan(this.control, chat, calls, format);
    return calls ? this.plainCalls(calls) : this.plainFormat(format!);
  }

  private async harmonyPlan(
    control: HarmonyTokens,
    chat: ChatInput,
    required: Tool[] | null,
    format: JsonSchema | null,
  ): Promise<ConstraintPlan> {
    const final = format && (await this.compile(format, 'response_format'));
    // beside a format the model may still call a tool, where tools are offered
    const offered = required ?? (chat.toolChoice === 'none' ? [] : chat.tools);
    const calls = new Map<string, Compiled>();
    for (const tool of offered)
      calls.set(tool.name, await this.compile(tool.parameters ?? NO_ARGUMENTS, whereOf(tool)));
    const goal: Goal = {
      ...(final && { final: () => this.body(final, control.return) }),
      calls: new Map([...calls].map(([name, c]) => [name, () => this.body(c, control.call)])),
    };
    return {
      begin: () => new HarmonyConstraint(this.tokenizer, control, this.text(), goal),
      check: (output) => checkOutput(output, final, calls),
      wholeCall: false,
    };
  }

  private async plainFormat(format: JsonSchema): Promise<ConstraintPlan> {
    const compiled = await this.compile(format, 'response_format');
    return {
      begin: ({ thinking = false } = {}) => this.plain(compiled, thinking),
      check: (output) => checkOutput(output, compiled, new Map()),
      wholeCall: false,
    };
  }

  private async plainCalls(tools: Tool[]): Promise<ConstraintPlan> {
    const checks = new Map<string, Pick<Compiled, 'check'>>();
    for (const tool of tools) {
      checks.set(tool.name, prepareSchema(tool.parameters ?? NO_ARGUMENTS, whereOf(tool), this.size));
    }
    const compiled = await this.compile(callSchema(tools), 'tools');
    return {
      begin: ({ thinking = false } = {}) => this.plain(compiled, thinking),
      check: (output) => checkOutput(output, null, checks),
      wholeCall: true,
    };
  }

  private plain(compiled: Compiled, thinking: boolean): Constraint {
    return new PlainConstraint(this.tokenizer, this.body(compiled, this.end), this.text().text, thinking);
  }

  private async compile(schema: JsonSchema, where: string): Promise<Compiled> {
    const { grammar, check, cost } = prepareSchema(schema, where, this.size);
    return { make: await this.engine.compile(grammar, cost, where), check };
  }

  private body(compiled: Compiled, end: TokenId): Body {
    return new Body(compiled.make(), this.text(), this.end, end);
  }

  private text(): TextTokens {
    return (this.textSet ??= textTokens(this.tokenizer, this.size));
  }
}

function whereOf(tool: Tool): string {
  return `tools.${tool.name}`;
}

/** The tools of which one must be called, or null. */
function requiredCalls(chat: ChatInput): Tool[] | null {
  const { toolChoice, tools } = chat;
  if (toolChoice === 'none' || toolChoice === 'auto') return null;
  const wanted = toolChoice === 'required' ? tools : tools.filter((t) => t.name === toolChoice.name);
  if (wanted.length > 0) return wanted;
  const message =
    toolChoice === 'required'
      ? 'tool_choice asks for a call, but there are no tools.'
      : `There is no tool "${toolChoice.name}".`;
  throw new HearthError('invalid_request', message, { param: 'tool_choice' });
}

function formatSchema({ responseFormat }: ChatInput): JsonSchema | null {
  if (responseFormat.type === 'text') return null;
  return responseFormat.type === 'json_object' ? ANY_OBJECT : responseFormat.schema;
}

/** One call as a JSON object, for models without a format of their own. */
function callSchema(tools: readonly Tool[]): JsonSchema {
  const definitions: Record<string, unknown> = {};
  const options = tools.map((tool, i) => {
    // definitions move to the top, under names of their own
    const { $defs, definitions: old, ...parameters } = tool.parameters ?? NO_ARGUMENTS;
    const prefix = `t${i}_`;
    for (const group of [$defs, old]) {
      for (const [name, schema] of Object.entries((group ?? {}) as object))
        definitions[prefix + name] = renamed(schema, i);
    }
    definitions[`t${i}`] = renamed(parameters, i);
    return {
      type: 'object',
      properties: { name: { const: tool.name }, arguments: { $ref: `#/$defs/t${i}` } },
      required: ['name', 'arguments'],
      additionalProperties: false,
    };
  });
  return { anyOf: options, $defs: definitions };
}

function renamed(schema: unknown, tool: number): unknown {
  return rebase(schema, (ref) => {
    const name = /^#\/(?:\$defs|definitions)\/([^/]+)$/.exec(ref)?.[1];
    return name === undefined ? (ref === '#' ? `#/$defs/t${tool}` : ref) : `#/$defs/t${tool}_${name}`;
  });
}

function checkOutput(
  output: Output,
  final: Pick<Compiled, 'check'> | null,
  calls: ReadonlyMap<string, Pick<Compiled, 'check'>>,
): string | null {
  if (output.toolCalls.length === 0) return final ? final.check(output.content) : 'no tool was called';
  for (const call of output.toolCalls) {
    const known = calls.get(call.name);
    if (!known) return `the tool "${call.name}" was not offered`;
    const wrong = known.check(call.arguments);
    if (wrong !== null) return `the arguments of "${call.name}": ${wrong}`;
  }
  return null;
}
