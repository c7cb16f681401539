// Reads the header of a generated message: role, channel, recipient, content type. Lenient: it never fails, whatever stands there.
// (Harmony library's header rules, hardened for the malformed headers that models are known to write.)

/** What came between the start of a message and `<|message|>`, in order. */
export type HeaderItem = 'channel' | 'constrain' | { text: string };

/** How the header began: after the prompt's `<|start|>assistant`, after a sampled `<|start|>`, or without any. */
export type HeaderStart = 'assistant' | 'start' | 'nothing';

export interface Header {
  role: 'assistant' | 'other';
  channel: 'analysis' | 'commentary' | 'final' | undefined;
  /** Without "assistant", "all" and "user", which are no tools. */
  recipient: string | undefined;
  contentType: string | undefined;
  /** What was not understood, its own white space kept, none before it. */
  rest: string;
}

const ROLES = new Set(['assistant', 'user', 'system', 'developer', 'tool']);
const TYPES = new Set(['json', 'code', 'text', 'xml', 'yaml', 'python', 'markdown', 'plain', 'response']);
const NOBODY = new Set(['assistant', 'all', 'user', '']);

export function readHeader(items: readonly HeaderItem[], start: HeaderStart): Header {
  const reader = new HeaderReader(start);
  for (const item of items) reader.take(item);
  return reader.header();
}

class HeaderReader {
  private role: Header['role'] = 'assistant';
  private channels: string[] = [];
  private recipients: string[] = [];
  private contentType: string | undefined;
  private rest = '';
  private expect: 'role' | 'channel' | 'type' | 'words';

  constructor(private readonly start: HeaderStart) {
    this.expect = start === 'assistant' ? 'words' : 'role';
  }

  take(item: HeaderItem): void {
    if (item === 'channel') this.expect = 'channel';
    else if (item === 'constrain') this.expect = 'type';
    else {
      let text = item.text;
      if (this.expect === 'role') text = this.takeRole(text);
      else if (this.expect === 'channel') text = this.takeChannel(text);
      else if (this.expect === 'type') text = this.takeType(text);
      this.expect = 'words';
      this.rest += this.takeRecipients(text);
    }
  }

  header(): Header {
    const recipient = this.recipients.map(toolName).find((name) => !NOBODY.has(name));
    const known = this.channels.map(knownChannel).filter((c) => c !== undefined);
    return {
      role: this.role,
      // a stray channel before the real one is ignored; a marker repeated inside a call's header is no channel
      channel: recipient === undefined ? known.at(-1) : known[0],
      recipient,
      contentType: this.contentType,
      rest: this.rest.trimStart(),
    };
  }

  private takeRole(text: string): string {
    const word = /^\s*([\w.:\u2013\u2014-]*)/.exec(text)!;
    const name = word[1]!.split(':')[0]!;
    const after = text.slice(word[0].length);
    if (ROLES.has(name)) {
      if (name !== 'assistant') this.role = 'other';
      return after;
    }
    if (this.start === 'nothing') return text;
    // a tool's name in the place of a role: the model plays the tool
    if (name.includes('.') || /^\s+to=/.test(after)) this.role = 'other';
    return this.role === 'other' ? after : text;
  }

  private takeChannel(text: string): string {
    const name = /^\s*([^\s<]*)/.exec(text)!;
    this.channels.push(name[1]!);
    return text.slice(name[0].length);
  }

  private takeType(text: string): string {
    const word = /^\s*([A-Za-z0-9_.+/-]+)/.exec(text);
    if (!word || !TYPES.has(word[1]!.toLowerCase())) return text;
    this.contentType = word[1]!;
    return text.slice(word[0].length);
  }

  private takeRecipients(text: string): string {
    return text.replace(/(^|\s)to=\s*([^\s<]*)/g, (_, __, name: string) => {
      this.recipients.push(name);
      return '';
    });
  }
}

/** The words left in a complete header may name a recipient ("functions.f json") or a type. Others are dropped. */
export function readLeftovers(header: Header, isTool: (recipient: string) => boolean): Header {
  let { recipient, contentType } = header;
  for (const word of header.rest.split(/\s+/)) {
    const name = toolName(word);
    if (TYPES.has(word.toLowerCase())) contentType ??= word;
    else if (recipient === undefined && name !== '' && (name.startsWith('functions.') || isTool(name)))
      recipient = name;
  }
  return { ...header, recipient, contentType };
}

/** Names end at the first character that no tool name has, e.g. a repeated channel marker. */
function toolName(text: string): string {
  return /^[A-Za-z0-9_.-]*/.exec(text)![0];
}

function knownChannel(name: string): Header['channel'] {
  return /analysis|commentary|final/.exec(name)?.[0] as Header['channel'];
}
