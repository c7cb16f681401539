// Colours code when the page is idle: languages are loaded when first met, one piece at a time. Gives tokens, never HTML.
import type { HighlighterCore } from 'shiki/core';

export interface CodeToken {
  content: string;
  /** A CSS variable of the theme. */
  color: string | undefined;
}
export type CodeLine = CodeToken[];

const LANGUAGES: Record<string, () => Promise<unknown>> = {
  bash: () => import('shiki/langs/bash.mjs'),
  c: () => import('shiki/langs/c.mjs'),
  cpp: () => import('shiki/langs/cpp.mjs'),
  csharp: () => import('shiki/langs/csharp.mjs'),
  css: () => import('shiki/langs/css.mjs'),
  diff: () => import('shiki/langs/diff.mjs'),
  docker: () => import('shiki/langs/docker.mjs'),
  go: () => import('shiki/langs/go.mjs'),
  html: () => import('shiki/langs/html.mjs'),
  ini: () => import('shiki/langs/ini.mjs'),
  java: () => import('shiki/langs/java.mjs'),
  javascript: () => import('shiki/langs/javascript.mjs'),
  json: () => import('shiki/langs/json.mjs'),
  jsx: () => import('shiki/langs/jsx.mjs'),
  kotlin: () => import('shiki/langs/kotlin.mjs'),
  latex: () => import('shiki/langs/latex.mjs'),
  lua: () => import('shiki/langs/lua.mjs'),
  make: () => import('shiki/langs/make.mjs'),
  markdown: () => import('shiki/langs/markdown.mjs'),
  php: () => import('shiki/langs/php.mjs'),
  powershell: () => import('shiki/langs/powershell.mjs'),
  python: () => import('shiki/langs/python.mjs'),
  r: () => import('shiki/langs/r.mjs'),
  ruby: () => import('shiki/langs/ruby.mjs'),
  rust: () => import('shiki/langs/rust.mjs'),
  sql: () => import('shiki/langs/sql.mjs'),
  swift: () => import('shiki/langs/swift.mjs'),
  toml: () => import('shiki/langs/toml.mjs'),
  tsx: () => import('shiki/langs/tsx.mjs'),
  typescript: () => import('shiki/langs/typescript.mjs'),
  xml: () => import('shiki/langs/xml.mjs'),
  yaml: () => import('shiki/langs/yaml.mjs'),
};

const ALIASES: Record<string, string> = {
  sh: 'bash', shell: 'bash', zsh: 'bash', console: 'bash', 'c++': 'cpp', cc: 'cpp', h: 'c', hpp: 'cpp', cs: 'csharp', 'c#': 'csharp',
  dockerfile: 'docker', golang: 'go', htm: 'html', svg: 'xml', js: 'javascript', mjs: 'javascript', node: 'javascript', kt: 'kotlin',
  tex: 'latex', makefile: 'make', md: 'markdown', ps1: 'powershell', py: 'python', python3: 'python', rb: 'ruby', rs: 'rust', ts: 'typescript',
  yml: 'yaml', conf: 'ini', jsonc: 'json', json5: 'json',
}; // prettier-ignore

/** Longer code stays plain: colouring it would cost more than it helps. */
const MOST = 40_000;

const THEME = 'hearth';
let highlighter: Promise<HighlighterCore> | undefined;
const loaded = new Map<string, Promise<void>>();

async function makeHighlighter(): Promise<HighlighterCore> {
  const [{ createHighlighterCore, createCssVariablesTheme }, { createJavaScriptRegexEngine }] = await Promise.all([
    import('shiki/core'),
    import('shiki/engine/javascript'),
  ]);
  const theme = createCssVariablesTheme({ name: THEME, variablePrefix: '--shiki-' });
  return createHighlighterCore({
    themes: [theme],
    langs: [],
    engine: createJavaScriptRegexEngine({ forgiving: true }),
  });
}

export function languageOf(name: string): string | undefined {
  const lower = name.toLowerCase();
  const known = Object.hasOwn(ALIASES, lower) ? ALIASES[lower] : lower;
  return known !== undefined && Object.hasOwn(LANGUAGES, known) ? known : undefined;
}

/** Undefined where the language is unknown or the code too long. Never throws. */
export async function highlight(code: string, name: string): Promise<CodeLine[] | undefined> {
  const language = languageOf(name);
  const load = language && LANGUAGES[language];
  if (!language || !load || code.length > MOST) return undefined;
  try {
    highlighter ??= makeHighlighter();
    const core = await highlighter;
    let ready = loaded.get(language);
    if (!ready) {
      ready = load().then((module) => core.loadLanguage((module as { default: never }).default));
      loaded.set(language, ready);
    }
    await ready;
    const result = core.codeToTokens(code, { lang: language, theme: THEME, tokenizeTimeLimit: 300 });
    return result.tokens.map((line) => line.map(({ content, color }) => ({ content, color })));
  } catch {
    return undefined;
  }
}

type Idle = (callback: () => void, options?: { timeout: number }) => number;

/** When nothing else is to do. Returns how to give up. */
export function whenIdle(work: () => void): () => void {
  const idle = (window as { requestIdleCallback?: Idle }).requestIdleCallback;
  if (!idle) {
    const timer = setTimeout(work, 50);
    return () => clearTimeout(timer);
  }
  const id = idle(work, { timeout: 2000 });
  return () => cancelIdleCallback(id);
}
