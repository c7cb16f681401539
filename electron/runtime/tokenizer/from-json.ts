// Builds a tokenizer from the text of a Hugging Face tokenizer.json: BPE, byte-level or over characters with byte fallback.
// What it does not know it refuses by name; it never guesses.
import { z } from 'zod';
import { HearthError } from '../../contract/errors';
import { BytePairModel } from './byte-pair';
import { CharacterPairModel } from './character-pair';
import { flatTexts } from './flat-texts';
import { byteFallbackTokens, byteLevelTokens, unknownToken } from './from-gguf';
import { GPT2_PATTERN, compilePattern, escapePattern, isKnownPattern } from './pattern';
import { MergeTable } from './merge-table';
import { PreTokenizer, type SplitBehaviour, type SplitStep } from './pre-tokenizer';
import type { SpecialFlags } from './special-matcher';
import { TokenKind, type TokenizerSource } from './source';
import { Tokenizer, type TextModel } from './tokenizer';
import { Vocabulary, type TokenId } from './vocabulary';

const addedToken = z.object({
  id: z.int().min(0),
  content: z.string(),
  special: z.boolean().default(false),
  lstrip: z.boolean().default(false),
  rstrip: z.boolean().default(false),
});
const component = z.looseObject({ type: z.string() });
type Component = z.infer<typeof component>;
const file = z.looseObject({
  added_tokens: z.array(addedToken).default([]),
  normalizer: component.nullish(),
  pre_tokenizer: component.nullish(),
  post_processor: component.nullish(),
  model: z.looseObject({
    type: z.string().optional(),
    ignore_merges: z.boolean().optional(),
    unk_token: z.string().nullish(),
    fuse_unk: z.boolean().optional(),
  }),
});

/** Ids above this are nonsense: no model has so many tokens. */
const MOST_TOKENS = 1 << 21;

/** Throws HearthError{bad_file | unsupported_architecture}. Special ids and template come from `source` where it names them. */
export function tokenizerFromJson(source: TokenizerSource, text: string): Tokenizer {
  const json = parse(text);
  const { vocab, merges } = bpeModel(json.model as Record<string, unknown>);
  const tokens: string[] = [];
  const kinds: number[] = [];
  const ids = new Map<string, TokenId>();
  for (const [token, id] of Object.entries(vocab)) {
    checkId(id);
    tokens[id] = token;
    ids.set(token, id);
  }
  const flags = new Map<TokenId, SpecialFlags>();
  for (const { id, content, special, lstrip, rstrip } of json.added_tokens) {
    checkId(id);
    tokens[id] = content;
    kinds[id] = special ? TokenKind.control : TokenKind.userDefined;
    if (lstrip || rstrip) flags.set(id, { lstrip, rstrip });
  }
  const unknown = json.model.unk_token ? vocab[json.model.unk_token] : undefined;
  // plain text may become it, so it is no control token
  if (unknown !== undefined) kinds[unknown] = TokenKind.unknown;
  for (let id = 0; id < tokens.length; id++) {
    tokens[id] ??= '';
    kinds[id] ??= tokens[id] === '' ? TokenKind.unused : TokenKind.normal;
  }
  const byteLevel = usesByteLevel(json.pre_tokenizer ?? null);
  if (!byteLevel) {
    // only such vocabularies spell bytes out
    tokens.forEach((t, id) => {
      if (kinds[id] === TokenKind.normal && /^<0x[0-9A-F]{2}>$/.test(t)) kinds[id] = TokenKind.byte;
    });
  }
  const vocabulary = new Vocabulary(flatTexts(tokens), kinds, byteLevel ? 'byte-level' : 'sentencepiece');
  for (const [token, id] of ids) if (vocabulary.isControl(id)) ids.delete(token);
  const special = (id: number | undefined) => (id !== undefined && id >= 0 && id < tokens.length ? id : -1);
  for (const id of [source.bos, source.eos, ...(source.eosIds ?? [])]) {
    if (special(id) >= 0) vocabulary.markControl(id!, tokens[id!]!);
  }
  const parts: ModelParts = { json, ids, merges: mergeTable(merges, ids), vocabulary, unknown };
  const built = byteLevel ? byteLevelModel(parts) : characterModel(parts);
  return new Tokenizer({
    vocabulary,
    model: () => built.model,
    normalise: built.normalise,
    flags,
    bos: special(source.bos),
    eos: special(source.eos),
    eosIds: source.eosIds ?? [],
    addBos: source.addBos ?? false,
    addEos: source.addEos ?? false,
    chatTemplate: source.chatTemplate ?? '',
  });
}

