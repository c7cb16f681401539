// The output of models without harmony: `<think>` … `</think>` is thought, `<tool_call>` … `</tool_call>` a call, the rest the
// answer. It never throws; what is not understood is delivered as text.
import type { Part } from '../../contract/runtime';
import { StopMatcher, type OutputParser, type OutputResult, type Place } from '../text';
import { StreamDecoder, type TokenId, type Tokenizer } from '../tokenizer';

export interface PlainParserOptions {
  /** Names of the functions offered; without any, `<tool_call>` is text. */
  tools?: readonly string[];
  /** The prompt has opened `<think>`. */
  thinking?: boolean;
  /** The whole answer is one call, `{"name": …, "arguments": …}`, as a constraint has it. */
  wholeCall?: boolean;
  callId?: (call: number) => string;
}

const THINK = '<think>';
const THINK_END = '</think>';
const CALL = '<tool_call>';
const CALL_END = '</tool_call>';
/** A call longer than this is delivered as text. */
const LONGEST_CALL = 1 << 20;

type State = 'start' | 'thinking' | 'answer' | 'call' | 'ended';

export class PlainParser implements OutputParser {
  private state: State;
  private readonly decoder = new StreamDecoder();
  private readonly ends: ReadonlySet<TokenId>;
  private matcher: StopMatcher;
  private start = '';
  private call = '';
  /** White space after `</think>` does not belong to the answer. */
  private skipSpace = false;
  private parts: Part[] = [];
  private readonly output: OutputResult = { content: '', reasoning: '', toolCalls: [] };
  readonly counts = { reasoning: 0, text: 0, tool: 0 };

  constructor(
    private readonly tokenizer: Tokenizer,
    private readonly options: PlainParserOptions = {},
  ) {
    this.ends = new Set(tokenizer.endIds);
    this.state = options.thinking ? 'thinking' : 'start';
    this.skipSpace = options.thinking ?? false;
    this.matcher = new StopMatcher(options.thinking ? [THINK_END] : []);
  }

  push(id: TokenId): Part[] {
    if (this.state === 'ended') return [];
    if (this.ends.has(id)) return this.finish();
    if (this.tokenizer.isControl(id) && !this.isTag(id)) return [];
    this.count();
    this.take(this.decoder.push(this.tokenizer.bytes(id)));
    return this.takeParts();
  }

  finish(): Part[] {
    if (this.state === 'ended') return [];
    this.decoder.drop();
    if (this.state === 'start') {
      const begun = this.start.trim() === '' ? '' : this.start;
      this.beginAnswer(false);
      this.take(begun);
    }
    const rest = this.matcher.finish();
    if (this.state === 'thinking') this.say('reasoning', rest);
    else if (this.state === 'call') this.say('text', CALL + this.call + rest);
    else if (this.options.wholeCall) this.endCall(this.call, this.call);
    else this.say('text', rest);
    this.state = 'ended';
    return this.takeParts();
  }

  result(): OutputResult {
    return this.output;
  }

  get place(): Place {
    switch (this.state) {
      case 'thinking':
        return 'analysis';
      case 'ended':
        return 'ended';
      case 'call':
        return 'tool';
      case 'start':
        // A thought may still begin: only `<think>` or a word decides.
        return 'between';
      case 'answer':
        return this.options.wholeCall ? 'tool' : 'final';
    }
  }

  forceFinal(): TokenId[] {
    return this.state === 'thinking' ? this.tokenizer.encodeTrusted(`\n${THINK_END}\n\n`) : [];
  }

  private isTag(id: TokenId): boolean {
    const name = this.tokenizer.decode([id], { control: true });
    return name === THINK || name === THINK_END || name === CALL || name === CALL_END;
  }

  private count(): void {
    if (this.state === 'thinking') this.counts.reasoning++;
    else if (this.state === 'call' || this.options.wholeCall) this.counts.tool++;
    else this.counts.text++;
  }

  private takeParts(): Part[] {
    const parts = this.parts;
    this.parts = [];
    return parts;
  }

  private take(text: string): void {
    for (let rest = text; rest !== '';) rest = this.step(rest);
  }

  /** Works on the text in the present state; gives what is left for the next one. */
  private step(text: string): string {
    if (this.state === 'start') return this.atStart(text);
    const { text: shown, stopped, rest } = this.matcher.push(text);
    if (this.state === 'thinking') {
      this.say('reasoning', shown);
      if (stopped !== undefined) this.beginAnswer(true);
    } else if (this.state === 'call') {
      this.call += shown;
      if (stopped !== undefined) this.endCall(this.call, `${CALL}${this.call}${CALL_END}`);
      else if (this.call.length > LONGEST_CALL) {
        this.say('text', CALL + this.call);
        this.beginAnswer(false);
      }
    } else if (this.options.wholeCall) this.call += shown;
    else {
      this.say('text', shown);
      if (stopped !== undefined) {
        this.state = 'call';
        this.call = '';
        this.matcher = new StopMatcher([CALL_END]);
      }
    }
    return stopped !== undefined ? rest : '';
  }

  private atStart(text: string): string {
    this.start += text;
    const begun = this.start.trimStart();
    if (begun.startsWith(THINK)) {
      this.state = 'thinking';
      this.skipSpace = true;
      this.matcher = new StopMatcher([THINK_END]);
      return begun.slice(THINK.length);
    }
    if (THINK.startsWith(begun)) return '';
    const all = this.start;
    this.beginAnswer(false);
    return all;
  }

  private beginAnswer(skipSpace: boolean): void {
    this.state = 'answer';
    this.start = '';
    this.call = '';
    this.skipSpace = skipSpace;
    this.matcher = new StopMatcher(this.options.tools?.length && !this.options.wholeCall ? [CALL] : []);
  }

  private endCall(body: string, raw: string): void {
    const call = readCall(body);
    if (!call || !(this.options.tools ?? []).includes(call.name)) this.say('text', raw);
    else {
      const index = this.output.toolCalls.length;
      const id = this.options.callId?.(index) ?? `call_${index}`;
      this.output.toolCalls.push({ id, ...call });
      this.parts.push({ channel: 'tool', call: index, id, name: call.name, delta: call.arguments });
    }
    this.beginAnswer(true);
  }

  private say(channel: 'reasoning' | 'text', text: string): void {
    const delta = this.skipSpace ? text.trimStart() : text;
    if (delta === '') return;
    this.skipSpace = false;
    if (channel === 'text') this.output.content += delta;
    else this.output.reasoning += delta;
    this.parts.push({ channel, delta });
  }
}

function readCall(body: string): { name: string; arguments: string } | null {
  try {
    const value = JSON.parse(body) as { name?: unknown; arguments?: unknown; parameters?: unknown } | null;
    if (typeof value?.name !== 'string') return null;
    const given = value.arguments ?? value.parameters ?? {};
    return { name: value.name, arguments: typeof given === 'string' ? given : JSON.stringify(given) };
  } catch {
    return null;
  }
}
