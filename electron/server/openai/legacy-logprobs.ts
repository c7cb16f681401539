// The shape in which /v1/completions gives logprobs: parallel lists over tokens, offsets in characters (code points) of the text.
import type { TokenLogprob } from '../../contract/chat';

export interface LegacyLogprobs {
  tokens: string[];
  token_logprobs: (number | null)[];
  top_logprobs: (Record<string, number> | null)[];
  text_offset: number[];
}

interface Row {
  token: string;
  logprob: number | null;
  top: Record<string, number> | null;
}

const rowOf = ({ token, logprob, top }: TokenLogprob): Row => ({
  token,
  logprob,
  top: Object.fromEntries(top.map((entry) => [entry.token, entry.logprob])),
});

/** The first token of a prompt follows nothing and has no probability; its text is what the others leave over. */
function echoRows(text: string, logprobs: readonly (TokenLogprob | null)[]): Row[] {
  const known = logprobs
    .filter((entry) => entry !== null)
    .map((entry) => entry.token)
    .join('');
  const first = text.slice(0, Math.max(0, text.length - known.length));
  return logprobs.map((entry) => (entry === null ? { token: first, logprob: null, top: null } : rowOf(entry)));
}

/** `offset`: characters before the first token. */
export function legacyLogprobs(
  generated: readonly TokenLogprob[],
  echo?: { text: string; logprobs: readonly (TokenLogprob | null)[] },
  offset = 0,
): LegacyLogprobs {
  const rows = [...(echo ? echoRows(echo.text, echo.logprobs) : []), ...generated.map(rowOf)];
  let at = offset;
  const offsets = rows.map(({ token }) => {
    const start = at;
    at += [...token].length;
    return start;
  });
  return {
    tokens: rows.map((row) => row.token),
    token_logprobs: rows.map((row) => row.logprob),
    top_logprobs: rows.map((row) => row.top),
    text_offset: offsets,
  };
}
