// A stream of the server's /v1, read as a client reads it.
import type { App } from '../../electron/app';

export interface Completion {
  tokens: string[];
  offsets: number[];
  text: string;
  /** Tokens, as the server counts them. */
  usage: number | undefined;
  reason: string | undefined;
}

interface Chunk {
  error?: { message: string };
  usage?: { completion_tokens: number };
  choices: {
    text: string;
    finish_reason: string | null;
    logprobs?: { tokens: string[]; text_offset: number[] } | null;
  }[];
}

/** The best of each token. */
export async function readCompletion(
  app: App,
  body: { model: string; prompt: string; max_tokens: number },
  onToken: (count: number) => void,
): Promise<Completion> {
  const response = await fetch(new URL('/v1/completions', app.url), {
    method: 'POST',
    headers: { authorization: `Bearer ${app.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      ...body,
      temperature: 0,
      logprobs: 0,
      stream: true,
      stream_options: { include_usage: true },
    }),
  });
  if (!response.ok) throw new Error(await response.text());
  const read: Completion = { tokens: [], offsets: [], text: '', usage: undefined, reason: undefined };
  let rest = '';
  for await (const bytes of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const lines = (rest + bytes).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line.startsWith('data: {')) take(read, JSON.parse(line.slice(6)) as Chunk);
    onToken(read.tokens.length);
  }
  return read;
}

function take(read: Completion, { error, usage, choices: [choice] }: Chunk): void {
  if (error) throw new Error(error.message);
  if (usage) read.usage = usage.completion_tokens;
  if (!choice) return;
  read.text += choice.text;
  read.reason = choice.finish_reason ?? read.reason;
  read.tokens.push(...(choice.logprobs?.tokens ?? []));
  read.offsets.push(...(choice.logprobs?.text_offset ?? []));
}