interface ModelParts {
  json: z.infer<typeof file>;
  ids: ReadonlyMap<string, TokenId>;
  merges: MergeTable;
  vocabulary: Vocabulary;
  unknown: TokenId | undefined;
}

interface BuiltModel {
  model: TextModel;
  normalise: (text: string) => string;
}

function byteLevelModel({ json, ids, merges, vocabulary, unknown }: ModelParts): BuiltModel {
  const { steps, prefixSpace } = preTokenizerSteps(json.pre_tokenizer ?? null);
  const normalise = normaliser(json.normalizer ?? null);
  const model = new BytePairModel({
    preTokenizer: new PreTokenizer(
      steps,
      steps.every(({ pattern, behaviour }) => behaviour === 'isolated' && isKnownPattern(pattern)),
    ),
    merges,
    byteTokens: byteLevelTokens(ids),
    ...(json.model.ignore_merges && { wholePieces: ids }),
    unknown: unknownToken(vocabulary, unknown),
  });
  return { model, normalise: prefixSpace ? (text) => ' ' + normalise(text).replace(/^ /, '') : normalise };
}

function characterModel({ json, ids, merges, vocabulary, unknown }: ModelParts): BuiltModel {
  const model = new CharacterPairModel({
    ids: new Map([...ids].filter(([, id]) => vocabulary.kind(id) !== TokenKind.byte)),
    merges,
    byteTokens: json.model['byte_fallback'] === true ? byteFallbackTokens(vocabulary) : new Int32Array(256).fill(-1),
    unknown: unknown ?? -1,
    fuseUnknown: json.model.fuse_unk ?? false,
    spell: metaspace(json.pre_tokenizer ?? null),
  });
  return { model, normalise: normaliser(json.normalizer ?? null) };
}

function parse(text: string): z.infer<typeof file> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new HearthError('bad_file', 'tokenizer.json is not valid JSON.', { cause });
  }
  const result = file.safeParse(value);
  if (!result.success) {
    throw new HearthError('bad_file', `tokenizer.json: ${result.error.issues[0]?.message ?? 'unreadable'}`);
  }
  return result.data;
}

type Merges = (string | [string, string])[];

/** The two large parts are checked by hand: a schema would visit every entry several times. */
function bpeModel(model: Record<string, unknown>): { vocab: Record<string, number>; merges: Merges } {
  if (model['type'] !== undefined && model['type'] !== 'BPE') unsupported(`tokenizer model "${String(model['type'])}"`);
  for (const affix of ['continuing_subword_prefix', 'end_of_word_suffix']) if (model[affix]) unsupported(`"${affix}"`);
  const { vocab, merges } = model;
  if (typeof vocab !== 'object' || vocab === null || !Array.isArray(merges)) {
    throw new HearthError('bad_file', 'tokenizer.json has no vocabulary or no merges.');
  }
  const sound = merges.every((m) => typeof m === 'string' || (Array.isArray(m) && m.length === 2));
  if (!sound) throw new HearthError('bad_file', 'tokenizer.json has merges that are not pairs.');
  return { vocab: vocab as Record<string, number>, merges: merges as Merges };
}

/** Rank is the place in the list. Rules whose parts or result are no tokens of plain text are left out. */
function mergeTable(merges: Merges, ids: ReadonlyMap<string, TokenId>): MergeTable {
  const table = new MergeTable(merges.length);
  merges.forEach((merge, rank) => {
    const space = typeof merge === 'string' ? merge.indexOf(' ', 1) : 0;
    if (space < 0) return;
    const [left, right] = typeof merge === 'string' ? [merge.slice(0, space), merge.slice(space + 1)] : merge;
    const leftId = ids.get(left);
    const rightId = ids.get(right);
    const merged = ids.get(left + right);
    if (leftId !== undefined && rightId !== undefined && merged !== undefined) table.add(leftId, rightId, rank, merged);
  });
  return table;
}

function checkId(id: unknown): asserts id is number {
  if (!Number.isInteger(id) || (id as number) < 0 || (id as number) >= MOST_TOKENS) {
    throw new HearthError('bad_file', 'tokenizer.json has token ids out of range.');
  }
}

function unsupported(what: string): never {
  throw new HearthError('unsupported_architecture', `This model needs ${what}, which is not supported.`);
}

