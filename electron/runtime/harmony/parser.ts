// What the model says in harmony, token by token, as parts for people and programs. It never throws and never shows markup:
// whatever cannot be understood is delivered as text. It renders nothing and knows no HTTP.
import type { Part } from '../../contract/runtime';
import type { OutputParser, OutputResult, Place } from '../text';
import { StreamDecoder, type TokenId, type Tokenizer } from '../tokenizer';
import type { HarmonyTokens } from './control';
import { readHeader, readLeftovers, type Header, type HeaderItem, type HeaderStart } from './header';

export interface ParserOptions {
  /** Names of the functions offered; calls of others are not delivered as calls. Absent: every `functions.*` is one. */
  tools?: readonly string[];
  /** The id of the n-th call, given once with its first part. */
  callId?: (call: number) => string;
}

/** One message as the model wrote it, for APIs that show items in order. */
export interface ParsedMessage {
  role: Header['role'];
  channel: Header['channel'];
  recipient: string | undefined;
  contentType: string | undefined;
  content: string;
}

export interface HarmonyResult extends OutputResult {
  messages: ParsedMessage[];
  /** The model left the format somewhere. */
  malformed: boolean;
  /** A tool was called that was not offered. */
  unoffered: string | undefined;
}

type Target = 'reasoning' | 'text' | 'tool' | 'held' | 'hidden';

/** Text outside any message is held back for so many characters: a final answer may still follow it. */
const HELD_LIMIT = 400;
/** A header longer than this is no header any more. */
const HEADER_LIMIT = 400;
const SEPARATOR = '\n\n';

export class HarmonyParser implements OutputParser {
  private state: 'header' | 'content' | 'between' | 'ended' = 'header';
  private items: HeaderItem[] = [];
  private headerStart: HeaderStart = 'assistant';
  private headerLength = 0;
  private message: ParsedMessage | undefined;
  private target: Target = 'hidden';
  private decoder = new StreamDecoder();
  private held = '';
  private parts: Part[] = [];
  private needsSeparator = { reasoning: false, text: false };
  private readonly output: HarmonyResult = {
    content: '',
    reasoning: '',
    toolCalls: [],
    messages: [],
    malformed: false,
    unoffered: undefined,
  };
  private readonly ends: ReadonlySet<TokenId>;
  /** Content tokens so far, by where they went. */
  readonly counts = { reasoning: 0, text: 0, tool: 0 };

  constructor(
    private readonly tokenizer: Tokenizer,
    private readonly control: HarmonyTokens,
    private readonly options: ParserOptions = {},
  ) {
    this.ends = new Set(control.ends);
  }

  /** The parts that are certain after one more token. */
  push(id: TokenId): Part[] {
    if (this.state !== 'ended') {
      if (this.ends.has(id)) this.endMessage(true);
      else if (this.tokenizer.isControl(id)) this.takeControl(id);
      else this.takeBytes(this.tokenizer.bytes(id));
    }
    return this.takeParts();
  }

  /** No more tokens will come: what is held is given out. An unfinished character is dropped. */
  finish(): Part[] {
    this.decoder.drop();
    if (this.state !== 'ended') this.endMessage(true);
    return this.takeParts();
  }

  /** Everything so far. Final only after finish(). */
  result(): HarmonyResult {
    return this.output;
  }

  get place(): Place {
    if (this.state !== 'content') return this.state;
    switch (this.target) {
      case 'tool':
      case 'hidden':
        return this.target;
      case 'reasoning':
        return 'analysis';
      default:
        return this.message?.channel === 'commentary' ? 'commentary' : 'final';
    }
  }

  /** Ids that begin the final answer from here, for when the thoughts have run long enough; [] where it has begun or must not. */
  forceFinal(): TokenId[] {
    const { start, end, channel, message } = this.control;
    const final = [channel, ...this.tokenizer.encode('final', false), message];
    const next = [start, ...this.tokenizer.encode('assistant', false), ...final];
    switch (this.place) {
      case 'ended':
      case 'tool':
      case 'final':
        return [];
      case 'between':
        return next;
      case 'header':
        if (this.items.at(-1) === 'channel') return final.slice(1);
        if (this.items.length > 0) return this.items.includes('channel') ? [message, end, ...next] : [end, ...next];
        return this.headerStart === 'start' ? next.slice(1) : final;
      default:
        return [end, ...next];
    }
  }

  private takeParts(): Part[] {
    const parts = this.parts;
    this.parts = [];
    return parts;
  }

  private takeControl(id: TokenId): void {
    const { control } = this;
    if (id === control.end) this.endMessage(false);
    else if (id === control.return || id === control.call) this.endMessage(true);
    else if (id === control.start) {
      if (this.state === 'content' || this.items.length > 0) this.malformed(() => this.endMessage(false));
      this.beginHeader('start');
    } else if (id === control.channel) this.takeChannel();
    else if (id === control.message) this.takeMessage();
    else if (id === control.constrain && this.state === 'header') this.addItem('constrain');
    else this.output.malformed = true;
  }

  private takeChannel(): void {
    if (this.state !== 'header') {
      if (this.state === 'content') this.endMessage(false);
      this.output.malformed = true;
      this.beginHeader('nothing');
    }
    this.addItem('channel');
  }

