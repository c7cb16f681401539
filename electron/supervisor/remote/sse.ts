// Server-sent events out of bytes, however they are cut (https://html.spec.whatwg.org/multipage/server-sent-events.html). Whoever sends them
// is not trusted: a line or an event beyond its bound ends the reading with an error. It does not know what the data mean.
import { HearthError } from '../../contract/errors';

export interface SseLimits {
  /** Characters of one event, its longest line included. */
  event: number;
  /** Bytes of the whole stream. */
  total: number;
}

/** Far above what any token with all its alternatives takes, and any answer that somebody waits for. */
export const SSE_LIMITS: SseLimits = { event: 4 * 1024 ** 2, total: 256 * 1024 ** 2 };

/** The data of each event. Invalid UTF-8 becomes U+FFFD. Throws `remote_failed` beyond a limit. */
export async function* sseData(
  bytes: AsyncIterable<Uint8Array>,
  { event: mostEvent, total: mostTotal }: SseLimits = SSE_LIMITS,
): AsyncGenerator<string, void> {
  // Drops a byte order mark at the beginning, as the standard wants.
  const decoder = new TextDecoder();
  const lines = new Lines();
  let data: string[] = [];
  let size = 0;
  let total = 0;
  for await (const chunk of bytes) {
    total += chunk.length;
    if (total > mostTotal) throw tooMuch('an answer without end');
    for (const line of lines.push(decoder.decode(chunk, { stream: true }))) {
      if (line === '') {
        if (data.length > 0) yield data.join('\n');
        data = [];
        size = 0;
        continue;
      }
      size += line.length;
      if (size > mostEvent) throw tooMuch('an event that is too large');
      if (line === 'data') data.push('');
      else if (line.startsWith('data:')) data.push(line.slice(line[5] === ' ' ? 6 : 5));
    }
    if (size + lines.held > mostEvent) throw tooMuch('a line that is too long');
  }
  // An event that no empty line ended is not one by the standard; servers that hang up right after their last word mean it.
  const rest = lines.end();
  if (rest.startsWith('data:')) data.push(rest.slice(rest[5] === ' ' ? 6 : 5));
  if (data.length > 0) yield data.join('\n');
}

/** Text cut at CR LF, LF and CR. Pieces of a line wait unjoined, so that a long line costs its length once. */
class Lines {
  private pieces: string[] = [];
  /** Characters of the line that has not ended. */
  held = 0;
  private afterCr = false;

  push(text: string): string[] {
    const whole = this.afterCr && text.startsWith('\n') ? text.slice(1) : text;
    if (text !== '') this.afterCr = text.endsWith('\r');
    const parts = whole.split(/\r\n|\n|\r/);
    const last = parts.pop() ?? '';
    const lines = parts.map((part) => {
      const line = this.pieces.length > 0 ? this.pieces.join('') + part : part;
      this.pieces = [];
      return line;
    });
    if (lines.length > 0) this.held = 0;
    if (last !== '') this.pieces.push(last);
    this.held += last.length;
    return lines;
  }

  end(): string {
    return this.pieces.join('');
  }
}

function tooMuch(what: string): HearthError {
  return new HearthError('remote_failed', `The engine sent ${what}.`);
}
