// The models that were found, as the list has them: each file once, each with its name. Pure functions, and the words for what is missing.
import { HearthError, type ErrorShape } from '../contract/errors';
import { fingerprint } from './memory';
import { asName, namesOf, nearNames, normalName } from './names';
import type { Found } from './scan';
import type { SourceFolder } from './types';

export interface Item {
  found: Found;
  print: string;
  builtin: boolean;
  name: string;
  source?: SourceFolder;
  /** Names that the layout has beside the first. */
  others: string[];
}

export type Unnamed = Pick<Item, 'found' | 'builtin' | 'source'>;

/** Each file once, however many paths lead to it: the first of them counts. */
export function itemsOf(all: readonly Unnamed[], version: string | undefined): Item[] {
  const once = new Map<string, Unnamed>();
  for (const item of all) {
    const key = item.found.files.map(({ real }) => real).join('\n');
    if (!once.has(key)) once.set(key, item);
  }
  const kept = [...once.values()];
  const names = namesOf(
    kept.map(({ found: { path, isFolder, titles }, builtin }) => ({
      path,
      isFolder,
      builtin,
      ...(titles?.[0] !== undefined && { title: titles[0] }),
    })),
  );
  return kept.map(({ found, builtin, source }, index) => ({
    found,
    builtin,
    ...(source && { source }),
    print: fingerprint(found, version),
    name: names[index] ?? 'model',
    others: found.titles?.slice(1).map(asName) ?? [],
  }));
}

export function sizeOf({ files }: Found): number {
  return files.reduce((sum, file) => sum + file.size, 0);
}

export function incomplete({ missing, files }: Found): ErrorShape | undefined {
  if (missing.length === 0) return undefined;
  const total = missing.length + files.length;
  const parts = missing.slice(0, 10).join(', ') + (missing.length > 10 ? ', …' : '');
  return {
    code: 'incomplete_model',
    message: `${missing.length} of ${total} parts of this model are missing (${parts}).`,
  };
}

/** An alias as it is kept. Throws invalid_request where it is no name, or a model's. */
export function checkedAlias(alias: string, isTaken: (name: string) => boolean): string {
  const kept = normalName(alias);
  const refused = (why: string) => new HearthError('invalid_request', `alias: ${why}`, { param: 'alias' });
  if (kept === '' || kept.length > SHOWN_NAME || kept !== asName(kept))
    throw refused('a name without spaces or slashes.');
  if (isTaken(kept)) throw refused(`a model is called ${kept} already.`);
  return kept;
}

const SHOWN_NAME = 100;

/** `model_not_found` with what may have been meant. Names only: a path that somebody sent says nothing about files. */
export function notFound(name: string, names: readonly string[]): HearthError {
  const near = nearNames(name, names);
  const shown = JSON.stringify(name.slice(0, SHOWN_NAME));
  const list = (some: readonly string[]) => some.slice(0, 5).join(', ');
  const hint =
    near.length > 0
      ? ` Did you mean ${list(near)}?`
      : names.length > 0
        ? ` Models here: ${list(names)}.`
        : ' There are no models yet.';
  return new HearthError('model_not_found', `There is no model called ${shown}.${hint}`, { param: 'model' });
}
