// Constraints for harmony: a state machine over token ids that knows the frame. Thoughts are free; headers may only lead to what
// was asked for; the body after them follows a grammar up to its end token.
import { encodeSegments, type HarmonyTokens, type Segment } from '../harmony';
import type { TokenId, Tokenizer } from '../tokenizer';
import type { Body, Constraint, TextTokens } from './constraint';
import { addToken, hasToken, setOf } from './token-set';

/** What the answer may be: exactly one of these bodies. */
export interface Goal {
  /** Makes the body of the final answer; absent: there must be none. */
  final?: () => Body;
  /** Makes the arguments of a call, by function name. */
  calls?: ReadonlyMap<string, () => Body>;
}

/** Where a header leads. */
type Destination = { kind: 'thought' } | { kind: 'body'; make: () => Body };

interface HeaderNode {
  next: Map<TokenId, HeaderNode>;
  destination?: Destination;
}

/** More thoughts than this in one answer are a loop. */
const MOST_THOUGHTS = 4;

type State =
  | { kind: 'header'; node: HeaderNode }
  | { kind: 'thought' }
  | { kind: 'between'; left: TokenId[] }
  | { kind: 'body'; body: Body }
  /** Something came that was not allowed: only an end may follow. */
  | { kind: 'broken' }
  | { kind: 'done' };

export class HarmonyConstraint implements Constraint {
  private state: State;
  private thoughts = 0;
  /** The headers allowed now. */
  private root: HeaderNode;
  private readonly answerOnly: HeaderNode;
  private readonly start: TokenId[];
  private readonly thoughtMask: Uint32Array;

  private readonly size: number;

  /** The prompt ends with `<|start|>assistant`. */
  constructor(
    tokenizer: Tokenizer,
    private readonly control: HarmonyTokens,
    { text, size }: TextTokens,
    goal: Goal,
  ) {
    this.size = size;
    const encode = (segments: Segment[]) => encodeSegments(segments, tokenizer, control);
    this.start = encode([{ control: 'start' }, { text: 'assistant' }]);
    this.answerOnly = { next: new Map() };
    const root: HeaderNode = { next: new Map() };
    for (const [segments, make] of headers(goal)) {
      for (const tree of [root, this.answerOnly]) insert(tree, encode(segments), { kind: 'body', make });
    }
    const thought: Segment[] = [{ control: 'channel' }, { text: 'analysis' }, { control: 'message' }];
    insert(root, encode(thought), { kind: 'thought' });
    this.state = { kind: 'header', node: root };
    this.root = root;
    this.thoughtMask = text.slice();
    addToken(this.thoughtMask, control.end);
  }

  mask(): Uint32Array | null {
    const { state, size } = this;
    switch (state.kind) {
      case 'header':
        return setOf(size, state.node.next.keys());
      case 'thought':
        return this.thoughtMask;
      case 'between':
        return setOf(size, state.left.slice(0, 1));
      case 'body':
        return state.body.mask();
      case 'broken':
        return setOf(size, [this.control.return]);
      case 'done':
        return setOf(size, [this.control.return]);
    }
  }

  accept(token: TokenId): boolean {
    const { state } = this;
    switch (state.kind) {
      case 'header':
        return this.inHeader(state.node, token);
      case 'thought':
        if (token === this.control.end) this.endThought();
        else if (!hasToken(this.thoughtMask, token)) return this.fail(token);
        return true;
      case 'between':
        if (state.left[0] !== token) return this.fail(token);
        state.left.shift();
        if (state.left.length === 0) this.state = { kind: 'header', node: this.root };
        return true;
      case 'body': {
        const allowed = state.body.accept(token);
        if (state.body.isDone) this.finish(state.body);
        return allowed;
      }
      default:
        return this.fail(token);
    }
  }

  isDone(): boolean {
    return this.state.kind === 'done';
  }

  force(): TokenId[] {
    const { state } = this;
    if (state.kind === 'between') return [...state.left, ...onlyWay(this.root)];
    return state.kind === 'header' ? onlyWay(state.node) : [];
  }

  endThoughts(): TokenId[] {
    this.root = this.answerOnly;
    if (this.state.kind !== 'thought') return [];
    return [this.control.end, ...this.start, ...onlyWay(this.answerOnly)];
  }

  dispose(): void {
    if (this.state.kind === 'body') this.finish(this.state.body);
  }

  private inHeader(node: HeaderNode, token: TokenId): boolean {
    const next = node.next.get(token);
    if (!next) return this.fail(token);
    if (!next.destination) this.state = { kind: 'header', node: next };
    else if (next.destination.kind === 'thought') this.state = { kind: 'thought' };
    else this.state = { kind: 'body', body: next.destination.make() };
    return true;
  }

  private endThought(): void {
    if (++this.thoughts >= MOST_THOUGHTS) this.root = this.answerOnly;
    this.state = { kind: 'between', left: [...this.start] };
  }

  private finish(body: Body): void {
    body.dispose();
    this.state = { kind: 'done' };
  }

  private fail(token: TokenId): boolean {
    const ended = token === this.control.return || token === this.control.call || this.control.ends.includes(token);
    this.state = { kind: ended || this.state.kind === 'done' ? 'done' : 'broken' };
    return false;
  }
}

/** The headers that lead to a goal, in the forms that the model learnt. */
function headers({ final, calls }: Goal): [Segment[], () => Body][] {
  const json: Segment[] = [{ text: ' ' }, { control: 'constrain' }, { text: 'json' }, { control: 'message' }];
  const out: [Segment[], () => Body][] = [];
  if (final) {
    const head: Segment[] = [{ control: 'channel' }, { text: 'final' }];
    out.push([[...head, { control: 'message' }], final], [[...head, ...json], final]);
  }
  for (const [name, make] of calls ?? []) {
    const to: Segment = { text: ` to=functions.${name}` };
    const channel: Segment[] = [{ control: 'channel' }, { text: 'commentary' }];
    out.push([[...channel, to, ...json], make], [[to, ...channel, ...json], make]);
  }
  return out;
}

function insert(root: HeaderNode, tokens: readonly TokenId[], destination: Destination): void {
  let node = root;
  for (const token of tokens) {
    let next = node.next.get(token);
    if (!next) node.next.set(token, (next = { next: new Map() }));
    node = next;
  }
  node.destination = destination;
}

/** The tokens from here on as long as there is only one. */
function onlyWay(from: HeaderNode): TokenId[] {
  const out: TokenId[] = [];
  for (let node = from; node.next.size === 1 && !node.destination;) {
    const [[token, next]] = node.next as unknown as [[TokenId, HeaderNode]];
    out.push(token);
    node = next;
  }
  return out;
}