  private takeMessage(): void {
    if (this.state === 'content') {
      this.output.malformed = true;
      return;
    }
    if (this.state === 'between') this.beginHeader('nothing');
    this.flushHeaderText();
    const raw = readHeader(this.items, this.headerStart);
    const lost = raw.channel === undefined && raw.recipient === undefined && raw.rest !== '';
    const header = readLeftovers(raw, (name) => this.isOffered(name));
    if (raw.rest !== '' || raw.channel === undefined) this.output.malformed = true;
    this.beginContent(header, lost && header.recipient === undefined ? raw.rest : '');
  }

  private takeBytes(bytes: Uint8Array): void {
    if (this.state === 'between') this.malformed(() => this.beginHeader('nothing'));
    if (this.state === 'content') {
      this.count();
      this.emit(this.decoder.push(bytes));
      return;
    }
    const text = this.decoder.push(bytes);
    const last = this.items.at(-1);
    if (typeof last === 'object') last.text += text;
    else this.items.push({ text });
    this.headerLength += text.length;
    if (this.headerLength > HEADER_LIMIT) this.giveUpHeader();
  }

  private beginHeader(start: HeaderStart): void {
    this.state = 'header';
    this.headerStart = start;
    this.items = [];
    this.headerLength = 0;
    this.decoder.drop();
  }

  private addItem(item: 'channel' | 'constrain'): void {
    this.flushHeaderText();
    this.items.push(item);
  }

  private flushHeaderText(): void {
    const rest = this.decoder.end();
    const last = this.items.at(-1);
    if (rest && typeof last === 'object') last.text += rest;
  }

  /** A message without `<|message|>`: what is left of its header is its body. */
  private giveUpHeader(): void {
    this.output.malformed = true;
    const header = readHeader(this.items, this.headerStart);
    // the beginning of a recipient that never came
    const body = /^(t|to|to=)$/.test(header.rest) ? '' : header.rest;
    if (body === '' && header.recipient !== undefined) this.beginHidden(header);
    else this.beginContent(header, body);
  }

  private beginHidden(header: Header): void {
    this.beginContent({ ...header, role: 'other' }, '');
  }

  private beginContent(header: Header, body: string): void {
    const { role, channel, recipient, contentType } = header;
    this.state = 'content';
    this.items = [];
    this.message = { role, channel, recipient, contentType, content: '' };
    this.output.messages.push(this.message);
    this.target = this.route(header);
    if (this.target === 'tool') this.beginCall(recipient!);
    else if (channel === 'final' && this.target === 'text') this.releaseHeld('reasoning');
    if (this.target === 'reasoning' || this.target === 'text') {
      this.needsSeparator[this.target] = this.joined(this.target) !== '';
    } else if (this.target === 'held' && this.held !== '') this.held += SEPARATOR;
    if (body !== '') this.emit(body);
  }

  private route({ role, channel, recipient }: Header): Target {
    if (role !== 'assistant') return 'hidden';
    if (recipient !== undefined) {
      if (this.isOffered(recipient)) return 'tool';
      this.output.unoffered = recipient;
      return channel === 'analysis' ? 'reasoning' : 'text';
    }
    if (channel === 'analysis') return 'reasoning';
    return channel === undefined ? 'held' : 'text';
  }

  private isOffered(recipient: string): boolean {
    const name = recipient.replace(/^functions\./, '');
    return this.options.tools ? this.options.tools.includes(name) : recipient.startsWith('functions.') && name !== '';
  }

  private beginCall(recipient: string): void {
    this.releaseHeld('text');
    const call = this.output.toolCalls.length;
    const id = this.options.callId?.(call) ?? `call_${call}`;
    const name = recipient.replace(/^functions\./, '');
    this.output.toolCalls.push({ id, name, arguments: '' });
    this.parts.push({ channel: 'tool', call, id, name, delta: '' });
  }

  /** Ends the current message, whatever its state; `turn`: nothing follows it. */
  private endMessage(turn: boolean): void {
    if (this.state === 'header' && this.items.length > 0) {
      this.flushHeaderText();
      this.giveUpHeader();
    }
    if (this.state === 'content') this.emit(this.decoder.end());
    this.message = undefined;
    this.items = [];
    if (turn) this.releaseHeld('text');
    this.state = turn ? 'ended' : 'between';
  }

  private count(): void {
    if (this.target === 'hidden') return;
    this.counts[this.target === 'held' ? 'text' : this.target]++;
  }

  private emit(delta: string): void {
    if (delta === '' || !this.message) return;
    this.message.content += delta;
    if (this.target === 'held') {
      this.held += delta;
      if (this.held.length > HELD_LIMIT) {
        this.releaseHeld('text');
        this.target = 'text';
        this.needsSeparator.text = false;
      }
    } else if (this.target === 'tool') {
      const call = this.output.toolCalls.length - 1;
      this.output.toolCalls[call]!.arguments += delta;
      this.parts.push({ channel: 'tool', call, delta });
    } else if (this.target !== 'hidden') {
      this.say(this.target, delta);
    }
  }

  private releaseHeld(channel: 'reasoning' | 'text'): void {
    if (this.held === '') return;
    this.needsSeparator[channel] = this.joined(channel) !== '';
    this.say(channel, this.held);
    this.held = '';
  }

  private say(channel: 'reasoning' | 'text', text: string): void {
    const delta = this.needsSeparator[channel] ? SEPARATOR + text : text;
    this.needsSeparator[channel] = false;
    if (channel === 'text') this.output.content += delta;
    else this.output.reasoning += delta;
    this.parts.push({ channel, delta });
  }

  private joined(channel: 'reasoning' | 'text'): string {
    return channel === 'text' ? this.output.content : this.output.reasoning;
  }

  private malformed(then: () => void): void {
    this.output.malformed = true;
    then();
  }
}