function children(part: Component, field: string): Component[] {
  const parsed = z.array(component).safeParse(part[field]);
  if (!parsed.success) throw new HearthError('bad_file', `tokenizer.json: ${part.type} without ${field}.`);
  return parsed.data;
}

function normaliser(part: Component | null): (text: string) => string {
  if (part === null) return (text) => text;
  switch (part.type) {
    case 'NFC':
    case 'NFD':
    case 'NFKC':
    case 'NFKD': {
      const form = part.type;
      return (text) => text.normalize(form);
    }
    case 'Prepend': {
      const prefix = String(part['prepend']);
      return (text) => (text === '' ? '' : prefix + text);
    }
    case 'Replace': {
      const expression = compilePattern(patternOf(part));
      const content = String(part['content']);
      return (text) => text.replace(expression, () => content);
    }
    case 'Lowercase':
      return (text) => text.toLowerCase();
    case 'Sequence': {
      const steps = children(part, 'normalizers').map(normaliser);
      return (text) => steps.reduce((t, step) => step(t), text);
    }
    default:
      return unsupported(`the normalizer "${part.type}"`);
  }
}

const BEHAVIOURS: Record<string, SplitBehaviour> = {
  Isolated: 'isolated',
  Removed: 'removed',
  MergedWithPrevious: 'mergedWithPrevious',
  MergedWithNext: 'mergedWithNext',
  Contiguous: 'contiguous',
};

function preTokenizerSteps(part: Component | null): { steps: SplitStep[]; prefixSpace: boolean } {
  const steps: SplitStep[] = [];
  let prefixSpace = false;
  const visit = (p: Component): void => {
    if (p.type === 'Sequence') children(p, 'pretokenizers').forEach(visit);
    else if (p.type === 'Split') steps.push(splitStep(p));
    else if (p.type === 'Digits') {
      steps.push({ pattern: p['individual_digits'] ? '\\p{N}' : '\\p{N}+', behaviour: 'isolated', invert: false });
    } else if (p.type === 'ByteLevel') {
      prefixSpace = p['add_prefix_space'] === true;
      if (p['use_regex'] !== false) steps.push({ pattern: GPT2_PATTERN, behaviour: 'isolated', invert: false });
    } else unsupported(`the pre-tokenizer "${p.type}"`);
  };
  if (part) visit(part);
  return { steps, prefixSpace };
}

function usesByteLevel(part: Component | null): boolean {
  if (part?.type === 'Sequence') return children(part, 'pretokenizers').some(usesByteLevel);
  return part?.type === 'ByteLevel';
}

/** Spaces as the vocabulary marks them. Without a pre-tokenizer the normalizer has done it. */
function metaspace(part: Component | null): (text: string, beginning: boolean) => string[] {
  if (part === null) return (text) => [text];
  if (part.type === 'Split') return splitting(new PreTokenizer([splitStep(part)], false));
  if (part.type !== 'Metaspace') return unsupported(`the pre-tokenizer "${part.type}" without the byte-level alphabet`);
  const mark = typeof part['replacement'] === 'string' ? part['replacement'] : '\u2581';
  const scheme = part['prepend_scheme'] ?? (part['add_prefix_space'] === false ? 'never' : 'always');
  const pieces = part['split'] === false ? (text: string) => [text] : (text: string) => text.split(before(mark));
  return (text, beginning) => {
    const marked = text.replaceAll(' ', mark);
    const prepend = (scheme === 'always' || (scheme === 'first' && beginning)) && !marked.startsWith(mark);
    return pieces(prepend ? mark + marked : marked);
  };
}

function splitting(cut: PreTokenizer): (text: string) => string[] {
  return (text) => {
    const pieces: string[] = [];
    cut.split(text, (piece) => pieces.push(piece));
    return pieces;
  };
}

function before(mark: string): RegExp {
  return new RegExp(`(?=${escapePattern(mark)})`, 'u');
}

function patternOf(p: Component): string {
  const pattern = z.union([z.object({ Regex: z.string() }), z.object({ String: z.string() })]).safeParse(p['pattern']);
  if (!pattern.success) throw new HearthError('bad_file', `tokenizer.json: ${p.type} that cannot be read.`);
  return 'Regex' in pattern.data ? pattern.data.Regex : escapePattern(pattern.data.String);
}

function splitStep(p: Component): SplitStep {
  const behaviour = BEHAVIOURS[String(p['behavior'])];
  if (!behaviour) throw new HearthError('bad_file', 'tokenizer.json: Split that cannot be read.');
  return { pattern: patternOf(p), behaviour, invert: p['invert'] === true };
}
