// The two messages at the head of a harmony prompt: system (about the model) and developer (instructions, tools, formats).
import type { Effort, ResponseFormat, Tool } from '../../contract/chat';
import { toolsSection, type ToolNamespace } from './typescript';

/** What a model was trained to read about itself; gpt-oss's own words are the default. */
export interface Identity {
  identity: string;
  /** Absent: no such line. */
  knowledgeCutoff?: string;
}

export const GPT_OSS_IDENTITY: Identity = {
  identity: 'You are ChatGPT, a large language model trained by OpenAI.',
  knowledgeCutoff: '2024-06',
};

const CHANNELS = '# Valid channels: analysis, commentary, final. Channel must be included for every message.';
const FUNCTION_CHANNEL = "Calls to these tools must go to the commentary channel: 'functions'.";

export interface SystemOptions {
  effort: Effort;
  /** YYYY-MM-DD; absent: no date line, so that prompts stay the same over midnight. */
  date?: string;
  hasFunctions: boolean;
  /** What the model uses by itself, told in the system message. */
  builtinTools?: readonly ToolNamespace[];
  identity?: Identity;
}

export function systemContent(options: SystemOptions): string {
  const { effort, date, hasFunctions, builtinTools = [], identity = GPT_OSS_IDENTITY } = options;
  const head = [identity.identity];
  if (identity.knowledgeCutoff) head.push(`Knowledge cutoff: ${identity.knowledgeCutoff}`);
  if (date) head.push(`Current date: ${date}`);
  const channels = hasFunctions ? `${CHANNELS}\n${FUNCTION_CHANNEL}` : CHANNELS;
  const tools = builtinTools.length > 0 ? ['# Tools', ...builtinTools.map(toolsSection)] : [];
  return [head.join('\n'), `Reasoning: ${effort}`, ...tools, channels].join('\n\n');
}

export interface DeveloperOptions {
  instructions?: string;
  tools?: readonly Tool[];
  responseFormat?: ResponseFormat;
}

/** Null where there is nothing to say: then the prompt has no developer message. */
export function developerContent({ instructions, tools = [], responseFormat }: DeveloperOptions): string | null {
  const sections: string[] = [];
  if (instructions) sections.push('# Instructions', instructions);
  if (tools.length > 0) sections.push('# Tools', toolsSection({ name: 'functions', tools }));
  const format = responseFormat && formatBlock(responseFormat);
  if (format) sections.push('# Response Formats', format);
  return sections.length > 0 ? sections.join('\n\n') : null;
}

/** Naming the format helps quality; the constraint enforces it. */
function formatBlock(format: ResponseFormat): string | null {
  if (format.type === 'text') return null;
  const { name, description, schema } =
    format.type === 'json_schema'
      ? format
      : { name: 'json_object', description: 'A single JSON object', schema: { type: 'object' } };
  return `## ${name}\n\n${description ? `// ${description}\n` : ''}${JSON.stringify(schema)}`;
}
