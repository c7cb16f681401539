// The grammar engine (xgrammar as WebAssembly) behind a small synchronous interface: compile a schema, step a matcher.
// It knows no chat format. Schemas must have been prepared (schema.ts): a bad one aborts the engine, which is then made anew.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import type * as XGrammar from '@mlc-ai/web-xgrammar';
import { HearthError } from '../../contract/errors';
import type { TokenId, Tokenizer } from '../tokenizer';

type Library = typeof XGrammar & { binding(): Binding };
/** The engine's own objects, of which only these calls are used: its wrapper gives masks only asynchronously. */
interface Binding {
  GrammarMatcher: new (compiled: unknown, stops: undefined, endWithoutStop: boolean, rollback: number) => NativeMatcher;
  vecIntToView(vector: unknown): Int32Array;
}
interface NativeMatcher {
  AcceptToken(token: number, verbose: boolean): boolean;
  GetNextTokenBitmask(size: number): { delete(): void };
  IsTerminated(): boolean;
  delete(): void;
}

interface Compiled {
  grammar: XGrammar.CompiledGrammar;
  /** Of the instance that made it. */
  binding: Binding;
}

/** Most compiled grammars kept. */
const CACHE = 32;
/** Most time that one compilation may be expected to take, in milliseconds. */
const COMPILE_LIMIT_MS = 5000;
/** White space characters that the model may put between JSON's parts: without a bound some models never stop. */
const WHITE_SPACE = 1;

export interface Matcher {
  /** Bits of the tokens that may come next; the stop token's where the output may end. Do not keep it. */
  mask(): Uint32Array;
  accept(token: TokenId): boolean;
  dispose(): void;
}

export class GrammarEngine {
  private library: Library | undefined;
  private info: XGrammar.TokenizerInfo | undefined;
  private compiler: XGrammar.GrammarCompiler | undefined;
  private readonly compiled = new Map<string, Compiled>();
  /** One compilation at a time. */
  private queue: Promise<unknown> = Promise.resolve();

  /** `size`: the width of the model's logits. `stop`: the token that ends an output. */
  constructor(
    private readonly tokenizer: Tokenizer,
    readonly size: number,
    readonly stop: TokenId,
  ) {}

  /** A maker of matchers. `cost`: see PreparedSchema. Throws HearthError{unsupported_schema}. */
  async compile(schema: unknown, cost: number, where: string): Promise<() => Matcher> {
    const expected = (cost * this.size) / 1e6;
    if (expected > COMPILE_LIMIT_MS) {
      throw new HearthError('unsupported_schema', `${where}: the schema is too large to be enforced with this model.`, {
        param: where,
      });
    }
    const text = JSON.stringify(schema);
    const run = this.queue.then(() => this.compileNow(text, where));
    this.queue = run.catch(() => undefined);
    const { grammar, binding } = await run;
    return () => new NativeMatching(binding, grammar, this.size);
  }

  private async compileNow(text: string, where: string): Promise<Compiled> {
    const known = this.compiled.get(text);
    if (known) {
      this.compiled.delete(text);
      this.compiled.set(text, known);
      return known;
    }
    const { library, compiler } = await this.ready();
    try {
      const grammar = await library.Grammar.fromJSONSchema(text, true, undefined, undefined, false, WHITE_SPACE);
      const compiled = { grammar: await compiler.compileGrammar(grammar), binding: library.binding() };
      grammar.dispose();
      this.remember(text, compiled);
      return compiled;
    } catch (cause) {
      this.forget();
      throw new HearthError('unsupported_schema', `${where}: the schema cannot be turned into a grammar.`, {
        param: where,
        cause,
      });
    }
  }

  private remember(text: string, compiled: Compiled): void {
    this.compiled.set(text, compiled);
    if (this.compiled.size <= CACHE) return;
    // not disposed of: plans may still use it; the engine's finaliser frees it
    const [oldest] = this.compiled.keys();
    this.compiled.delete(oldest!);
  }

  private async ready(): Promise<{ library: Library; compiler: XGrammar.GrammarCompiler }> {
    this.library ??= loadLibrary();
    const { library } = this;
    this.info ??= await library.TokenizerInfo.createTokenizerInfo(
      this.tokenizer.vocabulary.alphabetStrings().slice(0, this.size),
      'byte_level',
      false,
      this.size,
      [this.stop],
    );
    this.compiler ??= await library.GrammarCompiler.createGrammarCompiler(this.info, false);
    return { library, compiler: this.compiler };
  }

  /** After an abort: its memory is in an unknown state, so a new instance is made at the next use. */
  private forget(): void {
    this.library = this.info = this.compiler = undefined;
    this.compiled.clear();
  }
}

class NativeMatching implements Matcher {
  private readonly native: NativeMatcher;
  private alive = true;

  constructor(
    private readonly binding: Binding,
    grammar: XGrammar.CompiledGrammar,
    private readonly size: number,
  ) {
    this.native = new binding.GrammarMatcher(grammar.handle, undefined, false, -1);
  }

  mask(): Uint32Array {
    const words = new Uint32Array(Math.ceil(this.size / 32));
    if (!this.alive || this.native.IsTerminated()) return words;
    const vector = this.native.GetNextTokenBitmask(this.size);
    words.set(this.binding.vecIntToView(vector));
    vector.delete();
    return words;
  }

  accept(token: TokenId): boolean {
    return this.alive && !this.native.IsTerminated() && this.native.AcceptToken(token, false);
  }

  dispose(): void {
    if (this.alive) this.native.delete();
    this.alive = false;
  }
}

/** What is changed in the engine's script: its own calls are given out, and `require` is used as it is handed in. */
const CHANGES: [string, string][] = [
  [
    'exports.CompiledGrammar = CompiledGrammar;',
    'exports.CompiledGrammar = CompiledGrammar; exports.binding = () => binding;',
  ],
  ["await import('module')", '({ createRequire: () => require })'],
];

/** The package is a script for browsers inside a package of modules: neither import nor require can load it. */
function loadLibrary(): Library {
  const require = createRequire(import.meta.url);
  const path = require.resolve('@mlc-ai/web-xgrammar');
  let text = readFileSync(path, 'utf8');
  for (const [old, changed] of CHANGES) {
    if (!text.includes(old)) throw new HearthError('internal', 'The grammar engine is of an unknown version.');
    text = text.replace(old, () => changed);
  }
  const module = { exports: {} };
  const run = new Function(...['exports', 'require', 'module', '__filename', '__dirname'], text) as (
    ...scope: unknown[]
  ) => void;
  run(module.exports, createRequire(path), module, path, dirname(path));
  return module.exports as Library;
}
