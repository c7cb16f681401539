// The in-process side of the commands that do one thing and end: a model by name or path, its load shown, everything taken down after.
import { basename, resolve } from 'node:path';
import { isPath, openEngine, type Engine, type EngineOptions, type ModelRef } from '../app';
import type { Io } from './report';

/** A path is not looked at first: the load says what is wrong with it. Throws HearthError{model_not_found}. */
export async function modelRef(engine: Engine, asked: string): Promise<ModelRef> {
  if (isPath(asked)) return { name: basename(asked).replace(/\.gguf$/i, ''), path: resolve(asked) };
  await engine.library.refresh();
  const { name, path } = engine.library.find(asked);
  return { name, path };
}

/** `--exact` in the words of a load. */
export const precisionOf = (exact = false): 'exact' | 'fast' => (exact ? 'exact' : 'fast');

/** Ctrl-C ends the engine, too: nothing is left running. */
export async function withEngine<T>(options: EngineOptions, use: (engine: Engine) => Promise<T>): Promise<T> {
  const engine = openEngine(options);
  try {
    return await use(engine);
  } finally {
    await engine.close();
  }
}

/** Shows the load of a model on a terminal, on one line that goes away. */
export function showLoading(engine: Engine, io: Io): () => void {
  if (!io.terminal) return () => undefined;
  const clear = () => io.err('\r\u001b[K');
  const stop = engine.supervisor.watch(() => {
    const active = engine.supervisor.active();
    if (active?.state !== 'loading') return;
    io.err(`\r\u001b[KLoading ${active.name}: ${Math.round((active.fraction ?? 0) * 100)} %`);
  });
  return () => {
    stop();
    clear();
  };
}
