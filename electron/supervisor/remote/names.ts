// What a model of an engine elsewhere is called here: NAME@ENGINE, and never as a model on this machine is. Pure functions.
import { HearthError } from '../../contract/errors';

/** The engine's name as a part of a model's: lower case, without spaces, slashes or another `@`. */
export function engineSlug(name: string): string {
  return name
    .normalize('NFC')
    .toLowerCase()
    .replace(/[\p{Cc}\p{Cf}]/gu, '')
    .trim()
    .replace(/[\s/\\@]+/g, '-')
    .replace(/^[-.]+|[-.]+$/g, '');
}

/** Throws `invalid_request` for a name that would read like something else: models of one name on this machine end in @ and six hex digits. */
export function checkedEngineName(name: string): string {
  const slug = engineSlug(name);
  const wrong = (why: string) => new HearthError('invalid_request', `name: ${why}`, { param: 'name' });
  if (slug === '') throw wrong('letters or digits are expected.');
  if (/^[0-9a-f]{6}$/.test(slug)) throw wrong('six hex digits mark models on this machine; choose another name.');
  return name.trim();
}

export interface NamedModel {
  /** As it is asked for here. */
  name: string;
  /** As it is asked for there. */
  id: string;
}

const idName = (id: string) =>
  id
    .toLowerCase()
    .replace(/[\p{Cc}\p{Cf}]/gu, '')
    .trim()
    .replace(/\s+/g, '-')
    .replace(/\.gguf$/, '');

/** A name each, in the order given; `isTaken`: by a model on this machine, or of an engine before. */
export function namesOnEngine(
  engine: string,
  ids: readonly string[],
  isTaken: (name: string) => boolean,
): NamedModel[] {
  const given = new Set<string>();
  const free = (name: string) => !given.has(name) && !isTaken(name);
  return ids.map((id) => {
    const plain = `${idName(id) || 'model'}@${engineSlug(engine)}`;
    let name = plain;
    for (let n = 2; !free(name); n++) name = `${plain}-${n}`;
    given.add(name);
    return { name, id };
  });
}
